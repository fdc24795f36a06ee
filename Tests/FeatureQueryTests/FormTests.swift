// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FeatureQuery
import Foundation
import Geometry
import TestKit
import Testing

/// A square with a hole and a triangle, with every type of attribute and with none.
private func squares(_ wkid: Int = 4326) throws -> QueriedSite {
    try QueriedSite([
        """
        {"type":"Feature","id":2,"properties":{"name":"a \\"b\\" é\\n","pop":7,"area":0.25,
        "day":"1970-01-02"},"geometry":{"type":"Polygon","coordinates":
        [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6.5],[4,4]]]}}
        """,
        """
        {"type":"Feature","id":1,"properties":{"name":null,"pop":null,"area":null,"day":null},
        "geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}
        """,
    ])
}

@Suite struct FormTests {
    private static let head =
        #"{"displayFieldName":"name","objectIdFieldName":"OBJECTID","globalIdFieldName":"","#
        + #""fieldAliases":{"OBJECTID":"OBJECTID","name":"name","pop":"pop","area":"area","day":"day"},"#
        + #""geometryType":"esriGeometryPolygon","spatialReference":{"wkid":4326,"latestWkid":4326},"#
        + #""fields":[{"name":"OBJECTID","type":"esriFieldTypeOID","alias":"OBJECTID","domain":null},"#
        + #"{"name":"name","type":"esriFieldTypeString","alias":"name","length":2147483647,"domain":null},"#
        + #"{"name":"pop","type":"esriFieldTypeInteger","alias":"pop","domain":null},"#
        + #"{"name":"area","type":"esriFieldTypeDouble","alias":"area","domain":null},"#
        + #"{"name":"day","type":"esriFieldTypeDate","alias":"day","domain":null}],"features":["#

