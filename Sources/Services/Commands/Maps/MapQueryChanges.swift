// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import MapState

/// On or off, as an argument.
enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

struct MapTime: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "time", abstract: "Set the time fields of a layer.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The date field of the start; without it the layer is without time.")
    var start: String?
    @Argument(help: "The date field of the end; without it features are instants.")
    var end: String?

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        for field in [start, end].compactMap({ $0 }) { try layer.check(field: field) }
        return .setTimeInfo(
            layer: layer.id,
            timeInfo: start.map { LayerTimeInfo(startField: $0, endField: end) })
    }
}

struct MapDrawing: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "drawing", abstract: "Set the symbology of a layer.",
        discussion: """
            The file holds Esri's drawingInfo as JSON: a renderer, labelingInfo and transparency. \
            What 'MapServer/ID?f=json' shows under drawingInfo can be taken as it is.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(
        help: "The file; without it the default symbology is restored.")
    var file: String?

    func command(on map: MapDescription) throws -> MapCommand {
        .setDrawing(layer: try map.layer(named: layer).id, drawing: try file.map(Self.drawing))
    }

    private static func drawing(at path: String) throws -> LayerDrawing {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(.unreadable, "\(path) cannot be read")
        }
        guard data.count <= 4 * LayerDrawing.byteBound else {
            throw Failure(.tooLarge, "\(path) has \(data.count) bytes: too many for a drawing")
        }
        do throws(Failure) {
            return try CairnJSON.decode(LayerDrawing.self, from: data)
        } catch {
            throw Failure(error.code, "\(path): \(error.message)")
        }
    }
}

struct MapPopup: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "popup", abstract: "Set what a layer's popups show.",
        discussion: """
            The file holds Esri's popupInfo as JSON, with a title or fieldInfos, 256 KiB at most; \
            it is shown byte for byte under popupInfo of 'MapServer/ID?f=json' and \
            'FeatureServer/ID?f=json'. 'cairn map popups' turns popups on and off.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The file.") var file: String?
    @Flag(help: "Remove the definition.") var clear = false

    func validate() throws {
        guard (file == nil) == clear else {
            throw ValidationError("Give a file or --clear, one of them.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        let node = try map.layer(named: layer)
        var info = node.info ?? LayerInfo()
        info.popup = try file.map(Self.definition)
        return .setLayerInfo(layer: node.id, info: info)
    }

    private static func definition(at path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(.unreadable, "\(path) cannot be read")
        }
        guard data.count <= MapLimits.popupBytes else {
            throw Failure(
                .tooLarge,
                "\(path) has \(data.count) bytes: expected at most \(MapLimits.popupBytes)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure(.invalidParameter, "\(path): expected JSON in UTF-8")
        }
        return text
    }
}

struct MapAlias: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "alias", abstract: "Set the alias of a field.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "The field.") var field: String
    @Argument(help: "Its alias; without it that of the source is restored.") var alias: String?

    func command(on map: MapDescription) throws -> MapCommand {
        let layer = try map.layer(named: layer)
        try layer.check(field: field)
        return .setFieldAlias(layer: layer.id, field: field, alias: alias)
    }
}

struct MapQueryable: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "queryable", abstract: "Set whether a layer's features can be queried.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "on or off.") var value: Switch

    func command(on map: MapDescription) throws -> MapCommand {
        .setQueryable(layer: try map.layer(named: layer).id, isQueryable: value == .on)
    }
}

struct MapEditable: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "editable", abstract: "Set whether a layer's features can be edited.",
        discussion: "Only for layers of imported features; off by default.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "on or off.") var value: Switch

    func command(on map: MapDescription) throws -> MapCommand {
        .setEditable(layer: try map.layer(named: layer).id, isEditable: value == .on)
    }
}

struct MapPopups: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "popups", abstract: "Turn a layer's popups on or off.",
        discussion: "An identify for popups only leaves out layers whose popups are off.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer.", completion: .layers) var layer: String
    @Argument(help: "on or off.") var value: Switch

    func command(on map: MapDescription) throws -> MapCommand {
        .setPopups(layer: try map.layer(named: layer).id, isEnabled: value == .on)
    }
}
