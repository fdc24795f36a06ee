// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FeatureQuery
import Foundation
import Geometry
import TestKit
import Testing

/// A text looked for in layers, compared with a look at every value.
@Suite struct FindTests {
    /// Typical search texts, and special characters of patterns and clauses.
    private static let words = [
        "50% off", "500 off", "a_b", "aXb", "ab", "A!b", "it's", "its", "é", "É", "x\"y", "Straße",
        "STRASSE", "a\\b", " ", "12", "1",
    ]
    private static let texts =
        words + ["%", "_", "!", "'", "''", "\"", "\\", "a", "B", "ss", "5", "-1", "1.5", "nothing"]

    private struct Row {
        var id: Int
        var name: String?
        var number: Int?
        var size: Double?
    }

    private let rows: [Row]
    private let site: QueriedSite
    private var random: SeededGenerator

    init() throws {
        var random = SeededGenerator(seed: 41)
        var rows: [Row] = []
        for id in 1...150 {
            rows.append(
                Row(
                    id: id,
                    name: Int.random(in: 0..<6, using: &random) == 0
                        ? nil
                        : Self.words.randomElement(using: &random).map {
                            Bool.random(using: &random) ? $0 : "<\($0)>"
                        },
                    number: Bool.random(using: &random)
                        ? nil : Int.random(in: -20...600, using: &random),
                    size: Bool.random(using: &random)
                        ? nil : Double(Int.random(in: 0...9, using: &random)) / 2))
        }
        let features = try rows.map { row in
            func json(_ value: (any Encodable)?) throws -> String {
                guard let value else { return "null" }
                return String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            }
            return """
                {"type":"Feature","id":\(row.id),"properties":{"name":\(try json(row.name)),\
                "number":\(try json(row.number)),"size":\(row.size.map { "\($0)" } ?? "null")},\
                "geometry":{"type":"Point","coordinates":[\(row.id % 90),\(row.id / 9)]}}
                """
        }
        self.rows = rows
        self.random = random
        site = try QueriedSite(features.shuffled(using: &random))
        // Drawn from below: 0, then the group 1 with 2 and 3 in it.
        let layer = site.map.layers[0]
        func copy(_ id: LayerID, parent: LayerID?) -> LayerDescription {
            var copy = layer
            (copy.id, copy.parent, copy.name) = (id, parent, "layer \(id)")
            return copy
        }
        var group = LayerDescription(
            id: 1, name: "group", parent: nil, children: [2, 3], kind: .group, isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: nil)
        group.isVisible = false
        site.map.layers = [copy(0, parent: nil), group, copy(2, parent: 1), copy(3, parent: 1)]
        site.map.rootLayers = [0, 1]
    }

    private func body(_ request: FindRequest) throws -> Data {
        var request = request
        var body = Data()
        repeat {
            let answer = try site.engine.find(request, in: site.map)
            body.append(contentsOf: answer.body)
            request.part = answer.next
        } while request.part != nil
        return body
    }

    private func find(
        _ text: String, _ change: (inout FindRequest) -> Void = { _ in }
    ) throws -> (results: [[String: Any]], isCut: Bool) {
        var request = FindRequest(map: site.map.name, text: text)
        change(&request)
        let object = try JSONSerialization.jsonObject(with: try body(request))
        let json = try #require(object as? [String: Any])
        return (
            try #require(json["results"] as? [[String: Any]]),
            json["exceededTransferLimit"] as? Bool == true
        )
    }

    private func failure(
        _ text: String, _ change: (inout FindRequest) -> Void = { _ in }
    ) -> Failure? {
        var request = FindRequest(map: site.map.name, text: text)
        change(&request)
        do {
            _ = try site.engine.find(request, in: site.map)
            return nil
        } catch { return error }
    }

