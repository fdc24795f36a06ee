// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import JobKinds
import Routing
import Site
import TestKit
import Testing

/// The products of jobs on a road network, against single answers of its router.
@Suite struct RouteJobsTests {
    private let town: RoadTown
    private let seed = UInt64.random(in: .min ... .max)

    init() throws { town = try RoadTown() }

    private static func rows(_ csv: String) -> [[String]] {
        csv.split(separator: "\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        }
    }

    private static func number(_ text: String) -> Double? { text.isEmpty ? nil : Double(text) }

    private static func request(_ terms: RouteTerms, _ stops: [Coordinate]) -> RouteRequest {
        RouteRequest(terms, stops: stops.map { RoutePlace($0) })
    }

    /// Rows of two or three stops; some lack a stop, or have one off the earth, or in the sea.
    private func trips(_ count: Int) -> (csv: String, stops: [[Coordinate]?]) {
        var random = SeededGenerator(seed: seed)
        var csv = "name,x1,y1,x2,y2,x3,y3\n"
        var trips: [[Coordinate]?] = []
        for number in 0..<count {
            var stops = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                RoadTown.place(&random)
            }
            if number % 17 == 3 { stops[0].x = 200 }
            if number % 19 == 5 { stops[0].y = 70 }
            let fields = stops.flatMap { ["\($0.x)", "\($0.y)"] }
            let blank = Array(repeating: "", count: 6 - fields.count)
            csv += (["trip \(number)"] + fields + blank).joined(separator: ",") + "\n"
            trips.append(stops.count < 2 || stops[0].x > 180 ? nil : stops)
        }
        return (csv, trips)
    }

    @Test(arguments: ["Driving Time", "Driving Distance"])
    func `every row has the length, the duration and the status of its route`(
        _ travelMode: String
    ) throws {
        let (csv, trips) = trips(350)
        var run = try JobRun(.batchRoute, ["travelMode": travelMode], csv: csv, on: town)
        let rows = Self.rows(try run.product())
        let router = try town.plain(run.terms)

        #expect(run.chunkCount == 4)
        #expect(rows[0].suffix(3) == ["Length", "Duration", "Status"])
        #expect(rows.count == trips.count + 1)
        var statuses: Set<String> = []
        for (row, stops) in zip(rows.dropFirst(), trips) {
            var expected = ["", "", "invalid"]
            if let stops {
                let answer = try router.route(Self.request(run.terms, stops))
                let all = answer.stops.map(\.status)
                if let route = answer.routes.first {
                    #expect(Self.number(row[7]) == route.length, "seed \(seed)")
                    #expect(Self.number(row[8]) == route.duration, "seed \(seed)")
                    expected = [row[7], row[8], all.contains(.moved) ? "moved" : "ok"]
                } else {
                    expected[2] = all.contains(.notLocated) ? "notLocated" : "notReached"
                }
            }
            statuses.insert(row[9])
            #expect(Array(row.suffix(3)) == expected, "seed \(seed): \(row)")
        }
        #expect(statuses.isSuperset(of: ["ok", "invalid", "notLocated"]))
        let foundCount = rows.count { ["ok", "moved"].contains($0.last) }
        #expect(run.messages.last?.text == "\(foundCount) of 350 rows have a route")
    }

    @Test func `GeoJSON has the line of every route, and the columns of its row`() throws {
        let (csv, trips) = trips(230)
        var run = try JobRun(.batchRoute, ["outputFormat": "geojson"], csv: csv, on: town)
        let file = try CairnJSON.decode(JSONValue.self, from: Data(try run.product().utf8))
        let router = try town.plain(run.terms)

        let features = try #require(file["features"]?.list)
        #expect(features.count == trips.count)
        for (number, (feature, stops)) in zip(features, trips).enumerated() {
            let properties = try #require(feature["properties"])
            #expect(properties["name"] == .string("trip \(number)"))
            let answer = try stops.map { stops throws(Failure) in
                try router.route(Self.request(run.terms, stops))
            }
            let line = try answer?.routes.first?.positions() ?? []
            let found = feature["geometry"]?["coordinates"]?.list ?? []
            #expect(found == line.map { .array([.plain($0.x), .plain($0.y)]) }, "seed \(seed)")
            #expect(properties["Length"] == answer?.routes.first.map { .plain($0.length) } ?? .null)
        }
    }

