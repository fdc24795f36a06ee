// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A basemap and layers over it.
///
/// Layers are drawn bottom to top, the basemap first; number 0 of ``operationalLayers`` is the
/// bottom one. They load in the background as they are added; that adding returned says nothing
/// about it.
///
/// The basemap decides the map's spatial reference and first extent, without one the first layer;
/// once decided it stays. A basemap that fails leaves the map blank: the reference is nil, and
/// ``LoadableBase/load()`` throws. A layer that fails does not fail the map.
public final class Map: LoadableBase, @unchecked Sendable {
    private struct State: Sendable {
        var basemap: Basemap?
        var tables: [FeatureTable] = []
        var initialViewpoint: Viewpoint?
        var minScale: Double?
        var maxScale: Double?
        var spatialReference: SpatialReference?
        var firstExtent: Envelope?
        var bookmarks: [Bookmark] = []
    }

    /// What it is read from when it is loaded.
    enum Source: Sendable {
        case none
        case document(URL)
        case item(PortalItem)
    }

    private let state: Guarded<State>
    private let source: Source

    /// The layers over the basemap, the bottom one first; a followed property.
    @Streamed public private(set) var operationalLayers: [Layer] = []

    private let documentItem = Guarded<PortalItem?>(nil)
    let moment = Guarded<ServiceMoment?>(nil)

    /// A map of layers alone: the first one decides the reference.
    public override init() {
        state = Guarded(State())
        source = .none
        super.init()
    }

    /// A map on a basemap by name.
    public convenience init(basemapStyle: Basemap.Style) {
        self.init(basemap: Basemap(style: basemapStyle), spatialReference: nil)
    }

    /// A map on a basemap.
    public convenience init(basemap: Basemap) {
        self.init(basemap: basemap, spatialReference: nil)
    }

    /// A map whose reference is decided.
    public convenience init(spatialReference: SpatialReference) {
        self.init(basemap: nil, spatialReference: spatialReference)
    }

    /// A web map by the URL of its item or of its document; nil for one that is neither http nor
    /// https.
    public convenience init?(url: URL) {
        guard url.origin != nil else { return nil }
        self.init(
            basemap: nil, spatialReference: nil,
            source: PortalItem(url: url).map { .item($0) } ?? .document(url))
    }

    /// A web map of a portal.
    public convenience init(item: PortalItem) {
        self.init(basemap: nil, spatialReference: nil, source: .item(item))
    }

    init(basemap: Basemap?, spatialReference: SpatialReference?, source: Source = .none) {
        state = Guarded(State(basemap: basemap, spatialReference: spatialReference))
        self.source = source
        if case .item(let item) = source { documentItem.current = item }
    }

    /// The item of the portal that it is; nil for none.
    public var item: PortalItem? { documentItem.current }

    // MARK: Layers

    /// The basemap; nil for none.
    ///
    /// Setting one does not change a reference that was decided.
    public var basemap: Basemap? {
        get { state.current.basemap }
        set { state.withLock { $0.basemap = newValue } }
    }

    /// The layers of the basemap, the map's own, and the basemap's reference layers.
    public var allLayers: [Layer] {
        let basemap = basemap
        return (basemap?.baseLayers ?? []) + operationalLayers + (basemap?.referenceLayers ?? [])
    }

    /// Tables that are no layers.
    public var tables: [FeatureTable] { state.current.tables }
    /// Adds a table.
    public func addTable(_ table: FeatureTable) { state.withLock { $0.tables.append(table) } }

    /// Adds a layer on top; one that is in a map already stays where it is, and that is logged.
    public func addOperationalLayer(_ layer: Layer) {
        insertOperationalLayer(layer, at: Int.max)
    }

    /// Adds layers on top, in order.
    public func addOperationalLayers(_ layers: [Layer]) {
        for layer in layers { addOperationalLayer(layer) }
    }

    /// Adds a layer at a place counted from the bottom; beyond the end is on top.
    public func insertOperationalLayer(_ layer: Layer, at index: Int) {
        guard layer.take(map: self, group: nil) else { return }
        _operationalLayers.source.update { layers in
            layers.insert(layer, at: min(max(index, 0), layers.count))
        }
        Task { try? await layer.load() }
    }

    /// Removes a layer; a reference that it decided stays.
    public func removeOperationalLayer(_ layer: Layer) { removeOperationalLayers([layer]) }

    /// Removes layers.
    public func removeOperationalLayers(_ layers: [Layer]) {
        for layer in layers {
            guard operationalLayers.contains(where: { $0 === layer }) else { continue }
            let isMine = _operationalLayers.source.update { layers in
                let count = layers.count
                layers.removeAll { $0 === layer }
                return layers.count < count
            }
            if isMine { layer.leave() }
        }
    }

