// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Site

// A map as a whole: its properties, its end, its copies.

struct MapDelete: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a map.",
        discussion: """
            The map's past remains: 'cairn identify --at' asks it, 'cairn undo' brings the map \
            back. Its data stay until 'cairn sweep' removes those that nothing refers to.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName

    func perform(_ session: Session) async throws { try await session.send(.deleteMap, to: map) }
}

struct MapCopy: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy a map, in this site or into another with its data.",
        discussion: """
            The copy has the layers of the map with their numbers, symbols, edits and graphics; \
            its past begins with the copy. The other site must be up. Permissions go by names of \
            maps: give them for the new name.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName
    @Argument(help: "Name of the copy; by default the same, in another site.")
    var name: String?
    @Option(help: "The directory of another site.") var toSite: String?
    @Option(help: "The map as of this sequence number or time.", transform: Reading.asOf)
    var at: AsOf?

    func validate() throws {
        guard name != nil || toSite != nil else {
            throw ValidationError("Give a name for the copy, or --to-site.")
        }
    }

    func perform(_ session: Session) async throws {
        let target = try name.map { try Reading.mapName($0) } ?? map
        let content = try await session.map(map, at: at)
        guard let toSite else {
            return try await session.send(.installMap(MapRestored(copyOf: content)), to: target)
        }
        let other = Session(site: try Site(opening: toSite), output: session.output)
        defer { other.close() }
        for layer in content.layers {
            switch layer.kind.source {
            case .dataset(let id)?:
                try copy(id, session.site.datasetsDirectory, other.site.datasetsDirectory)
            case .raster(let id)?:
                try copy(id, session.site.rastersDirectory, other.site.rastersDirectory)
            default: break
            }
        }
        try await other.send(.installMap(MapRestored(copyOf: content)), to: target)
    }

    /// Copies the folder of a dataset or raster that the other site lacks, visible only when whole.
    private func copy(_ id: ContentID, _ from: String, _ to: String) throws {
        let files = FileManager.default
        let (source, target) = (from + "/" + id.rawValue, to + "/" + id.rawValue)
        guard !files.fileExists(atPath: target) else { return }
        let temporary = to + "/.copy-\(ProcessInfo.processInfo.processIdentifier)-\(id.rawValue)"
        defer { try? files.removeItem(atPath: temporary) }
        do {
            try files.copyItem(atPath: source, toPath: temporary)
            try files.moveItem(atPath: temporary, toPath: target)
        } catch {
            guard !files.fileExists(atPath: target) else { return }
            throw Failure(
                .unreadable,
                "the data \(id) of map '\(map)' cannot be copied to '\(to)': "
                    + "\(error)")
        }
    }
}

struct MapRenameMap: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename-map", abstract: "Give a map another name.",
        discussion: """
            The map moves by one commit of the log; its past stays under the old name. \
            Permissions go by names of maps: give them for the new name.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName
    @Argument(help: "Its new name.", transform: Reading.mapName) var name: MapName

    func perform(_ session: Session) async throws {
        try await session.send(.renameMap(name: name), to: map)
    }
}

struct MapSetBookmark: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Name a place of a map, or remove its name.",
        discussion: "A new name comes behind the others; a known one keeps its place.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName
    @Argument(help: "The bookmark's name.") var name: String
    @Option(help: "What it shows, 'xmin,ymin,xmax,ymax' in the map's spatial reference.")
    var extent: String?
    @Flag(help: "Removes it.") var remove = false

    func validate() throws {
        guard (extent == nil) == remove else {
            throw ValidationError("Give --extent or --remove.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        var properties = map.properties ?? MapProperties()
        var bookmarks = properties.bookmarks ?? []
        let place = bookmarks.firstIndex { $0.name == name }
        if let extent {
            let box = try UsageFailure.reading { () throws(Failure) in
                try GeometryText.envelope(extent, name: "--extent")
            }
            let bookmark = MapBookmark(name: name, extent: box)
            if let place { bookmarks[place] = bookmark } else { bookmarks.append(bookmark) }
        } else {
            guard let place else {
                throw Failure(.notFound, "the map '\(self.map)' has no bookmark '\(name)'")
            }
            bookmarks.remove(at: place)
        }
        properties.bookmarks = bookmarks.isEmpty ? nil : bookmarks
        return .setMapProperties(properties)
    }
}

struct MapSetProperties: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "set-properties",
        abstract: "Set title, description, attribution, first extent or reference of a map.",
        discussion: "What is not given stays; an empty text clears.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName
    @Option(help: "The title that people read.") var title: String?
    @Option(help: "The description.") var description: String?
    @Option(help: "Named beside every picture.") var attribution: String?
    @Option(
        help: "What clients show first, 'xmin,ymin,xmax,ymax' in the map's spatial reference.")
    var extent: String?
    @Option(help: "The map's spatial reference: a wkid, EPSG:n, or WKT; otherwise the basemap's.")
    var sr: String?

    func validate() throws {
        guard [title, description, attribution, extent, sr].contains(where: { $0 != nil }) else {
            throw ValidationError("Give at least one property.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        var properties = map.properties ?? MapProperties()
        if let title { properties.title = title.orNil }
        if let description { properties.description = description.orNil }
        if let attribution { properties.attribution = attribution.orNil }
        if let extent {
            properties.initialExtent = try extent.orNil.map { text in
                try UsageFailure.reading { () throws(Failure) in
                    try GeometryText.envelope(text, name: "--extent")
                }
            }
        }
        if let sr { properties.spatialReference = try sr.orNil.map(Reading.spatialReference) }
        return .setMapProperties(properties)
    }
}

struct MapDescribeLayer: MapChange {
    static let configuration = CommandConfiguration(
        commandName: "describe-layer", abstract: "Set description or attribution of a layer.",
        discussion: "What is not given stays; an empty text clears.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", transform: Reading.mapName) var map: MapName
    @Argument(help: "The layer or group.") var layer: String
    @Option(help: "The description.") var description: String?
    @Option(help: "Named beside every picture of it.") var attribution: String?

    func validate() throws {
        guard description != nil || attribution != nil else {
            throw ValidationError("Give --description or --attribution.")
        }
    }

    func command(on map: MapDescription) throws -> MapCommand {
        let node = try map.layer(named: layer)
        var info = node.info ?? LayerInfo()
        if let description { info.description = description.orNil }
        if let attribution { info.attribution = attribution.orNil }
        return .setLayerInfo(layer: node.id, info: info)
    }
}

extension String {
    /// The text; nil for an empty one.
    fileprivate var orNil: String? { isEmpty ? nil : self }
}