    /// Places with roles, one of them off the earth.
    private func places(_ count: Int) -> (csv: String, places: [(Coordinate?, String)]) {
        var random = SeededGenerator(seed: seed)
        var csv = "id,lon,lat,role\n"
        var places: [(Coordinate?, String)] = []
        for number in 0..<count {
            let place = RoadTown.place(&random)
            let role = ["origin", "destination", "both"].randomElement(using: &random) ?? ""
            csv += "p\(number),\(number == 4 ? "?" : "\(place.x)"),\(place.y),\(role)\n"
            places.append((number == 4 ? nil : place, role))
        }
        return (csv, places)
    }

    private struct Pair: Hashable {
        var origin: Int
        var destination: Int
    }

    /// The costs of each pair of places, each asked alone.
    private func measured(
        _ places: [(Coordinate?, String)], _ terms: RouteTerms, both: Bool
    ) throws -> [Pair: (duration: Double?, length: Double?)] {
        let router = try town.plain(terms)
        var found: [Pair: (duration: Double?, length: Double?)] = [:]
        for (from, origin) in places.enumerated() where origin.1 != "destination" {
            for (to, destination) in places.enumerated() where destination.1 != "origin" {
                guard from != to else { continue }
                var costs: (duration: Double?, length: Double?) = (nil, nil)
                if let start = origin.0, let end = destination.0 {
                    var request = RouteTableRequest(
                        terms, origins: [RoutePlace(start)], destinations: [RoutePlace(end)])
                    request.wantsBoth = both
                    let answer = try router.table(request)
                    costs = (answer.durations?[0], answer.lengths?[0])
                }
                found[Pair(origin: from, destination: to)] = costs
            }
        }
        return found
    }

    @Test(arguments: ["both", "own"], ["Driving Time", "Driving Distance"])
    func `a matrix has the costs of every pair, row by row`(
        _ costs: String, _ travelMode: String
    ) throws {
        let (csv, places) = places(60)
        var run = try JobRun(
            .odMatrix, ["costs": costs, "travelMode": travelMode], csv: csv, on: town)
        let rows = Self.rows(try run.product())
        let expected = try measured(places, run.terms, both: costs == "both")

        #expect(rows[0] == ["origin", "destination", "duration", "length"])
        let pairs = expected.keys.sorted {
            ($0.origin, $0.destination) < ($1.origin, $1.destination)
        }
        #expect(rows.dropFirst().map { $0[0] } == pairs.map { "p\($0.origin)" })
        #expect(rows.dropFirst().map { $0[1] } == pairs.map { "p\($0.destination)" })
        for (row, pair) in zip(rows.dropFirst(), pairs) {
            #expect(Self.number(row[2]) == expected[pair]?.duration, "seed \(seed): \(row)")
            #expect(Self.number(row[3]) == expected[pair]?.length, "seed \(seed): \(row)")
        }
    }

    @Test func `a sparse matrix has the nearest within the cutoff, the nearest first`() throws {
        let (csv, places) = places(60)
        var run = try JobRun(
            .odMatrix, ["closest": "4", "cutoff": "90", "costs": "own"], csv: csv, on: town)
        let rows = Self.rows(try run.product()).dropFirst()
        let all = try measured(places, run.terms, both: false)

        var expected: [[String]] = []
        for (from, origin) in places.enumerated() where origin.1 != "destination" {
            let near = all.filter { $0.key.origin == from && $0.value.duration ?? 1e9 <= 90 }
                .sorted {
                    ($0.value.duration ?? 0, $0.key.destination)
                        < ($1.value.duration ?? 0, $1.key.destination)
                }
            expected += near.prefix(4).map { ["p\(from)", "p\($0.key.destination)"] }
        }
        #expect(rows.map { Array($0.prefix(2)) } == expected, "seed \(seed)")
        #expect(rows.allSatisfy { Self.number($0[2]) ?? 1e9 <= 90 && $0[3].isEmpty })
        #expect(!expected.isEmpty && expected.count < all.count)
    }