    /// Removes all layers over the basemap.
    public func removeAllOperationalLayers() { removeOperationalLayers(operationalLayers) }

    // MARK: Properties

    /// What a view shows at first; nil for the extent of the basemap or of the first layer.
    public var initialViewpoint: Viewpoint? {
        get { state.current.initialViewpoint }
        set { state.withLock { $0.initialViewpoint = newValue } }
    }

    /// The smallest scale that a view should show; nil for any.
    public var minScale: Double? {
        get { state.current.minScale }
        set { state.withLock { $0.minScale = newValue } }
    }

    /// The largest scale that a view should show; nil for any.
    public var maxScale: Double? {
        get { state.current.maxScale }
        set { state.withLock { $0.maxScale = newValue } }
    }

    /// Named places.
    public var bookmarks: [Bookmark] { state.current.bookmarks }
    /// Adds a named place.
    public func addBookmark(_ bookmark: Bookmark) {
        state.withLock { $0.bookmarks.append(bookmark) }
    }
    /// Adds named places.
    public func addBookmarks(_ bookmarks: some Sequence<Bookmark>) {
        bookmarks.forEach(addBookmark)
    }
    /// Removes a named place; one that the map has not changes nothing.
    public func removeBookmark(_ bookmark: Bookmark) {
        state.withLock { $0.bookmarks.removeAll { $0 === bookmark } }
    }
    /// Removes all named places.
    public func removeAllBookmarks() { state.withLock { $0.bookmarks = [] } }

    /// What the map is measured in; nil before that is decided, and while its basemap has failed.
    public var spatialReference: SpatialReference? { state.current.spatialReference }

    var firstExtent: Envelope? { state.current.firstExtent }

    /// Why there is no reference.
    var missingReference: CairnError {
        if let basemap, let error = basemap.loadError {
            return CairnError(
                .noSpatialReference,
                "the map has no spatial reference: its basemap "
                    + "'\(basemap.name.isEmpty ? "basemap" : basemap.name)' failed: \(error)")
        }
        let failed = operationalLayers.lazy.compactMap { layer in
            layer.loadError.map { "; '\(layer.name)' failed: \($0)" }
        }.first
        return CairnError(
            .noSpatialReference,
            "the map has no spatial reference: it has neither a basemap nor a layer that loads"
                + (failed ?? ""))
    }

    // MARK: Loading

    override func performLoad() async throws {
        switch source {
        case .none: break
        case .document(let url):
            try read(try await Requester.json(Question(url)), from: url)
        case .item(let item):
            try await item.load()
            try read(try await item.fetchData(), from: item.portal.url)
        }
        let (basemap, decided) = (self.basemap, spatialReference)
        if let basemap, basemap.decides {
            do {
                try await basemap.load()
            } catch {
                guard decided == nil else { return }
                throw missingReference
            }
            decide(basemap.spatialReference, basemap.extent)
        }
        guard spatialReference == nil else { return }
        for layer in operationalLayers {
            guard (try? await layer.load()) != nil, layer.spatialReference != nil else { continue }
            decide(
                layer.spatialReference, layer.facts.current.initialExtent ?? layer.fullExtent)
            return
        }
        // A map without anything loads, and has no reference yet.
        guard operationalLayers.isEmpty else { throw missingReference }
    }

    private func decide(_ reference: SpatialReference?, _ extent: Envelope?) {
        state.withLock { state in
            if state.spatialReference == nil { state.spatialReference = reference }
            if state.firstExtent == nil, state.spatialReference == reference {
                state.firstExtent = extent
            }
        }
    }

    // MARK: Documents

    /// The web map document of the map, as JSON text.
    public func toJSON() -> String { WebMap.document(of: self).jsonText }

    /// A map from the JSON text of a web map document.
    ///
    /// Throws ``CairnError`` (`invalidDocument`).
    public static func fromJSON(_ json: String) throws -> Map {
        guard let tree = JSON(Array(json.utf8)) else {
            throw CairnError(.invalidDocument, "the text is no JSON")
        }
        let map = Map()
        try map.read(tree, from: nil)
        return map
    }

    /// Takes what a document says; `base` is where it is from, of a package its folder.
    func read(
        _ document: JSON, from base: URL?, _ geodatabases: PackagedGeodatabases? = nil
    ) throws {
        let content = try WebMap(document, base: base, geodatabases: geodatabases)
        state.withLock { state in
            if state.basemap == nil { state.basemap = content.basemap }
            if state.initialViewpoint == nil { state.initialViewpoint = content.initialViewpoint }
            if state.spatialReference == nil { state.spatialReference = content.spatialReference }
            state.bookmarks += content.bookmarks
            state.tables += content.tables
        }
        addOperationalLayers(content.layers)
    }
}
