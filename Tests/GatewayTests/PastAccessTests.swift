// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import JobKinds
import Site
import Synchronization
import Testing

@testable import Gateway

/// The past through the gateway: as it was with `history`, and what is left of it without.
@Suite struct PastAccessTests {
    private static let root = "/arcgis/rest/services/City/"

    /// Everything that answers as of a moment.
    static let urls =
        [
            "MapServer?", "MapServer/layers?", "MapServer/legend?", "MapServer/0?",
            "MapServer/0/query?where=1=1&", "MapServer/0/1?",
            "MapServer/0/query?returnCountOnly=true&",
            "MapServer/identify?" + AccessTests.identify + "&",
            "MapServer/identify/changes?" + AccessTests.identify + "&",
            "MapServer/find?searchText=x&", "MapServer/export?bbox=0,0,1,1&size=10,10&",
            "MapServer/export?bbox=0,0,1,1&size=10,10&f=image&", "FeatureServer?",
            "FeatureServer/layers?", "FeatureServer/0?", "FeatureServer/0/query?where=1=1&",
            "FeatureServer/0/1?", "FeatureServer/query?layerDefs=0:1=1&",
        ].map { root + $0 } + [
            "/ogc/collections?", "/ogc/collections/City.0?", "/ogc/collections/City.0/items?",
            "/ogc/collections/City.0/items/1?",
        ]

    private func asked(
        _ url: String, grants: [AccessRules.Grant]?,
        _ change: (inout GatewayRequest) -> Void = { _ in }
    ) async throws -> (site: SimulatedSite, body: String) {
        var map = try Samples.map()
        for index in map.layers.indices where map.layers[index].id == 0 {
            map.layers[index].timeInfo = LayerTimeInfo(startField: "POP")
            map.layers[index].isQueryable = true
        }
        let site = SimulatedSite(map: map)
        site.change { inner in
            inner.answerToQuery = { request in
                request.result == .count ? #"{"count":1}"# : #"{"features":[]}"#
            }
        }
        var service = GatewayService(backend: site)
        if let grants {
            service = GatewayService(
                backend: site, access: try RuledSite([:], anonymous: grants).control())
        }
        let parts = url.split(separator: "?", maxSplits: 1)
        var request = GatewayRequest(
            path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [])
        change(&request)
        let response = await service.answer(request)
        return (site, String(decoding: response.body, as: UTF8.self))
    }

    @Test(arguments: urls, ["at=5", "historicMoment=1600000000000", "AT=2026-11-21T09:30:00Z"])
    func `a caller without history sees what is left of the past, and one with it the past`(
        _ url: String, _ moment: String
    ) async throws {
        for (grants, seenFrom): ([AccessRules.Grant]?, Int64?) in [
            ([.init(.query)], SimulatedSite.present),
            ([.init(.query), .init(.history, on: "Other")], SimulatedSite.present),
            ([.init(.query), .init(.history, on: "City")], nil),
            ([.init(.query), .init(.history)], nil), (nil, nil),
        ] {
            let (site, body) = try await asked(url + moment, grants: grants)
            let pasts = site.inner.withLock { $0.pasts }
            #expect(!pasts.isEmpty && pasts.allSatisfy { $0.seenFrom == seenFrom }, "\(body)")
        }
    }

    @Test(arguments: urls) func `the present is asked without a past`(_ url: String) async throws {
        let (site, _) = try await asked(url + "f=json", grants: [.init(.query)])

        // What follows a first answer is of its moment.
        let pasts = site.inner.withLock { $0.pasts }
        #expect(pasts.allSatisfy { $0.seenFrom == nil && $0.moment == .sequence(9) })
    }

