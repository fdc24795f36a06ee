// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Remote
internal import Site
internal import WebMaps

// Maps as web map documents.

struct MapWebMap: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "webmap", abstract: "Print a map as a web map document.",
        discussion: """
            Its layers are the site's own services, below --url; without it their URLs have no \
            server. With --at clients request the layers as of that moment too.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?
    @Option(help: "What the site's gateway is reached by, as https://maps.example.org.")
    var url: String?

    func perform(_ session: Session) async throws {
        let map = try await session.map(map, at: at)
        let document = WebMapWriter(
            map, origin: try url.map(Self.origin) ?? "", site: session.site.identity.siteID,
            moment: at == nil ? nil : map.sequence, showsInside: true
        ).document()
        let text = session.output.isJSON ? document : JSONWriter.pretty(document)
        try session.output.write(String(decoding: text, as: UTF8.self) + "\n")
    }

    /// A base URL without a slash at its end; throws for anything but a server.
    static func origin(_ text: String) throws -> String {
        let origin = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let scheme = ["https://", "http://"].first(where: origin.lowercased().hasPrefix),
            !origin.dropFirst(scheme.count).isEmpty, !origin.dropFirst(scheme.count).contains("/")
        else {
            throw UsageFailure(
                "--url \(text.prefix(80)): expected https:// or http://, a host and perhaps a port")
        }
        return origin
    }
}

struct MapImportWebMap: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-webmap", abstract: "Make a map from a web map document.",
        discussion: """
            Layers of this site's services become the layers that these show, with their datasets \
            and edits; layers of other ArcGIS servers, Web Map Services and tiles are added as \
            such. Services are this site's below --url, below the URL in a document that this \
            site wrote, and where a URL names no server. What a map cannot keep is listed.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A file, or a URL as …/content/items/ID/data.", completion: .file())
    var source: String
    @Option(help: "The map to make.", transform: Reading.mapName) var map: MapName
    @Option(
        name: .customLong("url"),
        help: "What the site's gateway is reached by; may be repeated.")
    var urls: [String] = []
    @OptionGroup var network: NetworkOptions

    /// The most bytes of a document.
    private static let byteLimit = 32 << 20

    /// The JSON line of the outcome.
    private struct Line: Encodable {
        var map: MapName
        var sequence: Int64
        var layerCount: Int
        var notes: [String]
    }

    func perform(_ session: Session) async throws {
        let site = session.site
        let bytes = try document(for: site)
        guard bytes.count <= Self.byteLimit else {
            throw Failure(
                .tooLarge,
                "'\(source.prefix(200))' has \(bytes.count) bytes; a web map can have "
                    + "\(Self.byteLimit)")
        }
        let reader = try WebMapReader(
            bytes, site: site.identity.siteID, origins: try urls.map(MapWebMap.origin))
        var maps: [WebMapReader.Source: MapDescription] = [:]
        for source in reader.sources {
            let at = source.moment.map { AsOf.sequence($0) }
            maps[source] = try await session.maps(at: at).map(named: source.map)
        }
        let outcome = reader.map(named: map, from: maps)
        let result = try await session.client().command(
            map: map, .installMap(outcome.content), actor: Session.actor)
        let line = Line(
            map: map, sequence: result.sequence, layerCount: outcome.content.layers.count,
            notes: outcome.notes)
        if session.output.isJSON { return try session.output.record(line) }
        for note in outcome.notes { Output.diagnose(note) }
        try session.output.line(
            "\(map): \(line.layerCount) layers and groups, sequence \(line.sequence)")
    }

    private func document(for site: Site) throws -> [UInt8] {
        if let remote = RemoteSource(source) {
            try remote.check(network.access)
            return try RemoteServices(of: site).download(
                source, credential: network.credential
            ).bytes
        }
        guard let data = FileManager.default.contents(atPath: source) else {
            throw Failure(.unreadable, "'\(source)' cannot be read")
        }
        return Array(data)
    }
}