    @Test(arguments: [true, false])
    func `areas are those of each facility`(isTowards: Bool) throws {
        let (csv, places) = places(13)
        var run = try JobRun(
            .serviceAreas, ["breaks": "30, 60", "towards": "\(isTowards)", "areas": "disks"],
            csv: csv, on: town)
        let file = try CairnJSON.decode(JSONValue.self, from: Data(try run.product().utf8))
        let features = try #require(file["features"]?.list)
        let router = try town.plain(run.terms)

        #expect(run.chunkCount == 3)
        var left = features.makeIterator()
        for (number, place) in places.enumerated() {
            guard let location = place.0 else {
                let next = left.next()
                let feature = try #require(next)
                #expect(feature["geometry"] == .null)
                #expect(feature["properties"]?["status"] == .string("invalid"))
                continue
            }
            var request = ReachRequest(
                run.terms, facilities: [RoutePlace(location)], breaks: [30, 60])
            request.isTowards = isTowards
            request.areRings = false
            for area in try router.reach(request).areas {
                let next = left.next()
                let feature = try #require(next)
                #expect(feature["properties"]?["facility"] == .string("p\(number)"))
                #expect(feature["properties"]?["to"] == .plain(area.to))
                guard case .polygon(let rings) = area.shape else {
                    Issue.record("an area is no polygon")
                    continue
                }
                let written = try #require(feature["geometry"]?["coordinates"]?.list)
                let found = written.flatMap { $0.list ?? [] }
                #expect(found.count == rings.count, "seed \(seed)")
                let places = Set(
                    rings.joined().map { position in
                        JSONValue.array([.rounded(position.x), .rounded(position.y)])
                    })
                #expect(Set(found.flatMap { $0.list ?? [] }) == places, "seed \(seed)")
            }
        }
        let surplus = left.next()
        #expect(surplus == nil)
    }

    @Test(arguments: [
        (JobKind.batchRoute, [:]), (.batchRoute, ["outputFormat": "geojson"]), (.odMatrix, [:]),
        (.odMatrix, ["closest": "3"]), (.serviceAreas, ["breaks": "40"]),
    ])
    func `chunks that end before they are done and are done again give the same bytes`(
        _ kind: JobKind, _ parameters: [String: String]
    ) throws {
        let csv = kind == .batchRoute ? trips(250).csv : places(40).csv
        var whole = try JobRun(kind, parameters, csv: csv, on: town)
        var ended = try JobRun(kind, parameters, csv: csv, on: town)
        let product = try whole.product()
        #expect(try ended.product(ending: SeededGenerator(seed: seed)) == product, "seed \(seed)")
        #expect(ended.endedCount > 0, "seed \(seed)")
    }

    @Test func `all chunks answer as of one moment, which parameters name`() throws {
        let (start, end) = (RoadTown.step * 0.5, RoadTown.step * 6.5)
        let row = RoadTown.step * 4
        let csv = "fromX,fromY,toX,toY\n\(start),\(row),\(end),\(row)\n"
        func duration(_ parameters: [String: String]) throws -> Double? {
            var run = try JobRun(.batchRoute, parameters, csv: csv, on: town)
            return Self.number(Self.rows(try run.product())[1][5])
        }
        let (before, after) = ("1970-01-01T00:16:39Z", "1970-01-01T00:16:41Z")
        #expect(RoadTown.closed == 1_000)
        var terms = RouteTerms(network: "Town")
        terms.at = 100
        terms.departure = Timestamp(microseconds: 1_001_000_000)
        let answer = try town.plain(terms).route(
            Self.request(terms, [Coordinate(x: start, y: row), Coordinate(x: end, y: row)]))

        let open = try #require(try duration([:]))
        #expect(try duration(["departure": before]) == open)
        #expect(try duration(["departure": after, "at": "49"]) == open)
        let detour = try #require(try duration(["departure": after]))
        #expect(detour == answer.routes.first?.duration && detour != open)
        #expect(try duration(["departure": after, "at": "50"]) == detour)
    }

