// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import JobKinds
import Site
import Synchronization
import TestKit
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
            "/ogc/collections/City.0/items/1?", PortalTests.item + "?",
            PortalTests.item + "/data?", PortalTests.item + "/info/thumbnail?",
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

    @Test(
        .slow, arguments: urls, ["at=5", "historicMoment=1600000000000", "AT=2026-11-21T09:30:00Z"])
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

        // Later parts of an answer are of the moment of the first.
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
            let plain = try #require(
                FastIdentifyRequest(Array((line + "\r\nHost: h\r\n\r\n").utf8)))
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

/// Internal errors are shown to callers with the operation `admin`.
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
            "MapServer/export?bbox=0,0,1,1&size=10,10&f=json",
            "MapServer/export?bbox=0,0,1,1&size=10,10&f=image",
            "MapServer/3/query?where=1=1&f=json", "MapServer/3/7?f=json",
            "FeatureServer/query?layerDefs=3:1=1&f=json",
        ].map { root + $0 }

    @Test(arguments: urls)
    func `internal details of a failure reach callers with the right to administer`(_ url: String)
        async throws
    {
        let plain = try await asked(url, [.query, .history, .edit, .jobs])
        let inner = try await asked(url, [.query, .admin])

        #expect(
            !plain.contains("inner.example") && !plain.contains("reason=unreadable"), "\(plain)")
        #expect(inner.contains("inner.example"), "\(inner)")
    }

    /// A service of the map, and the requests to it.
    private func service(
        _ operations: [AccessRules.Operation],
        _ change: @Sendable (inout SimulatedSite.Inner) -> Void
    ) throws -> (GatewayService, SimulatedSite) {
        let site = SimulatedSite(map: try Samples.map())
        site.change(change)
        let access = try RuledSite([:], anonymous: operations.map { .init($0) }).control()
        return (GatewayService(backend: site, access: access), site)
    }

    private func text(
        _ service: GatewayService, _ url: String, form: String? = nil
    ) async throws -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        var request = GatewayRequest(
            path: Array(parts[0].utf8), query: parts.count > 1 ? Array(parts[1].utf8) : [])
        request.form = Array((form ?? "").utf8)
        request.isPost = form != nil
        return String(decoding: await service.answer(request).body, as: UTF8.self)
    }

    @Test(arguments: [
        "MapServer/0/query?where=1=1&f=json", "MapServer/0/query?where=1=1&f=geojson",
        "MapServer/0/7?f=json", "FeatureServer/query?layerDefs=3:1=1&f=json",
        "MapServer/find?searchText=x&f=json",
    ])
    func `a query's answerer is asked to leave internal details out`(
        _ url: String
    ) async throws {
        let (plain, plainSite) = try service([.query, .history, .edit]) { _ in }
        let (inner, innerSite) = try service([.query, .admin]) { _ in }
        for service in [plain, inner] { _ = try await text(service, Self.root + url) }

        func hides(_ site: SimulatedSite) -> [Bool?] {
            site.inner.withLock { inner in
                inner.queries.map(\.hidesInside) + (inner.lastFind.map { [$0.hidesInside] } ?? [])
            }
        }
        #expect(!hides(plainSite).isEmpty && hides(plainSite).allSatisfy { $0 == true })
        #expect(hides(innerSite).allSatisfy { $0 == nil })
    }

    private static let faults: [Failure] =
        [Failure.Code.corrupt, .unreadable, .internal, .noSpace, .newerVersion].map {
            Failure($0, "the bytes of '/srv/inner/layer.fgb' are wrong", details: ["/srv/inner"])
        } + [Failure(.notFound, "'/srv/inner/layer.fgb': no such file or directory")]

    @Test(arguments: faults)
    func `details of a damaged file reach callers with the right to administer`(
        _ fault: Failure
    ) async throws {
        let urls = [
            Self.root + "MapServer/0/query?where=1=1&f=json", Self.root + "MapServer/0/7?f=json",
            Self.root + "MapServer/identify?" + AccessTests.identify,
            "/ogc/collections/City.0/items?f=json",
            "/arcgis/rest/services/World/GeocodeServer/findAddressCandidates?address=x&f=json",
        ]
        for url in urls {
            let (plain, inner) = (
                try service([.query, .history, .edit, .jobs]) {
                    ($0.queryFailure, $0.identify) = (fault, .failure(fault))
                    $0.geocoding = { _ throws(Failure) in throw fault }
                }.0,
                try service([.query, .admin]) {
                    ($0.queryFailure, $0.identify) = (fault, .failure(fault))
                    $0.geocoding = { _ throws(Failure) in throw fault }
                }.0
            )
            let told = try await text(plain, url)
            #expect(!told.contains("/srv") && told.contains("operator"), "\(url) \(told)")
            #expect(try await text(inner, url).contains("/srv/inner"), "\(url)")
        }
    }

    @Test func `an editor without the right to query learns nothing of fields and layers`()
        async throws
    {
        let urls = [
            ("0/deleteFeatures", "where=x=1"), ("0/deleteFeatures", "geometry=1,2"),
            ("0/deleteFeatures", "objectIds=1"), ("3/addFeatures", "features=[{}]"),
            ("0/applyEdits", "deletes=1"), ("applyEdits", #"edits=[{"id":0,"deletes":[1]}]"#),
        ]
        for code in [Failure.Code.invalidParameter, .notFound, .conflict, .unavailable] {
            func told(
                _ operations: [AccessRules.Operation], _ url: String, _ form: String
            ) async throws -> String {
                let (service, _) = try service(operations) {
                    $0.queryFailure = Failure(code, "layer 0 'takes no secret' has NAME, POP")
                }
                return try await text(
                    service, Self.root + "FeatureServer/" + url + "?f=json", form: form)
            }
            for (url, form) in urls {
                let blind = try await told([.edit], url, form)
                #expect(blind.contains("\"error\""), "\(url) \(blind)")
                #expect(!blind.contains("takes no") && !blind.contains("POP"), "\(url) \(blind)")
                #expect(try await told([.edit, .query], url, form).contains("takes no"), "\(url)")
            }
        }
    }
}

