// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FeatureQuery
import Foundation
import Geometry
import TestKit
import Testing

/// A layer of graphics answers as the same features do that were imported.
@Suite struct GraphicsQueryTests {
    private static let requests: [@Sendable (inout QueryRequest) -> Void] = [
        { $0.outFields = ["*"] },
        {
            $0.outFields = ["*"]; $0.form = .geoJSON
        },
        {
            $0.clause = "pop > 5000000000 OR name = 'é\"'"
            $0.outFields = ["*"]
            $0.order = [QueryOrder(field: "size", isDescending: true)]
        },
        {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: -4, minY: -4, maxX: 5, maxY: 6)),
                spatialReference: nil)
        },
        {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .point(Coordinate(x: 1, y: 1)), spatialReference: nil,
                distanceMeters: 400_000)
        },
        {
            $0.offset = 7; $0.limit = 11; $0.outReference = SpatialReference(wkid: 3857)
        },
        { $0.objectIDs = [1, 3, 400, 17] },
        { $0.result = .objectIDs },
        {
            $0.result = .count; $0.clause = "size IS NULL"
        },
        {
            $0.result = .extent; $0.returnCount = true
        },
        {
            $0.statistics = [
                QueryStatistic(kind: .sum, field: "pop", name: "all"),
                QueryStatistic(kind: .avg, field: "size", name: "mean"),
            ]
            $0.groupFields = ["name"]
        },
        {
            $0.returnDistinctValues = true; $0.outFields = ["name"]; $0.returnGeometry = false
        },
    ]

    /// The same features as GeoJSON and as graphics.
    private struct Both {
        var features: [String] = []
        var graphics: [Graphic] = []

        init(_ type: GeometryType, count: Int, seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            for id in 1...count {
                let (x, y) = (
                    Double.random(in: -8...8, using: &random),
                    Double.random(in: -8...8, using: &random)
                )
                let side = Double.random(in: 0.1...2, using: &random)
                let chain = [(x, y), (x + side, y), (x + side, y + side), (x, y)]
                let json: String
                let shape: Shape
                let places = chain.map { Coordinate(x: $0.0, y: $0.1) }
                let text = chain.map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
                switch type {
                case .point:
                    json = #"{"type":"Point","coordinates":[\#(x),\#(y)]}"#
                    shape = .point(places[0])
                case .multipoint:
                    json = #"{"type":"MultiPoint","coordinates":[\#(text)]}"#
                    shape = .multipoint(places)
                case .polyline:
                    json = #"{"type":"MultiLineString","coordinates":[[\#(text)]]}"#
                    shape = .polyline(paths: [places])
                case .polygon:
                    json = #"{"type":"Polygon","coordinates":[[\#(text)]]}"#
                    shape = .polygon(rings: [places])
                }
                let name = ["a", "é\"", "b%", nil].randomElement(using: &random) ?? nil
                let pop = Int64.random(in: 4_000_000_000...6_000_000_000, using: &random)
                let size = Int.random(in: 0..<4, using: &random) == 0 ? nil : side
                let quoted = name.map { "\"" + $0.replacing("\"", with: "\\\"") + "\"" } ?? "null"
                features.append(
                    """
                    {"type":"Feature","id":\(id),"properties":{"name":\(quoted),"pop":\(pop),\
                    "size":\(size.map { "\($0)" } ?? "null")},"geometry":\(json)}
                    """)
                var entries: [Attributes.Entry] = [.init(name: "pop", value: .integer(pop))]
                // A missing attribute is null, whatever the case of its name elsewhere.
                if let size {
                    entries.append(.init(name: id % 2 == 0 ? "SIZE" : "size", value: .real(size)))
                }
                if let name { entries.append(.init(name: "name", value: .string(name))) }
                graphics.append(
                    Graphic(
                        id: Int64(id), shape: shape, attributes: Attributes(entries),
                        zIndex: Int.random(in: -3...3, using: &random)))
            }
            // The first has all columns as they are called in the file.
            graphics[0].attributes = Attributes([
                .init(name: "size", value: .real(1)), .init(name: "pop", value: .integer(1)),
                .init(name: "name", value: .string("first")),
            ])
            features[0] = features[0].replacing(
                /"properties":\{[^}]*\}/,
                with: #""properties":{"name":"first","pop":1,"size":1.0}"#)
        }
    }

    private func drawn(_ graphics: [Graphic], over site: QueriedSite) {
        let reference = site.layer.properties.spatialReference
        site.map.layers[0].kind = .layer(
            source: .graphics(GraphicsSource(spatialReference: reference)))
        site.map.layers[0].properties = LayerProperties(
            extent: nil, spatialReference: reference, geometryType: nil, fields: [],
            featureCount: 0)
        site.map.layers[0].graphics = graphics
    }

    @Test(
        .slow, arguments: [GeometryType.point, .multipoint, .polyline, .polygon], Seeds.chosen(3))
    func `graphics answer as imported features`(_ type: GeometryType, _ seed: UInt64) throws {
        let both = Both(type, count: 60, seed: seed)
        let imported = try QueriedSite(both.features)
        let drawn = try QueriedSite(both.features)
        self.drawn(both.graphics, over: drawn)

        for (number, change) in Self.requests.enumerated() {
            // Types of columns are compared as they are: a file has narrower ones.
            func answer(_ site: QueriedSite) throws -> NSDictionary {
                var json = try site.json(change)
                json["fields"] = nil
                return json as NSDictionary
            }
            #expect(try answer(drawn) == answer(imported), "request \(number)")
        }
        // Another graphic is there at once.
        var more = both.graphics
        more[0].id = 1_000
        self.drawn(both.graphics + [more[0]], over: drawn)
        #expect(try drawn.ids { $0.objectIDs = [1_000] }.ids == [1_000])
    }

    @Test func `columns hold what all graphics have`() throws {
        let site = try QueriedSite(Both(.point, count: 1, seed: 1).features)
        func graphic(_ id: Int64, _ entries: [(String, AttributeValue)]) -> Graphic {
            Graphic(
                id: id, shape: .point(Coordinate(x: 1, y: 2)),
                attributes: Attributes(entries.map { .init(name: $0.0, value: $0.1) }), zIndex: 0)
        }
        drawn(
            [
                graphic(
                    1, [("n", .integer(1)), ("d", .date(5)), ("m", .integer(7)), ("e", .null)]),
                graphic(2, [("N", .real(2.5)), ("D", .date(9)), ("M", .string("x"))]),
            ], over: site)
        let rows = try site.rows { $0.outFields = ["*"] }
        let json = try site.json { $0.outFields = ["*"] }
        let fields = try #require(json["fields"] as? [[String: Any]])
        #expect(
            fields.compactMap { $0["type"] as? String } == [
                "esriFieldTypeOID", "esriFieldTypeDate", "esriFieldTypeString",
                "esriFieldTypeString", "esriFieldTypeDouble",
            ])
        #expect(rows.map { $0["n"] as? Double } == [1, 2.5])
        #expect(rows.map { $0["m"] as? String } == ["7", "x"])
        #expect(rows.map { $0["d"] as? Int } == [5, 9])
    }

    @Test func `no graphics are no features, and several kinds are refused by a sentence`() throws {
        let site = try QueriedSite(Both(.point, count: 1, seed: 1).features)
        drawn([], over: site)
        #expect(try site.ids().ids == [])
        #expect(try site.json { $0.result = .count }["count"] as? Int == 0)
        let point = Graphic(
            id: 1, shape: .point(Coordinate(x: 1, y: 2)), attributes: Attributes([]), zIndex: 0)
        var line = point
        line.shape = .polyline(paths: [[Coordinate(x: 1, y: 2), Coordinate(x: 3, y: 4)]])
        drawn([point, line], over: site)
        let failure = try #require(site.failure { _ in })
        #expect(failure.code == .invalidParameter)
        #expect(failure.message.contains("several kinds"))
    }
}
