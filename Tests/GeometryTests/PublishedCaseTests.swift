// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import TestKit
import Testing

/// Reads the well-known text of points, lines and polygons, single or multiple; nil for
/// collections.
private struct WKT {
    private var tokens: ArraySlice<String>

    static func shape(_ text: String) -> PreparedShape? {
        var spaced = ""
        for character in text {
            spaced += "(),".contains(character) ? " \(character) " : String(character)
        }
        var reader = WKT(tokens: spaced.split(whereSeparator: \.isWhitespace).map(String.init)[...])
        return reader.shape()
    }

    private mutating func shape() -> PreparedShape? {
        let kind = tokens.removeFirst().uppercased()
        if tokens.first?.uppercased() == "EMPTY" { return PreparedShape(.multipoint([])) }
        switch kind {
        case "POINT": return PreparedShape(.multipoint(coordinates()))
        case "MULTIPOINT":
            // Both "((1 1), (2 2))" and "(1 1, 2 2)" are in use.
            return PreparedShape(.multipoint(list { $0.bareOrWrapped() }.flatMap { $0 }))
        case "LINESTRING", "LINEARRING": return PreparedShape(.polyline(paths: [coordinates()]))
        case "MULTILINESTRING": return PreparedShape(.polyline(paths: list { $0.coordinates() }))
        case "POLYGON": return PreparedShape(polygonParts: [list { $0.coordinates() }])
        case "MULTIPOLYGON":
            return PreparedShape(polygonParts: list { reader in reader.list { $0.coordinates() } })
        default: return nil
        }
    }

    private mutating func list<T>(_ item: (inout WKT) -> T) -> [T] {
        guard tokens.first == "(" else {
            tokens.removeFirst()
            return []
        }
        var items: [T] = []
        while let token = tokens.first, token != ")" {
            tokens.removeFirst()
            items.append(item(&self))
        }
        tokens.removeFirst()
        return items
    }

    private mutating func coordinates() -> [Coordinate] { list { $0.coordinate() } }

    private mutating func bareOrWrapped() -> [Coordinate] {
        tokens.first == "(" ? coordinates() : [coordinate()]
    }

    private mutating func coordinate() -> Coordinate {
        var numbers: [Double] = []
        while let number = tokens.first.flatMap({ Double($0) }) {
            tokens.removeFirst()
            numbers.append(number)
        }
        return Coordinate(x: numbers.first ?? .nan, y: numbers.dropFirst().first ?? .nan)
    }
}

/// The test cases of the Java Topology Suite, from which GEOS descends.
@Suite struct PublishedCaseTests {
    private struct Case: Decodable {
        var id: Int
        var op: String
        var args: [String?]
        var a: String?
        var b: String?
        var expected: String
    }

    @Test func `touching and distance are those of the Java Topology Suite`() throws {
        guard
            let bytes = try SharedData.bytes("geometry_tests/jts_general_validate.jsonl.gz")
        else { return }
        var counts: [String: Int] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let test = try JSONDecoder().decode(Case.self, from: line)
            guard ["intersects", "disjoint", "distance", "isWithinDistance"].contains(test.op),
                let a = test.a.flatMap(WKT.shape), let b = test.b.flatMap(WKT.shape)
            else { continue }
            counts[test.op, default: 0] += 1
            let label: Comment = "\(test.id) \(test.op): \(test.a ?? "") / \(test.b ?? "")"
            switch test.op {
            case "intersects": #expect(a.intersects(b) == (test.expected == "true"), label)
            case "disjoint": #expect(!a.intersects(b) == (test.expected == "true"), label)
            case "distance":
                // JTS calls the distance from an empty geometry 0; here it is nil.
                let distance = a.distance(to: b) ?? 0
                let expected = try #require(Double(test.expected), label)
                #expect(abs(distance - expected) <= 1e-9 * max(1, expected), label)
            default:
                let limit = try #require(
                    test.args.compactMap { $0.flatMap(Double.init) }.last, label)
                let isWithin = a.distance(to: b, within: limit) != nil
                #expect(isWithin == (test.expected == "true"), label)
            }
        }
        #expect(counts["intersects"] ?? 0 > 500 && counts["disjoint"] ?? 0 > 450, "\(counts)")
    }
}
