// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Dataset
import FedSite
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

extension FedSite {
    /// Without a time limit by default.
    fileprivate func identify(
        rehearses: Bool = false, readsLog: Bool = false,
        pace: LatencyGate = LatencyGate(tryLimit: 1_000_000_000_000_000, averageLimit: .max)
    ) throws -> SiteIdentify {
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        let engine = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } openDatasets: { id in
            shelf.opened(id)
        }
        let reader: MapFollower.Reader = { [self] request async throws(Failure) in read(request) }
        return try SiteIdentify(
            engine: engine, follower: follower,
            isStale: { [self] in isStale.load(ordering: .relaxed) }, rehearses: rehearses,
            readLog: readsLog ? reader : nil, pace: pace)
    }
}

@Suite(.timeLimit(.minutes(5))) struct SiteIdentifyTests {
    private let fed: FedSite

    init() throws {
        fed = try FedSite()
        try fed.addSquare("square 0", as: 0)
    }

    @Test func `a past that is seen from later is answered alike at once, at leisure and whole`()
        throws
    {
        let site = try fed.identify(readsLog: true)
        let then = fed.follower.current.sequence
        func asked(_ seenFrom: Int64?) -> IdentifyRequest {
            fed.map.request { ($0.at, $0.seenFrom) = (then, seenFrom) }
        }
        let whole = try site.identify(asked(nil))
        #expect(whole.hitCount == 1)
        try fed.map.append(LayerDefinitionChanged(layer: 0, expression: "name = 'another'"))
        let hidden = fed.follower.current.sequence
        try fed.map.append(LayerDefinitionChanged(layer: 0, expression: nil))
        let shown = fed.follower.current.sequence
        try fed.map.append(LayerRemoved(layer: 0))
        let removed = fed.follower.current.sequence

        for (seenFrom, count): (Int64?, Int) in [
            (nil, 1), (then, 1), (hidden, 0), (shown, 1), (removed, 0), (0, 1), (hidden, 0),
            (nil, 1),
        ] {
            let answer = try site.identify(asked(seenFrom))
            #expect(answer.hitCount == count && answer.sequence == then, "\(seenFrom ?? -1)")
            #expect(try site.identifyAtOnce(asked(seenFrom)) == answer)
        }
        // An unknown sequence number is not taken for an empty map.
        #expect(throws: Failure.self) { try site.identify(asked(removed + 1)) }
    }

    @Test func `a layer is asked at once when its dataset has been opened`() throws {
        let site = try fed.identify()
        #expect(try site.identifyAtOnce(fed.map.request()) == nil)

        let expected = try site.identify(fed.map.request())

        #expect(try site.identifyAtOnce(fed.map.request()) == expected)
        try fed.addSquare("square 1", as: 1)
        #expect(try site.identifyAtOnce(fed.map.request()) == nil)
        let next = try site.identify(fed.map.request())
        #expect(try site.identifyAtOnce(fed.map.request()) == next)
        #expect(next.results.map(\.layerID) == [1, 0] && next.sequence == 7)
    }

    @Test func `while the log is away no map is said not to exist`() throws {
        let site = try fed.identify()
        var request = fed.map.request()
        request.map = try #require(MapName(rawValue: "elsewhere"))

        #expect { try site.identify(request) } throws: { ($0 as? Failure)?.code == .notFound }
        fed.isStale.store(true, ordering: .relaxed)
        #expect { try site.identify(request) } throws: {
            ($0 as? Failure)?.code == .logUnavailable
        }
    }

    @Test func `data that a request lacked is prepared in the background`() async throws {
        let site = try fed.identify(rehearses: true)
        var answer: IdentifyAnswer?

        try await waitUntil("the request is answered at once", within: .seconds(120)) {
            answer = try site.identifyAtOnce(fed.map.request())
            return answer != nil
        }

        #expect(answer?.results.map(\.value) == [.string("square 0")])
    }

    @Test func `an answer at once knows what it must, and says what it does not`() throws {
        let site = try fed.identify()
        _ = try site.identify(fed.map.request())

        #expect(try site.identifyAtOnce(fed.map.request { $0.minSequence = 4 })?.sequence == 4)
        #expect(try site.identifyAtOnce(fed.map.request { $0.minSequence = 5 }) == nil)
        #expect(try site.identifyAtOnce(fed.map.request())?.isStale == false)
        fed.isStale.store(true, ordering: .relaxed)
        #expect(try site.identifyAtOnce(fed.map.request())?.isStale == true)
        #expect(try site.identifyAtOnce(fed.map.request { $0.at = 4 })?.isStale == false)
        let timed = fed.map.request { $0.atTime = Timestamp(microseconds: 60_000_000) }
        let leisurely = try site.identify(timed)
        #expect(leisurely.isStale, "more may have happened until then")
        #expect(try site.identifyAtOnce(timed) == leisurely)
    }

    @Test func `the past is answered at once while it is remembered`() throws {
        let site = try fed.identify()
        _ = try site.identify(fed.map.request())
        let past = fed.map.request { $0.at = 4 }
        #expect(try site.identifyAtOnce(past)?.sequence == 4)

        try fed.addSquare("square 1", as: 1)

        #expect(try site.identifyAtOnce(past)?.results.map(\.layerID) == [0])
        #expect(try site.identifyAtOnce(fed.map.request { $0.at = 5 }) == nil)
        #expect(try site.identifyAtOnce(fed.map.request { $0.at = 8 }) == nil)
    }

    @Test func `a past that was never the present here is read once, in the background`()
        async throws
    {
        for name in 1...3 { try fed.addSquare("square \(name)", as: name) }
        let moments: [(inout IdentifyRequest) -> Void] = [
            { $0.at = 5 }, { $0.atTime = Timestamp(microseconds: 6_500_000) },
        ]
        for moment in moments {
            let site = try fed.identify(rehearses: true, readsLog: true)
            let past = fed.map.request(moment)
            #expect(try site.identifyAtOnce(past) == nil)
            var answer: IdentifyAnswer?
            try await waitUntil("the past is answered at once", within: .seconds(120)) {
                answer = try site.identifyAtOnce(past)
                return answer != nil
            }
            let readCount = fed.readCount.load(ordering: .relaxed)

            #expect(try answer == site.identify(past))
            #expect(try site.identifyAtOnce(past) == answer)

            #expect(answer?.results.map(\.layerID) == [0])
            #expect(fed.readCount.load(ordering: .relaxed) == readCount)
        }
        #expect(fed.readCount.load(ordering: .relaxed) > 0)
    }

    @Test func `a map names its last change though less is known of the rest of the site`() throws {
        let maps = RecentMaps()
        let state = fed.follower.current
        #expect(state.sequence == 4)
        // As a follower joins them that has read no locator yet.
        let joined = state.joined(withLocatorsOf: MapsState())
        let change = try #require(joined.lastChange(of: fed.map.name))
        #expect(joined.sequence == 0 && change == 4)
        #expect(joined.map(named: fed.map.name)?.sequence == 4)
        for _ in 0..<2 {
            let map = maps.map(fed.map.name, since: change, at: joined.sequence) {
                joined.map(named: fed.map.name)
            }
            #expect(map?.description.sequence == 4)
        }
        let later = maps.map(fed.map.name, since: change, at: 9) { nil }
        #expect(later?.description.sequence == 9)
    }

    @Test func `an unknown map is for others to deny`() throws {
        let site = try fed.identify()
        let other = try MapName(parsing: "Other")
        #expect(try site.identifyAtOnce(fed.map.request { $0.map = other }) == nil)
    }

    @Test func `a request that cannot be answered is refused in the same words`() throws {
        let site = try fed.identify()
        let request = fed.map.request { $0.tolerance = -1 }
        let expected = #expect(throws: Failure.self) { try site.identify(request) }
        let failure = #expect(throws: Failure.self) { try site.identifyAtOnce(request) }
        #expect(failure != nil && failure == expected)
    }

    @Test func `a map that needs a worker is not tried again and again`() throws {
        try fed.map.add(
            .raster(try Self.anyContent()),
            LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                featureCount: 0), as: 1)
        // The limit is so large that no attempt counts as long on a slow machine.
        let pace = LatencyGate(
            tryLimit: 1_000_000_000_000_000, averageLimit: 300_000_000_000_000)
        #expect(fed.follower.fault == nil)
        let site = try fed.identify(pace: pace)
        let near = fed.map.request { $0.layers = LayerSelection(.all, ids: [0]) }
        _ = try site.identify(near)
        #expect(try site.identifyAtOnce(near) != nil)

        for _ in 0..<30 { #expect(try site.identifyAtOnce(fed.map.request()) == nil) }

        #expect(try site.identifyAtOnce(near) == nil)
        let tries = try (0..<1_000).prefix { _ in try site.identifyAtOnce(near) == nil }.count
        #expect(tries < 1_000, "the map is tried again in the end")
    }

    private static func anyContent() throws -> ContentID {
        try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
    }
}

@Suite struct PaceTests {
    @Test func `a map that took long is left alone for a while, then tried again`() throws {
        let pace = LatencyGate()
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
