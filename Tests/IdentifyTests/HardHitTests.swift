// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

/// The places of `Docs/pictures`: neighbouring doubles around an edge, where a plain ray cast errs.
@Suite struct HardHitTests {
    private struct Case: Decodable {
        struct Polygon: Decodable {
            var name: String
            var ring: [[Double]]
        }

        var name: String
        var polygons: [Polygon]
        var middle: [Double]
    }

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Docs/pictures").standardized

    /// The usual ray cast, in doubles.
    private static func plain(_ x: Double, _ y: Double, _ ring: [[Double]]) -> Bool {
        var isInside = false
        for (a, b) in zip(ring.dropFirst(), ring) where (a[1] > y) != (b[1] > y) {
            if x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] { isInside.toggle() }
        }
        return isInside
    }

    /// Whole multiples of 2⁻⁵⁰: every ordinate here is one.
    private static func whole(_ value: Double) throws -> Int128 {
        try #require(Int128(exactly: value * 0x1p50))
    }

    /// Whether the position is inside or on the ring, in whole numbers.
    private static func exact(_ x: Int128, _ y: Int128, _ ring: [[Int128]]) -> Bool {
        var isInside = false
        for (a, b) in zip(ring, ring.dropFirst()) {
            let side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
            if side == 0, min(a[0], b[0]) <= x, x <= max(a[0], b[0]), min(a[1], b[1]) <= y,
                y <= max(a[1], b[1])
            {
                return true
            }
            if (a[1] > y) != (b[1] > y), (side > 0) == (b[1] > a[1]) { isInside.toggle() }
        }
        return isInside
    }

    private static func neighbours(_ middle: Double) -> [Double] {
        var value = middle
        for _ in 0..<24 { value = value.nextDown }
        return (0..<48).map { _ in
            defer { value = value.nextUp }
            return value
        }
    }

    @Test(.slow) func `the pictures tell what is true, what doubles say, and what is answered`()
        throws
    {
        let cases = try JSONDecoder().decode(
            [Case].self, from: Data(contentsOf: Self.folder.appending(path: "hard-hits.json")))
        #expect(cases.count == 2)
        for each in cases {
            let site = try Site()
            let layer = try site.importFeatures(
                each.polygons.enumerated().map { number, polygon in
                    #"{"type":"Feature","id":\#(number + 1),"properties":{"name":"\#(polygon.name)"},"#
                        + #""geometry":{"type":"Polygon","coordinates":[\#(polygon.ring)]}}"#
                })
            try FileManager.default.copyItem(
                atPath: site.directory + "/datasets/\(layer.dataset)/layer.fgb",
                toPath: site.directory + "/plain.fgb")
            let engines = [
                site.engine(),
                IdentifyEngine { _ throws(Failure) in
                    try Dataset(path: site.directory + "/plain.fgb")
                },
            ]
            let map = makeMap([.feature(0, layer)])
            let rings = try each.polygons.map { polygon in
                try polygon.ring.map { try $0.map(Self.whole) }
            }
            var (doublesWrong, answersWrong) = (0, 0)
            let columns = try Self.neighbours(each.middle[0]).map { ($0, try Self.whole($0)) }
            for y in Self.neighbours(each.middle[1]) {
                let wholeY = try Self.whole(y)
                for (x, wholeX) in columns {
                    let truth = rings.map { Self.exact(wholeX, wholeY, $0) }
                    let doubles = each.polygons.map { Self.plain(x, y, $0.ring) }
                    if doubles != truth { doublesWrong += 1 }
                    let request = makeRequest(.point(Coordinate(x: x, y: y)))
                    // The way through decoded geometries is slow: a part of the positions will do.
                    for engine in doubles == truth && x != each.middle[0] ? [engines[0]] : engines {
                        let found = Set(
                            try engine.identify(request, in: map).results.map(\.objectID))
                        if truth.indices.map({ found.contains(Int64($0 + 1)) }) != truth {
                            answersWrong += 1
                        }
                    }
                }
            }
            #expect(answersWrong == 0, "\(each.name)")
            #expect(doublesWrong > 200, "\(each.name)")
            let picture = try String(
                contentsOf: Self.folder.appending(path: each.name + ".svg"), encoding: .utf8)
            #expect(picture.contains("wrong at \(doublesWrong) of 2304"))
            #expect(picture.contains("wrong at 0 of 2304"))
            print(
                "\(each.name): doubles err at \(doublesWrong) of 2304, answers at \(answersWrong)")
        }
    }
}
