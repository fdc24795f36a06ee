// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel

struct MapAddWMS: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "add-wms", abstract: "Add layers of a Web Map Service as one layer.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer's name in the map.") var name: String
    @OptionGroup var service: WMSOptions

    func command(on map: MapDescription) throws -> MapCommand {
        .addLayer(name: name, source: service.source, place: try place.place(on: map))
    }
}

struct MapSetWMS: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "set-wms", abstract: "Set layers of a Web Map Service as a layer's source."
    )

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @OptionGroup var service: WMSOptions

    func command(on map: MapDescription) throws -> MapCommand {
        .setSource(layer: try map.layer(named: layer).id, source: service.source)
    }
}

/// Options of a Web Map Service layer.
struct WMSOptions: ParsableArguments {
    @Argument(help: "The service's address, http:// or https://.") var url: String
    @Option(
        name: .customLong("layer"), help: "The service's name of a layer; may be repeated.")
    var layers: [String]
    @Option(help: "1.1.1 or 1.3.0; by default the service's preference.") var version: String?
    @Option(help: "The name of a credential of the site.") var credential: String?

    var source: LayerSource {
        .wms(WMSSource(url: url, layers: layers, version: version, credential: credential))
    }
}

struct MapAddService: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "add-service",
        abstract: "Add an ArcGIS map service, a layer of a feature service, or tiles as one layer.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer's name in the map.") var name: String
    @OptionGroup var service: ServiceOptions

    func command(on map: MapDescription) throws -> MapCommand {
        .addLayer(name: name, source: service.source, place: try place.place(on: map))
    }
}

struct MapSetService: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "set-service", abstract: "Set such a service as a layer's source.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @OptionGroup var service: ServiceOptions

    func command(on map: MapDescription) throws -> MapCommand {
        .setSource(layer: try map.layer(named: layer).id, source: service.source)
    }
}

/// Options of an ArcGIS service or tile layer.
struct ServiceOptions: ParsableArguments {
    @Argument(
        help: "…/MapServer, …/FeatureServer/0, or an address with {z}, {x} and {y}.")
    var url: String
    @Flag(help: "Use the tiles of the map service.") var tiled = false
    @Option(
        name: .customLong("layer"),
        help: "The number of a layer of a map service; may be repeated; all otherwise.")
    var layers: [Int] = []
    @Option(help: "The name of a credential of the site.") var credential: String?

    func validate() throws {
        guard layers.isEmpty || isMapService else {
            throw ValidationError("--layer goes with the address of a map service, …/MapServer.")
        }
    }

    private var isMapService: Bool { !tiled && !tiles.isTemplate && !isFeatureLayer }

    /// Whether the address ends with the number of a layer.
    private var isFeatureLayer: Bool {
        url.prefix { $0 != "?" }.split(separator: "/").last.map { Int($0) != nil } ?? false
    }

    private var tiles: TileSource { TileSource(url: url, credential: credential) }

    var source: LayerSource {
        if tiled || tiles.isTemplate { return .tiles(tiles) }
        let source = ArcGISSource(
            url: url, layers: layers.isEmpty ? nil : layers, credential: credential)
        return isFeatureLayer ? .featureService(source) : .mapService(source)
    }
}