    /// Whether the scalars of one text occur in another, by a search at every position.
    private func holds(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.unicodeScalars), Array(part.unicodeScalars))
        guard text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { start in
            part.indices.allSatisfy { text[start + $0] == part[$0] }
        }
    }

    /// The field of a row that holds the text, looked at in the layer's order.
    private func field(of row: Row, _ text: String, contains: Bool) -> String? {
        let numbers: [(String, Double?, String?)] = [
            ("OBJECTID", Double(row.id), "\(row.id)"),
            ("number", row.number.map(Double.init), row.number.map { "\($0)" }),
            ("size", row.size, row.size.map { "\($0)" }),
        ]
        var found: Set<String> = []
        if let name = row.name {
            if contains
                ? holds(name.uppercased(), text.uppercased())
                : Array(name.utf8) == Array(text.utf8)
            {
                found.insert("name")
            }
        }
        for (field, number, shown) in numbers {
            guard let number, let shown else { continue }
            if contains ? holds(shown, text) : Double(text) == number { found.insert(field) }
        }
        return site.layer.properties.fields.map(\.name).first { found.contains($0) }
    }

    @Test(arguments: [true, false])
    func `find gives what a look at every value gives`(_ contains: Bool) throws {
        var count = 0
        for text in Self.texts {
            let found = try find(text) {
                $0.contains = contains
                $0.layers = [0]
            }
            let expected = rows.compactMap { row in
                field(of: row, text, contains: contains).map { "\(row.id) \($0)" }
            }
            let ids = try found.results.map { result in
                let attributes = try #require(result["attributes"] as? [String: Any])
                let field = try #require(result["foundFieldName"] as? String)
                #expect(result["value"] as? String == attributes[field] as? String)
                return "\(attributes["OBJECTID"] ?? "") \(field)"
            }
            #expect(ids == expected, "\(text)")
            #expect(!found.isCut)
            count += ids.count
        }
        #expect(count > 50)
    }

    @Test func `layers come top first, a group stands for its own, and definitions count`() throws {
        func layers(_ ids: [LayerID]?) throws -> [Int] {
            try find("it's") { $0.layers = ids }.results.compactMap { $0["layerId"] as? Int }
                .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        }
        #expect(try layers(nil) == [3, 2, 0])
        #expect(try layers([0, 3]) == [3, 0])
        #expect(try layers([1]) == [3, 2])
        #expect(failure("x") { $0.layers = [9] }?.code == .invalidParameter)
        site.map.layers[3].isQueryable = false
        #expect(try layers([1]) == [2])
        #expect(failure("x") { $0.layers = [3] }?.message.contains("may not be queried") == true)

        let before = try find("it's") { $0.layers = [0] }.results.count
        let kept = try find("it's") {
            $0.layers = [0]
            $0.layerDefinitions = [0: "OBJECTID > 75", 7: "nonsense"]
        }.results.count
        site.map.layers[0].definitionExpression = "OBJECTID <= 75"
        let other = try find("it's") { $0.layers = [0] }.results.count
        #expect(kept > 0 && other > 0 && kept + other == before)
    }

    @Test func `a layer that was edited is searched as the edits left it`() throws {
        func ids(_ text: String) throws -> [Int] {
            try find(text) {
                $0.layers = [0]
                $0.fields = ["name"]
                $0.returnUnformattedValues = true
            }.results.compactMap { ($0["attributes"] as? [String: Any])?["OBJECTID"] as? Int }
        }
        var names = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.name) })
        var edits = LayerEdits(isOpen: true)
        edits.nextID = 151
        edits.sequence = 43
        func change(_ id: Int, _ name: String?) -> FeatureChange {
            names[id] = .some(name)
            let value: AttributeValue = name.map { .string($0) } ?? .null
            return FeatureChange(
                id: Int64(id), sequence: 43,
                feature: EditedFeature(
                    id: Int64(id), shape: .point(Coordinate(x: 1, y: 1)),
                    attributes: Attributes([
                        .init(name: "name", value: value), .init(name: "number", value: .null),
                        .init(name: "size", value: .null),
                    ])))
        }
        let holders = try ids("straße")
        try #require(holders.count > 2)
        // One loses the text, one is deleted, one keeps it; one that lacked it and a new one get
        // it.
        let other = try #require(rows.first { !holders.contains($0.id) }?.id)
        let (lost, deleted, kept) = (holders[0], holders[1], holders[2])
        edits.apply([
            change(lost, "it's"), change(kept, "<Straße>"), change(other, "STRASSE 1"),
            change(151, "a straße"),
            FeatureChange(id: Int64(deleted), sequence: 43, feature: nil),
        ])
        names[deleted] = nil
        site.map.layers[0].edits = edits
        for text in ["straße", "it's", "a"] {
            let expected = names.filter { holds($0.value?.uppercased() ?? "", text.uppercased()) }
            #expect(try ids(text).sorted() == expected.keys.sorted(), "\(text)")
        }
    }

    @Test func `results have the form of identify, in the reference that is asked for`() throws {
        let result = try #require(
            try find("straße") {
                $0.layers = [0]
                $0.outReference = .webMercator
                $0.geometryPrecision = 0
            }.results.first)
        #expect(result["geometryType"] as? String == "esriGeometryPoint")
        let geometry = try #require(result["geometry"] as? [String: Any])
        let reference = try #require(geometry["spatialReference"] as? [String: Any])
        #expect(reference["latestWkid"] as? Int == 3857)
        let attributes = try #require(result["attributes"] as? [String: Any])
        let id = try #require((attributes["OBJECTID"] as? String).flatMap { Int($0) })
        let place = WebMercator.project(Coordinate(x: Double(id % 90), y: Double(id / 9)))
        #expect(geometry["x"] as? Double == place.x.rounded())
        #expect(geometry["y"] as? Double == place.y.rounded())

        let plain = try #require(
            try find("straße") {
                $0.layers = [0]
                $0.returnGeometry = false
                $0.returnUnformattedValues = true
            }.results.first)
        #expect(plain["geometry"] == nil && plain["geometryType"] == nil)
        #expect((plain["attributes"] as? [String: Any])?["OBJECTID"] as? Int == id)

        site.map.layers[0].fieldAliases = ["name": "Called"]
        for (usesNames, key) in [(true, "name"), (false, "Called")] {
            let named = try #require(
                try find("straße") {
                    $0.layers = [0]
                    $0.returnFieldName = usesNames
                }.results.first)
            #expect(named["foundFieldName"] as? String == "name")
            #expect((named["attributes"] as? [String: Any])?[key] as? String != nil)
        }
    }

    @Test func `fields are those that are named, in any letter case`() throws {
        let all = try find("1") { $0.layers = [0] }.results
        let some = try find("1") {
            $0.layers = [0]
            $0.fields = ["NUMBER", "Name"]
        }.results
        #expect(!some.isEmpty && some.count < all.count)
        #expect(
            some.allSatisfy { ["number", "name"].contains($0["foundFieldName"] as? String) })
        #expect(failure("1") { $0.fields = ["name", "lost"] }?.message.contains("'lost'") == true)
    }

    @Test func `an answer has a thousand results at most and says so, and a text its bound`() throws
    {
        let count = 1_200
        let features = (1...count).map {
            """
            {"type":"Feature","id":\($0),"properties":{"name":"same"},\
            "geometry":{"type":"Point","coordinates":[1,1]}}
            """
        }
        let many = try QueriedSite(features)
        for (layers, cut) in [(1, true), (0, false)] {
            var request = FindRequest(map: many.map.name, text: "SAME")
            if layers == 0 { request.layerDefinitions = [0: "OBJECTID <= 1000"] }
            let answer = try many.engine.find(request, in: many.map)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
            #expect((json["results"] as? [Any])?.count == FindRequest.resultBound)
            #expect((json["exceededTransferLimit"] as? Bool == true) == cut)
        }
        #expect(failure(String(repeating: "x", count: 1_001))?.code == .tooLarge)
        #expect(failure("")?.code == .invalidParameter)
        let long = String(repeating: "!", count: 1_000)
        #expect(try find(long).results.isEmpty)
    }

    /// Two layers of large values and one of small ones between them, drawn from below.
    private func large(_ count: Int) throws -> QueriedSite {
        let text = String(repeating: "x\"é", count: 15_000)
        let features = (1...count).map {
            """
            {"type":"Feature","id":\($0),"properties":{"name":\
            "\(text.replacing("\"", with: "\\\""))\($0)"},\
            "geometry":{"type":"Point","coordinates":[1,1]}}
            """
        }
        var random = SeededGenerator(seed: 7)
        let large = try QueriedSite(features.shuffled(using: &random))
        large.map.layers += [1, 2].map { id in
            var copy = large.map.layers[0]
            (copy.id, copy.name) = (id, "layer \(id)")
            if id == 1 { copy.definitionExpression = "OBJECTID = 3" }
            return copy
        }
        large.map.rootLayers = [0, 1, 2]
        return large
    }

    private struct Parts {
        var bodies: [[UInt8]] = []
        var places: [QueryPart.Place] = []
        /// Numbers of cancellation checks of the engine, one per 64 KiB read.
        var lookCounts: [Int] = []
    }

    private func parts(_ first: FindRequest, of site: QueriedSite) throws -> Parts {
        var (request, parts) = (first, Parts())
        repeat {
            var lookCount = 0
            let answer = try site.engine.find(request, in: site.map) {
                lookCount += 1
                return false
            }
            // As it comes over the bus.
            let received = try QueryAnswer(wireForm: answer.wireForm)
            #expect(received == answer)
            parts.bodies.append(received.body)
            parts.lookCounts.append(lookCount)
            request.part = received.next
            if let next = received.next { parts.places.append(try #require(next.place)) }
        } while request.part != nil
        return parts
    }

    @Test(.slow) func `parts joined are what every feature alone gives, layer after layer`() throws
    {
        let large = try large(60)
        var request = FindRequest(map: large.map.name, text: "X\"É")
        var expected: [UInt8] = Array(#"{"results":["#.utf8)
        for layer in [2, 1, 0] {
            for id in 1...60 where layer != 1 || id == 3 {
                var one = request
                one.layers = [layer]
                one.layerDefinitions = [layer: "OBJECTID = \(id)"]
                let body = try large.engine.find(one, in: large.map).body
                if expected.last != UInt8(ascii: "[") { expected.append(UInt8(ascii: ",")) }
                expected += body.dropFirst(12).dropLast(2)
            }
        }
        expected += Array("]}".utf8)

        let parts = try parts(request, of: large)

        #expect(Array(parts.bodies.joined()) == expected)
        #expect(parts.bodies.count == expected.count / QueryLimits.partBytes + 1)
        #expect(parts.bodies.dropLast().allSatisfy { $0.count == QueryLimits.partBytes })
        #expect(Set(parts.places.map(\.layer)) == [2, 0])
        // Together they read each feature once, and again the one at which a part ends.
        request.text = "nowhere"
        let whole = try self.parts(request, of: large)
        #expect(whole.bodies.count == 1)
        let most = whole.lookCounts[0] + 8 * parts.bodies.count
        #expect(parts.lookCounts.reduce(0, +) <= most, "\(parts.lookCounts) \(whole.lookCounts)")
    }

    @Test(.slow) func `a result larger than parts is cut in its middle and joins again`() throws {
        let text = String(repeating: "long ", count: 1_400_000)
        let features = (1...2).map {
            """
            {"type":"Feature","id":\($0),"properties":{"name":"\(text)\($0)",\
            "more":"\(text)","number":7},\
            "geometry":{"type":"Point","coordinates":[1,1]}}
            """
        }
        let large = try QueriedSite(features)
        var request = FindRequest(map: large.map.name, text: "7")
        request.fields = ["number"]
        let parts = try parts(request, of: large)

        let object = try JSONSerialization.jsonObject(with: Data(parts.bodies.joined()))
        let json = try #require(object as? [String: Any])
        let results = try #require(json["results"] as? [[String: Any]])
        let names = try results.map { result in
            try #require((result["attributes"] as? [String: Any])?["name"] as? String)
        }
        #expect(names == (1...2).map { text + "\($0)" })
        #expect(parts.places.map(\.objectID) == [1, 1, 2, 2])
    }

    @Test func `a part that is none is refused`() {
        func refusal(_ part: QueryPart) -> Failure? { failure("1") { $0.part = part } }
        let good = QueryPart.Place(layer: 2, objectID: 5)
        #expect(refusal(QueryPart(row: 3, byteCount: 0, totalByteCount: 9)) != nil)
        for part in [
            QueryPart(row: -1, byteCount: 0, totalByteCount: 9, place: good),
            QueryPart(row: 1_000, byteCount: 0, totalByteCount: 9, place: good),
            QueryPart(row: 1, byteCount: -1, totalByteCount: 9, place: good),
            QueryPart(row: 1, byteCount: .max, totalByteCount: 9, place: good),
            QueryPart(row: 1, byteCount: 0, totalByteCount: .max, place: good),
            QueryPart(
                row: 1, byteCount: 0, totalByteCount: 9, place: .init(layer: 7, objectID: 1)),
        ] {
            #expect(refusal(part)?.message == "invalid continuation token", "\(part)")
        }
        #expect(refusal(QueryPart(row: 1, byteCount: 0, totalByteCount: 9, place: good)) == nil)
    }
}