    @Test func `the short way of identify sees the same past`() async throws {
        for (operation, seenFrom): (AccessRules.Operation, Int64?) in [
            (.metrics, SimulatedSite.present), (.history, nil),
        ] {
            let site = SimulatedSite(map: try Samples.map())
            let service = GatewayService(
                backend: site,
                access: try RuledSite([:], anonymous: [.init(.query), .init(operation)]).control())
            let line = "GET \(Self.root)MapServer/identify?\(AccessTests.identify)&at=5 HTTP/1.1"
            let plain = try #require(PlainRequest(Array((line + "\r\nHost: h\r\n\r\n").utf8)))
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                let begun = service.begin(plain, RequestClient(), by: service.access.snapshot) {
                    _ in done.resume()
                }
                guard case .asked = begun else {
                    Issue.record("\(begun)")
                    return done.resume()
                }
            }
            #expect(
                site.inner.withLock { $0.pasts } == [SeenPast(.sequence(5), seenFrom: seenFrom)])
        }
    }

    @Test func `a past that nobody has decided on is not asked`() throws {
        #expect(throws: Failure.self) { try Parameters(["at": "5"]).past() }
        #expect(try Parameters([:]).past() == nil)
    }

    @Test func `changes of the past are the reader's only with history`() async throws {
        let url = Self.root + "MapServer/changes?after=3"
        let (plain, _) = try await asked(url, grants: [.init(.query)])
        let (seeing, _) = try await asked(url, grants: [.init(.query), .init(.history)])

        #expect(plain.inner.withLock { $0.wasPastSeen } == false)
        #expect(seeing.inner.withLock { $0.wasPastSeen } == true)
    }

    @Test func `past events of layers that are no more are not told, but for their removal`()
        throws
    {
        let map = try Samples.map()
        func isTold(_ event: some EventPayload) throws -> Bool {
            let record = RecordedEvent(
                globalPosition: 5, stream: .map(map.name), streamPosition: 3,
                recordedAt: Timestamp(microseconds: 0),
                event: try event.newEvent(id: .timeOrdered(), metadata: EventMetadata()))
            return GatewayEvent(record, seenFrom: map) != nil
        }
        func edit(_ layer: LayerID, _ others: [LayerID]? = nil) -> FeaturesEdited {
            FeaturesEdited(
                layer: layer, added: [], changed: [], deleted: [1], nextID: 9, refused: nil,
                others: others?.map { edit($0) })
        }
        #expect(try isTold(edit(0)) && isTold(edit(0, [2])) && isTold(LayerRemoved(layer: 9)))
        #expect(try !isTold(edit(9)) && !isTold(edit(0, [9])))
        #expect(try !isTold(LayerRenamed(layer: 9, name: "x")))
        #expect(try isTold(MapCreated(name: map.name)))
    }

    @Test func `a job asks the past, and is read, only with history`() {
        func refusal(_ operations: [AccessRules.Operation]) -> Failure? {
            let caller = Caller(user: "a", grants: operations.map { .init($0, on: "City") })
            do throws(Failure) {
                try caller.check(reading: [.map("City")], pasts: [.map("City")])
                return nil
            } catch {
                return error
            }
        }
        let refused = refusal([.query])
        #expect(refused?.code == .forbidden && refused?.message.contains("'history'") == true)
        #expect(refusal([.query, .history]) == nil)
        func mayBatch(_ operations: [AccessRules.Operation]) -> Bool {
            let caller = Caller(user: "a", grants: operations.map { .init($0) })
            return (try? caller.check(reading: [.every], pasts: [.every])) != nil
        }
        #expect(mayBatch([.query, .history]) && !mayBatch([.query]) && !mayBatch([.history]))
    }

    @Test func `a map that may not be queried is not shown to who may edit it or has jobs`()
        async throws
    {
        let grants: [AccessRules.Grant] = [
            .init(.edit), .init(.jobs), .init(.metrics), .init(.history), .init(.admin),
        ]
        for url in Self.urls + ["/arcgis/rest/services?f=json"] {
            let (site, body) = try await asked(url, grants: grants)
            #expect(!body.contains("City") && !body.contains("Base"), "\(url)")
            #expect(site.inner.withLock { $0.lastAt == nil && $0.queries.isEmpty })
        }
    }
}

