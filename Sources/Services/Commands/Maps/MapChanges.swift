// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel

/// Options for the position of a layer among its siblings.
struct PlaceOptions: ParsableArguments {
    @Option(help: "Its group; by default the top level.") var into: String?
    @Option(help: "Its position among its siblings, 0 = bottom; by default on top.") var index: Int?
    @Option(help: "Just below this sibling.") var below: String?
    @Option(help: "Just above this sibling.") var above: String?

    func validate() throws {
        guard [index != nil, below != nil, above != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --index, --below and --above.")
        }
        if let index, index < 0 { throw ValidationError("--index takes 0 or more.") }
        if into != nil, below != nil || above != nil {
            throw ValidationError("--below and --above name the group by themselves.")
        }
    }

    /// The position; `moved` is removed from its siblings before they are counted.
    func place(on map: MapDescription, moving moved: LayerID? = nil) throws -> LayerPlace {
        if let sibling = below ?? above {
            let other = try map.layer(named: sibling)
            let siblings =
                other.parent.flatMap { map.layer($0)?.children } ?? map.rootLayers
            let counted = siblings.filter { $0 != moved }
            let found = counted.firstIndex(of: other.id) ?? counted.count
            return LayerPlace(parent: other.parent, index: below == nil ? found + 1 : found)
        }
        return LayerPlace(parent: try into.map { try map.layer(named: $0).id }, index: index)
    }
}

struct MapCreate: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make an empty map.")

    @OptionGroup var common: CommonOptions
    @Argument(
        help: """
            Its name: 1 to 64 letters, digits or '_', starting with a letter; perhaps \
            FOLDER/NAME.
            """,
        transform: Reading.mapName)
    var map: MapName

    func perform(_ session: Session) async throws { try await session.send(.createMap, to: map) }
}

struct MapAddGroup: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "add-group", abstract: "Add an empty group.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The group's name.") var name: String

    func command(on map: MapDescription) throws -> MapCommand {
        .addGroup(name: name, place: try place.place(on: map))
    }
}

struct MapAddLayer: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "add-layer",
        abstract: "Add a layer for a dataset or raster that is already in the site.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer's name.") var name: String
    @Argument(help: "The dataset: 64 hexadecimal digits.", transform: Reading.contentID)
    var dataset: ContentID
    @Flag(help: "The digits name a raster.") var raster = false

    func command(on map: MapDescription) throws -> MapCommand {
        .addLayer(
            name: name, source: raster ? .raster(dataset) : .dataset(dataset),
            place: try place.place(on: map))
    }
}

struct MapMove: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a layer or group.",
        discussion: "Without a place it goes to the top of the top level.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var place: PlaceOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String

    func command(on map: MapDescription) throws -> MapCommand {
        let id = try map.layer(named: layer).id
        return .moveLayer(layer: id, place: try place.place(on: map, moving: id))
    }
}

struct MapRemove: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a layer, or a group with its members.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String

    func command(on map: MapDescription) throws -> MapCommand {
        .removeLayer(layer: try map.layer(named: layer).id)
    }
}

struct MapRename: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a layer or group another name.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String
    @Argument(help: "Its new name, unique in the map.") var name: String

    func command(on map: MapDescription) throws -> MapCommand {
        .renameLayer(layer: try map.layer(named: layer).id, name: name)
    }
}

struct MapShowLayer: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "show-layer", abstract: "Turn a layer or group on.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String

    func command(on map: MapDescription) throws -> MapCommand {
        .setVisibility(layer: try map.layer(named: layer).id, isVisible: true)
    }
}

struct MapHide: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: "Turn a layer or group off.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String

    func command(on map: MapDescription) throws -> MapCommand {
        .setVisibility(layer: try map.layer(named: layer).id, isVisible: false)
    }
}

struct MapVisibility: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "visibility", abstract: "Turn a layer or group on or off.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String
    @Argument(help: "on or off.") var value: Switch

    func command(on map: MapDescription) throws -> MapCommand {
        .setVisibility(layer: try map.layer(named: layer).id, isVisible: value == .on)
    }
}

struct MapScale: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "scale", abstract: "Limit the scales at which a layer or group is drawn.",
        discussion: "Denominators; 0 is no limit. Without options both limits are lifted.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.", completion: .layers) var layer: String
    @Option(
        help: "The zoomed-out limit: drawn at this scale and closer.", transform: Reading.number)
    var min = 0.0
    @Option(
        help: "The zoomed-in limit: drawn at this scale and farther.", transform: Reading.number)
    var max = 0.0

    func validate() throws {
        guard min.isFinite, max.isFinite, min >= 0, max >= 0 else {
            throw ValidationError("--min and --max take a number, 0 or more.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        .setScaleRange(
            layer: try map.layer(named: layer).id,
            scaleRange: ScaleRange(minScale: min, maxScale: max))
    }
}

struct MapDefinition: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "definition", abstract: "Limit a layer's features by a WHERE clause.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The WHERE clause; without it the limit is lifted.") var expression: String?

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        if let expression { try layer.checkFields(of: expression) }
        return .setDefinitionExpression(layer: layer.id, expression: expression)
    }
}

struct MapDisplayField: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "display-field", abstract: "Choose the field shown for a feature.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The field; without it the default is used again.") var field: String?

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        if let field { try layer.check(field: field) }
        return .setDisplayField(layer: layer.id, field: field)
    }
}

struct MapRetry: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Load a layer again after a failure.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String

    func command(on map: MapDescription) throws -> MapCommand {
        .retryLoad(layer: try map.layer(named: layer).id)
    }
}

struct MapSetSource: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "set-source", abstract: "Give a layer another dataset or raster of the site.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The dataset: 64 hexadecimal digits.", transform: Reading.contentID)
    var dataset: ContentID
    @Flag(help: "The digits name a raster.") var raster = false

    func command(on map: MapDescription) throws -> MapCommand {
        .setSource(
            layer: try map.layer(named: layer).id,
            source: raster ? .raster(dataset) : .dataset(dataset))
    }
}