    @Test(arguments: [
        (["travelMode": "flying"], "no travel mode 'flying'; expected one of 'Driving Time'"),
        (["network": "Nowhere"], "no network 'Nowhere'"),
        (["at": "101"], "parameter 'at': expected 0 to 100"),
        (["columns": "fromX"], "no column 'fromX'"),
    ])
    func `a job that cannot be done says why`(
        _ parameters: [String: String], _ part: String
    ) throws {
        var run = try JobRun(.batchRoute, parameters, csv: "x1,y1,x2,y2\n0,0,0.001,0\n", on: town)
        let failure = #expect(throws: Failure.self) { try run.product() }
        #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
    }

    @Test(arguments: [
        ("x1,y1,x2,y2\n0,0,0.001,0\n", [:]),
        ("Start Lon;Start Lat;Dest Lon;Dest Lat\n0;0;0,001;0\n", [:]),
        ("stops\n\"0,0;0.001,0\"\n", [:]),
        ("a,b,c,d\n0,0,0.001,0\n", ["columns": "a,b,c,d"]),
        ("p\n\"0,0; 0.001,0;\"\n", ["columns": "p"]),
    ])
    func `stops are found in any usual form of columns`(
        _ csv: String, _ parameters: [String: String]
    ) throws {
        var run = try JobRun(.batchRoute, parameters, csv: csv, on: town)
        let route = try town.plain(run.terms).route(
            Self.request(run.terms, [Coordinate(x: 0, y: 0), Coordinate(x: 0.001, y: 0)]))
        let row = try #require(Self.rows(try run.product()).last)
        #expect(Self.number(row[row.count - 3]) == route.routes.first?.length)
        #expect(row.last == "ok")
    }

    @Test(arguments: [
        (["travelMode": "Flying"], "no travel mode 'flying'; expected one of 'Driving Time'"),
        (["network": "Nowhere"], "parameter 'network': expected 'Town'"),
        (["network": "TOWN", "travelMode": "CAR"], ""),
        (["network": "Nowhere", "at": "3", "travelMode": "Flying"], ""),
    ])
    func `network and travel mode are checked where the networks are known`(
        _ parameters: [String: String], _ refusal: String
    ) throws {
        let run = try JobRun(.batchRoute, parameters, csv: "x1,y1,x2,y2\n", on: town)
        var message = ""
        do throws(Failure) {
            try JobKinds.check(
                JobOrder(
                    kind: .batchRoute, parameters: run.submission.parameters,
                    input: run.submission.input, blobs: run.blobs,
                    networks: [town.network.published]))
        } catch { message = error.message }
        let isAsExpected = refusal.isEmpty ? message.isEmpty : message.contains(refusal)
        #expect(isAsExpected, "\(message)")
    }

    @Test(arguments: [JobKind.batchRoute, .serviceAreas])
    func `a table without rows has an empty product`(_ kind: JobKind) throws {
        let csv = kind == .batchRoute ? "x1,y1,x2,y2\n" : "x,y\n"
        let parameters = kind == .batchRoute ? [:] : ["breaks": "1"]
        var run = try JobRun(kind, parameters, csv: csv, on: town)
        let product = try run.product()
        if kind == .batchRoute {
            #expect(product == "x1,y1,x2,y2,Length,Duration,Status\n")
        } else {
            let file = try CairnJSON.decode(JSONValue.self, from: Data(product.utf8))
            #expect(file["features"] == .array([]))
        }
    }
}

extension JSONValue {
    fileprivate subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    fileprivate var list: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// A number as JSON is read: whole where it is.
    fileprivate static func plain(_ number: Double) -> JSONValue {
        Int64(exactly: number).map { .integer($0) } ?? .real(number)
    }

    /// An ordinate with seven decimals.
    fileprivate static func rounded(_ degrees: Double) -> JSONValue {
        .plain((degrees * 1e7).rounded() / 1e7)
    }
}