    @Test func `features in Esri's form, byte for byte`() throws {
        let text = try squares().text { $0.outFields = ["*"] }
        #expect(
            text == Self.head
                + #"{"attributes":{"OBJECTID":1,"name":null,"pop":null,"area":null,"day":null},"#
                + #""geometry":{"rings":[[[0,0],[1,1],[1,0],[0,0]]]}},"#
                + #"{"attributes":{"OBJECTID":2,"name":"a \"b\" é\n","pop":7,"area":0.25,"day":86400000},"#
                + #""geometry":{"rings":[[[0,0],[0,10],[10,10],[10,0],[0,0]],[[4,4],[6,4],[6,6.5],[4,4]]]}}]}"#
        )
    }

    @Test func `64-bit integers are said to be doubles, with all their digits`()
        throws
    {
        let site = try QueriedSite([
            #"{"type":"Feature","id":1,"properties":{"osm":9007199254740993},"geometry":{"type":"Point","coordinates":[0,0]}}"#
        ])
        let text = try site.text { $0.outFields = ["osm"] }
        #expect(
            text.contains(
                #"{"name":"osm","type":"esriFieldTypeDouble","alias":"osm","domain":null}"#))
        #expect(text.contains(#"{"attributes":{"osm":9007199254740993}"#))
    }

    @Test func `features in GeoJSON, byte for byte`() throws {
        let text = try squares().text {
            $0.form = .geoJSON
            $0.outFields = ["pop"]
            $0.limit = 1
            $0.offset = 1
        }
        #expect(
            text == #"{"type":"FeatureCollection","features":[{"type":"Feature","id":2,"geometry":"#
                + #"{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]],"#
                + #"[[4,4],[6,6.5],[6,4],[4,4]]]},"properties":{"pop":7}}]}"#)
        let cut = try squares().text {
            $0.form = .geoJSON
            $0.outFields = []
            $0.limit = 1
        }
        #expect(
            cut
                == #"{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"geometry":"#
                + #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"#
                + #""properties":{}}],"exceededTransferLimit":true,"#
                + #""properties":{"exceededTransferLimit":true}}"#)
    }

    @Test func `features as OGC has them, byte for byte`() throws {
        let text = try squares().text {
            $0.form = .ogcFeatures
            $0.outFields = ["day"]
            $0.outReference = .wgs84
            $0.offset = 1
        }
        // Latitude first: the shell is still counter-clockwise on the ground, the hole clockwise.
        #expect(
            text == #"{"type":"FeatureCollection","features":[{"type":"Feature","id":2,"geometry":"#
                + #"{"type":"Polygon","coordinates":[[[0,0],[0,10],[10,10],[10,0],[0,0]],"#
                + #"[[4,4],[6.5,6],[4,6],[4,4]]]},"properties":{"day":"1970-01-02T00:00:00Z"}}],"#
                + #""numberReturned":1}"#)
        let cut = try squares().text {
            $0.form = .ogcFeatures
            $0.outFields = []
            $0.limit = 1
        }
        #expect(
            cut == #"{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"geometry":"#
                + #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"#
                + #""properties":{}}],"numberReturned":1}"#)
    }

    @Test func `ids, counts, extents and statistics, byte for byte`() throws {
        let site = try squares()
        #expect(
            try site.text { $0.result = .objectIDs }
                == #"{"objectIdFieldName":"OBJECTID","objectIds":[1,2]}"#)
        #expect(
            try site.text {
                $0.result = .objectIDs
                $0.limit = 1
            } == #"{"objectIdFieldName":"OBJECTID","objectIds":[1],"exceededTransferLimit":true}"#)
        #expect(
            try site.text {
                $0.result = .objectIDs
                $0.clause = "1=0"
            } == #"{"objectIdFieldName":"OBJECTID","objectIds":[]}"#)
        #expect(try site.text { $0.result = .count } == #"{"count":2}"#)
        let sides = #""xmin":0,"ymin":0,"xmax":10,"ymax":10"#
        #expect(
            try site.text { $0.result = .extent }
                == #"{"extent":{\#(sides),"spatialReference":{"wkid":4326,"latestWkid":4326}}}"#)
        #expect(
            try site.text {
                $0.result = .extent
                $0.returnCount = true
                $0.clause = "pop = 7"
            }
                == #"{"count":1,"extent":{\#(sides),"spatialReference":{"wkid":4326,"latestWkid":4326}}}"#
        )
        #expect(
            try site.text {
                $0.result = .extent
                $0.form = .geoJSON
            } == #"{"type":"FeatureCollection","bbox":[0,0,10,10],"features":[]}"#)
        #expect(
            try site.text {
                $0.result = .extent
                $0.clause = "1=0"
            }
                == #"{"extent":{"xmin":"NaN","ymin":"NaN","xmax":"NaN","ymax":"NaN","spatialReference":{"wkid":4326,"latestWkid":4326}}}"#
        )
        #expect(
            try site.text {
                $0.statistics = [QueryStatistic(kind: .max, field: "POP", name: "most")]
            }
                == #"{"displayFieldName":"name","objectIdFieldName":"OBJECTID","globalIdFieldName":"","#
                + #""fieldAliases":{"most":"most"},"fields":[{"name":"most","type":"esriFieldTypeInteger","#
                + #""alias":"most","domain":null}],"features":[{"attributes":{"most":7}}]}"#)
    }

    @Test func `the first and last of moments are moments`() throws {
        let row = try #require(
            try squares().rows {
                $0.statistics = [QueryStatistic.Kind.min, .max, .count].map {
                    QueryStatistic(kind: $0, field: "day", name: $0.rawValue)
                }
            }.first)
        #expect(row["min"] as? Int == 86_400_000 && row["max"] as? Int == 86_400_000)
        #expect(row["count"] as? Int == 1)
    }

    @Test func `geometries are projected, rounded, generalised, or left out`() throws {
        let site = try squares()
        func geometry(_ change: (inout QueryRequest) -> Void) throws -> String {
            let text = try site.text {
                $0.objectIDs = [2]
                $0.outFields = ["OBJECTID"]
                change(&$0)
            }
            return text.split(separator: #""features":"#).last.map(String.init) ?? ""
        }
        #expect(
            try geometry { $0.returnGeometry = false } == #"[{"attributes":{"OBJECTID":2}}]}"#)
        #expect(
            try geometry {
                $0.outReference = SpatialReference(wkid: 102_100)
                $0.geometryPrecision = 0
            }.contains("[1113195,1118890]"))
        #expect(
            try geometry { $0.maxAllowableOffset = 20 }.contains("[[0,0],[10,10],[10,0],[0,0]]"))
        #expect(
            try geometry {
                $0.returnCentroid = true
                $0.returnGeometry = false
                $0.geometryPrecision = 2
            } == #"[{"attributes":{"OBJECTID":2},"centroid":{"x":4.99,"y":5}}]}"#)
    }

    @Test func `the reference is the map's where extents are told in it`() throws {
        let site = try squares()
        site.map.spatialReference = .webMercator
        #expect(try site.text().contains(#""latestWkid":3857},"#))
        site.map.spatialReference = SpatialReference(wkid: 2154)
        #expect(try site.text().contains(#""latestWkid":4326},"#))
    }

    @Test(.slow) func `an answer larger than a message comes in parts that join`() throws {
        // The first is larger than a part, the second ends in a third, the others follow.
        var features: [String] = []
        for (id, count) in [(1, 400_000), (2, 300), (3, 300_000), (4, 5)] {
            let points = (0..<count).map { index in
                let angle = Double(index) / Double(count)
                return "[\(angle * 7.123456789),\(Double(index % 97) / 31.7)]"
            }
            features.append(
                #"{"type":"Feature","id":\#(id),"properties":{},"geometry":{"type":"LineString","#
                    + #""coordinates":[\#(points.joined(separator: ","))]}}"#)
        }
        let site = try QueriedSite(features)
        let first = try site.engine.answer(site.request(), in: site.map)
        let part = try #require(first.next)
        #expect(part.row == 0 && first.body.count == QueryLimits.partBytes)

        let json = try site.json()

        let found = try #require(json["features"] as? [[String: Any]])
        let counts = found.map { feature in
            let geometry = feature["geometry"] as? [String: Any]
            return (geometry?["paths"] as? [[[Double]]])?.first?.count
        }
        #expect(counts == [400_000, 300, 300_000, 5])
        #expect(json["exceededTransferLimit"] == nil)
    }
}
