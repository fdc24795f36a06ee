// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import Synchronization
import TestKit
import Testing

/// A map of every kind of layer, and a possible request on it.
private final class EveryKind: Sendable {
    let site: Site
    let rasters: RasterFixture
    let map: MapDescription
    /// Datasets that an engine may use without opening them.
    let opened = Mutex<[ContentID: Dataset]>([:])
    /// Number of datasets opened.
    let openedCount = Atomic<Int>(0)

    init() throws {
        site = try Site()
        rasters = try RasterFixture()
        var random = SeededGenerator(seed: 0xA11)
        func place() -> (x: Double, y: Double) {
            (.random(in: 0...100, using: &random), .random(in: 0...60, using: &random))
        }
        func features(_ count: Int, _ geometry: (Int) -> String) -> [String] {
            (1...count).map {
                #"{"type":"Feature","id":\#($0),"properties":{"name":"n\#($0)","rank":\#($0 % 7)},"#
                    + #""geometry":\#(geometry($0))}"#
            }
        }
        func blob(_ corners: Int, _ size: Double) -> String {
            let middle = place()
            let ring = (0...corners).map { corner -> String in
                let angle = Double(corner % corners) / Double(corners) * 2 * .pi
                let radius = size * (corner % 2 == 0 ? 1 : 0.7)
                return "[\(middle.x + radius * cos(angle)),\(middle.y + radius * sin(angle))]"
            }
            return #"{"type":"Polygon","coordinates":[[\#(ring.joined(separator: ","))]]}"#
        }
        let areas = try site.importFeatures(
            features(60) { blob($0 == 1 ? 6_000 : 12, $0 == 1 ? 15 : 9) }, named: "areas")
        let points = try site.importFeatures(
            features(3_000) { _ in
                let place = place()
                return #"{"type":"Point","coordinates":[\#(place.x),\#(place.y)]}"#
            }, named: "points")
        let lines = try site.importFeatures(
            features(200) { _ in
                let corners = (0..<5).map { _ in place() }.map { "[\($0.x),\($0.y)]" }
                return #"{"type":"LineString","coordinates":[\#(corners.joined(separator: ","))]}"#
            }, named: "lines")
        let metres = try site.importFeatures(
            features(50) { number in
                let (x, y) = (Double(number % 10) * 1e6, Double(number / 10) * 1e6)
                return #"{"type":"Polygon","coordinates":[[[\#(x),\#(y)],[\#(x + 8e5),\#(y)],"#
                    + #"[\#(x + 8e5),\#(y + 8e5)],[\#(x),\#(y)]]]}"#
            }, named: "metres", wkid: 3857)
        let french = try site.importFeatures(
            features(20) { number in
                let x = 6e5 + Double(number) * 1e4
                return #"{"type":"Polygon","coordinates":[[[\#(x),6500000],[\#(x + 9e3),6500000],"#
                    + #"[\#(x),6700000],[\#(x),6500000]]]}"#
            }, named: "french", wkid: 2154)
        let path = try rasters.geoTIFF(
            "grid", rows: (0..<10).map { row in (0..<10).map { Double(row * 10 + $0) } },
            origin: (x: 0, y: 0), cell: 5, wkid: 4326)
        let raster = try RasterImport.importFile(path: path, into: rasters.directory + "/rasters")
        let drawn = (1...40).map { number -> Graphic in
            let place = place()
            return Graphic(
                id: Int64(number), shape: .point(Coordinate(x: place.x, y: place.y)),
                attributes: Attributes([.init(name: "note", value: .string("d\(number)"))]),
                zIndex: 0)
        }
        func elsewhere(_ id: LayerID, _ source: LayerSource, _ properties: LayerProperties)
            -> LayerDescription
        {
            LayerDescription(
                id: id, name: "layer \(id)", parent: nil, children: [],
                kind: .layer(source: source), isVisible: true, scaleRange: .unlimited,
                definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
                properties: properties)
        }
        map = makeMap([
            .feature(0, areas), .feature(1, metres), .group(2, [3, 4]),
            .feature(3, points, in: 2), .feature(4, lines, in: 2).with { $0.isVisible = false },
            .graphics(5, drawn), .feature(6, french),
            elsewhere(7, .raster(raster.raster), raster.properties),
            elsewhere(
                8, .wms(WMSSource(url: "http://127.0.0.1:1/wms", layers: ["a"])),
                LayerProperties(
                    extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                    featureCount: 0)),
        ])
    }

