// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// The layers under a map, which decide its spatial reference.
public final class Basemap: LoadableBase, @unchecked Sendable {
    /// The name of a basemap; what it stands for is ``CairnEnvironment/basemaps``'s to say.
    public struct Style: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Any name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A topographic map.
        public static let arcGISTopographic = Style(rawValue: "arcGISTopographic")
        /// Streets by day.
        public static let arcGISStreets = Style(rawValue: "arcGISStreets")
        /// Streets on a dark ground.
        public static let arcGISStreetsNight = Style(rawValue: "arcGISStreetsNight")
        /// Streets over shaded relief.
        public static let arcGISStreetsRelief = Style(rawValue: "arcGISStreetsRelief")
        /// Streets for one that drives, by day.
        public static let arcGISNavigation = Style(rawValue: "arcGISNavigation")
        /// Streets for one that drives, by night.
        public static let arcGISNavigationNight = Style(rawValue: "arcGISNavigationNight")
        /// Pictures from above, with labels.
        public static let arcGISImagery = Style(rawValue: "arcGISImagery")
        /// Pictures from above, without labels.
        public static let arcGISImageryStandard = Style(rawValue: "arcGISImageryStandard")
        /// Terrain with labels.
        public static let arcGISTerrain = Style(rawValue: "arcGISTerrain")
        /// The ground of the sea.
        public static let arcGISOceans = Style(rawValue: "arcGISOceans")
        /// A pale ground for data.
        public static let arcGISLightGray = Style(rawValue: "arcGISLightGray")
        /// A dark ground for data.
        public static let arcGISDarkGray = Style(rawValue: "arcGISDarkGray")
        /// Buildings and facilities of communities.
        public static let arcGISCommunity = Style(rawValue: "arcGISCommunity")
        /// Shaded relief alone.
        public static let arcGISHillshadeLight = Style(rawValue: "arcGISHillshadeLight")
        /// OpenStreetMap's own look.
        public static let osmStandard = Style(rawValue: "osmStandard")
        /// OpenStreetMap's streets.
        public static let osmStreets = Style(rawValue: "osmStreets")
    }

    private struct State: Sendable {
        var name = ""
        var baseLayers: [Layer]
        var referenceLayers: [Layer]
        var spatialReference: SpatialReference?
        var extent: Envelope?
    }

    /// The style that it was made from; nil for one of layers.
    public let style: Style?
    private let state: Guarded<State>

    /// An empty basemap.
    public override init() {
        style = nil
        state = Guarded(State(baseLayers: [], referenceLayers: []))
        super.init()
    }

    /// A basemap by name.
    public init(style: Style) {
        self.style = style
        state = Guarded(State(name: style.rawValue, baseLayers: [], referenceLayers: []))
    }

    /// A basemap of one layer.
    public convenience init(baseLayer: Layer) { self.init(baseLayers: [baseLayer]) }

    /// A basemap of layers, the bottom one first; reference layers lie above the map's own.
    public init(baseLayers: [Layer], referenceLayers: [Layer] = []) {
        style = nil
        state = Guarded(State(baseLayers: baseLayers, referenceLayers: referenceLayers))
    }

    /// Its name.
    public var name: String {
        get { state.current.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// Its layers, the bottom one first.
    public var baseLayers: [Layer] { state.current.baseLayers }
    /// Its layers above the map's own.
    public var referenceLayers: [Layer] { state.current.referenceLayers }

    /// Adds a layer on top of ``baseLayers``.
    public func addBaseLayer(_ layer: Layer) {
        state.withLock { state in
            guard !state.baseLayers.contains(where: { $0 === layer }) else { return }
            state.baseLayers.append(layer)
        }
    }

    /// Removes a layer.
    public func removeBaseLayer(_ layer: Layer) {
        state.withLock { $0.baseLayers.removeAll { $0 === layer } }
    }

    /// The reference of the bottom layer; nil before it is loaded, and for an empty basemap.
    var spatialReference: SpatialReference? { state.current.spatialReference }
    var extent: Envelope? { state.current.extent }
    /// Whether a map on it takes its reference from it.
    var decides: Bool { style != nil || !baseLayers.isEmpty }

    override func performLoad() async throws {
        if let style, baseLayers.isEmpty {
            guard let made = CairnEnvironment.basemaps?(style) else {
                // Styles are in Web Mercator.
                return state.withLock { state in
                    state.spatialReference = .webMercator
                    state.extent = .webMercatorWorld
                }
            }
            state.withLock { state in
                state.baseLayers = made.baseLayers
                state.referenceLayers = made.referenceLayers
            }
        }
        for layer in baseLayers { try await layer.load() }
        let first = baseLayers.first
        state.withLock { state in
            state.spatialReference = first?.spatialReference
            state.extent = first?.facts.current.initialExtent ?? first?.fullExtent
            if state.name.isEmpty { state.name = first?.name ?? "" }
        }
    }
}
