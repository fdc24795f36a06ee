// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FeatureQuery
import Foundation
import Geometry
import TestKit
import Testing

/// A layer with edits over it answers as one that was imported as the edits left it, and as one
/// into whose dataset they were compacted.
@Suite struct EditedLayerTests {
    private static let requests: [@Sendable (inout QueryRequest) -> Void] = [
        { $0.outFields = ["*"] },
        {
            $0.outFields = ["*"]
            $0.form = .geoJSON
            $0.returnCentroid = false
        },
        {
            $0.clause = "pop > 0 OR name = 'é\"'"
            $0.outFields = ["*"]
            $0.order = [QueryOrder(field: "size", isDescending: true)]
        },
        { $0.clause = "day > TIMESTAMP '2020-06-01 00:00:00' AND name IS NOT NULL" },
        {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: 20, minY: 20, maxX: 60, maxY: 70)),
                spatialReference: nil)
        },
        {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .point(Coordinate(x: 40, y: 40)), spatialReference: nil,
                distanceMeters: 2_000_000)
        },
        {
            $0.offset = 7
            $0.limit = 11
            $0.outReference = SpatialReference(wkid: 3857)
        },
        { $0.objectIDs = Array(1...60) },
        {
            $0.objectIDs = Array(1...60)
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: -5, minY: -5, maxX: 120, maxY: 120)),
                spatialReference: nil)
        },
        {
            $0.objectIDs = Array(1...60)
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: -5, minY: -5, maxX: 120, maxY: 120)),
                spatialReference: nil, relation: .envelopeIntersects)
        },
        { $0.result = .objectIDs },
        { $0.result = .count },
        {
            $0.result = .extent
            $0.returnCount = true
        },
        {
            $0.result = .extent
            $0.returnCount = true
            $0.outReference = SpatialReference(wkid: 3857)
        },
        {
            $0.result = .count
            $0.clause = "pop < 5"
        },
        {
            $0.statistics = [
                QueryStatistic(kind: .sum, field: "pop", name: "all"),
                QueryStatistic(kind: .max, field: "day", name: "last"),
            ]
            $0.groupFields = ["name"]
        },
        {
            $0.returnDistinctValues = true
            $0.outFields = ["name", "pop"]
            $0.returnGeometry = false
        },
        { $0.returnZ = true },
    ]

    @Test(.slow, arguments: EditedFeatures.Kind.allCases, Seeds.chosen(3))
    func `edits count as if they had been imported`(
        _ kind: EditedFeatures.Kind, _ seed: UInt64
    ) throws {
        var features = EditedFeatures(kind, count: 60, seed: seed)
        let edited = try QueriedSite(features.geoJSON)
        try check(&features, edited)
    }

    @Test(.slow, arguments: EditedFeatures.Kind.allCases, Seeds.chosen(2))
    func `edits of features with Z count as if they had been imported`(
        _ kind: EditedFeatures.Kind, _ seed: UInt64
    ) throws {
        var features = EditedFeatures(kind, hasZ: true, count: 40, seed: seed)
        let edited = try QueriedSite(features.geoJSON)
        #expect(edited.map.layers[0].properties?.hasZ == true)
        #expect(try edited.text { $0.returnZ = true }.contains(#""hasZ":true"#))
        try check(&features, edited)
    }

    /// Holds edits, and the dataset compacted with them, against an import of what they lead to.
    private func check(_ features: inout EditedFeatures, _ edited: QueriedSite) throws {
        for round in 0..<4 {
            for _ in 0..<6 { features.edit() }
            edited.edits = features.edits
            let imported = try QueriedSite(features.geoJSON)
            let compacted = try edited.compacted()
            #expect(compacted.map.layers[0].properties?.featureCount == features.ids.count)
            for (number, change) in Self.requests.enumerated() {
                let wanted = try imported.text(change)
                #expect(try edited.text(change) == wanted, "round \(round), request \(number)")
                #expect(try compacted.text(change) == wanted, "round \(round), request \(number)")
            }
        }
    }

    @Test(.slow, arguments: Seeds.chosen(3))
    func `a past that is seen from later has the features which are still there and shown`(
        _ seed: UInt64
    ) throws {
        let definitions = [nil, "pop > -3", "name IS NOT NULL", "size < 0.9"]
        var features = EditedFeatures(.areas, count: 60, seed: seed)
        var random = SeededGenerator(seed: seed ^ 5)
        let site = try QueriedSite(features.geoJSON)
        var hiddenCount = 0
        for round in 0..<6 {
            features.edit()
            site.edits = features.edits
            let past = site.map
            for _ in 0..<4 { features.edit() }
            site.edits = features.edits
            // The later state has its edits over the same dataset, or in one of its own.
            let later = round.isMultiple(of: 2) ? site : try site.compacted()
            var (then, now) = (past, later.map)
            then.layers[0].definitionExpression = definitions.randomElement(using: &random) ?? nil
            now.layers[0].definitionExpression = definitions.randomElement(using: &random) ?? nil
            now.sequence = 50
            func ids(_ map: MapDescription, _ clause: String? = nil) throws -> Set<Int> {
                later.map = map
                later.map.sequence = 42
                return Set(try later.ids { $0.clause = clause }.ids)
            }
            let left = try ids(then, now.layers[0].definitionExpression).intersection(ids(now))
            hiddenCount += try ids(then).count - left.count

            let view = then.seen(from: now)
            #expect(try ids(view) == left, "round \(round)")
            for (number, change) in Self.requests.enumerated() {
                var request = later.request(change)
                later.map = view
                let seen = try later.body(request)
                request.objectIDs = (request.objectIDs ?? features.everyID).filter {
                    left.contains(Int($0))
                }
                later.map = then
                let wanted = try later.body(request)
                #expect(seen == wanted, "round \(round), request \(number)")
            }
        }
        #expect(hiddenCount > 20)
    }

    @Test func `a layer that cannot be told to be the same is no part of a past seen from later`()
        throws
    {
        let site = try QueriedSite(EditedFeatures(.points, count: 5, seed: 1).geoJSON)
        let then = site.map
        func seen(
            _ change: (inout MapDescription) -> Void, from past: MapDescription? = nil
        ) -> LayerDescription? {
            var now = then
            now.sequence = 50
            change(&now)
            return (past ?? then).seen(from: now).layers.first
        }
        #expect(seen { _ in }?.sight == nil && seen { _ in } == then.layers[0])
        #expect(seen { $0.layers = [] } == nil)
        #expect(seen { $0.sourceChanges = [0: 45] } == nil)
        #expect(seen { $0.layers[0].loadStatus = .failedToLoad } == nil)
        #expect(seen { $0.layers[0].properties?.fields.removeLast() } == nil)
        #expect(seen { $0.layers[0].isQueryable = false }?.isQueryable == false)
        var closed = then
        closed.layers[0].isQueryable = false
        #expect(seen({ _ in }, from: closed)?.isQueryable == false)
        let renamed = seen { map in
            map.layers[0].name = "another"
            map.layers[0].fieldAliases = ["pop": "People"]
            map.layers[0].properties?.extent = nil
        }
        #expect(renamed?.name == "another" && renamed?.fieldAliases == ["pop": "People"])
        #expect(renamed?.properties?.extent == nil)
        // A definition that is no clause hides everything.
        site.map = then.seen(
            from: {
                var now = then
                now.sequence = 50
                now.layers[0].edits = LayerEdits(isOpen: true)
                now.layers[0].definitionExpression = nil
                return now
            }())
        #expect(try site.ids().ids.count == 5)
        site.map.layers[0].sight = LayerSight(
            definitionThen: "nonsense >", dataset: site.layer.dataset, edits: nil, definition: nil)
        #expect(try site.ids().ids == [])
    }

    @Test(.slow, arguments: EditedFeatures.Kind.allCases, Seeds.chosen(3))
    func `an edited feature without geometry is found by attributes and lies nowhere`(
        _ kind: EditedFeatures.Kind, _ seed: UInt64
    ) throws {
        var features = EditedFeatures(kind, count: 60, seed: seed)
        let site = try QueriedSite(features.geoJSON)
        for round in 0..<4 {
            let placeless = features.placelessIDs
            try #require(!placeless.isEmpty)
            let all = features.ids
            #expect(try site.ids().ids == all.map { Int($0) })
            // The rectangle contains everything, by each relation of rectangles and shapes.
            let whole = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: -10, minY: -10, maxX: 120, maxY: 120)),
                spatialReference: nil)
            for relation in [
                QuerySpatialFilter.Relation.intersects, .envelopeIntersects, .contains,
            ] {
                for ids in [nil, all] {
                    let found = try site.ids {
                        $0.spatialFilter = whole
                        $0.spatialFilter?.relation = relation
                        $0.objectIDs = ids
                    }
                    let placed = all.filter { !placeless.contains($0) }
                    #expect(found.ids == placed.map { Int($0) }, "\(relation)")
                    let every = try site.ids {
                        $0.spatialFilter = whole
                        $0.spatialFilter?.relation = relation
                        $0.objectIDs = ids
                        $0.matchesMissing = true
                    }
                    #expect(every.ids == all.map { Int($0) }, "\(relation)")
                }
            }
            for form in [QueryForm.geoJSON, .ogcFeatures] {
                let text = try site.text {
                    $0.objectIDs = placeless
                    $0.form = form
                }
                let count = text.ranges(of: #""geometry":null"#).count
                #expect(count == placeless.count, "round \(round): \(text)")
            }
            let esri = try site.text { $0.objectIDs = placeless }
            #expect(!esri.contains(#""geometry""#), "round \(round): \(esri)")
            for _ in 0..<6 { features.edit() }
            site.edits = features.edits
        }
    }

    @Test func `a position without Z has null in Esri's JSON and no number in GeoJSON`() throws {
        let site = try QueriedSite([
            #"{"type":"Feature","id":4,"properties":{"a":1},"geometry":{"type":"LineString","coordinates":[[1,2,3],[4,5,6]]}}"#
        ])
        var edits = LayerEdits(isOpen: true)
        let path = [Coordinate(x: 7, y: 8), Coordinate(x: 9, y: 1)]
        let feature = EditedFeature(
            id: 4, shape: .polyline(paths: [path]), ordinates: FurtherOrdinates(z: [5, nil]),
            attributes: Attributes([.init(name: "a", value: .integer(1))]))
        edits.apply([FeatureChange(id: 4, sequence: 7, feature: feature)])
        site.edits = edits

        #expect(try site.text { $0.returnZ = true }.contains("[[[7,8,5],[9,1,null]]]"))
        for form in [QueryForm.geoJSON, .ogcFeatures] {
            let text = try site.text {
                $0.returnZ = true
                $0.form = form
            }
            #expect(text.contains("[[7,8,5],[9,1]]"), "\(text)")
        }
    }

    @Test(arguments: Seeds.chosen(3))
    func `a dataset compacted twice is the one compacted once`(_ seed: UInt64) throws {
        var features = EditedFeatures(.areas, count: 40, seed: seed)
        let edited = try QueriedSite(features.geoJSON)
        for _ in 0..<8 { features.edit() }
        edited.edits = features.edits
        let first = try edited.compacted()
        var later = features
        later.forget(through: features.edits.sequence)
        for _ in 0..<8 {
            features.edit()
            later.edit()
        }
        edited.edits = features.edits
        first.edits = later.edits

        #expect(try first.compacted().content == (try edited.compacted().content))
    }

    @Test func `a layer without a feature left is an empty dataset, and takes features again`()
        throws
    {
        let site = try QueriedSite([
            #"{"type":"Feature","id":4,"properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        ])
        var edits = LayerEdits(isOpen: true)
        edits.apply([FeatureChange(id: 4, sequence: 7, feature: nil)])
        site.edits = edits

        let empty = try site.compacted()
        for site in [site, empty] {
            #expect(try site.text { $0.result = .count } == #"{"count":0}"#)
            #expect(try site.ids().ids == [])
            #expect(try site.text { $0.result = .extent }.contains("NaN"))
        }
        #expect(try site.text() == empty.text())

        let feature = EditedFeature(
            id: 5, shape: .point(Coordinate(x: 3, y: 4)),
            attributes: Attributes([.init(name: "a", value: .integer(2))]))
        edits.apply([FeatureChange(id: 5, sequence: 8, feature: feature)])
        site.edits = edits
        var later = LayerEdits(isOpen: true)
        later.apply([FeatureChange(id: 5, sequence: 8, feature: feature)])
        empty.edits = later
        #expect(try empty.ids().ids == [5])
        #expect(try site.text() == empty.text())
        #expect(try site.compacted().content == empty.compacted().content)
    }
}

extension QueriedSite {
    /// The edits over the layer.
    var edits: LayerEdits? {
        get { map.layers[0].edits }
        set { map.layers[0].edits = newValue }
    }

    /// The name of the layer's dataset.
    var content: ContentID? { map.layers[0].kind.dataset }

    /// The layer with the edits compacted into its dataset.
    func compacted() throws -> QueriedSite {
        let base = try Dataset(path: directory + "/datasets/\(try #require(content))/layer.fgb")
        let made = try DatasetBuilder.compact(
            EditedDataset(base, edits), into: directory + "/datasets")
        var map = map
        map.layers[0].kind = .layer(source: LayerSource(dataset: made.dataset))
        map.layers[0].properties = made.properties
        map.layers[0].edits = nil
        return try QueriedSite(copying: self, map)
    }
}