    /// An engine that keeps what it opens for those in haste.
    func engine() -> IdentifyEngine {
        let directory = rasters.directory + "/rasters"
        return IdentifyEngine { [self] id throws(Failure) in
            let dataset = try site.dataset(id)
            openedCount.add(1, ordering: .relaxed)
            opened.withLock { $0[id] = dataset }
            return dataset
        } openDatasets: { [self] id in
            opened.withLock { $0[id] }
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: directory)
        }
    }

    /// A possible request, sensible or not.
    func request(_ random: inout SeededGenerator) -> IdentifyRequest {
        func chance(_ part: Double) -> Bool { .random(in: 0..<1, using: &random) < part }
        let place = Coordinate(
            x: .random(in: -2...102, using: &random), y: .random(in: -2...62, using: &random))
        var request = makeRequest(.point(place), tolerance: chance(0.5) ? 0 : 3)
        let sets: [[LayerID]?] = [[0], [1], [3], [4], [5], [0, 1, 3, 5], [2], [6], [7], [8], nil]
        let option =
            [LayerSelection.Option.top, .visible, .all].randomElement(using: &random) ?? .all
        request.layers = LayerSelection(option, ids: sets.randomElement(using: &random) ?? nil)
        if chance(0.05) { request.tolerance = [1e3, 1e9, -1].randomElement(using: &random) ?? 0 }
        if chance(0.1) { request.geometry = .polyline(paths: [[place, Coordinate(x: 3, y: 3)]]) }
        if chance(0.1) {
            request.layerDefinitions = [0: "rank > 3", 3: chance(0.3) ? "no" : "1=1"]
        }
        if chance(0.1) { request.spatialReference = SpatialReference(wkid: 3857) }
        if chance(0.05) { request.spatialReference = SpatialReference(wkid: 2154) }
        if chance(0.03) { request.spatialReference = SpatialReference(wkid: 999_999) }
        request.returnGeometry = chance(0.5)
        request.explain = chance(0.3)
        request.returnFieldName = chance(0.5)
        if chance(0.1) { request.maximumResultsPerLayer = .random(in: -1...3, using: &random) }
        return request
    }
}

/// The bytes of an answer, or its failure.
private func bytes(_ answer: () throws(Failure) -> IdentifyAnswer) -> Result<Data, Failure> {
    Result { () throws(Failure) in FixedLayout.encode(try answer()) }
}

@Suite struct PromptAnswerTests {
    @Test(.slow) func `an answer at once is the one at leisure, byte for byte`() throws {
        let every = try EveryKind()
        let (hasty, patient) = (every.engine(), every.engine())
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var (answered, refused, elsewhere, unprepared, wrong) = (0, 0, 0, 0, 0)
        for _ in 0..<1_500 {
            let request = every.request(&random)
            func prompt() -> Result<PromptAnswer, Failure> {
                Result { () throws(Failure) in
                    try hasty.answerAtOnce(request, in: PreparedMap(every.map)) { false }
                }
            }
            let expected = bytes { () throws(Failure) in
                try patient.identify(request, in: every.map)
            }
            var outcome = prompt()
            if case .success(.unprepared) = outcome {
                unprepared += 1
                _ = try? hasty.identify(request, in: every.map)
                outcome = prompt()
            }
            switch outcome {
            case .success(.answer(let answer)):
                answered += 1
                if bytes({ answer }) != expected { wrong += 1 }
            case .success(.elsewhere): elsewhere += 1
            case .success(.unprepared):
                // An impossible preparation, such as the transform to an unknown reference, never
                // succeeds.
                if case .success = expected { wrong += 1 }
            case .failure(let failure):
                refused += 1
                if .failure(failure) != expected { wrong += 1 }
            }
        }
        #expect(wrong == 0, "seed \(seed)")
        #expect(answered > 300 && refused > 20 && elsewhere > 100 && unprepared > 2, "seed \(seed)")
    }

    @Test(.slow) func `a request in haste opens no dataset`() throws {
        let every = try EveryKind()
        let engine = every.engine()
        for id in [0, 1, 3] {
            let request = makeRequest(.point(Coordinate(x: 50, y: 30))) {
                $0.layers = LayerSelection(.all, ids: [id])
            }
            #expect(
                try engine.answerAtOnce(request, in: PreparedMap(every.map)) { false }
                    == .unprepared)
        }
        #expect(every.openedCount.load(ordering: .relaxed) == 0)
    }

    @Test(.slow) func `a request in haste is over when its time is, and never half answered`()
        throws
    {
        let every = try EveryKind()
        let engine = every.engine()
        let request = makeRequest(.point(Coordinate(x: 50, y: 30)), tolerance: 5) {
            $0.layers = LayerSelection(.all, ids: [0, 1, 3, 4, 5])
            $0.returnGeometry = false
        }
        let expected = try engine.identify(request, in: every.map)
        #expect(expected.results.count > 10)
        _ = try engine.identify(request, in: every.map)
        var looks = 0
        let whole = try engine.answerAtOnce(request, in: PreparedMap(every.map)) {
            looks += 1
            return false
        }
        #expect(whole == .answer(expected) && looks > 10)
        for end in 0..<looks {
            var count = 0
            let outcome = try engine.answerAtOnce(request, in: PreparedMap(every.map)) {
                count += 1
                return count > end
            }
            #expect(outcome == .elsewhere, "after \(end) of \(looks) looks at the clock")
        }
    }

    @Test(.slow) func `a request with much to search or to write is not answered at once`() throws {
        let every = try EveryKind()
        let engine = every.engine()
        func ask(_ tolerance: Double, _ layer: LayerID, geometry: Bool) throws -> PromptAnswer {
            var outcomes: [PromptAnswer] = []
            for place in [Coordinate(x: 50, y: 30), Coordinate(x: 20, y: 20)] {
                let request = makeRequest(.point(place), tolerance: tolerance) {
                    $0.layers = LayerSelection(.all, ids: [layer])
                    $0.returnGeometry = geometry
                }
                _ = try engine.identify(request, in: every.map)
                outcomes.append(
                    try engine.answerAtOnce(request, in: PreparedMap(every.map)) { false })
            }
            return outcomes[0]
        }
        #expect(try ask(200, 3, geometry: false) == .elsewhere)
        #expect(try ask(200, 0, geometry: true) == .elsewhere)
        guard case .answer(let areas) = try ask(200, 0, geometry: false) else {
            Issue.record("sixty areas without their geometry are soon found")
            return
        }
        #expect(areas.results.count == 60)
    }
}
