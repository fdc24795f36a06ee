// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import MapState

struct MapCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Read and change maps and their layers.",
        discussion: """
            A layer is named by its number or its name. Every change is one command to the map \
            state and is recorded; a refused command changes nothing.
            """,
        subcommands: [
            MapList.self, MapShow.self, MapCreate.self, MapDelete.self, MapCopy.self,
            MapRenameMap.self, MapSetProperties.self, MapSetBookmark.self, MapDescribeLayer.self,
            MapAddGroup.self, MapAddLayer.self, MapMove.self, MapRemove.self, MapRename.self,
            MapVisibility.self, MapShowLayer.self,
            MapHide.self, MapScale.self, MapDefinition.self, MapDisplayField.self, MapTime.self,
            MapDrawing.self, MapAlias.self, MapQueryable.self, MapPopups.self, MapPopup.self,
            MapEditable.self, MapRetry.self,
            MapSetSource.self, MapAddGraphics.self, MapDraw.self, MapRedraw.self, MapErase.self,
            MapAddWMS.self, MapSetWMS.self, MapAddService.self, MapSetService.self,
            MapWebMap.self, MapImportWebMap.self, MapCache.self,
        ])
}

struct MapList: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the maps of a site.")

    @OptionGroup var common: CommonOptions
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let state = try await session.maps(at: at)
        var table = Table(["map", "sequence", "layers", "spatial reference"], numbers: [1, 2])
        for name in state.mapNames {
            guard let map = state.map(named: name) else { continue }
            if session.output.isJSON { try session.output.record(map) }
            table.add([
                name.rawValue, "\(map.sequence)", "\(map.layers.count)",
                map.spatialReference?.wkid.map { "EPSG:\($0)" } ?? "",
            ])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }
}

struct MapShow: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a map and its layers, top layer first.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let map = try await session.map(map, at: at)
        if session.output.isJSON {
            try session.output.record(map)
        } else {
            try session.output.lines(map.treeLines)
        }
    }
}

/// A command that sends one `MapCommand` about one map.
protocol MapChange: SiteCommand {
    var map: MapName { get }
    /// The command to send; `map` is its present state.
    func command(on map: MapDescription) throws -> MapCommand
}

/// The JSON line of every change.
struct MapChangeLine: Encodable {
    var map: MapName
    /// Sequence number of the change.
    var sequence: Int64
    /// The created layer.
    var layer: LayerID?
    /// The created graphic.
    var graphic: Int64?
}

extension MapChange {
    func perform(_ session: Session) async throws {
        let present = try await session.map(map)
        try await session.send(try command(on: present), to: map)
    }
}

extension Session {
    /// Sends a command and prints the outcome.
    func send(_ command: MapCommand, to map: MapName) async throws {
        let result = try await client().command(
            map: map, command, actor: Self.actor)
        if output.isJSON {
            try output.record(
                MapChangeLine(
                    map: map, sequence: result.sequence, layer: result.layer,
                    graphic: result.graphic))
        } else {
            let made =
                result.layer.map { "layer \($0), " } ?? result.graphic.map { "graphic \($0), " }
                ?? ""
            try output.line("\(map): \(made)sequence \(result.sequence)")
        }
    }
}
