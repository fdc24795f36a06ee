// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

private func point(_ id: Int, _ x: Double, _ y: Double, _ n: Int = 0) -> String {
    """
    {"type":"Feature","id":\(id),"properties":{"n":\(n)},
    "geometry":{"type":"Point","coordinates":[\(x),\(y)]}}
    """
}

@Suite struct ExplanationTests {
    let site: Site
    let layer: ImportedLayer

    init() throws {
        site = try Site()
        layer = try site.importFeatures((1...9).map { point($0, 5, Double($0), $0) })
    }

    private func ask(
        _ layers: [LayerDescription], wkid: Int? = 4326,
        _ change: (inout IdentifyRequest) -> Void = { _ in }
    ) throws -> IdentifyAnswer {
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)), tolerance: 2) {
            $0.layers = LayerSelection(.visible)
            $0.explain = true
            change(&$0)
        }
        return try site.engine().identify(request, in: makeMap(layers, wkid: wkid))
    }

    @Test(arguments: [1, 1e30, 1e150, 1e300, 1.7e308])
    func `an explanation of the greatest extents and tolerances can be told`(_ reach: Double) throws
    {
        let site = try Site()
        let layer = try site.importFeatures([
            #"{"type":"Feature","id":1,"properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        ])
        for tolerance in [0.0, 1, 1e9, 1e308] {
            let request = makeRequest(.point(Coordinate(x: 1, y: 2)), tolerance: tolerance) {
                $0.mapExtent = Envelope(minX: -reach, minY: -reach, maxX: reach, maxY: reach)
                $0.imageDisplay = ImageDisplay(width: 200, height: 200)
                $0.explain = true
            }
            let answer: IdentifyAnswer
            do throws(Failure) {
                answer = try site.engine().identify(
                    request, in: makeMap([.feature(0, layer)], wkid: 4326))
            } catch {
                #expect(error.code == .invalidParameter)
                continue
            }
            let told = try CairnJSON.decode(IdentifyAnswer.self, from: CairnJSON.encode(answer))
            #expect(told.explanation != nil && told == answer)
        }
    }

    @Test func `every layer is searched or skipped for the first reason that applies`() throws {
        let layers = [
            LayerDescription.feature(0, layer, name: "searched"),
            .feature(1, layer, name: "hidden").with { $0.isVisible = false },
            .feature(2, layer, name: "far").with {
                $0.scaleRange = ScaleRange(minScale: 10, maxScale: 0)
            },
            .feature(3, layer, name: "closed").with { $0.isQueryable = false },
            .feature(4, layer, name: "plain").with { $0.isPopupEnabled = false },
            .feature(5, layer, name: "waiting").with {
                $0.loadStatus = .loading
                $0.properties = nil
            },
            .feature(6, layer, name: "broken").with {
                $0.loadStatus = .failedToLoad
                $0.loadError = Failure(.corrupt, "half a file")
                $0.properties = nil
            },
            .group(7, [8]).with { $0.isVisible = false },
            .feature(8, layer, name: "inside", in: 7),
            .feature(9, layer, name: "other"),
        ]

        let answer = try ask(layers) {
            $0.layers.ids = Array(0...8)
            $0.returnPopupsOnly = true
        }

        let explanation = try #require(answer.explanation)
        #expect(explanation.layers.map(\.layerID) == [9, 7, 8, 6, 5, 4, 3, 2, 1, 0])
        #expect(
            explanation.layers.map(\.reason) == [
                .notSelected, .group, .invisible, .failedToLoad, .notLoaded, .popupsOff,
                .notQueryable, .outOfScale, .invisible, nil,
            ])
        #expect(explanation.layers.allSatisfy { ($0.reason == nil) == ($0.status == .searched) })
        #expect(explanation.layers.allSatisfy { ($0.reason == nil) == ($0.detail == nil) })
        let details = explanation.layers.compactMap(\.detail)
        for words in ["half a file", "is loading", "group 7 'group 7' is hidden", "minScale 10"] {
            #expect(details.contains { $0.contains(words) }, "\(words)")
        }
        #expect(answer.layers.map(\.layerID) == [0])
    }

    @Test func `counts add up, and nothing is cut off without saying so`() throws {
        let layers = [
            LayerDescription.feature(0, layer).with { $0.definitionExpression = "n <> 4" },
            .group(1, [2]), .feature(2, layer, name: "upper", in: 1),
        ]

        let answer = try ask(layers) { $0.maximumResultsPerLayer = 3 }

        // Degrees on a screen of 100 pixels for 100 degrees: tolerance 2 reaches y 3…7.
        let lower = try #require(answer.explanation?.layers.last)
        // Features hidden by the layer are not counted.
        #expect(lower.hitCount == 4 && lower.excludedByDefinition == 0)
        #expect(lower.resultCount == 3 && lower.transferLimitExceeded)
        #expect(lower.candidateCount == lower.hitCount)
        #expect(answer.layers.map(\.totalHitCount) == [5, 4])
        #expect(answer.layers.map(\.totalResultCount) == [3, 3])
        #expect(answer.layers[0].results.isEmpty && answer.layers[0].sublayerResults.count == 1)
        #expect(answer.hitCount == 9 && answer.results.count == 6)
        #expect(answer.transferLimitExceeded)
        #expect(answer.results.map(\.objectID) == [5, 4, 6, 5, 6, 3])
        #expect(answer.results.map(\.distance) == [0, 1, 1, 0, 1, 2])
    }

    @Test func `the most per layer is the caller's within the service's`() throws {
        let many = try site.importFeatures(
            (1...1_200).map { point($0, 5, 5) }, named: "many")
        func counts(_ most: Int?) throws -> [Int] {
            let answer = try ask([.feature(0, many)]) { $0.maximumResultsPerLayer = most }
            return [answer.results.count, answer.hitCount, answer.transferLimitExceeded ? 1 : 0]
        }

        #expect(try counts(nil) == [1_000, 1_200, 1])
        #expect(try counts(5_000) == [1_000, 1_200, 1])
        #expect(try counts(7) == [7, 1_200, 1])
        #expect(try counts(0) == [0, 1_200, 1])
        #expect(throws: Failure.self) { try counts(-1) }
    }

    @Test func `the way a request was understood is told in numbers`() throws {
        let degrees = try #require(try ask([.feature(0, layer)]).explanation)
        #expect(degrees.mapSpatialReference == .wgs84)
        #expect(degrees.resolution == 1 && degrees.tolerance == 2)
        #expect(abs(degrees.toleranceMeters - 2 * 111_319.4908) < 0.001)
        let scale = try #require(degrees.scale)
        #expect(abs(scale - 111_319.4908 * 96 * 39.37) < 0.1)

        let mercator = try site.importFeatures([point(1, 5, 5)], named: "m", wkid: 3857)
        let meters = try #require(
            try ask([.feature(0, mercator)], wkid: 3857) { $0.tolerance = 0 }.explanation)
        #expect(meters.tolerance == 0 && meters.toleranceMeters == 0 && meters.resolution == 1)

        let unsized = try #require(
            try ask([.feature(0, layer)]) { $0.imageDisplay.width = 0 }.explanation)
        #expect(unsized.resolution == nil && unsized.scale == nil && unsized.tolerance == 0)
    }

    @Test func `after the top-most hit the rest is skipped, and a blank map is said to be`() throws
    {
        let empty = try site.importFeatures([point(1, 80, 80)], named: "empty")
        let layers = [
            LayerDescription.feature(0, layer), .feature(1, layer, name: "hit"),
            .feature(2, empty),
        ]

        let top = try ask(layers) { $0.layers = LayerSelection(.top) }
        #expect(top.explanation?.layers.map(\.reason) == [nil, nil, .afterTop])
        #expect(top.explanation?.layers.last?.detail?.contains("layer 1 'hit'") == true)
        #expect(top.explanation?.layers.map(\.candidateCount) == [0, 5, 0])

        let blank = try ask(layers, wkid: nil)
        #expect(blank.explanation?.layers.map(\.reason) == [.blankMap, .blankMap, .blankMap])
        #expect(blank.explanation?.mapSpatialReference == nil)
    }

    @Test func `explaining changes nothing else, and is left out unless asked for`() throws {
        let layers = [
            LayerDescription.feature(0, layer), .group(1, []), .feature(2, layer, name: "b"),
        ]
        var explained = try ask(layers)
        let plain = try ask(layers) { $0.explain = false }

        #expect(plain.explanation == nil)
        explained.explanation = nil
        #expect(explained == plain)
    }

    @Test func `over random maps, found and skipped are all layers`() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<60 {
            var layers: [LayerDescription] = []
            for id in 0..<12 {
                func chance() -> Bool { Int.random(in: 0..<4, using: &generator) == 0 }
                let groups = layers.indices.filter { layers[$0].kind == .group }
                let parent = chance() ? groups.randomElement(using: &generator) : nil
                var node: LayerDescription =
                    chance() ? .group(id, []) : .feature(id, layer, name: "l\(id)")
                node.parent = parent
                node.isVisible = !chance()
                node.isQueryable = node.kind == .group || !chance()
                if chance() { node.scaleRange.minScale = 1 }
                if chance(), node.kind != .group { node.loadStatus = .loading }
                if let parent { layers[parent].children.append(id) }
                layers.append(node)
            }
            let option: LayerSelection.Option =
                [.top, .visible, .all]
                .randomElement(using: &generator) ?? .all

            let answer = try ask(layers) { $0.layers = LayerSelection(option) }

            let told = try #require(answer.explanation).layers
            #expect(told.map(\.layerID).sorted() == Array(0..<12))
            let found = Set(answer.results.map(\.layerID))
            #expect(found == Set(told.filter { $0.hitCount > 0 }.map(\.layerID)))
            for entry in told where entry.status == .skipped { #expect(entry.resultCount == 0) }
        }
    }
}
