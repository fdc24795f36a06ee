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

/// Random questions to a layer of another server, answered as those to the layer itself.
@Suite(.timeLimit(.minutes(5))) struct RemoteQueryTests {
    /// Makes features and questions about them.
    private struct Questions {
        var random: SeededGenerator
        let type: GeometryType
        /// `Z`, `M`, `ZM` or nothing.
        var dimensions = ""

        mutating func pick<T>(_ items: [T]) -> T {
            items[Int.random(in: 0..<items.count, using: &random)]
        }

        mutating func chance(_ times: Int) -> Bool {
            Int.random(in: 0..<times, using: &random) == 0
        }

        mutating func place() -> Coordinate {
            Coordinate(
                x: .random(in: -10...10, using: &random), y: .random(in: 40...55, using: &random))
        }

        /// Shapes of one or two parts, some with a hole, all within a few degrees.
        private mutating func coordinates() -> String {
            let dimensions = dimensions
            func position(_ x: Double, _ y: Double) -> String {
                // A function of the position: rings start where they end.
                let further = dimensions.map { ",\(($0 == "Z" ? x * 3 - y : y * 7 + x).rounded())" }
                return "[\(x),\(y)\(further.joined())]"
            }
            func ring(_ x: Double, _ y: Double, _ side: Double) -> String {
                // No two corners have the same distance from a side: rings are generalised from
                // their start.
                let corners = [(0.0, 0.0), (1, 0.03), (0.96, 1.08), (-0.05, 0.93), (0, 0)]
                return "["
                    + corners.map { position(x + $0.0 * side, y + $0.1 * side) }
                    .joined(separator: ",") + "]"
            }
            let (a, b) = (place(), place())
            let side = Double.random(in: 0.1...3, using: &random)
            switch type {
            case .point: return position(a.x, a.y)
            case .multipoint: return "[\(position(a.x, a.y)),\(position(b.x, b.y))]"
            case .polyline:
                let one = [(a.x, a.y), (a.x + side, a.y), (a.x + side, a.y + side)]
                    .map { position($0.0, $0.1) }.joined(separator: ",")
                let other = "[\(position(b.x, b.y)),\(position(b.x + 1, b.y))]"
                return chance(3) ? "[[\(one)],\(other)]" : "[[\(one)]]"
            case .polygon:
                let hole = chance(3) ? "," + ring(a.x + side / 4, a.y + side / 4, side / 3) : ""
                let one = "[" + ring(a.x, a.y, side) + hole + "]"
                return chance(3) ? "[\(one),[\(ring(b.x + 30, b.y, 1))]]" : "[\(one)]"
            }
        }

        mutating func features(_ count: Int) -> [String] {
            let kind =
                switch type {
                case .point: "Point"
                case .multipoint: "MultiPoint"
                case .polyline: "MultiLineString"
                case .polygon: "MultiPolygon"
                }
            return (1...count).map { id in
                let name = pick([
                    "\"Bergen\"", "\"bergen\"", "\"Zürich\"", "\"a'b\"", "\"50% off\"", "\"\"",
                    "null",
                ])
                let pop = chance(6) ? "null" : "\(Int.random(in: -20...40, using: &random))"
                let size = chance(6) ? "null" : "\(Double.random(in: -1...1, using: &random))"
                let seen =
                    chance(6)
                    ? "null" : "\"20\(pick(["01", "02", "03"]))-05-0\(pick([1, 2, 3]))T06:07:08Z\""
                return """
                    {"type":"Feature","id":\(id * 3),"properties":{"name":\(name),"pop":\(pop),\
                    "size":\(size),"seen":\(seen)},"geometry":{"type":"\(kind)",\
                    "coordinates":\(coordinates())}}
                    """
            }
        }

        mutating func clause() -> String {
            let parts = [
                "pop > \(Int.random(in: -20...40, using: &random))", "pop IS NULL", "1=1", "1=0",
                "OBJECTID <= \(Int.random(in: 0...900, using: &random))", "name = 'Bergen'",
                "name LIKE '%ich'", "UPPER(name) = 'BERGEN'", "size BETWEEN -0.5 AND 0.25",
                "seen >= DATE '2002-05-02'", "NOT (name = 'bergen')", "pop IN (1, 2, 3, 5, 8)",
                "pop + 1 > 5", "name IN ('Zürich', 'a''b')", "pop NOT BETWEEN 0 AND 30",
            ]
            return pick(parts) + pick([" AND ", " OR "]) + pick(parts)
        }

        private mutating func shape() -> Shape {
            let (a, side) = (place(), Double.random(in: 0.5...12, using: &random))
            let corner = Coordinate(x: a.x + side, y: a.y + side)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .point(a)
            case 1: return .multipoint([a, corner])
            case 2: return .polyline(paths: [[a, corner]])
            case 3:
                return .polygon(rings: [
                    [
                        a, Coordinate(x: a.x, y: corner.y), corner, Coordinate(x: corner.x, y: a.y),
                        a,
                    ]
                ])
            default:
                return .envelope(Envelope(minX: a.x, minY: a.y, maxX: corner.x, maxY: corner.y))
            }
        }

        /// One question of all kinds that there are.
        mutating func change(_ request: inout QueryRequest) {
            if !chance(4) { request.clause = clause() }
            if chance(6) { request.text = pick(["ich", "B", "'", "%"]) }
            if chance(3) {
                let relation = pick(QuerySpatialFilter.Relation.allCases)
                request.spatialFilter = QuerySpatialFilter(
                    geometry: shape(), spatialReference: .wgs84, relation: relation,
                    // The second and the last also hold for disjoint features.
                    pattern: relation == .pattern
                        ? pick(["T********", "FF*FF****", "*T*******", "0********", "F********"])
                        : nil)
                if request.spatialFilter?.relation == .intersects, chance(2) {
                    request.spatialFilter?.distanceMeters = pick([1_000, 100_000, 900_000])
                }
            }
            if chance(5) {
                request.time = TimeExtent(
                    from: 1_020_000_000_000, to: chance(2) ? nil : 1_040_000_000_000)
            }
            if chance(5) {
                request.objectIDs = (0..<40).map { _ in Int64.random(in: 0...700, using: &random) }
            }
            request.result = pick([.features, .features, .features, .objectIDs, .count, .extent])
            request.returnCount = chance(2)
            if chance(3) { request.form = pick([.geoJSON, .ogcFeatures]) }
            request.outFields = pick([
                nil, ["*"], ["name"], ["pop", "seen"], ["objectid", "size"],
            ])
            request.returnGeometry = !chance(3)
            if !dimensions.isEmpty {
                (request.returnZ, request.returnM) = (!chance(3), !chance(3))
            }
            request.returnCentroid = chance(5)
            if chance(3) {
                request.outReference = SpatialReference(wkid: pick([3857, 4326, 2154]))
            }
            if chance(4) { request.maxAllowableOffset = 0.3 }
            if chance(4) { request.geometryPrecision = 3 }
            if chance(2) {
                request.order = pick([
                    [QueryOrder(field: "OBJECTID", isDescending: true)],
                    [QueryOrder(field: "pop")], [QueryOrder(field: "OBJECTID")],
                    [QueryOrder(field: "name", isDescending: true), QueryOrder(field: "size")],
                    [QueryOrder(field: "ABS(pop - 12)"), QueryOrder(field: "UPPER(name)")],
                ])
            }
            if chance(2) { request.limit = Int.random(in: 0...60, using: &random) }
            if chance(3) { request.offset = pick([1, 7, 50, 10_000, .max]) }
            if chance(6) {
                request.returnDistinctValues = true
                request.outFields = pick([["name"], ["pop", "name"]])
                request.order = []
            } else if chance(5) {
                request.statistics = [
                    QueryStatistic(
                        kind: pick(QueryStatistic.Kind.allCases), field: pick(["pop", "pop * 2"]),
                        name: "a"),
                    QueryStatistic(kind: .count, field: "*", name: "b"),
                ]
                request.groupFields = pick([[], ["name"], ["UPPER(name)"]])
                request.order = chance(2) ? [QueryOrder(field: "a", isDescending: true)] : []
            }
        }
    }

    private static let abilities: [ServedLayer.Abilities] = [
        ServedLayer.Abilities(), ServedLayer.Abilities(recordLimit: 17),
        ServedLayer.Abilities(recordLimit: 50, hasPages: false),
        ServedLayer.Abilities(recordLimit: 30, isModest: true),
    ]

    @Test(
        .slow,
        arguments: [GeometryType.point, .multipoint, .polyline, .polygon], Seeds.chosen(2))
    func `a layer on another server answers as the layer itself does`(
        _ type: GeometryType, _ seed: UInt64
    ) throws {
        var questions = Questions(random: SeededGenerator(seed: seed), type: type)
        for abilities in Self.abilities {
            let isLimited = questions.chance(2)
            let layer = try ServedLayer(questions.features(180), abilities: abilities) { layer in
                layer.timeInfo = LayerTimeInfo(startField: "seen")
                if isLimited { layer.definitionExpression = "pop IS NULL OR pop <> 7" }
            }
            var answered = 0
            for round in 0..<40 {
                let request = layer.request { questions.change(&$0) }
                let (here, there) = (layer.answerHere(request), layer.answerThere(request))

                #expect(there == here, "seed \(seed) \(abilities) round \(round): \(request)")
                if case .success = here { answered += 1 }
            }
            // Not all were refused.
            #expect(answered > 30)
        }
    }

    private static let dimensions = ["Z", "M", "ZM"]

    @Test(.slow, arguments: [GeometryType.point, .multipoint, .polyline, .polygon], dimensions)
    func `Z and M of another server's features are those of the layer itself`(
        _ type: GeometryType, _ dimensions: String
    ) throws {
        let seed = Seeds.chosen(1)[0]
        var questions = Questions(
            random: SeededGenerator(seed: seed), type: type, dimensions: dimensions)
        for abilities in Self.abilities.prefix(3) {
            let layer = try ServedLayer(
                questions.features(90), dimensions: dimensions, abilities: abilities
            ) { $0.timeInfo = LayerTimeInfo(startField: "seen") }
            #expect(layer.there.layers[0].properties?.hasZ == dimensions.contains("Z"))
            #expect(layer.there.layers[0].properties?.hasM == dimensions.contains("M"))
            var withOrdinates = 0
            for round in 0..<30 {
                let request = layer.request { request in
                    guard round % 2 == 0 else { return questions.change(&request) }
                    (request.returnZ, request.returnM) = (true, round % 8 != 4)
                    request.clause = questions.clause()
                    if round % 4 == 2 { request.form = questions.pick([.geoJSON, .ogcFeatures]) }
                    if questions.chance(3) { request.maxAllowableOffset = 0.3 }
                    if questions.chance(3) { request.outReference = .webMercator }
                }
                let (here, there) = (layer.answerHere(request), layer.answerThere(request))
                #expect(
                    there == here, "seed \(seed) \(abilities) round \(round): \(request)")
                if case .success(let text) = here, text.contains("\"has") { withOrdinates += 1 }
            }
            // They were among what was compared.
            #expect(withOrdinates > 2)

            var find = FindRequest(map: layer.here.name, text: "e")
            (find.returnZ, find.returnM) = (true, true)
            #expect(try layer.findThere(find) == layer.findHere(find))
        }
    }

    @Test(
        .slow, arguments: [GeometryType.point, .multipoint, .polyline, .polygon], dimensions + [""])
    func `features of another server are identified as those of the layer itself`(
        _ type: GeometryType, _ dimensions: String
    ) throws {
        let seed = Seeds.chosen(1)[0]
        var questions = Questions(
            random: SeededGenerator(seed: seed), type: type, dimensions: dimensions)
        for abilities in Self.abilities {
            let layer = try ServedLayer(
                questions.features(120), dimensions: dimensions, abilities: abilities
            ) { layer in
                layer.timeInfo = LayerTimeInfo(startField: "seen")
                layer.definitionExpression = "pop IS NULL OR pop <> 7 AND UPPER(name) <> 'ZÜRICH'"
            }
            var found = 0
            for round in 0..<30 {
                // Some of the places reach over more features than come at once.
                let reach = questions.chance(3) ? 40.0 : 3
                var request = layer.identify(at: questions.place(), within: reach)
                if questions.chance(2) { request.layerDefinitions = [0: questions.clause()] }
                if questions.chance(5) {
                    request.time = TimeExtent(from: 1_020_000_000_000, to: nil)
                }
                request.returnZ = !questions.chance(3)
                request.returnM = !questions.chance(3)
                if questions.chance(4) { request.maxAllowableOffset = 0.2 }
                if questions.chance(4) { request.geometryPrecision = 2 }
                let (here, there) = (
                    try layer.identifyHere(request), try layer.identifyThere(request)
                )
                #expect(there == here, "seed \(seed) \(abilities) round \(round): \(request)")
                found += here.count
            }
            #expect(found > 20)
            let asked = layer.takeAsked()
            // One request and, where it has a hit and the server does not report that this is all,
            // one more.
            #expect(
                abilities.recordLimit > 120 ? 31...60 ~= asked.count : asked.count > 60,
                "\(abilities): \(asked.count)")
            // The server is only sent what is written anew.
            for form in asked {
                let clause = form["where"] ?? ""
                #expect(
                    !clause.contains("ü") && !clause.contains("+ 1")
                        && !clause.contains("UPPER(name) <>"))
            }
        }
    }

    @Test func `another map's reference and a projected layer change nothing`() throws {
        var questions = Questions(random: SeededGenerator(seed: 5), type: .polygon)
        let layer = try ServedLayer(questions.features(60), mapWkid: 3857)
        for round in 0..<40 {
            let request = layer.request { questions.change(&$0) }
            #expect(
                layer.answerThere(request) == layer.answerHere(request),
                "round \(round): \(request)")
        }
    }

    @Test(arguments: Seeds.chosen(2))
    func `pages joined are the whole, each feature once`(_ seed: UInt64) throws {
        var questions = Questions(random: SeededGenerator(seed: seed), type: .point)
        let layer = try ServedLayer(
            questions.features(400), abilities: ServedLayer.Abilities(recordLimit: 23))
        for clause in ["pop > 0", "name = 'Bergen'", nil] {
            var ids: [Int] = []
            var isCut = true
            while isCut {
                let request = layer.request {
                    $0.clause = clause
                    $0.offset = ids.count
                    $0.limit = 50
                    $0.outFields = ["OBJECTID"]
                    $0.returnGeometry = false
                }
                let json = try Self.json(try layer.answerThere(request).get())
                let features = try #require(json["features"] as? [[String: Any]])
                ids += features.compactMap {
                    ($0["attributes"] as? [String: Any])?["OBJECTID"] as? Int
                }
                isCut = json["exceededTransferLimit"] as? Bool ?? false
            }
            let all = layer.request {
                $0.clause = clause
                $0.result = .objectIDs
            }
            let whole = try Self.json(try layer.answerHere(all).get())["objectIds"] as? [Int]
            #expect(ids == whole && ids.count > 10)
        }
    }

    private static func json(_ text: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(object as? [String: Any])
    }

    // MARK: What is sent

    @Test func `a query asks a server for no more than its answer needs`() throws {
        var questions = Questions(random: SeededGenerator(seed: 9), type: .point)
        let layer = try ServedLayer(
            questions.features(900), abilities: ServedLayer.Abilities(recordLimit: 100))
        func given(_ change: (inout QueryRequest) -> Void) throws -> (
            features: Int, forms: [[String: String]]
        ) {
            let before = layer.givenCount.load(ordering: .relaxed)
            let request = layer.request(change)
            #expect(try layer.answerThere(request).get() == layer.answerHere(request).get())
            return (layer.givenCount.load(ordering: .relaxed) - before, layer.takeAsked())
        }

        let page = try given {
            $0.clause = "pop >= 0"
            $0.offset = 300
            $0.limit = 10
        }
        // The first feature of all shows whether the server skips any.
        #expect(page.features == 12 && page.forms.count == 2)
        #expect(page.forms[0]["resultOffset"] == "300" && page.forms[0]["where"] == "pop >= 0")
        let count = try given { $0.result = .count }
        #expect(count.features == 0 && count.forms.count == 1)
        let ids = try given { $0.result = .objectIDs }
        // All that it counts.
        #expect(ids.features == 0 && ids.forms.count == 2)
        // The server may not compare text: so the first pages are looked at here.
        let text = try given {
            $0.clause = "name > 'Berg'"
            $0.limit = 5
        }
        #expect(text.features <= 200)
        let place = try given {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: 0, minY: 45, maxX: 1, maxY: 46)))
        }
        #expect(place.features < 60)
        let nothing = try given { $0.clause = "1 = 0" }
        #expect(nothing.forms.isEmpty)
        let some = try given {
            $0.objectIDs = [3, 6, 7]
            $0.outFields = ["name"]
        }
        // Missing features are requested once more.
        #expect(some.forms.map { $0["objectIds"] } == ["3,6,7", "7"])
        #expect(some.forms[0]["outFields"] == "OBJECTID,name")
    }

    @Test func `a faulty query is refused before a server is asked, in the same words`() throws {
        var questions = Questions(random: SeededGenerator(seed: 3), type: .point)
        let layer = try ServedLayer(questions.features(10))
        let changes: [(inout QueryRequest) -> Void] = [
            { $0.clause = "pop >" }, { $0.clause = "nope = 1" }, { $0.outFields = ["x"] },
            { $0.order = [QueryOrder(field: "x")] }, { $0.offset = -1 },
            { $0.clause = "name = 'x'; DROP TABLE t" },
            { $0.statistics = [QueryStatistic(kind: .sum, field: "name", name: "a")] },
            { $0.spatialFilter = QuerySpatialFilter(geometry: .multipoint([])) },
        ]
        for change in changes {
            let request = layer.request(change)
            let here = layer.answerHere(request)
            #expect(throws: Failure.self) { try here.get() }
            #expect(layer.answerThere(request) == here)
        }
        #expect(layer.takeAsked().isEmpty)
    }

    @Test func `the map's own definition is never lost, whatever the clause is`() throws {
        var questions = Questions(random: SeededGenerator(seed: 4), type: .point)
        let layer = try ServedLayer(questions.features(100)) {
            $0.definitionExpression = "pop > 10 OR name LIKE 'B%'"
        }
        for clause in [nil, "1=1", "1=1 OR pop < 0", "pop IS NULL"] {
            for result in [QueryResult.features, .count, .objectIDs, .extent] {
                let request = layer.request {
                    $0.clause = clause
                    $0.result = result
                }
                #expect(layer.answerThere(request) == layer.answerHere(request))
            }
        }
        let one = layer.request { $0.objectIDs = (1...300).map { Int64($0) } }
        #expect(layer.answerThere(one) == layer.answerHere(one))
    }

    @Test(.slow) func `a text is found as in the layer itself`() throws {
        var questions = Questions(random: SeededGenerator(seed: 6), type: .polyline)
        for abilities in Self.abilities {
            let layer = try ServedLayer(questions.features(150), abilities: abilities) {
                $0.definitionExpression = "pop IS NULL OR pop < 30"
            }
            for text in ["berg", "Bergen", "ü", "%", "'", "1", "-0.", "none of them", "5"] {
                for contains in [true, false] {
                    for fields in [nil, ["name"], ["pop", "size"]] {
                        var request = FindRequest(map: layer.here.name, text: text)
                        request.contains = contains
                        request.fields = fields
                        request.layerDefinitions = [0: "OBJECTID > 12"]
                        #expect(
                            try layer.findThere(request) == layer.findHere(request),
                            "\(text) \(contains) \(fields ?? [])")
                    }
                }
            }
        }
    }
}