/// Extents are of what a map shows.
@Suite struct ShownExtentTests {
    /// The sides of the source, of what is shown, and the second in degrees.
    private static let hidden = Envelope(minX: -77_123, minY: -77_456, maxX: 77_123, maxY: 77_456)
    private static let urls = [
        "/arcgis/rest/services/City/MapServer?f=json",
        "/arcgis/rest/services/City/MapServer/0?f=json",
        "/arcgis/rest/services/City/MapServer/1?f=json",
        "/arcgis/rest/services/City/MapServer/3?f=json",
        "/arcgis/rest/services/City/MapServer/layers?f=json",
        "/arcgis/rest/services/City/MapServer?f=html",
        "/arcgis/rest/services/City/FeatureServer?f=json",
        "/arcgis/rest/services/City/FeatureServer/0?f=json",
        "/arcgis/rest/services/City/FeatureServer/layers?f=json", "/ogc/collections?f=json",
        "/ogc/collections/City.0?f=json", "/ogc/collections/City.2?f=json",
    ]

    private func site(_ definition: String?, fails: Bool = false) throws -> SimulatedSite {
        var map = try Samples.map()
        for index in map.layers.indices where map.layers[index].kind != .group {
            map.layers[index].definitionExpression = definition
            map.layers[index].properties?.spatialReference = .webMercator
            map.layers[index].properties?.extent = Self.hidden
            map.layers[index].properties?.geographicExtent = Envelope(
                minX: -77.1, minY: -77.4, maxX: 77.1, maxY: 77.4)
        }
        map.initialExtent = Self.hidden
        let site = SimulatedSite(map: map)
        site.change { inner in
            if fails { inner.queryFailure = Failure(.timedOut, "too slow") }
            inner.answerToQuery = { request in
                request.outReference?.latestWkid == 4326
                    ? #"{"extent":{"xmin":5.25,"ymin":6.25,"xmax":7.25,"ymax":8.25}}"#
                    : #"{"extent":{"xmin":510,"ymin":610,"xmax":710,"ymax":810}}"#
            }
        }
        return site
    }

    private func text(_ service: GatewayService, _ url: String) async -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let response = await service.answer(
            GatewayRequest(path: Array(parts[0].utf8), query: Array(parts[1].utf8)))
        return String(decoding: response.body, as: UTF8.self)
    }

    @Test(arguments: urls) func `an extent tells nothing of features that are hidden`(
        _ url: String
    ) async throws {
        let service = GatewayService(backend: try site("POP < 5"))
        let told = await text(service, url)
        #expect(!told.contains("77.") && !told.contains("77123"), "\(told)")
        #expect(told.contains(url.contains("/ogc/") ? "5.25" : "510"), "\(told)")

        let failing = GatewayService(backend: try site("POP < 5", fails: true))
        let without = await text(failing, url)
        #expect(!without.contains("77.") && !without.contains("77123"), "\(without)")
        #expect(["City", "Base", "Group"].contains { without.contains($0) }, "\(without)")

        let open = GatewayService(backend: try site(nil))
        let all = await text(open, url)
        // A group has no extent of its own.
        #expect(all.contains("77") || all.contains("Group Layer"), "\(all)")
    }

    @Test func `an extent is computed once for as long as the layer stays the same`() async throws {
        let site = try site("POP < 5")
        let service = GatewayService(backend: site)
        for _ in 0..<3 { _ = await text(service, Self.urls[0]) }
        // In the layer's reference and in degrees.
        #expect(site.inner.withLock { $0.queries.count } == 6)
        #expect(
            site.inner.withLock {
                $0.queries.allSatisfy { $0.result == .extent && $0.isAuxiliary == true }
            })

        site.change { $0.map.layers[0].definitionExpression = "POP < 6" }
        _ = await text(service, Self.urls[0])
        #expect(site.inner.withLock { $0.queries.count } == 8)
        _ = await text(service, Self.urls[0] + "&at=3")
        #expect(site.inner.withLock { $0.queries.suffix(6).allSatisfy { $0.at == 3 } })
    }
}
