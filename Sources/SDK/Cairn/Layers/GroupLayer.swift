// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Layers that are shown, hidden, named and identified together.
///
/// A group draws its layers bottom to top, each under its own opacity and the group's; an identify
/// answers it as one result with those of its layers in it. The first of its layers that loads
/// gives its reference. A layer that fails does not fail the group, unless all fail.
public final class GroupLayer: Layer, @unchecked Sendable {
    /// How the visibility of its layers hangs together.
    ///
    /// A hidden group shows none in any mode.
    public enum VisibilityMode: String, Sendable, Hashable, CaseIterable {
        /// Each layer for itself.
        case independent
        /// All as the group; a layer's own ``Layer/isVisible`` follows the group's.
        case inherited
        /// One layer at most: one that is made visible hides the others, one that is added beside
        /// a visible one becomes hidden.
        case exclusive
    }

    private struct Content: Sendable {
        var layers: [Layer] = []
        var mode = VisibilityMode.independent
    }

    private let content = Guarded(Content())

    /// A group of layers, the bottom one first; a layer that is in a map or group already is left
    /// out, and that is logged.
    public init(childLayers: [Layer] = []) {
        super.init()
        addLayers(childLayers)
    }

    /// Its layers, the bottom one first.
    public var layers: [Layer] { content.current.layers }
    /// Its layers, the bottom one first.
    public override var subLayerContents: [any LayerContent] { layers }

    /// How the visibility of its layers hangs together.
    ///
    /// Of several visible layers `exclusive` keeps the bottom one.
    public var visibilityMode: VisibilityMode {
        get { content.current.mode }
        set {
            content.withLock { $0.mode = newValue }
            settle()
        }
    }

    /// Whether it is drawn and identified, and its layers with it.
    public override var isVisible: Bool {
        get { super.isVisible }
        set {
            super.isVisible = newValue
            if visibilityMode == .inherited { settle() }
        }
    }

    /// Adds a layer on top; one that is in a map or group already stays where it is, and that is
    /// logged.
    public func addLayer(_ layer: Layer) { insertLayer(layer, at: Int.max) }

    /// Adds layers on top, in order.
    public func addLayers(_ layers: [Layer]) { for layer in layers { addLayer(layer) } }

    /// Adds a layer at a place counted from the bottom; beyond the end is on top.
    public func insertLayer(_ layer: Layer, at index: Int) {
        guard !((layer as? GroupLayer)?.holds(self) ?? false) else {
            return CairnEnvironment.note(
                .warning, "a group is not added to a group that is in it", ["layer": layer.name])
        }
        guard layer.take(map: nil, group: self) else { return }
        content.withLock { content in
            content.layers.insert(layer, at: min(max(index, 0), content.layers.count))
        }
        switch visibilityMode {
        case .exclusive where layers.contains { $0 !== layer && $0.isVisible }:
            layer.setVisibility(false)
        case .inherited: layer.setVisibility(isVisible)
        default: break
        }
        // A group that has been loaded does not load again.
        if loadStatus != .notLoaded { Task { try? await layer.load() } }
    }

    /// Removes a layer.
    public func removeLayer(_ layer: Layer) { removeLayers([layer]) }

    /// Removes layers.
    public func removeLayers(_ layers: [Layer]) {
        for layer in layers {
            let isMine = content.withLock { content in
                let count = content.layers.count
                content.layers.removeAll { $0 === layer }
                return content.layers.count < count
            }
            if isMine { layer.leave() }
        }
    }

    /// Removes all layers.
    public func removeAllLayers() { removeLayers(layers) }

    /// Whether a layer is it, or in it at any depth.
    private func holds(_ layer: Layer) -> Bool {
        layer === self || layers.contains { ($0 as? GroupLayer)?.holds(layer) ?? ($0 === layer) }
    }

    private func settle() {
        let (layers, mode) = content.withLock { ($0.layers, $0.mode) }
        switch mode {
        case .independent: break
        case .inherited: for layer in layers { layer.setVisibility(isVisible) }
        case .exclusive:
            guard let kept = layers.first(where: \.isVisible) else { return }
            for layer in layers where layer !== kept { layer.setVisibility(false) }
        }
    }

    /// A layer of it was made visible.
    func wasShown(_ layer: Layer) {
        guard visibilityMode == .exclusive else { return }
        for other in layers where other !== layer { other.setVisibility(false) }
    }

    /// Its layers that are shown at a scale, the bottom one first.
    private func shown(_ scale: Double) -> [Layer] {
        let (layers, mode) = content.withLock { ($0.layers, $0.mode) }
        return layers.filter {
            (mode == .inherited || $0.isVisible) && $0.isVisible(atScale: scale)
        }
    }

    override func performLoad() async throws {
        let layers = layers
        await layers.load()
        try Task.checkCancellation()
        let loaded = layers.filter { $0.loadStatus == .loaded }
        if loaded.isEmpty, let error = layers.lazy.compactMap(\.loadError).first { throw error }
        let first = loaded.first { $0.spatialReference != nil }
        let extents = loaded.compactMap(\.fullExtent).filter {
            $0.spatialReference == first?.spatialReference
        }
        facts.withLock { facts in
            facts.spatialReference = first?.spatialReference
            facts.fullExtent = extents.dropFirst().reduce(extents.first) { $0?.union($1) }
            facts.initialExtent = first?.facts.current.initialExtent ?? first?.fullExtent
        }
    }

    override func isCompatible(with reference: SpatialReference) -> Bool { true }

    override func identify(_ question: IdentifyQuestion) async throws -> IdentifyLayerResult? {
        let shown = shown(question.frame.scale)
        let results = try await MapViewProxy.ask(shown, question)
        let failures = results.compactMap(\.error)
        if let first = failures.first,
            failures.count == shown.filter({ !($0 is TiledLayer) }).count
        {
            throw first
        }
        guard !results.isEmpty else { return nil }
        return IdentifyLayerResult(layerContent: self, sublayerResults: results)
    }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        let pictures = try await MapViewProxy.pictures(of: shown(frame.scale), frame)
        guard !pictures.isEmpty else { return nil }
        return LayerPicture(
            parts: pictures.map { layer, picture in picture.faded(layer.opacity) })
    }

    override var webMapLayer: JSON? {
        let state = content.current
        return .object(
            webMapMembers("GroupLayer", nil) + [
                ("visibilityMode", .string(state.mode.rawValue)),
                ("layers", .array(state.layers.compactMap(\.webMapLayer))),
            ])
    }

    override func apply(webMap json: JSON) {
        super.apply(webMap: json)
        if let mode = json.text("visibilityMode").flatMap({ VisibilityMode(rawValue: $0) }) {
            visibilityMode = mode
        }
    }
}

extension Layer {
    /// Itself, or of a group the layers in it; without those of some ids, and what is in them.
    func leaves(leavingOut ids: Set<String> = []) -> [Layer] {
        guard !ids.contains(id) else { return [] }
        return (self as? GroupLayer)?.layers.flatMap { $0.leaves(leavingOut: ids) } ?? [self]
    }
}
