// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Dataset
import FoundationEssentials
import Geometry
import LogService
import Logging
import MapState
import MapStateService
import Site
import TestKit
import Testing

/// A site in a temporary directory, with its log and map state as they run in their processes.
private final class RunningSite {
    let site: Site
    let client: CairnClient
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private var logBus: BusThread?
    private var log: LogService?
    private var mapBus: BusThread?
    private var maps: MapStateService?
    /// The service that runs; throws what ended it.
    private(set) var work: Task<Void, any Error>?

    init() throws {
        let path = "/tmp/cairn-maps-" + UUID().uuidString.prefix(8).lowercased()
        site = try Site(openingOrCreating: path)
        client = try CairnClient(site: site, patience: .seconds(20))
    }

    func startLog() throws { try start() }

    private func start() throws(Failure) {
        let bus = try BusThread(name: "logd", runDirectory: site.runDirectory)
        logBus = bus
        log = try LogService(site: site, bus: bus, logger: logger)
    }

    func stopLog() {
        log?.stop()
        logBus?.stop()
        (log, logBus) = (nil, nil)
    }

    func startMaps() throws {
        let bus = try BusThread(name: "mapstate", runDirectory: site.runDirectory)
        let service = try MapStateService(site: site, bus: bus, logger: logger)
        (maps, mapBus) = (service, bus)
        work = Task { try await service.run() }
    }

    /// Closes the process's sockets first, as its death would, then ends it.
    func killMaps() async {
        mapBus?.stop()
        maps?.stop()
        work?.cancel()
        _ = await work?.result
        (maps, mapBus, work) = (nil, nil, nil)
    }

    func end() async {
        await killMaps()
        stopLog()
        client.close()
        try? FileManager.default.removeItem(atPath: site.path)
    }

    /// The maps as the log has them now.
    func folded() async throws -> MapsState {
        var state = MapsState()
        for record in try await records() { try state.apply(record) }
        return state
    }

    func records() async throws -> [RecordedEvent] {
        let page: ReadPage = try await client.ask(
            .read, ReadRequest(after: 0, limit: 1000, category: "map"))
        return page.events
    }

    /// Waits until a layer is loaded or has failed.
    func settled(_ layer: LayerID, in map: MapName) async throws -> LayerDescription {
        var found: LayerDescription?
        try await waitUntil("layer \(layer) is loaded or has failed") {
            found = try await folded().layer(layer, in: map)
            return found?.loadStatus == .loaded || found?.loadStatus == .failedToLoad
        }
        return try #require(found)
    }

