// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Locator
internal import LocatorSources
internal import MapState
internal import Site

struct LocatorCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locator", abstract: "Build, list, show, delete and evaluate locators.",
        subcommands: [
            LocatorBuild.self, LocatorList.self, LocatorShow.self, LocatorEvaluate.self,
            LocatorDelete.self, LocatorCases.self,
        ])
}

struct LocatorBuild: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "build", abstract: "Build a locator from gazetteers and publish it.",
        discussion: """
            World is the locator that geocode asks by default. Works with the site up or down. \
            Sources are gazetteers, tables of addresses, streets, addresses, borders or named \
            features in any vector file that GDAL reads, and extracts of OpenStreetMap. Tables and \
            layers are known by their columns: those of BAN, BANO, OpenAddresses, TIGER/Line, of \
            --columns files, and those with usual headings (housenumber, street, postcode, town, \
            lat, addr:street …). JSON: one line with name, locator, placeCount, pointCount, \
            streetCount, houseCount, segmentCount, areaCount, byteCount, rejectedCount, \
            ignoredCount, rejected, columns and sequence.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "The locator's name, by the rule for map names.", transform: Reading.mapName)
    var name: MapName
    @Argument(
        help: """
            Gazetteers, tables of addresses, vector files, directories of them, dataset:HASH, or \
            layer:MAP/LAYER[@N].
            """
    )
    var sources: [String]
    @Option(help: "A ranking model, JSON, instead of the one that comes with the program.")
    var ranking: String?
    @Option(
        name: .customLong("columns"),
        help: """
            A JSON file that states the columns of addresses, streets, areas or named features. \
            May be repeated.
            """
    )
    var columns: [String] = []
    @Option(
        name: .customLong("constant"),
        help: "FIELD=TEXT, such as city=Cambridge, where a source lacks it. May be repeated.")
    var constants: [String] = []

    struct Line: Encodable {
        var name: String
        var locator: ContentID
        var placeCount: Int
        var pointCount: Int
        var streetCount: Int
        var houseCount: Int
        var segmentCount: Int
        var areaCount: Int
        var byteCount: Int
        var rejectedCount: Int
        var ignoredCount: Int
        var rejected: [String]
        var columns: [SourceColumns]
        var sequence: Int64
    }

    func validate() throws {
        guard !sources.isEmpty else { throw ValidationError("Give one source or more.") }
    }

    func perform(_ session: Session) async throws {
        let given = try sources.map { source throws(Failure) in
            try Self.path(ofSource: source, in: session.site)
        }
        var named: [Int: MapLayerSource] = [:]
        if sources.contains(where: MapLayerSource.isMeant) {
            named = try await session.withProcesses([.log]) {
                var named: [Int: MapLayerSource] = [:]
                for (number, source) in sources.enumerated()
                where MapLayerSource.isMeant(by: source) {
                    named[number] = try await MapLayerSource(source, session)
                }
                return named
            }
        }
        let (layers, texts) = (named, sources)
        let (columns, constants) = (columns, constants)
        let ranking = ranking
        let directory = session.site.locatorsDirectory
        let built = try await OwnThread.run("locator-build") { () throws(Failure) in
            var progress = ProgressLine()
            defer { progress.clear() }
            let staging = try StagingDirectory(in: directory)
            var (sources, sourceNames) = (given, [String: String]())
            for (number, text) in texts.enumerated() {
                if let layer = layers[number] {
                    sources[number] = try layer.makeFile(in: staging)
                    sourceNames[sources[number]] = layer.name
                } else if sources[number] != text {
                    sourceNames[sources[number]] = text
                }
            }
            return try LocatorBuilder.build(
                sources: sources, columns: columns, constants: constants, ranking: ranking,
                sourceNames: sourceNames, vectors: VectorSources.reader(expandingIn: directory),
                into: directory
            ) { step throws(Failure) in
                progress.show("\(Int(step.share * 100))% \(step.step)")
            }
        }.get()
        let sequence = try await session.withProcesses([.log]) {
            try await session.publish(
                LocatorPublished(
                    name: name.rawValue, locator: built.id, placeCount: built.placeCount,
                    attributions: built.sources.attributions))
        }
        let line = Line(
            name: name.rawValue, locator: built.id, placeCount: built.placeCount,
            pointCount: built.pointCount, streetCount: built.streetCount,
            houseCount: built.houseCount, segmentCount: built.segmentCount,
            areaCount: built.areaCount, byteCount: built.byteCount,
            rejectedCount: built.rejectedCount,
            ignoredCount: built.ignoredCount, rejected: built.rejected.map(\.description),
            columns: built.columns, sequence: sequence)
        for warning in built.columns.compactMap(\.warning) {
            Output.diagnose("warning: \(warning)")
        }
        if session.output.isJSON { return try session.output.record(line) }
        var lines = [
            "locator '\(line.name)': \(line.placeCount) places, \(line.pointCount) of them points "
                + "of interest, "
                + "\(line.streetCount) streets, "
                + "\(line.houseCount) house numbers, \(line.segmentCount) segments, "
                + "\(line.areaCount) areas with borders, \(line.byteCount) bytes, "
                + "sequence \(sequence)"
        ]
        if line.rejectedCount > 0 {
            lines.append("  \(line.rejectedCount) lines could not be used")
            lines += line.rejected.prefix(5).map { "  " + $0 }
        }
        lines += built.columns.map { "  \($0.description)" }
        try session.output.lines(lines)
    }
}

extension LocatorBuild {
    /// The file of `dataset:HASH`, which must be one of the site's; any other source is a path
    /// already.
    fileprivate static func path(ofSource source: String, in site: Site) throws(Failure) -> String {
        let mark = "dataset:"
        guard source.hasPrefix(mark) else { return source }
        let text = String(source.dropFirst(mark.count))
        guard let id = ContentID(rawValue: text) else {
            throw Failure(
                .invalidParameter,
                "source '\(source.prefix(80))': expected dataset: and the 64 digits of its hash")
        }
        let path = site.datasetPath(id)
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(.notFound, "there is no dataset '\(text)' in this site")
        }
        return path
    }
}

extension [LocatorSource] {
    /// Distinct attributions; nil without any.
    fileprivate var attributions: [String]? {
        var seen: Set<String> = []
        let all = compactMap(\.attribution).filter { seen.insert($0).inserted }
        return all.isEmpty ? nil : all
    }
}

extension Session {
    /// Records the publication of a locator; returns the event's sequence number.
    fileprivate func publish(_ published: LocatorPublished) async throws -> Int64 {
        try await record(published, of: published.name)
    }

    /// Records an event of a locator; returns its sequence number.
    func record(_ payload: some EventPayload, of name: String) async throws -> Int64 {
        let log = try log()
        let stream = StreamName.locator(name)
        let event = try payload.newEvent(
            id: .timeOrdered(),
            metadata: EventMetadata(actor: Self.actor, producer: "cairn/" + Release.version))
        for _ in 0..<10 {
            let last = try await log.events(stream: stream).last?.streamPosition
            do throws(Failure) {
                return try await log.append(
                    [event], to: stream, expected: last.map { .exact($0) } ?? .noStream
                ).lastPosition
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        throw Failure(
            .conflict, "locator '\(name)' is being changed concurrently: try again")
    }
}

struct LocatorList: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the locators of a site.")

    @OptionGroup var common: CommonOptions
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let state = try await session.maps(at: at)
        var table = Table(["locator", "places", "file"], numbers: [1])
        for name in state.locatorNames {
            guard let published = state.locator(named: name) else { continue }
            if session.output.isJSON { try session.output.record(published) }
            table.add([name, "\(published.placeCount)", published.locator.rawValue])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }
}
