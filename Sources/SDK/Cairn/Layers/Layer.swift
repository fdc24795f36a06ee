// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A layer or a part of one, as a table of contents lists it.
public protocol LayerContent: AnyObject, Sendable {
    /// Its name.
    var name: String { get }
    /// Whether it is drawn and identified; a hidden parent hides its children.
    var isVisible: Bool { get set }
    /// Whether ``isVisible`` may be set.
    var canChangeVisibility: Bool { get }
    /// Whether a legend names it.
    var showsInLegend: Bool { get set }
    /// Its parts, in the order of the service.
    var subLayerContents: [any LayerContent] { get }
    /// Whether its range of scales has a scale.
    func isVisible(atScale scale: Double) -> Bool
    /// Its own symbols and their names, in order; those of its parts are theirs. Asks a server
    /// where the service says them.
    var legendInfos: [LegendInfo] { get async throws }
}

/// Why a layer shows nothing.
public enum LayerViewState: Hashable, Sendable {
    /// It is drawn.
    case active
    /// It is hidden.
    case notVisible
    /// The scale of the view is outside its range.
    case outOfScale
    /// It failed to load.
    case error(String)
    /// Its reference is not the map's, and it is not projected.
    case incompatible(String)
}

/// A layer of a map.
public class Layer: LoadableBase, LayerContent, @unchecked Sendable {
    struct State: Sendable {
        var id = UUID().uuidString
        var name: String?
        var isVisible = true
        var showsInLegend = true
        var opacity: Float = 1
        var minScale: Double??
        var maxScale: Double??
    }

    /// What the service or file says.
    struct Facts: Sendable {
        var name = ""
        var minScale: Double?
        var maxScale: Double?
        var fullExtent: Envelope?
        var initialExtent: Envelope?
        var attribution = ""
        var spatialReference: SpatialReference?
    }

    let state = Guarded(State())
    let facts = Guarded(Facts())
    /// What it is in.
    private let owner = Guarded(Owner())

    private struct Owner: Sendable {
        weak var map: Map?
        weak var group: GroupLayer?
    }

    /// Notes what it is in now; false, and logged, where it is in something already.
    func take(map: Map?, group: GroupLayer?) -> Bool {
        let isFree = owner.withLock { owner in
            guard owner.map == nil, owner.group == nil else { return false }
            owner = Owner(map: map, group: group)
            return true
        }
        if !isFree {
            CairnEnvironment.note(
                .warning, "a layer is in a map already, and is not added again", ["layer": name])
        }
        return isFree
    }

    /// It was taken out of what it was in.
    func leave() { owner.current = Owner() }

    /// The group that it is in; nil for none.
    var group: GroupLayer? { owner.withLock { $0.group } }

    /// Sets the visibility without the rules of its group.
    func setVisibility(_ isVisible: Bool) {
        state.withLock { $0.isVisible = isVisible }
        // A group's own rules hold for what is in it.
        if let group = self as? GroupLayer, group.visibilityMode == .inherited {
            for layer in group.layers { layer.setVisibility(isVisible) }
        }
    }

    /// A name for it, unique unless set.
    public var id: String {
        get { state.current.id }
        set { state.withLock { $0.id = newValue } }
    }

    /// Its name: what was set, else what the service says.
    public var name: String {
        get { state.current.name ?? facts.current.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// Whether it is drawn and identified.
    public var isVisible: Bool {
        get { state.current.isVisible }
        set {
            state.withLock { $0.isVisible = newValue }
            if newValue { group?.wasShown(self) }
        }
    }

    /// False in a ``GroupLayer`` whose layers are all as the group.
    public var canChangeVisibility: Bool { group?.visibilityMode != .inherited }

    /// Whether a legend names it.
    public var showsInLegend: Bool {
        get { state.current.showsInLegend }
        set { state.withLock { $0.showsInLegend = newValue } }
    }

    /// From 0 for transparent to 1.
    public var opacity: Float {
        get { state.current.opacity }
        set { state.withLock { $0.opacity = min(max(newValue, 0), 1) } }
    }

    /// The smallest scale at which it is drawn, as 50000 of 1:50,000; nil for any.
    public var minScale: Double? {
        get { state.current.minScale ?? facts.current.minScale }
        set { state.withLock { $0.minScale = .some(newValue) } }
    }

    /// The largest scale at which it is drawn; nil for any.
    public var maxScale: Double? {
        get { state.current.maxScale ?? facts.current.maxScale }
        set { state.withLock { $0.maxScale = .some(newValue) } }
    }

    /// Around everything in it; nil before it is loaded.
    public var fullExtent: Envelope? { facts.current.fullExtent }

    /// The reference of its data; nil before it is loaded.
    public var spatialReference: SpatialReference? { facts.current.spatialReference }

    /// Its parts, in the order of the service; empty before it is loaded.
    public var subLayerContents: [any LayerContent] { [] }

    /// Its own symbols and their names; loads the layer.
    ///
    /// Of a ``FeatureLayer`` they are those of its renderer. Empty for layers that have none and
    /// for those whose parts have them.
    public var legendInfos: [LegendInfo] { get async throws { [] } }

    /// Whose the data are, as a view should say; what was set, else what the service says.
    public var attribution: String { facts.current.attribution }

    /// Whether its range of scales has a scale.
    public func isVisible(atScale scale: Double) -> Bool {
        Self.isIn(scale, min: minScale, max: maxScale)
    }

    static func isIn(_ scale: Double, min: Double?, max: Double?) -> Bool {
        if let min, min > 0, scale > min { return false }
        if let max, max > 0, scale < max { return false }
        return true
    }

    /// Whether it is drawn in a map of that reference as it is; others are projected.
    func isCompatible(with reference: SpatialReference) -> Bool { true }

    // MARK: What a view asks

    /// The features at a place of a view; nil for a layer that is not identified.
    func identify(_ question: IdentifyQuestion) async throws -> IdentifyLayerResult? { nil }

    /// A picture of the view's extent; nil for nothing to draw.
    func picture(_ frame: ViewFrame) async throws -> LayerPicture? { nil }

    /// The layer in a web map; nil for one that a document cannot name.
    var webMapLayer: JSON? { nil }

    /// The members that every layer has in a web map.
    func webMapMembers(_ type: String, _ url: URL?) -> [(name: String, value: JSON)] {
        let state = state.current
        var members: [(name: String, value: JSON)] = [
            ("id", .string(state.id)), ("title", .string(name)), ("layerType", .string(type)),
            ("visibility", .bool(state.isVisible)), ("opacity", .real(Double(state.opacity))),
        ]
        if let url { members.append(("url", .string(url.absoluteString))) }
        if case .some(.some(let scale)) = state.minScale {
            members.append(("minScale", .real(scale)))
        }
        if case .some(.some(let scale)) = state.maxScale {
            members.append(("maxScale", .real(scale)))
        }
        return members
    }

    /// Sets what a web map says of every layer.
    func apply(webMap json: JSON) {
        state.withLock { state in
            if let id = json.text("id") { state.id = id }
            if let title = json.text("title") { state.name = title }
            if let isVisible = json["visibility"]?.flag { state.isVisible = isVisible }
            if let opacity = json["opacity"]?.number { state.opacity = Float(opacity) }
            if let scale = json.member("minScale")?.number, scale > 0 {
                state.minScale = .some(scale)
            }
            if let scale = json.member("maxScale")?.number, scale > 0 {
                state.maxScale = .some(scale)
            }
        }
    }
}