    /// A dataset of two points in Lambert-93.
    func dataset() throws -> LayerSource {
        let path = site.path + "/points.geojson"
        let text = """
            {"type":"FeatureCollection","name":"points",
             "crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::2154"}},"features":[
            {"type":"Feature","properties":{"NAME":"A","POP":1},
             "geometry":{"type":"Point","coordinates":[652000,6862000]}},
            {"type":"Feature","properties":{"NAME":"B","POP":2},
             "geometry":{"type":"Point","coordinates":[842000,6519000]}}]}
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        let layers = try DatasetBuilder.importFile(path: path, into: site.datasetsDirectory)
        return LayerSource(dataset: try #require(layers.first).dataset)
    }

    static let absent = LayerSource(
        dataset: ContentID(rawValue: String(repeating: "0", count: 64))
            ?? { preconditionFailure("64 zeros are a content id") }())
}

@Suite(.timeLimit(.minutes(5))) struct MapStateServiceTests {
    private let world: MapName
    private let running: RunningSite

    init() throws {
        world = try MapName(parsing: "World")
        running = try RunningSite()
    }

    private func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            await running.end()
            return result
        } catch {
            await running.end()
            throw error
        }
    }

    @Test func `a layer that is added is loaded in the background`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let source = try running.dataset()
            let client = running.client
            _ = try await client.command(map: world, .createMap)

            let added = try await client.command(
                map: world, .addLayer(name: "Points", source: source, place: .init()))

            #expect(added == MapCommandResult(sequence: 2, layer: 0))
            let layer = try await running.settled(0, in: world)
            #expect(layer.loadStatus == .loaded)
            #expect(layer.properties?.featureCount == 2)
            let extent = try #require(layer.properties?.geographicExtent)
            #expect(extent.minX > 2.2 && extent.minX < 2.4)
            #expect(extent.maxY > 48.8 && extent.maxY < 48.9)
            let types = try await running.records().map(\.event.type)
            #expect(
                types == [
                    "map.created", "map.layer.added", "map.layer.loadStarted", "map.layer.loaded",
                ])
        }
    }

    @Test func `a dataset that is not there fails to load, and can be retried`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            _ = try await client.command(
                map: world, .addLayer(name: "Gone", source: RunningSite.absent, place: .init()))
            let failed = try await running.settled(0, in: world)
            #expect(failed.loadStatus == .failedToLoad)
            #expect(failed.loadError?.code == .notFound)

            let retried = try await client.command(map: world, .retryLoad(layer: 0))

            try await waitUntil("the log has six map events") {
                try await running.records().count >= 6
            }
            let records = try await running.records()
            #expect(records[4].globalPosition == retried.sequence)
            #expect(records[5].event.type == "map.layer.loadFailed")
        }
    }

    @Test func `a definition expression that does not fit the data fails the load`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            _ = try await client.command(
                map: world, .addLayer(name: "Gone", source: RunningSite.absent, place: .init()))
            _ = try await running.settled(0, in: world)
            _ = try await client.command(
                map: world, .setDefinitionExpression(layer: 0, expression: "MISSING = 1"))
            _ = try await client.command(
                map: world, .setSource(layer: 0, source: try running.dataset()))

            let failed = try await running.settled(0, in: world)

            #expect(failed.loadError?.message.contains("MISSING") == true)
        }
    }

    @Test func `time fields that the data lacks fail the load`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            _ = try await client.command(
                map: world, .addLayer(name: "Gone", source: RunningSite.absent, place: .init()))
            _ = try await running.settled(0, in: world)
            _ = try await client.command(
                map: world,
                .setTimeInfo(layer: 0, timeInfo: LayerTimeInfo(startField: "MISSING")))
            _ = try await client.command(
                map: world, .setSource(layer: 0, source: try running.dataset()))

            let failed = try await running.settled(0, in: world)

            #expect(failed.loadError?.message.contains("MISSING") == true)
        }
    }

    @Test func `a command sent twice is carried out once, also after a restart`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            let id = UUID.timeOrdered()
            let command = MapCommand.addGroup(name: "G", place: .init())
            let first = try await client.command(map: world, command, id: id)

            let second = try await client.command(map: world, command, id: id)
            await running.killMaps()
            try running.startMaps()
            let third = try await client.command(map: world, command, id: id)

            #expect(second == first)
            #expect(third == first)
            #expect(try await running.records().count == 2)
        }
    }

    @Test func `a refusal is the state's own sentence`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            do throws(Failure) {
                _ = try await running.client.command(map: world, .removeLayer(layer: 3))
                Issue.record("accepted")
            } catch {
                #expect(error == Failure(.notFound, "there is no map 'World'"))
            }
        }
    }

    @Test func `a second writer of maps is refused until it takes over; then the service ends`()
        async throws
    {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            let log = try LogReader(bus: client.bus)
            _ = try await client.command(map: world, .createMap)
            let event = LayerAdded(layer: 0, name: "Other", kind: .group, parent: nil, index: 0)
            let append = StreamAppend(
                stream: .map(world), expected: .exact(0),
                events: [try event.newEvent(id: .timeOrdered(), metadata: EventMetadata())])
            await #expect {
                try await log.append([append])
            } throws: {
                ($0 as? Failure)?.code == .fenced
            }

            let claim = try await log.claim(
                ClaimRequest(category: "map", instance: UUID(), holder: "tests/1"))
            try await log.append([append], under: claim)
            let command = MapCommandRequest(
                id: .timeOrdered(), map: world, command: .addGroup(name: "Mine", place: .init()))
            let requester = try client.requester(.mapRequests)
            await #expect {
                try await requester.request(
                    operation: "command", payload: CairnJSON.encode(command), timeout: .seconds(20))
            } throws: {
                ($0 as? Failure)?.code == .unavailable
            }

            let outcome = await running.work?.result
            #expect(throws: Failure.self) { try outcome?.get() }
            #expect(try await running.records().count == 2)
        }
    }

    @Test func `loads that a crash interrupted are finished after the next start`() async throws {
        try await run {
            try running.startLog()
            let source = try running.dataset()
            let events: [any EventPayload] = [
                MapCreated(name: world),
                LayerAdded(
                    layer: 0, name: "Begun", kind: .layer(source: source), parent: nil, index: 0),
                LayerAdded(
                    layer: 1, name: "Waiting", kind: .layer(source: source), parent: nil,
                    index: 1),
                LayerLoadStarted(layer: 0),
            ]
            let _: AppendResult = try await running.client.ask(
                .append,
                AppendRequest(appends: [
                    StreamAppend(
                        stream: .map(world), expected: .noStream,
                        events: try events.map {
                            try $0.newEvent(id: .timeOrdered(), metadata: EventMetadata())
                        })
                ]))

            try running.startMaps()

            #expect(try await running.settled(0, in: world).loadStatus == .loaded)
            #expect(try await running.settled(1, in: world).loadStatus == .loaded)
            #expect(try await running.records().count == 7)
        }
    }

    @Test(.slow) func `a reader reads its own writes, and any moment before them`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            #expect(try await client.maps().mapNames == [])
            var sequences: [Int64] = [try await client.command(map: world, .createMap).sequence]
            for number in 0..<20 {
                let command = MapCommand.addGroup(name: "G\(number)", place: .init())
                let result = try await client.command(map: world, command)
                sequences.append(result.sequence)

                let now = try await client.maps(minSequence: result.sequence)
                #expect(now.map(named: world)?.layers.count == number + 1)
            }
            for (count, sequence) in sequences.enumerated() {
                let then = try await client.maps(at: .sequence(sequence))
                #expect(then.map(named: world)?.layers.count == count)
                #expect(then.sequence == sequence)
            }
            await #expect(throws: Failure.self) { try await client.maps(at: .sequence(9999)) }
        }
    }

    @Test func `a reader reaches a sequence number that belongs to a job`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            _ = try await client.maps()
            let event = NewEvent(
                id: .timeOrdered(), type: "job.test", schema: 1, data: Data("{}".utf8),
                metadata: EventMetadata())
            let appended: AppendResult = try await client.ask(
                .append,
                AppendRequest(appends: [
                    StreamAppend(
                        stream: .job(JobID(rawValue: UUID())), expected: .noStream,
                        events: [event])
                ]))

            let state = try await client.maps(minSequence: appended.lastPosition)

            #expect(state.sequence >= 2)
            #expect(state.mapNames == [world])
        }
    }

    @Test func `commands wait for a log that starts later`() async throws {
        try await run {
            try running.startMaps()
            let client = running.client
            let created = Task { [world] in try await client.command(map: world, .createMap) }

            try running.startLog()

            #expect(try await created.value == MapCommandResult(sequence: 1))
        }
    }

    @Test(.slow) func `while the log is away nothing is acknowledged`() async throws {
        try await run {
            try running.startLog()
            try running.startMaps()
            let client = running.client
            _ = try await client.command(map: world, .createMap)
            running.stopLog()

            do throws(Failure) {
                _ = try await client.command(map: world, .addGroup(name: "G", place: .init()))
                Issue.record("acknowledged")
            } catch {
                #expect(error.code == .logUnavailable)
            }
        }
    }
}