/// What is wrong inside a site is told to callers with the operation `admin`.
@Suite struct InsideAccessTests {
    private static let root = "/arcgis/rest/services/City/"
    private static let secret = "http://inner.example:8443/x answered 503"

    private func asked(_ url: String, _ operations: [AccessRules.Operation]) async throws -> String
    {
        var map = try Samples.map()
        let error = Failure(.unreadable, Self.secret, details: [Self.secret])
        for index in map.layers.indices where map.layers[index].id == 0 {
            map.layers[index].definitionExpression = "NAME <> 'inner.example'"
        }
        for index in map.layers.indices where map.layers[index].id == 3 {
            (map.layers[index].loadStatus, map.layers[index].loadError) = (.failedToLoad, error)
        }
        let failure = LayerFailure(layerID: 3, layerName: "Roads", error: error)
        let site = SimulatedSite(map: map)
        site.change { inner in
            var answer = IdentifyAnswer(
                layers: [], spatialReference: .wgs84, sequence: 7, isStale: false,
                failures: [failure])
            answer.explanation = IdentifyExplanation(
                mapSpatialReference: nil, resolution: nil, scale: nil, tolerance: 0,
                toleranceMeters: 0,
                layers: [
                    LayerExplanation(
                        skipped: 3, layerName: "Roads", reason: .failedToLoad,
                        detail: Self.secret),
                    LayerExplanation(
                        skipped: 2, layerName: "Odd", reason: .remoteFailed, detail: Self.secret),
                ])
            inner.identify = .success(answer)
            inner.missing = [failure]
            inner.found =
                #"{"results":[{"value":"\"layerFailures\":["}],"layerFailures":[{"layerId":3,"#
                + #""layerName":"Roads","code":503,"message":"\#(Self.secret)","details":[]}]}"#
            inner.queryFailure = error
        }
        let service = GatewayService(
            backend: site,
            access: try RuledSite([:], anonymous: operations.map { .init($0) }).control())
        let parts = url.split(separator: "?", maxSplits: 1)
        let response = await service.answer(
            GatewayRequest(path: Array(parts[0].utf8), query: Array(parts[1].utf8)))
        return String(decoding: response.body, as: UTF8.self) + response.missing.structuredText
            + response.missing.map { "\($0.error)" }.joined()
    }

    private static let urls: [String] =
        [
            "MapServer/0?f=json", "MapServer/3?f=json", "MapServer/layers?f=json",
            "FeatureServer/layers?f=json", "MapServer/identify?" + AccessTests.identify,
            "MapServer/find?searchText=x&f=json",
            "MapServer/export?bbox=0,0,1,1&size=10,10&f=json",
            "MapServer/export?bbox=0,0,1,1&size=10,10&f=image",
            "MapServer/3/query?where=1=1&f=json", "MapServer/3/7?f=json",
            "FeatureServer/query?layerDefs=3:1=1&f=json",
        ].map { root + $0 }

    @Test(arguments: urls)
    func `what is wrong inside is told to those who may administer`(_ url: String) async throws {
        let plain = try await asked(url, [.query, .history, .edit, .jobs])
        let inner = try await asked(url, [.query, .admin])

        #expect(
            !plain.contains("inner.example") && !plain.contains("reason=unreadable"), "\(plain)")
        #expect(inner.contains("inner.example"), "\(inner)")
        if url.contains("/find") {
            let body = String(plain.prefix { $0 != "\0" })
            #expect(body.contains(#""results":[{"value":"\"layerFailures\":["}]"#))
            #expect(body.contains(#""layerFailures":[{"layerId":3,"layerName":"Roads","code":503"#))
            #expect((try? RelaxedJSON.parse(body)) != nil, "\(body)")
        }
    }
}
