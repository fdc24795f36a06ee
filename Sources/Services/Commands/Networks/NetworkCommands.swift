// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import MapState
internal import Platform
internal import RoadNetwork
internal import RoadSources
internal import Routing
internal import Site

struct NetworkCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Build, list, show and delete road networks.",
        subcommands: [
            NetworkBuild.self, NetworkList.self, NetworkShow.self, NetworkDelete.self,
        ])
}

struct NetworkBuild: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "build", abstract: "Build a road network and publish it.",
        discussion: """
            Works with the site up or down. Sources are extracts of OpenStreetMap, .osm.pbf or \
            .osm, several and overlapping, or vector files with line layers that GDAL reads. A \
            mode is car, truck, bicycle, foot or plain, or the path of a profile, JSON. The same \
            sources and modes give the same file. Extracts whose roads take more memory than there \
            is are refused once the roads are counted, before it is taken. JSON: one line with \
            name, network, topology, byteCount, vertexCount, edgeCount, turnCount, wayCount, \
            restrictionCount, unresolvedCount, rejectedCount, rejected, examples, travelModes and \
            sequence.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network's name, by the rule for map names.", transform: Reading.mapName)
    var name: MapName
    @Argument(help: "Extracts of OpenStreetMap, or vector files with lines.") var sources: [String]
    @Option(help: "Modes, or paths of profiles, separated by commas; the first is the usual one.")
    var modes = "car,foot,bicycle"
    @Option(help: "Of lines: a JSON file that states their columns.") var columns: String?
    @Option(help: "Of lines: metres within which ends are joined.") var tolerance: Double?
    @Option(help: "Of lines: km/h of one unit of the column of speeds, 1.609344 for miles.")
    var speedUnit: Double?
    @Option(help: "The most memory to build with, in megabytes; without it what is available.")
    var memory: Int?
    @Flag(help: "Of lines: join them at every vertex that they share, not at their ends alone.")
    var atVertices = false

    private struct Line: Encodable {
        var name: String
        var network: ContentID
        var topology: ContentID
        var byteCount: Int64
        var vertexCount: Int
        var edgeCount: Int
        var turnCount: Int
        var wayCount: Int
        var restrictionCount: Int
        var unresolvedCount: Int
        var rejectedCount: Int
        var rejected: [String: Int]
        var examples: [String]
        var travelModes: [String]
        var sequence: Int64
    }

    func validate() throws {
        guard !sources.isEmpty else { throw ValidationError("Give one source or more.") }
        guard memory.map({ 1...1_000_000_000 ~= $0 }) ?? true else {
            throw ValidationError("--memory: expected 1 to 1000000000 megabytes.")
        }
    }

    func perform(_ session: Session) async throws {
        let profiles = try modes.split(separator: ",").map { text throws(Failure) in
            try RoadProfile.named(String(text))
        }
        var lines: LineOptions?
        if columns != nil || tolerance != nil || speedUnit != nil || atVertices {
            var options = try LineOptions()
            if let columns {
                options.columns = try LineOptions.Columns(
                    json: try Self.bytes(columns), source: columns)
            }
            options.tolerance = tolerance ?? options.tolerance
            options.speedUnit = speedUnit ?? options.speedUnit
            options.connectsAtVertices = atVertices
            lines = options
        }
        let directory = session.site.networksDirectory
        let (sources, options, network) = (sources, lines, name)
        let limit = memory.map { Int64($0) * 1_000_000 } ?? AvailableMemory.byteCount
        let (built, report, topology, extent, attributions) = try await OwnThread.run(
            "network-build"
        ) { () throws(Failure) in
            var progress = ProgressLine()
            defer { progress.clear() }
            let show = { (step: NetworkBuilder.Progress) throws(Failure) in
                progress.show("\(Int(step.share * 100))% \(step.step)")
            }
            try Site.makeDirectory(directory)
            let (draft, report) = try RoadSources.read(
                sources, profiles: profiles, lines: options, expandingIn: directory,
                reserve: { need throws(Failure) in
                    if let limit, need > limit {
                        throw Failure(
                            .tooLarge,
                            "the roads of network '\(network)' take up to \(need.byteText) of "
                                + "memory to build: expected at most \(limit.byteText), the bound "
                                + "of --memory or what is available")
                    }
                    progress.show("up to \(need.byteText) of memory")
                }, progress: show)
            let built = try NetworkBuilder.build(draft, into: directory, progress: show)
            progress.show("ordering roads")
            let roads = try RoadNetwork(
                path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
            let topology = try RoutableNetwork.writeTopology(of: roads, in: directory)
            return (built, report, topology, roads.extent, draft.sources)
        }.get()
        let modes = profiles.map(\.mode)
        let published = NetworkPublished(
            name: name.rawValue, network: built.id, topology: topology, modes: modes,
            edgeCount: built.edgeCount, extent: extent, attributions: attributions)
        let sequence = try await session.withProcesses([.log]) {
            try await session.record(onNetwork: published.name) { _ in published }
        }
        let line = Line(
            name: name.rawValue, network: built.id, topology: topology,
            byteCount: built.byteCount, vertexCount: built.vertexCount,
            edgeCount: built.edgeCount, turnCount: built.turnCount, wayCount: report.wayCount,
            restrictionCount: built.restrictionCount, unresolvedCount: built.unresolved.count,
            rejectedCount: report.rejectedCount, rejected: report.rejections,
            examples: report.examples,
            travelModes: published.travelModes.map(\.travelMode.name), sequence: sequence)
        if session.output.isJSON { return try session.output.record(line) }
        var text = [
            "network '\(line.name)': \(line.wayCount) ways, \(line.vertexCount) junctions, "
                + "\(line.edgeCount) edges, \(line.restrictionCount) restrictions, "
                + "\(line.byteCount.byteText), sequence \(sequence)",
            "travel modes: " + line.travelModes.joined(separator: ", "),
        ]
        if line.rejectedCount > 0 {
            text.append("\(line.rejectedCount) objects were left out:")
            text += line.rejected.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(20)
                .map { "  \($0.value) \($0.key)" }
        }
        text += built.unresolved.prefix(20).map { "restriction \($0.id): \($0.reason)" }
        try session.output.lines(text)
    }

    private static func bytes(_ path: String) throws(Failure) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(.unreadable, "the columns '\(path)' cannot be read")
        }
        return Array(data)
    }
}

struct NetworkList: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the road networks of a site.",
        discussion: "JSON: one line per network, as it was published.")

    @OptionGroup var common: CommonOptions
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let state = try await session.networks(at: at)
        var table = Table(["network", "edges", "changes", "travel modes"], numbers: [1, 2])
        for name in state.names {
            guard let network = state.network(named: name) else { continue }
            if session.output.isJSON { try session.output.record(network.published) }
            table.add([
                name, "\(network.published.edgeCount)", "\(network.changes.count)",
                network.published.travelModes.map(\.travelMode.name).joined(separator: ", "),
            ])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }
}

struct NetworkShow: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a road network: its modes, roads and sources.",
        discussion: """
            JSON: one line with name, network, topology, edgeCount, changeCount, extent, modes and \
            attributions.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network's name.") var name: String
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    private struct Line: Encodable {
        var name: String
        var network: ContentID
        var topology: ContentID
        var edgeCount: Int
        var changeCount: Int
        var extent: Envelope
        var modes: [NetworkMode]
        var attributions: [String]
    }

    func perform(_ session: Session) async throws {
        let state = try await session.networks(at: at)
        guard let network = state.network(named: name) else {
            throw Failure.noNetwork(name, among: state.names)
        }
        let published = network.published
        if session.output.isJSON {
            return try session.output.record(
                Line(
                    name: published.name, network: published.network,
                    topology: published.topology, edgeCount: published.edgeCount,
                    changeCount: network.changes.count, extent: published.extent,
                    modes: published.modes, attributions: published.attributions ?? []))
        }
        let extent = published.extent
        var lines = [
            "network '\(published.name)': \(published.edgeCount) edges, "
                + "\(network.changes.count) changes of roads, file \(published.network.rawValue)",
            "extent \(extent.minX),\(extent.minY),\(extent.maxX),\(extent.maxY)",
        ]
        for mode in published.modes {
            lines.append(
                "mode \(mode.name) (\(mode.kind.rawValue)): "
                    + mode.travelModes.map(\.name).joined(separator: ", "))
        }
        lines += (published.attributions ?? []).map { "source " + $0 }
        try session.output.lines(lines)
    }
}

struct NetworkDelete: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a road network; its past stays.",
        discussion: """
            Works with the site up or down. Requests find no network of that name any more; those \
            of a recorded past go on being answered until 'cairn sweep --past-before' removes its \
            files. The changes of its roads end. JSON: one line with name and sequence.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network's name.") var name: String

    private struct Line: Encodable {
        var name: String
        var sequence: Int64
    }

    func perform(_ session: Session) async throws {
        let wanted = name
        let line = try await session.withProcesses([.log]) {
            let state = try await session.networks()
            guard let network = state.network(named: wanted) else {
                throw Failure.noNetwork(wanted, among: state.names)
            }
            let name = network.published.name
            let sequence = try await session.record(onNetwork: name) { _ in
                NetworkDeleted(name: name)
            }
            return Line(name: name, sequence: sequence)
        }
        if session.output.isJSON { return try session.output.record(line) }
        try session.output.line("network '\(line.name)' deleted, sequence \(line.sequence)")
    }
}
