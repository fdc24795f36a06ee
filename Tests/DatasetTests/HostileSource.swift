// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import SQLite
import TestKit
import Testing

/// A file whose content leads to others, or to a server.
struct HostileSource: CustomTestStringConvertible, Sendable {
    /// The outcome of an import.
    enum Outcome: Sendable {
        /// It is refused with an error that has these words.
        case refused(String)
        /// It is imported as what it holds itself.
        case imported
    }

    let name: String
    /// Whether GDAL's `ogrinfo` follows it on its own.
    var bites = false
    let outcome: Outcome
    /// Writes it into the scratch directory; its path.
    let make: @Sendable (Scratch, Outside) throws -> String

    var testDescription: String { name }

    static let all: [HostileSource] = databases + documents + indirect

    // MARK: Databases

    private static func virtualTable(
        _ name: String, _ module: String, bites: Bool = true, also: String = "",
        ending: String = "sqlite", _ sql: @escaping @Sendable (Outside) -> String
    ) -> HostileSource {
        HostileSource(name: name, bites: bites, outcome: .refused(module)) { scratch, outside in
            let path = scratch.path + "/hostile." + ending
            if ending == "gpkg" {
                let points = try scratch.write("points.csv", "WKT,name\n\"POINT (1 2)\",own\n")
                #expect(
                    try scratch.run(
                        "/usr/bin/ogr2ogr", ["-f", "GPKG", "-a_srs", "EPSG:4326", path, points]))
            }
            let connection = try Connection(path: path, mode: .create)
            try connection.execute("CREATE TABLE own(id INTEGER PRIMARY KEY, WKT TEXT)")
            try connection.execute("INSERT INTO own VALUES(1, 'POINT (1 2)')")
            try connection.execute("PRAGMA writable_schema = ON")
            var insertion = try connection.prepare(
                "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) "
                    + "VALUES('table', 'led', 'led', 0, ?1)")
            try insertion.bind(1, sql(outside))
            try insertion.run()
            if !also.isEmpty {
                var view = try connection.prepare(
                    "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) "
                        + "VALUES('view', 'seen', 'seen', 0, ?1)")
                try view.bind(1, also)
                try view.run()
            }
            return path
        }
    }

    private static let databases: [HostileSource] = [
        virtualTable("SQLite with VirtualText", "VirtualText") {
            "CREATE VIRTUAL TABLE led USING VirtualText('\($0.path)/table.csv', 'UTF-8', 1, POINT, "
                + "DOUBLEQUOTE, ',')"
        },
        virtualTable("SQLite with VirtualShape", "VirtualShape") {
            "CREATE VIRTUAL TABLE led USING VirtualShape('\($0.path)/canary', 'UTF-8', 4326)"
        },
        virtualTable("SQLite with VirtualOGR", "VirtualOGR") {
            "CREATE VIRTUAL TABLE led USING VirtualOGR('\($0.path)/canary.csv')"
        },
        virtualTable("SQLite with VirtualOGR of a server", "VirtualOGR") {
            "CREATE VIRTUAL TABLE led USING VirtualOGR('/vsicurl/http://127.0.0.1:\($0.port)/a')"
        },
        virtualTable(
            "SQLite with a view of VirtualText", "VirtualText",
            also: "CREATE VIEW seen AS SELECT * FROM led"
        ) {
            "CREATE VIRTUAL TABLE led USING VirtualText('\($0.path)/table.csv', 'UTF-8', 1, POINT, "
                + "DOUBLEQUOTE, ',')"
        },
        virtualTable("SQLite with a module in comments, quotes and case", "vIRTUALtEXT") {
            "CREATE VIRTUAL /* USING rtree( */ TABLE \"led\"\n-- USING fts5\nusing \"vIRTUALtEXT\""
                + "('\($0.path)/table.csv', 'UTF-8', 1, POINT, DOUBLEQUOTE, ',')"
        },
        virtualTable("SQLite with dbstat", "dbstat", bites: false) { _ in
            "CREATE VIRTUAL TABLE led USING dbstat(main)"
        },
        virtualTable("GeoPackage with VirtualText", "VirtualText", bites: false, ending: "gpkg") {
            "CREATE VIRTUAL TABLE led USING VirtualText('\($0.path)/table.csv', 'UTF-8', 1, POINT, "
                + "DOUBLEQUOTE, ',')"
        },
    ]

    // MARK: Documents

    private static func document(
        _ name: String, _ file: String, _ outcome: Outcome, bites: Bool = false,
        _ text: @escaping @Sendable (Outside) -> String
    ) -> HostileSource {
        HostileSource(name: name, bites: bites, outcome: outcome) { scratch, outside in
            try scratch.write(file, text(outside))
        }
    }

    private static let xml = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"

    private static func gml(_ properties: String, _ before: String = "") -> String {
        xml + before
            + "<ogr:FeatureCollection xmlns:ogr=\"http://ogr.maptools.org/\" "
            + "xmlns:gml=\"http://www.opengis.net/gml\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">"
            + "<gml:featureMember><ogr:own fid=\"own.0\"><ogr:geometryProperty>"
            + "<gml:Point srsName=\"EPSG:4326\"><gml:coordinates>1,2</gml:coordinates></gml:Point>"
            + "</ogr:geometryProperty><ogr:name>own</ogr:name>\(properties)</ogr:own>"
            + "</gml:featureMember></ogr:FeatureCollection>"
    }

    private static func kml(_ features: String, _ before: String = "") -> String {
        xml + before
            + "<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document><name>own</name>\(features)"
            + "<Placemark><name>own</name><Point><coordinates>1,2</coordinates></Point></Placemark>"
            + "</Document></kml>"
    }

    private static func gpx(_ name: String, _ before: String) -> String {
        xml + before
            + "<gpx version=\"1.1\" creator=\"own\" xmlns=\"http://www.topografix.com/GPX/1/1\">"
            + "<wpt lat=\"2\" lon=\"1\"><name>\(name)</name></wpt></gpx>"
    }

    private static func entity(_ outside: Outside) -> String {
        "<!DOCTYPE own [<!ENTITY led SYSTEM \"file://\(outside.path)/canary.txt\">]>\n"
    }

    private static let documents: [HostileSource] = [
        document("GML with an external entity", "hostile.gml", .refused("DOCTYPE")) {
            gml("<ogr:more>&led;</ogr:more>", entity($0))
        },
        document("KML with an external entity", "hostile.kml", .refused("DOCTYPE")) {
            kml("<description>&led;</description>", entity($0))
        },
        document("GPX with an external entity", "hostile.gpx", .refused("DOCTYPE")) {
            gpx("&led;", entity($0))
        },
        document("GPX with a DTD on a server", "hostile.gpx", .refused("DOCTYPE")) {
            gpx("own", "<!-- a comment --><!DOCTYPE gpx SYSTEM \"http://127.0.0.1:\($0.port)/d\">")
        },
        document("GML with a link to a file", "hostile.gml", .imported) {
            gml("<ogr:more xlink:href=\"file://\($0.path)/canary.gml#own\"/>")
        },
        document("GML with a link to a server", "hostile.gml", .imported) {
            gml("<ogr:more xlink:href=\"http://127.0.0.1:\($0.port)/canary.gml#own\"/>")
        },
        document("GML with a schema on a server", "hostile.gml", .imported) {
            gml("").replacing(
                "xmlns:ogr=",
                with: "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation="
                    + "\"http://ogr.maptools.org/ http://127.0.0.1:\($0.port)/a.xsd\" xmlns:ogr=")
        },
        document("KML with a network link to a file", "hostile.kml", .imported) {
            kml("<NetworkLink><Link><href>\($0.path)/canary.kml</href></Link></NetworkLink>")
        },
        document("KML with a network link to a server", "hostile.kml", .imported) {
            kml(
                "<NetworkLink><Link><href>http://127.0.0.1:\($0.port)/a.kml</href></Link>"
                    + "</NetworkLink>")
        },
        document("KML with a style on a server", "hostile.kml", .imported) {
            kml(
                "<Placemark><name>b</name><styleUrl>http://127.0.0.1:\($0.port)/a.kml#s</styleUrl>"
                    + "<Point><coordinates>3,4</coordinates></Point></Placemark>")
        },
        document("GeoJSON with a system in a file", "hostile.geojson", .imported) {
            #"{"type":"FeatureCollection","crs":{"type":"link","properties":{"href":"file://"#
                + $0.path + #"/canary.txt","type":"proj4"}},"features":[{"type":"Feature","#
                + #""properties":{"name":"own"},"geometry":{"type":"Point","coordinates":[1,2]}}]}"#
        },
    ]

    // MARK: Formats that name other files

    private static func vrt(_ source: String) -> String {
        "<OGRVRTDataSource><OGRVRTLayer name=\"canary\"><SrcDataSource>\(source)</SrcDataSource>"
            + "</OGRVRTLayer></OGRVRTDataSource>"
    }

    private static func label(_ file: String) -> String {
        let fields = [
            ("name", "UTF8_String"), ("Longitude", "ASCII_Real"), ("Latitude", "ASCII_Real"),
        ].enumerated().map { index, field in
            "<Field_Delimited><name>\(field.0)</name><field_number>\(index + 1)</field_number>"
                + "<data_type>\(field.1)</data_type></Field_Delimited>"
        }
        return xml
            + "<Product_Observational xmlns=\"http://pds.nasa.gov/pds4/pds/v1\">"
            + "<File_Area_Observational><File><file_name>\(file)</file_name></File>"
            + "<Table_Delimited><offset unit=\"byte\">0</offset>"
            + "<parsing_standard_id>PDS DSV 1</parsing_standard_id><records>2</records>"
            + "<record_delimiter>Carriage-Return Line-Feed</record_delimiter>"
            + "<field_delimiter>Comma</field_delimiter><Record_Delimited><fields>3</fields>"
            + "<groups>0</groups>\(fields.joined())</Record_Delimited></Table_Delimited>"
            + "</File_Area_Observational></Product_Observational>"
    }

    /// The way from a directory of tests to the outside.
    private static func way(_ outside: Outside) -> String {
        "../" + (outside.path.split(separator: "/").last ?? "")
    }

    private static let indirect: [HostileSource] = [
        document("PDS4 label", "hostile.xml", .refused("PDS4"), bites: true) {
            label(way($0) + "/table.csv")
        },
        document("VRT", "hostile.vrt", .refused("VRT"), bites: true) {
            vrt($0.path + "/canary.csv")
        },
        document("VRT in disguise", "hostile.geojson", .refused("VRT"), bites: true) {
            vrt($0.path + "/canary.csv")
        },
        document("VRT of a server", "hostile.vrt", .refused("VRT"), bites: true) {
            vrt("/vsicurl/http://127.0.0.1:\($0.port)/a.csv")
        },
        HostileSource(name: "VRT in a zip", outcome: .refused("VRT")) {
            scratch, outside in
            _ = try scratch.write("inside.vrt", vrt(outside.path + "/canary.csv"))
            #expect(try scratch.run("/usr/bin/zip", ["hostile.zip", "inside.vrt"]))
            return scratch.path + "/hostile.zip"
        },
        HostileSource(name: "VRT in a tar in gzip", outcome: .refused("VRT")) {
            scratch, outside in
            _ = try scratch.write("inside.vrt", vrt(outside.path + "/canary.csv"))
            #expect(try scratch.run("/usr/bin/tar", ["czf", "hostile.tar.gz", "inside.vrt"]))
            return scratch.path + "/hostile.tar.gz"
        },
        document("CSV with a VRT beside it", "hostile.csv", .imported) { outside in
            "WKT,name\n\"POINT (1 2)\",own\n"
        }.with("hostile.vrt") { vrt($0.path + "/canary.csv") }
            .with("hostile.csvt") { _ in "\"WKT\",\"String\"" },
        document("OGC API", "hostile.moaw", .refused("OGCAPI")) {
            "{\"links\":[{\"rel\":\"self\",\"type\":\"application/json\",\"href\":"
                + "\"http://127.0.0.1:\($0.port)/collections/a?f=json\"}],\"id\":\"a\",\"title\":"
                + "\"a\",\"extent\":{}}"
        },
        document("WFS", "hostile.wfs", .refused("WFS"), bites: true) {
            "<OGRWFSDataSource><URL>http://127.0.0.1:\($0.port)/wfs?SERVICE=WFS</URL>"
                + "</OGRWFSDataSource>"
        },
        document("view of MapInfo", "hostile.tab", .refused("MapInfo")) {
            "!Table\n!Version 100\nOpen Table \"\(way($0))/canary.tab\" Hide\n"
                + "Open Table \"other.tab\" Hide\n\nCreate View hostile As\nSelect name\n"
                + "From canary, other\nWhere canary.id = other.id\n"
        },
        document("seamless table of MapInfo", "hostile.tab", .refused("MapInfo")) {
            "!table\n!version 300\n!charset WindowsLatin1\n\nDefinition Table\n"
                + "  Type NATIVE Charset \"WindowsLatin1\"\n  Fields 1\n    Table Char (40) ;\n"
                + "begin_metadata\n\"\\IsSeamless\" = \"TRUE\"\nend_metadata\n\(way($0))"
        },
    ]

    private func with(
        _ file: String, _ text: @escaping @Sendable (Outside) -> String
    ) -> HostileSource {
        HostileSource(name: name, bites: bites, outcome: outcome) { scratch, outside in
            _ = try scratch.write(file, text(outside))
            return try make(scratch, outside)
        }
    }
}
