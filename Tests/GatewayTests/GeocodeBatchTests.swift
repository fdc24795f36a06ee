// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services/World/GeocodeServer"

@Suite(.timeLimit(.minutes(1))) struct GeocodeBatchTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func answer(_ query: String, form: String = "") async -> GatewayResponse {
        await service.answer(
            GatewayRequest(
                path: Array((root + "/geocodeAddresses").utf8), query: Array(query.utf8),
                form: Array(form.utf8), isPost: !form.isEmpty))
    }

    private func json(_ addresses: String, _ more: String = "") async throws -> RelaxedValue {
        let form = "f=json&addresses=" + Parameters.encode(addresses) + more
        let body = await answer("", form: form).body
        return try RelaxedJSON.parse(String(decoding: body, as: UTF8.self))
    }

    private static func records(_ texts: [String]) -> String {
        let records = texts.enumerated().map {
            #"{"attributes":{"OBJECTID":\#($0 * 3 + 1),"SingleLine":"\#($1)"}}"#
        }
        return #"{"records":["# + records.joined(separator: ",") + "]}"
    }

    private func found(_ body: RelaxedValue) throws -> [RelaxedValue] {
        guard case .array(let locations)? = body["locations"] else {
            throw Failure(.internal, "\(body)")
        }
        return locations
    }

    private static func candidate(_ name: String) -> Candidate {
        var candidate = Samples.paris
        candidate.address = name
        candidate.attributes = Attributes([
            .init(name: "Status", value: .string("M")),
            .init(name: "Score", value: .real(candidate.score)),
            .init(name: "Match_addr", value: .string(name)),
            .init(name: "City", value: .string("Paris")),
        ])
        return candidate
    }

    @Test(arguments: Seeds.chosen(4))
    func `each record of a batch has one answer, in the order they came`(
        _ seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let kinds = ["found", "tied", "lost", "refused", ""]
        let texts = (0..<60).map { index in
            let kind = kinds[.random(in: 0..<kinds.count, using: &random)]
            return kind.isEmpty ? "" : "\(kind) \(index)"
        }
        let pauses = (0..<60).map { _ in Int.random(in: 0..<20, using: &random) }
        let turn = Atomic<Int>(0)
        site.change {
            $0.geocoding = { request throws(Failure) in
                // Not in the order of the requests.
                let mine = turn.add(1, ordering: .relaxed).oldValue
                for _ in 0..<pauses[mine % 60] { await Task.yield() }
                let name = request.singleLine
                switch name.split(separator: " ").first {
                case "found": return [Self.candidate(name)]
                case "tied": return [Self.candidate(name), Self.candidate("other")]
                case "refused": throw Failure(.invalidParameter, "no letter in it")
                default: return []
                }
            }
        }

        let locations = try found(try await json(Self.records(texts), "&outFields=city"))

        #expect(locations.count == texts.count)
        for (index, (text, location)) in zip(texts, locations).enumerated() {
            let attributes = location["attributes"]
            #expect(attributes?["ResultID"] == .number(Double(index * 3 + 1)))
            let status = text.hasPrefix("found") ? "M" : text.hasPrefix("tied") ? "T" : "U"
            #expect(attributes?["Status"] == .string(status), "\(text)")
            #expect(location["address"] == .string(status == "U" ? "" : text))
            #expect((location["location"] == nil) == (status == "U"))
            #expect((location["score"] == .number(0)) == (status == "U"))
            #expect((attributes?["City"] == .string("Paris")) == (status != "U"))
            #expect((attributes?["Match_addr"] == .string(text)) == (status != "U" || text.isEmpty))
        }
    }

    @Test func `fields make an address, and a record's own country goes before the batch's`()
        async throws
    {
        let asked = Mutex<[GeocodeRequest]>([])
        site.change {
            $0.geocoding = { request throws(Failure) in
                asked.withLock { $0.append(request) }
                return []
            }
        }
        let records = #"""
            {records:[{attributes:{objectid:"7",address:"12 rue",CITY:"Paris",Postal:75002,
            CountryCode:"FR"}},{attributes:{OBJECTID:8,SingleLine:"Lyon"}}]}
            """#
        let body = try await json(
            records,
            "&sourceCountry=DE,AUT&category=City&searchExtent=1,2,3,4&location=2,3&distance=50")

        #expect(try found(body).map { $0["attributes"]?["ResultID"] } == [.number(7), .number(8)])
        let requests = asked.withLock { $0 }.sorted { $0.singleLine < $1.singleLine }
        #expect(requests.map(\.singleLine) == ["12 rue, Paris, 75002", "Lyon"])
        #expect(requests.map(\.countryCodes) == [["FR"], ["DE", "AUT"]])
        for request in requests {
            #expect(request.categories == ["City"] && request.distanceMeters == 50)
            #expect(request.searchExtent == Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
            #expect(request.location == Coordinate(x: 2, y: 3))
        }
        #expect(try found(try await json(#"{"records":[]}"#)).isEmpty)
        let viaGet = await answer("addresses=" + Parameters.encode(Self.records(["a"])))
        #expect(String(decoding: viaGet.body, as: UTF8.self).contains(#""ResultID":1"#))
    }

    @Test func `a batch asks for eight records at once, and never more`() async throws {
        let limit = GeocodeBatch.concurrencyLimit
        let underWay = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        site.change {
            $0.geocoding = { _ throws(Failure) in
                let count = underWay.add(1, ordering: .sequentiallyConsistent).newValue
                most.max(count, ordering: .sequentiallyConsistent)
                // The first wait for one another.
                while most.load(ordering: .sequentiallyConsistent) < limit { await Task.yield() }
                underWay.subtract(1, ordering: .sequentiallyConsistent)
                return []
            }
        }
        let texts = (0..<100).map { "place \($0)" }
        #expect(try found(try await json(Self.records(texts))).count == 100)
        #expect(most.load(ordering: .sequentiallyConsistent) == limit)
    }

    @Test func `a failure that is not of one record, or is of all of them, ends the batch`()
        async throws
    {
        let count = Atomic<Int>(0)
        site.change {
            $0.geocoding = { _ throws(Failure) in
                guard count.add(1, ordering: .relaxed).newValue < 20 else {
                    throw Failure(.unavailable, "no locator worker is running")
                }
                return []
            }
        }
        let texts = Self.records((0..<1_000).map { "place \($0)" })
        #expect(try await json(texts)["error"]?["code"] == .number(503))
        #expect(count.load(ordering: .relaxed) < 20 + 2 * GeocodeBatch.concurrencyLimit)

        site.change {
            $0.geocoding = { _ throws(Failure) in
                throw Failure(.invalidParameter, "'XX' is no country")
            }
        }
        let error = try await json(Self.records(["a", "", "b"]), "&sourceCountry=XX")["error"]
        #expect(error?["message"] == .string("'XX' is no country"))
    }

    @Test func `a client that goes stops what is under way, and nothing more is asked`()
        async throws
    {
        let begun = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        site.change {
            $0.geocoding = { _ throws(Failure) in
                begun.add(1, ordering: .sequentiallyConsistent)
                while !Task.isCancelled { await Task.yield() }
                ended.add(1, ordering: .sequentiallyConsistent)
                throw Failure(.cancelled, "cancelled")
            }
        }
        let addresses = Self.records((0..<100).map { "place \($0)" })
        let asking = Task { try await json(addresses) }
        while begun.load(ordering: .sequentiallyConsistent) < GeocodeBatch.concurrencyLimit {
            await Task.yield()
        }
        asking.cancel()

        #expect(try await asking.value["error"] != nil)
        let limit = GeocodeBatch.concurrencyLimit
        #expect(begun.load(ordering: .sequentiallyConsistent) == limit)
        #expect(ended.load(ordering: .sequentiallyConsistent) == limit)
    }

    @Test(arguments: [
        ("", "addresses"), ("[]", "records"), ("{", "addresses"), (#"{"records":7}"#, "records"),
        (#"{"records":[7]}"#, "record 1"),
        (#"{"records":[{"attributes":{"SingleLine":"a"}}]}"#, "OBJECTID"),
        (#"{"records":[{"attributes":{"OBJECTID":1.5,"SingleLine":"a"}}]}"#, "OBJECTID"),
        (#"{"records":[{"attributes":{"OBJECTID":1e300,"SingleLine":"a"}}]}"#, "OBJECTID"),
        (
            #"{"records":[{"attributes":{"OBJECTID":1}},{"attributes":{"OBJECTID":2,"City":[1]}}]}"#,
            "record 2"
        ),
    ])
    func `a bad batch is refused by a sentence that names the place`(
        _ addresses: String, _ name: String
    ) async throws {
        site.change { $0.lastGeocode = nil }
        let error = try await json(addresses)["error"]
        #expect(error?["code"] == .number(400))
        guard case .string(let message)? = error?["message"] else {
            Issue.record("no message")
            return
        }
        #expect(message.contains(name), "\(message)")
        #expect(site.inner.withLock { $0.lastGeocode } == nil)
    }

    @Test func `one record more than MaxBatchSize is refused`() async throws {
        let body = await service.answer(GatewayRequest(path: Array(root.utf8))).body
        let page = try RelaxedJSON.parse(String(decoding: body, as: UTF8.self))
        let most = try #require(page["locatorProperties"]?["MaxBatchSize"]?.number)

        let texts = (0...Int(most)).map { "\($0)" }
        #expect(try found(try await json(Self.records(texts.dropLast()))).count == Int(most))
        let error = try await json(Self.records(texts))["error"]
        #expect(error?["code"] == .number(413))
    }
}
