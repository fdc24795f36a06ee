// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

/// A day of January 2020 as milliseconds since the epoch.
private func day(_ number: Int) -> Int64 { 1_577_836_800_000 + Int64(number - 1) * 86_400_000 }

/// A point at 5, 5 with a start and an end on days of January 2020.
private func feature(_ id: Int, _ start: Int?, _ end: Int?) -> String {
    func text(_ day: Int?) -> String {
        day.map { "\"2020-01-\(String(format: "%02d", $0))T00:00:00Z\"" } ?? "null"
    }
    return """
        {"type":"Feature","id":\(id),"properties":{"FROM":\(text(start)),"TO":\(text(end)),"n":\(id)},
        "geometry":{"type":"Point","coordinates":[5,5]}}
        """
}

@Suite struct TimeTests {
    let site: Site

    init() throws { site = try Site() }

    private func ids(
        _ layer: ImportedLayer, _ info: LayerTimeInfo?,
        _ change: (inout IdentifyRequest) -> Void
    ) throws -> [Int64] {
        let map = makeMap([LayerDescription.feature(0, layer).with { $0.timeInfo = info }])
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)), change)
        return try site.engine().identify(request, in: map).results.map(\.objectID).sorted()
    }

    /// Whether a moment, to the half day, is in both the feature's and the requested time.
    private static func overlaps(
        _ start: Int?, _ end: Int?, _ from: Int?, _ to: Int?, _ relation: TimeRelation
    ) -> Bool {
        if start == nil && end == nil { return false }
        return (-2...66).contains { half in
            let isInFeature =
                start.map { half >= 2 * $0 } ?? true && end.map { half <= 2 * $0 } ?? true
            let afterFrom =
                switch relation {
                case .overlaps, .overlapsStartWithinEnd: from.map { half >= 2 * $0 } ?? true
                case .afterStartOverlapsEnd, .within: from.map { half > 2 * $0 } ?? true
                }
            let beforeTo =
                switch relation {
                case .overlaps, .afterStartOverlapsEnd: to.map { half <= 2 * $0 } ?? true
                case .overlapsStartWithinEnd, .within: to.map { half < 2 * $0 } ?? true
                }
            return isInFeature && afterFrom && beforeTo
        }
    }

    @Test(.slow) func `spans and instants select what shares a moment with them`() throws {
        var generator = SeededGenerator(seed: 7)
        func anyDay() -> Int? {
            Int.random(in: 0..<6, using: &generator) == 0
                ? nil : Int.random(in: 1...31, using: &generator)
        }
        let spans = (1...80).map { id in
            let days = [anyDay(), anyDay()]
            let sorted = days.compactMap { $0 }.sorted()
            return (
                id: id, from: days[0].map { _ in sorted[0] },
                to: days[1].map { _ in sorted.last ?? 1 }
            )
        }
        let layer = try site.importFeatures(spans.map { feature($0.id, $0.from, $0.to) })
        let both = LayerTimeInfo(startField: "from", endField: "TO")
        let one = LayerTimeInfo(startField: "FROM")
        for relation in TimeRelation.allCases {
            for _ in 0..<40 {
                let bounds = [anyDay(), anyDay()].compactMap { $0 }.sorted()
                let isOpen = Bool.random(using: &generator)
                let from = isOpen && bounds.count < 2 ? nil : bounds.first
                let to = bounds.last
                if let from, let to, from == to, relation != .overlaps { continue }
                let change: (inout IdentifyRequest) -> Void = {
                    $0.time = TimeExtent(from: from.map(day), to: to.map(day))
                    $0.timeRelation = relation
                }
                let note: Comment = "\(from ?? -1) to \(to ?? -1), \(relation)"

                let expected = spans.filter {
                    Self.overlaps($0.from, $0.to, from, to, relation)
                }
                #expect(try ids(layer, both, change) == expected.map { Int64($0.id) }, note)

                let instants = spans.filter {
                    $0.from != nil && Self.overlaps($0.from, $0.from, from, to, relation)
                }
                #expect(try ids(layer, one, change) == instants.map { Int64($0.id) }, note)
                #expect(try ids(layer, nil, change).count == spans.count, "a layer without time")
            }
        }
    }

    @Test(arguments: [(1.0, 29), (-1, 31)])
    func `a day that the month lacks appears on its last`(_ months: Double, _ last: Int) throws {
        // The 31st of January is moved to the 29th of February, or the 31st of December.
        let layer = try site.importFeatures((27...31).map { feature($0, $0, nil) })
        func ids(_ first: CalendarClock, _ last: CalendarClock) throws -> [Int64] {
            try self.ids(layer, LayerTimeInfo(startField: "FROM")) {
                $0.time = TimeExtent(from: first.milliseconds, to: last.milliseconds)
                $0.layerTimeOptions = [
                    0: LayerTimeOptions(timeOffset: months, timeOffsetUnits: .months)
                ]
            }
        }
        var asked = CalendarClock(milliseconds: day(1)).adding(months: Int64(months))
        asked.day = Int64(last)
        #expect(try ids(asked, asked) == (months > 0 ? [29, 30, 31] : [31]))
        var before = asked
        before.day -= 1
        #expect(try ids(before, before) == [Int64(last) - 1])
        #expect(try ids(before, asked).count == (months > 0 ? 4 : 2))
    }

    @Test func `layer options turn time off, gather it and move it`() throws {
        let layer = try site.importFeatures((1...20).map { feature($0, $0, nil) })
        let info = LayerTimeInfo(startField: "FROM")
        func ids(
            _ options: LayerTimeOptions, _ from: Int = 10, _ to: Int = 11
        ) throws -> [Int64] {
            try self.ids(layer, info) {
                $0.time = TimeExtent(from: day(from), to: day(to))
                $0.layerTimeOptions = [0: options, 7: LayerTimeOptions(useTime: false)]
            }
        }

        #expect(try ids(LayerTimeOptions()) == [10, 11])
        #expect(try ids(LayerTimeOptions(useTime: false)).count == 20)
        #expect(try ids(LayerTimeOptions(timeDataCumulative: true)) == Array(1...11))
        #expect(try ids(LayerTimeOptions(timeOffset: 2, timeOffsetUnits: .days)) == [8, 9])
        #expect(try ids(LayerTimeOptions(timeOffset: -36, timeOffsetUnits: .hours)) == [12])
        #expect(try ids(LayerTimeOptions(timeOffset: 1, timeOffsetUnits: .weeks)) == [3, 4])
        #expect(
            try ids(LayerTimeOptions(timeOffset: 1, timeOffsetUnits: .months), 36, 41) == [
                5, 6, 7, 8, 9, 10,
            ]
        )
        #expect(
            try ids(LayerTimeOptions(timeOffset: -0.5, timeOffsetUnits: .years), -182, -180)
                == [2, 3, 4])
    }

    @Test func `times that mean nothing are refused by name`() throws {
        let layer = try site.importFeatures([feature(1, 1, 2)])
        func refusal(
            _ info: LayerTimeInfo = LayerTimeInfo(startField: "FROM"),
            _ change: (inout IdentifyRequest) -> Void
        ) throws -> String? {
            do {
                _ = try ids(layer, info, change)
                return nil
            } catch let failure as Failure {
                return failure.code == .invalidParameter ? failure.message : "\(failure.code)"
            }
        }
        let some = TimeExtent(from: 0, to: 10)

        #expect(try refusal { $0.time = TimeExtent(from: 2, to: 1) }?.contains("time 2,1") == true)
        #expect(try refusal { $0.time = TimeExtent(instant: .min) }?.contains("time") == true)
        #expect(
            try refusal(LayerTimeInfo(startField: "n")) { $0.time = some }?.contains("layer 0")
                == true)
        #expect(
            try refusal(LayerTimeInfo(startField: "FROM", endField: "gone")) { $0.time = some }?
                .contains("'gone'") == true)
        for (offset, units) in [
            (0.5, TimeUnits.months), (1e300, .centuries), (1e300, .days), (.nan, .days),
        ] {
            let message = try refusal {
                $0.time = some
                $0.layerTimeOptions = [
                    0: LayerTimeOptions(timeOffset: offset, timeOffsetUnits: units)
                ]
            }
            #expect(message?.contains("layerTimeOptions") == true, "\(offset) \(units)")
        }
    }
}
