// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

/// One bad feature, layer or file fails alone, by its name.
@Suite struct SourcePartsTests {
    private let scratch = Scratch()

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets)
    }

    private func python(_ script: String) throws {
        #expect(try scratch.run("/usr/bin/python3", ["-c", script]))
    }

    private static let good =
        #"{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[26,12]}}"#

    @Test(
        .slow,
        arguments: [
            "null", "7",
            #"{"type":"Feature","properties":{},"geometry":{"type":"Circle","coordinates":[1,2]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":["26","12"]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[NaN,12]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[Infinity,12]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1e999,12]}}"#,
            #"{"type":"Feature","properties":{},"geometry":"x"}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[1,2],"a",[3,4]]}}"#,
            #"{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[1,2]]}}"#,
        ])
    func `a bad feature of GeoJSON is left out alone`(bad: String) throws {
        let path = try scratch.features("p.geojson", [Self.good, bad, Self.good])
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 2 && layer.rejectedCount == 1, "\(layer)")
        #expect(layer.rejected.count == 1)
        #expect(
            layer.notes.contains { $0.hasPrefix("1 features were left out, the first (") },
            "\(layer.notes)")
    }

    @Test(arguments: [
        "null", #"{"type":"Point","coordinates":[]}"#,
        #"{"type":"GeometryCollection","geometries":[]}"#,
    ])
    func `a feature of GeoJSON without geometry is no bad one`(geometry: String) throws {
        let path = try scratch.features(
            "p.geojson",
            [Self.good, #"{"type":"Feature","properties":{},"geometry":\#(geometry)}"#])
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 2 && layer.rejectedCount == 0, "\(layer)")
    }

    @Test func `a geometry of GML that GDAL cannot read is left out alone`() throws {
        func road(_ id: Int, _ segments: String) -> String {
            """
            <gml:featureMember><ex:road gml:id="r\(id)"><ex:geom>\
            <gml:MultiCurve gml:id="m\(id)" srsName="urn:ogc:def:crs:EPSG::25832">\
            <gml:curveMember><gml:Curve gml:id="c\(id)"><gml:segments>\(segments)</gml:segments>\
            </gml:Curve></gml:curveMember></gml:MultiCurve></ex:geom></ex:road></gml:featureMember>
            """
        }
        let line =
            "<gml:LineStringSegment><gml:posList>500000 5500000 500100 5500000</gml:posList>"
            + "</gml:LineStringSegment>"
        let path = try scratch.write(
            "roads.gml",
            """
            <gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:ex="http://x" \
            gml:id="fc">\(road(1, line))\(road(2, ""))\(road(3, ""))\(road(4, line))\
            </gml:FeatureCollection>
            """)
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 2 && layer.rejectedCount == 2, "\(layer)")
        #expect(layer.notes.contains { $0.contains("2 features were left out") }, "\(layer.notes)")
        #expect(layer.rejected.first?.reason.contains("r2") == true, "\(layer.rejected)")
    }

    /// A GeoPackage of points 1…3, as a table `p`.
    private func geoPackage(_ change: String) throws -> String {
        let source = try scratch.features("p.geojson", [Self.good, Self.good, Self.good])
        #expect(try scratch.run("/usr/bin/ogr2ogr", ["-f", "GPKG", "p.gpkg", source]))
        try python(
            """
            import sqlite3, struct
            c = sqlite3.connect('p.gpkg')
            for name, in c.execute("select name from sqlite_master where type='trigger'").fetchall():
                c.execute('drop trigger "%s"' % name)
            \(change)
            c.commit()
            """)
        return scratch.path + "/p.gpkg"
    }

    @Test(
        .slow,
        arguments: [
            "b'GP\\x00\\x01' + struct.pack('<i', 4326) + b'\\x01\\x01\\x00\\x00\\x00\\x00'",
            "b'rubbish'",
            "b'GP\\x00\\x01' + struct.pack('<i', 4326) + struct.pack('<BIdd', 1, 1, float('inf'), 2)",
            "b'GP\\x00\\x01' + struct.pack('<i', 4326) + struct.pack('<BIII', 1, 3, 1, 2) "
                + "+ struct.pack('<4d', 0, 0, 1, 1)",
            "b'GP\\x00\\x01' + struct.pack('<i', 4326) + struct.pack('<BII', 1, 2, 4000000000)",
            "b'GP\\x00\\x01' + struct.pack('<i', 4326) + struct.pack('<BI', 1, 99)",
        ])
    func `a damaged geometry in a row of a GeoPackage is left out alone`(bytes: String) throws {
        let path = try geoPackage("c.execute('update p set geom=? where fid=2', (\(bytes),))")
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 2 && layer.rejectedCount == 1, "\(layer)")
        #expect(layer.rejected.first?.sourceID == 2, "\(layer.rejected)")
        #expect(layer.notes.contains { $0.contains("the first (2)") }, "\(layer.notes)")
    }

    @Test(arguments: [
        "c.execute('drop table q')",
        "c.execute(\"update gpkg_geometry_columns set column_name='none' where table_name='q'\")",
    ])
    func `a layer whose table cannot be read leaves the others`(change: String) throws {
        let path = try geoPackage(
            """
            c.execute('create table q (fid integer primary key, geom blob)')
            c.execute("insert into gpkg_contents (table_name,data_type,identifier,srs_id) \
            values ('q','features','q',4326)")
            c.execute("insert into gpkg_geometry_columns values ('q','geom','POINT',4326,0,0)")
            \(change)
            """)
        let layers = try imported(path)
        #expect(layers.map(\.name) == ["p"] && layers.first?.featureCount == 3, "\(layers)")
    }

    @Test func `a record of a shapefile with a wrong length is left out alone`() throws {
        let line =
            #"{"type":"Feature","properties":{"n":1},"geometry":{"type":"LineString","#
            + #""coordinates":[[1,2],[3,4],[5,6]]}}"#
        let source = try scratch.features("p.geojson", [line, line, line])
        #expect(try scratch.run("/usr/bin/ogr2ogr", ["p.shp", source]))
        // The second record has more points than it has bytes.
        try python(
            """
            import struct
            d = bytearray(open('p.shp', 'rb').read())
            length = struct.unpack('>i', d[104:108])[0] * 2 + 8
            at = 100 + length + 8 + 4 + 32
            struct.pack_into('<ii', d, at, 1, 1000000)
            open('p.shp', 'wb').write(d)
            """)
        let layer = try #require(try imported(scratch.path + "/p.shp").first)
        #expect(layer.featureCount == 2 && layer.rejectedCount == 1, "\(layer)")
    }

    @Test func `a curve without content is a feature without geometry`() throws {
        let path = try scratch.write(
            "c.csv", "id,wkt\n1,\"LINESTRING (0 0,1 1)\"\n2,\"COMPOUNDCURVE EMPTY\"\n3,\n")
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 3 && layer.rejectedCount == 0, "\(layer)")
    }

    @Test func `one bad data set of an archive leaves the others`() throws {
        _ = try scratch.features("good.geojson", [Self.good])
        _ = try scratch.write("bad.geojson", "{\"type\":\"FeatureCollection\",\"features\":[{")
        _ = try scratch.write("metres.csv", "x,y\n2600000,1200000\n")
        try python(
            """
            import zipfile
            with zipfile.ZipFile('all.zip', 'w') as z:
                for n in ('bad.geojson', 'good.geojson', 'metres.csv'): z.write(n)
            """)
        let layers = try imported(scratch.path + "/all.zip")
        #expect(layers.map(\.name) == ["good"])
        let notes = try #require(layers.first?.notes)
        #expect(notes.contains { $0.contains("metres") }, "\(notes)")
        #expect(notes.contains { $0.contains("bad.geojson") }, "\(notes)")
    }
}
