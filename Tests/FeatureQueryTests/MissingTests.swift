// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

/// Features without geometry or time, which a query may accept at every place and time: OGC
/// 17-069r4, requirements 23 (C) and 25 (B).
@Suite struct MissingTests {
    private struct Row {
        var place: Coordinate?
        var day: Int?
    }

    @Test(arguments: Seeds.chosen(4))
    func `a feature without geometry is in every box, one without time of every time`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let rows = (0..<120).map { _ in
            Row(
                place: Bool.random(using: &random)
                    ? nil
                    : Coordinate(
                        x: Double(Int.random(in: 0..<40, using: &random)),
                        y: Double(Int.random(in: 0..<20, using: &random))),
                day: Bool.random(using: &random) ? nil : Int.random(in: 1...28, using: &random))
        }
        let site = try QueriedSite(
            rows.enumerated().map { index, row in
                let geometry = row.place.map {
                    "{\"type\":\"Point\",\"coordinates\":[\($0.x),\($0.y)]}"
                }
                let day = row.day.map { "\"2024-02-\($0 < 10 ? "0" : "")\($0)T00:00:00Z\"" }
                return "{\"type\":\"Feature\",\"id\":\(index + 1),"
                    + "\"properties\":{\"day\":\(day ?? "null")},"
                    + "\"geometry\":\(geometry ?? "null")}"
            })
        site.map.layers[0].timeInfo = LayerTimeInfo(startField: "day")
        let first = Int64(1_706_745_600_000)
        for round in 0..<30 {
            let x = Double(Int.random(in: -5..<40, using: &random))
            let y = Double(Int.random(in: -5..<20, using: &random))
            let box = Envelope(minX: x, minY: y, maxX: x + 8, maxY: y + 6)
            let from = Int.random(in: 1...28, using: &random)
            let to = min(28, from + 6)
            let (hasBox, hasTime) = (round % 3 != 0, round % 3 != 1)
            for matchesMissing in [nil, true] {
                func accepts(_ row: Row) -> Bool {
                    let isThere = row.place.map { box.contains($0) } ?? (matchesMissing == true)
                    let isThen = row.day.map { from...to ~= $0 } ?? (matchesMissing == true)
                    return (!hasBox || isThere) && (!hasTime || isThen)
                }
                let expected = rows.indices.filter { accepts(rows[$0]) }.map { $0 + 1 }
                func change(_ request: inout QueryRequest) {
                    request.matchesMissing = matchesMissing
                    if hasBox {
                        request.spatialFilter = QuerySpatialFilter(geometry: .envelope(box))
                    }
                    if hasTime {
                        request.time = TimeExtent(
                            from: first + Int64(from - 1) * 86_400_000,
                            to: first + Int64(to - 1) * 86_400_000)
                    }
                }
                let found = try site.ids(change).ids
                #expect(found == expected, "round \(round)")
                let count = try site.text {
                    change(&$0)
                    $0.result = .count
                }
                #expect(count == "{\"count\":\(expected.count)}")
                let page = try site.ids {
                    change(&$0)
                    $0.offset = 2
                    $0.limit = 3
                }.ids
                #expect(page == Array(expected.dropFirst(2).prefix(3)))
            }
        }
    }
}
