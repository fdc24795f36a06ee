// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A layer of a map image layer, or a group of them.
///
/// Its number, name and range of scales are known with the map image layer; ``LoadableBase/load()``
/// asks for the rest.
public final class ArcGISSublayer: LoadableBase, LayerContent, @unchecked Sendable {
    private struct State: Sendable {
        var isVisible: Bool
        var showsInLegend = true
        var definition = ""
        var table: ServiceFeatureTable?
    }

    /// Its number in the service.
    public let id: Int
    /// Its name in the service.
    public let name: String
    /// Its parts; a group has some.
    public let mapImageSublayers: [ArcGISSublayer]
    /// The smallest scale at which it is drawn; nil for any.
    public let minScale: Double?
    /// The largest scale at which it is drawn; nil for any.
    public let maxScale: Double?
    /// The kind of its geometries; nil for a group, a raster, and where the service says none.
    public let geometryType: Geometry.Type?
    private let state: Guarded<State>
    private struct WeakLayer: Sendable { weak var layer: ArcGISMapImageLayer? }
    private let service: WeakLayer

    init(_ json: JSON, children: [ArcGISSublayer], of layer: ArcGISMapImageLayer) {
        service = WeakLayer(layer: layer)
        id = json["id"]?.int ?? -1
        name = json.text("name") ?? ""
        mapImageSublayers = children
        minScale = json.scale("minScale")
        maxScale = json.scale("maxScale")
        geometryType = json.text("geometryType").flatMap(Geometry.kind(named:))
        state = Guarded(State(isVisible: json["defaultVisibility"]?.flag ?? true))
    }

    /// Its features, to be queried; nil before it is loaded, and of a group or a raster.
    public var table: ServiceFeatureTable? { state.current.table }

    override func performLoad() async throws {
        guard let layer = service.layer else {
            throw CairnError(.invalidState, "sublayer '\(name)': its map image layer has gone")
        }
        let url = layer.url.below(String(id))
        let json = try await ServiceDescriptions.shared.description(of: url, layer.credential)
        guard json.member("fields")?.elements.isEmpty == false else { return }
        let table = ServiceFeatureTable(url: url)
        (table.credential, table.asOf) = (layer.credential, layer.asOf)
        state.withLock { $0.table = table }
    }

    /// Whether it is drawn and identified; a hidden parent hides its children.
    public var isVisible: Bool {
        get { state.current.isVisible }
        set { state.withLock { $0.isVisible = newValue } }
    }

    /// True.
    public var canChangeVisibility: Bool { true }

    /// Whether a legend names it.
    public var showsInLegend: Bool {
        get { state.current.showsInLegend }
        set { state.withLock { $0.showsInLegend = newValue } }
    }

    /// Limits its features by a WHERE clause; empty for all.
    public var definitionExpression: String {
        get { state.current.definition }
        set { state.withLock { $0.definition = newValue } }
    }

    /// Its parts.
    public var subLayerContents: [any LayerContent] { mapImageSublayers }

    /// Its symbols as pictures, from the service's legend; empty for a group, and once the layer
    /// has gone.
    public var legendInfos: [LegendInfo] {
        get async throws {
            guard mapImageSublayers.isEmpty, let layer = service.layer else { return [] }
            return try await layer.legend(of: id)
        }
    }

    /// Whether its range of scales has a scale.
    public func isVisible(atScale scale: Double) -> Bool {
        Layer.isIn(scale, min: minScale, max: maxScale)
    }
}

/// A layer of a map image layer, by the name that it has where tiled layers have layers too.
public typealias ArcGISMapImageSublayer = ArcGISSublayer
