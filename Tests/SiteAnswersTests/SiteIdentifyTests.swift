// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import MapState
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import SiteAnswers

/// A site with one map, whose log is fed by hand.
private final class FedSite: Sendable {
    let site: Site
    let name: MapName
    let follower = MapFollower()
    let shelf: DatasetShelf
    let isStale = Atomic<Bool>(false)
    private let head = Atomic<Int64>(0)

    init() throws {
        site = try Site(
            openingOrCreating: NSTemporaryDirectory() + "cairn-answers-" + UUID().uuidString)
        name = try MapName(parsing: "World")
        shelf = DatasetShelf(directory: site.datasetsDirectory)
        try append(MapCreated(name: name))
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }

    /// Adds and loads a layer of one square around (5, 5).
    func addSquare(_ id: LayerID) throws {
        let path = site.path + "/\(id).geojson"
        let text = """
            {"type":"FeatureCollection","features":[{"type":"Feature","id":1,
            "properties":{"name":"square \(id)"},"geometry":{"type":"Polygon",
            "coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}}]}
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let layer = try DatasetBuilder.importFile(path: path, into: site.datasetsDirectory)[0]
        let source = LayerSource(dataset: layer.dataset)
        try append(
            LayerAdded(
                layer: id, name: "layer \(id)", kind: .layer(source: source), parent: nil,
                index: id))
        try append(LayerLoadStarted(layer: id))
        try append(LayerLoaded(layer: id, properties: layer.properties))
    }

    func append(_ payload: some EventPayload) throws {
        let event = try payload.newEvent(id: UUID(), metadata: EventMetadata())
        let position = head.add(1, ordering: .relaxed).newValue
        let record = RecordedEvent(
            globalPosition: position, stream: .map(name), streamPosition: position - 1,
            recordedAt: Timestamp(microseconds: position * 1_000_000), event: event)
        follower.ingest([record], upTo: position)
    }

    /// Without regard to time, unless it is given.
    func identify(
        rehearses: Bool = false,
        pace: Pace = Pace(tryLimit: 1_000_000_000_000_000, averageLimit: .max)
    ) throws -> SiteIdentify {
        let shelf = shelf
        let engine = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } openDatasets: { id in
            shelf.opened(id)
        }
        return try SiteIdentify(
            engine: engine, follower: follower,
            isStale: { [self] in isStale.load(ordering: .relaxed) }, rehearses: rehearses,
            readLog: nil, pace: pace)
    }

    func request(_ change: (inout IdentifyRequest) -> Void = { _ in }) -> IdentifyRequest {
        var request = IdentifyRequest(
            map: name, geometry: .point(Coordinate(x: 5, y: 5)), layers: LayerSelection(.all),
            tolerance: 0, mapExtent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10),
            imageDisplay: ImageDisplay(width: 100, height: 100))
        change(&request)
        return request
    }
}

@Suite(.timeLimit(.minutes(5))) struct SiteIdentifyTests {
    private let fed: FedSite

    init() throws {
        fed = try FedSite()
        try fed.addSquare(0)
    }

    @Test func `a layer is asked at once when somebody has opened it`() throws {
        let site = try fed.identify()
        #expect(try site.identifyAtOnce(fed.request()) == nil)

        let expected = try site.identify(fed.request())

        #expect(try site.identifyAtOnce(fed.request()) == expected)
        try fed.addSquare(1)
        #expect(try site.identifyAtOnce(fed.request()) == nil)
        let next = try site.identify(fed.request())
        #expect(try site.identifyAtOnce(fed.request()) == next)
        #expect(next.results.map(\.layerID) == [1, 0] && next.sequence == 7)
    }

    @Test func `what a request lacked is prepared in the background`() async throws {
        let site = try fed.identify(rehearses: true)
        let end = ContinuousClock.now + .seconds(120)
        var answer: IdentifyAnswer?

        while answer == nil, .now < end {
            answer = try site.identifyAtOnce(fed.request())
            try await Task.sleep(for: .milliseconds(1))
        }

        #expect(answer?.results.map(\.value) == [.string("square 0")])
    }

    @Test func `an answer at once knows what it must, and says what it does not`() throws {
        let site = try fed.identify()
        _ = try site.identify(fed.request())

        #expect(try site.identifyAtOnce(fed.request { $0.minSequence = 4 })?.sequence == 4)
        #expect(try site.identifyAtOnce(fed.request { $0.minSequence = 5 }) == nil)
        #expect(try site.identifyAtOnce(fed.request())?.isStale == false)
        fed.isStale.store(true, ordering: .relaxed)
        #expect(try site.identifyAtOnce(fed.request())?.isStale == true)
        #expect(try site.identifyAtOnce(fed.request { $0.at = 4 })?.isStale == false)
        let timed = fed.request { $0.atTime = Timestamp(microseconds: 60_000_000) }
        let leisurely = try site.identify(timed)
        #expect(leisurely.isStale, "more may have happened until then")
        #expect(try site.identifyAtOnce(timed) == leisurely)
    }

    @Test func `the past is answered at once while it is remembered`() throws {
        let site = try fed.identify()
        _ = try site.identify(fed.request())
        let past = fed.request { $0.at = 4 }
        #expect(try site.identifyAtOnce(past)?.sequence == 4)

        try fed.addSquare(1)

        #expect(try site.identifyAtOnce(past)?.results.map(\.layerID) == [0])
        #expect(try site.identifyAtOnce(fed.request { $0.at = 5 }) == nil)
        #expect(try site.identifyAtOnce(fed.request { $0.at = 8 }) == nil)
    }

    @Test func `an unknown map is for others to deny`() throws {
        let site = try fed.identify()
        let other = try MapName(parsing: "Other")
        #expect(try site.identifyAtOnce(fed.request { $0.map = other }) == nil)
    }

    @Test func `a request that cannot be answered is refused in the same words`() throws {
        let site = try fed.identify()
        let request = fed.request { $0.tolerance = -1 }
        let expected = #expect(throws: Failure.self) { try site.identify(request) }
        let failure = #expect(throws: Failure.self) { try site.identifyAtOnce(request) }
        #expect(failure != nil && failure == expected)
    }

    @Test func `a map that needs somebody else is not tried again and again`() throws {
        try fed.append(
            LayerAdded(
                layer: 9, name: "far", kind: .layer(source: .raster(try Self.anyContent())),
                parent: nil, index: 1))
        try fed.append(LayerLoadStarted(layer: 9))
        try fed.append(
            LayerLoaded(
                layer: 9,
                properties: LayerProperties(
                    extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                    featureCount: 0)))
        // A slow machine takes none of these tries for a long one.
        let pace = Pace(
            tryLimit: 1_000_000_000_000_000, averageLimit: 300_000_000_000_000)
        #expect(fed.follower.fault == nil)
        let site = try fed.identify(pace: pace)
        let near = fed.request { $0.layers = LayerSelection(.all, ids: [0]) }
        _ = try site.identify(near)
        #expect(try site.identifyAtOnce(near) != nil)

        for _ in 0..<30 { #expect(try site.identifyAtOnce(fed.request()) == nil) }

        #expect(try site.identifyAtOnce(near) == nil)
        let tries = try (0..<1_000).prefix { _ in try site.identifyAtOnce(near) == nil }.count
        #expect(tries < 1_000, "the map is tried again in the end")
    }

    private static func anyContent() throws -> ContentID {
        try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
    }
}

@Suite struct PaceTests {
    @Test func `what took long is left alone for a while, then tried again`() throws {
        let pace = Pace()
        let map = try MapName(parsing: "World")
        #expect(pace.isWorthTrying(map))
        pace.note(map, nanoseconds: 1_000)
        #expect(pace.isWorthTrying(map))
        pace.note(map, nanoseconds: .max)
        #expect(pace.isWorthTrying(map), "once is no reason")
        pace.note(map, nanoseconds: .max)
        let pause = (0..<10_000).prefix { _ in !pace.isWorthTrying(map) }.count
        #expect(10...200 ~= pause)
        for _ in 0..<10 { pace.note(map, nanoseconds: 1_000) }
        #expect((0..<1_000).allSatisfy { _ in pace.isWorthTrying(map) })
        #expect(pace.isWorthTrying(try MapName(parsing: "Other")))
    }
}
