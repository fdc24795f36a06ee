// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FeatureQuery
import Foundation
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Remote

/// Queries of layers whose servers misbehave, over HTTP.
@Suite(.timeLimit(.minutes(5))) struct HostileQueryTests {
    let fixture: RemoteFixture
    private let engine = QueryEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    init() throws { fixture = try RemoteFixture() }

    private func layer(_ kind: String, _ id: LayerID = 0) throws -> LayerDescription {
        try fixture.layer(
            id,
            .featureService(
                ArcGISSource(url: fixture.server.url + "/features/\(kind)/FeatureServer/0")))
    }

    private func ask(
        _ layer: LayerDescription, by services: RemoteServices? = nil,
        _ change: (inout QueryRequest) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> [String: Any] {
        let map = try fixture.map([layer])
        var request = QueryRequest(map: map.name, layer: 0)
        change(&request)
        let services = services ?? fixture.services
        let answer = try engine.answer(
            request, in: map, isCancelled: isCancelled,
            remotes: { question throws(Failure) in
                try services.answer(question, isCancelled: isCancelled)
            })
        let object = try JSONSerialization.jsonObject(with: Data(answer.body))
        return try #require(object as? [String: Any])
    }

    private func failure(
        _ layer: LayerDescription, by services: RemoteServices? = nil,
        _ change: (inout QueryRequest) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> Failure? {
        #expect(throws: Failure.self) {
            try ask(layer, by: services, change, isCancelled: isCancelled)
        }
    }

    /// Kinds of servers, each with the code and a word of the sentence.
    private static let faults: [(kind: String, code: Failure.Code, word: String)] = [
        ("html", .unreadable, "not JSON"), ("token", .unreadable, "499: Token Required"),
        ("nothing", .unreadable, "no features"), ("empty", .unreadable, "an empty page"),
        ("twice", .unreadable, "twice"), ("again", .unreadable, "out of order"),
        ("shape", .unreadable, "feature 7 is a polyline"),
        ("place", .unreadable, "feature 7"), ("text", .unreadable, "the field 'POP'"),
        ("moved", .unreadable, "2154"),
        ("half", .unavailable, "the connection failed"),
        ("break", .unavailable, "the connection failed"), ("huge", .tooLarge, "bytes"),
        ("denied", .unreadable, "status 401"),
    ]

    @Test(.slow, arguments: faults)
    func `a server's fault is one sentence with the layer's name`(
        kind: String, code: Failure.Code, word: String
    ) throws {
        let layer = try layer(kind)

        // More than a page, and without a filter for the server.
        let failure = try #require(
            failure(layer) {
                $0.clause = "POP + 1 > 0"
                $0.result = .extent
            })

        #expect(failure.code == code, "\(failure)")
        #expect(failure.message.hasPrefix("layer 0 'remote 0': "), "\(failure)")
        #expect(failure.message.contains(word), "\(failure)")
        let outside = self.failure(layer) {
            $0.clause = "POP + 1 > 0"
            $0.result = .extent
            $0.hidesInside = true
        }
        #expect(outside?.message.contains(fixture.server.url) == false, "\(outside as Any)")
        // The next request is sent as usual.
        #expect(try ask(try self.layer("good")) { $0.result = .count }["count"] as? Int == 3_000)
    }

    @Test func `counts and ids that cannot be are refused`() throws {
        #expect(
            failure(try layer("negative")) { $0.result = .count }?.message.contains("no count")
                == true)
        let twice = failure(try layer("twice")) { $0.result = .objectIDs }
        #expect(twice?.message.contains("the object id 5 twice") == true)
        #expect(failure(try layer("mute"))?.message.contains("does not allow queries") == true)
    }

    @Test(.slow)
    func `pages that never end stop at a bound that is said, and not before they must`()
        throws
    {
        let layer = try layer("endless")

        let failure = failure(layer) {
            $0.clause = "POP + 1 > 5"
            $0.result = .count
        }
        #expect(failure?.code == .tooLarge)
        #expect(
            failure?.message.contains("more than \(QueryLimits.remoteFeatures) features") == true)
        let page = try ask(layer) { $0.clause = "POP + 1 > 5" }
        #expect((page["features"] as? [Any])?.count == 2_000)
        #expect(page["exceededTransferLimit"] as? Bool == true)
    }

    @Test(.slow) func `features too large for one answer come in smaller pages`() throws {
        let layer = try layer("heavy")
        let rows = try ask(layer) { $0.outFields = ["NOTE"] }
        let features = try #require(rows["features"] as? [Any])
        // As many as one part of an answer holds; the answer reports the cut.
        #expect(features.count == 62 && rows["exceededTransferLimit"] as? Bool == true)
    }

    @Test func `a server without pages is asked by object ids`() throws {
        let layer = try layer("plain")
        let rows = try ask(layer) {
            $0.clause = "POP + 1 = 3"
            $0.offset = 100
            $0.limit = 50
        }
        let features = try #require(rows["features"] as? [[String: Any]])
        let ids = features.compactMap { ($0["attributes"] as? [String: Any])?["OBJECTID"] as? Int }
        #expect(ids == (100..<150).map { 2 + 7 * $0 })
        #expect(rows["exceededTransferLimit"] as? Bool == true)
    }

    @Test func `a server that does not answer in time is said, then left alone`() throws {
        let layer = try layer("hang")
        let services = RemoteServices(
            credentials: fixture.credentials, askTimeout: .milliseconds(300),
            now: { [start = ContinuousClock.now] in start })

        let first = failure(layer, by: services)
        #expect(
            first?.code == .timedOut && first?.message.hasPrefix("layer 0 'remote 0': ") == true)
        let second = failure(layer, by: services)
        #expect(second?.code == .unavailable)
        #expect(second?.message.contains("requests are paused") == true)
    }

    @Test func `a query ends with its caller`() throws {
        let layer = try layer("hang")
        let server = fixture.server
        let wasSeen = Flag()
        // The request is cancelled once the server has the question.
        Thread.detachNewThread {
            let path = "/features/hang/FeatureServer/0/query"
            while let log = try? server.log(), !log.contains(where: { $0.contains(path) }) {}
            wasSeen.isSet.store(true, ordering: .relaxed)
        }

        let failure = failure(layer, isCancelled: { wasSeen.isSet.load(ordering: .relaxed) })

        #expect(failure?.code == .cancelled)
    }

    @Test func `a text is looked for in the other layers, and the failing one is named`() throws {
        let layers = [try layer("good", 0), try layer("token", 1), try layer("good", 2)]
        let map = try fixture.map(layers)
        var request = FindRequest(map: map.name, text: "n2999")
        request.returnGeometry = false

        let answer = try engine.find(
            request, in: map,
            remotes: { [fixture] question throws(Failure) in
                try fixture.services.answer(question)
            })

        let object = try JSONSerialization.jsonObject(with: Data(answer.body))
        let json = try #require(object as? [String: Any])
        let results = try #require(json["results"] as? [[String: Any]])
        #expect(results.map { $0["layerId"] as? Int } == [2, 0])
        #expect(results.map { $0["value"] as? String } == ["n2999", "n2999"])
        let failures = try #require(json["layerFailures"] as? [[String: Any]])
        #expect(failures.map { $0["layerId"] as? Int } == [1])
        #expect(("\(failures[0]["message"] ?? "")").contains("499: Token Required"))
    }

    @Test(
        .slow,
        arguments: [
            Failure.Code.invalidParameter, .notFound, .busy, .cancelled, .draining, .logUnavailable,
            .unreadable, .timedOut, .unavailable, .internal,
        ])
    func `a server's own words are left out, whatever its code`(_ code: Failure.Code) throws {
        var gone = try layer("good", 1)
        gone.loadStatus = .failedToLoad
        gone.loadError = Failure(code, "http://inner.example answered")
        let map = try fixture.map([try layer("good", 0), gone])
        let remotes: QueryEngine.RemoteProvider = { _ throws(Failure) in
            throw Failure(code, "http://inner.example answered", details: ["inner.example"])
        }
        for (layer, hides) in [(0, true), (1, true), (0, nil), (1, nil)] as [(LayerID, Bool?)] {
            var request = QueryRequest(map: map.name, layer: layer)
            request.hidesInside = hides
            let failure = #expect(throws: Failure.self) {
                try engine.answer(request, in: map, remotes: remotes)
            }
            let text = "\(failure?.message ?? "") \(failure?.details ?? [])"
            #expect(text.contains("inner.example") == (hides == nil), "\(text)")

            var find = FindRequest(map: map.name, text: "n2999")
            find.hidesInside = hides
            find.layers = [layer]
            let found = Result {
                String(
                    decoding: try engine.find(find, in: map, remotes: remotes).body, as: UTF8.self)
            }
            let told =
                switch found {
                case .success(let body): body
                case .failure(let error): "\(error)"
                }
            #expect(hides == nil || !told.contains("inner.example"), "\(told)")
            if layer == 0, code != .cancelled {
                #expect(told.contains("layerFailures"), "\(told)")
            }
        }
    }
}
