// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import PROJ
import Testing

/// Coordinates are in the source's spatial reference.
@Suite struct SourceReferenceTests {
    private let scratch = Scratch()

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets)
    }

    /// A shapefile of points with that .prj; nil leaves it away.
    private func shapefile(
        _ points: [(Double, Double)], prj: String?, name: String = "points"
    ) throws -> String {
        let source = try scratch.features(
            "\(name)-source.geojson",
            points.enumerated().map { index, point in
                #"{"type":"Feature","properties":{"n":\#(index)},"geometry":{"type":"Point","#
                    + #""coordinates":[\#(point.0),\#(point.1)]}}"#
            })
        #expect(try scratch.run("/usr/bin/ogr2ogr", ["\(name).shp", source]))
        try? FileManager.default.removeItem(atPath: scratch.path + "/\(name).prj")
        if let prj { _ = try scratch.write("\(name).prj", prj) }
        return scratch.path + "/\(name).shp"
    }

    private func degrees(_ layer: ImportedLayer) throws -> Coordinate {
        let extent = try #require(layer.properties.extent)
        return try CoordinateTransform(from: layer.properties.spatialReference, to: .wgs84)
            .forward(Coordinate(x: extent.minX, y: extent.minY))
    }

    private func expect(
        _ place: Coordinate, _ x: Double, _ y: Double, within tolerance: Double = 1e-4
    ) {
        #expect(abs(place.x - x) < tolerance && abs(place.y - y) < tolerance, "\(place)")
    }

    private static let wgs84 =
        #"GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],"#
        + #"PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]"#

    private static func utm(
        _ name: String, zone: Int, unit: String = #"UNIT["Meter",1.0]"#, easting: Double = 500_000,
        authority: String = ""
    ) -> String {
        #"PROJCS["\#(name)",\#(wgs84),PROJECTION["Transverse_Mercator"],"#
            + #"PARAMETER["False_Easting",\#(easting)],PARAMETER["False_Northing",0.0],"#
            + #"PARAMETER["Central_Meridian",\#(6 * zone - 183).0],"#
            + #"PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],"#
            + #"\#(unit)\#(authority)]"#
    }

    // Expected values: 500 000 east is the central meridian; 4 982 950.40 north is 45 degrees
    // (cs2cs 9.1.1).
    private static let northOf45 = 4_982_950.400

    // MARK: Definitions against names

    @Test func `a projection counts, not the name of Web Mercator`() throws {
        let prj =
            #"PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",\#(Self.wgs84),"#
            + #"PROJECTION["Mercator"],PARAMETER["False_Easting",0.0],"#
            + #"PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],"#
            + #"PARAMETER["Standard_Parallel_1",0.0],UNIT["Meter",1.0]]"#
        // 2.35, 48.86 in EPSG:3395.
        let layer = try #require(
            try imported(shapefile([(261_600.806, 6_219_221.985)], prj: prj)).first)
        let place = try degrees(layer)
        #expect(abs(place.x - 2.35) < 1e-3)
        // Web Mercator would have it 0.19 degrees further south.
        #expect(abs(place.y - 48.86) < 0.01, "\(place)")
        #expect(layer.notes.contains { $0.contains("the definition counts") }, "\(layer.notes)")
    }

    @Test func `true Web Mercator stays 3857`() throws {
        let prj =
            #"PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",\#(Self.wgs84),"#
            + #"PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],"#
            + #"PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],"#
            + #"PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],"#
            + #"UNIT["Meter",1.0]]"#
        let layer = try #require(try imported(shapefile([(261_600, 6_250_000)], prj: prj)).first)
        #expect(layer.properties.spatialReference.latestWkid == 3857)
        #expect(!layer.notes.contains { $0.contains("definition") }, "\(layer.notes)")
    }

    @Test func `a definition's parameters count against its number`() throws {
        let prj = Self.utm(
            "WGS 84 / UTM zone 32N", zone: 31, authority: #",AUTHORITY["EPSG","32632"]"#)
        let layer = try #require(
            try imported(shapefile([(500_000, Self.northOf45)], prj: prj)).first)
        try expect(degrees(layer), 3, 45)
        #expect(layer.notes.contains { $0.contains("the definition counts") }, "\(layer.notes)")
    }

    @Test func `a number that the definition agrees with is kept`() throws {
        let prj = Self.utm(
            "WGS 84 / UTM zone 32N", zone: 32, authority: #",AUTHORITY["EPSG","32632"]"#)
        let layer = try #require(
            try imported(shapefile([(500_000, Self.northOf45)], prj: prj)).first)
        #expect(layer.properties.spatialReference == SpatialReference(wkid: 32632))
        #expect(!layer.notes.contains { $0.contains("definition") }, "\(layer.notes)")
    }

    @Test func `an unknown number says nothing of the reference`() throws {
        let prj = Self.utm("own", zone: 31, authority: #",AUTHORITY["EPSG","999999"]"#)
        let layer = try #require(
            try imported(shapefile([(500_000, Self.northOf45)], prj: prj)).first)
        try expect(degrees(layer), 3, 45)
    }

    @Test func `feet of the survey count, whatever number the name has`() throws {
        let foot = 1200.0 / 3937
        let prj = Self.utm(
            "EPSG:32631 WGS 84 / UTM zone 31N", zone: 31,
            unit: #"UNIT["Foot_US",0.3048006096012192]"#, easting: 500_000 / foot)
        let layer = try #require(
            try imported(shapefile([(500_000 / foot, Self.northOf45 / foot)], prj: prj)).first)
        try expect(degrees(layer), 3, 45)
    }

    @Test func `a definition in a GeoPackage counts, not its number`() throws {
        let source = try scratch.features(
            "p.geojson",
            [
                #"{"type":"Feature","properties":{},"geometry":{"type":"Point","#
                    + #""coordinates":[500000,4982950.4]}}"#
            ])
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr", ["-f", "GPKG", "-a_srs", "EPSG:32632", "p.gpkg", source]))
        let definition = Self.utm("WGS 84 / UTM zone 32N", zone: 31)
        #expect(
            try scratch.run(
                "/usr/bin/python3",
                [
                    "-c",
                    "import sqlite3,sys;c=sqlite3.connect('p.gpkg');"
                        + "c.execute('update gpkg_spatial_ref_sys set definition=? where "
                        + "srs_id=32632',(sys.argv[1],));c.commit()", definition,
                ]))
        let layer = try #require(try imported(scratch.path + "/p.gpkg").first)
        try expect(degrees(layer), 3, 45)
        #expect(layer.notes.contains { $0.contains("the definition counts") }, "\(layer.notes)")
    }

    @Test(arguments: ["", ",TOWGS84[0,0,0,0,0,0,0]"])
    func `Mercator on a sphere is Web Mercator`(shift: String) throws {
        let prj =
            #"PROJCS["Popular Visualisation CRS / Mercator",GEOGCS["Popular Visualisation CRS","#
            + #"DATUM["Popular_Visualisation_Datum",SPHEROID["Popular Visualisation Sphere",6378137,0]"#
            + #"\#(shift)],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],"#
            + #"PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],"#
            + #"PARAMETER["scale_factor",1],PARAMETER["false_easting",0],"#
            + #"PARAMETER["false_northing",0],UNIT["metre",1],AUTHORITY["EPSG","3785"]]"#
        let layer = try #require(try imported(shapefile([(261_600, 6_250_000)], prj: prj)).first)
        #expect(layer.properties.spatialReference.latestWkid == 3857)
        try expect(degrees(layer), 2.349993, 48.853264)
    }

    // MARK: Units and meridians

    @Test func `grads from the meridian of Paris are where they are`() throws {
        let prj =
            #"GEOGCS["GCS_NTF_Paris",DATUM["D_NTF",SPHEROID["Clarke_1880_IGN",6378249.2,"#
            + #"293.4660212936265]],PRIMEM["Paris",2.337229166666667],"#
            + #"UNIT["Grad",0.01570796326794897]]"#
        // 54.2889 grads are 48.86 degrees; at the meridian of Paris.
        let layer = try #require(try imported(shapefile([(0, 54.2889)], prj: prj)).first)
        try expect(degrees(layer), 2.3372, 48.86, within: 0.01)
        // 95 grads are no more than 85.5 degrees.
        let north = try imported(shapefile([(0, 95)], prj: prj, name: "north"))
        #expect(north.first?.featureCount == 1)
        #expect(throws: Failure.self) {
            try imported(shapefile([(0, 105)], prj: prj, name: "beyond"))
        }
    }

    // MARK: No place on a map

    @Test(arguments: [
        (
            #"LOCAL_CS["Site grid",LOCAL_DATUM["Site",0],UNIT["Meter",1.0],AXIS["X",EAST],AXIS["Y",NORTH]]"#,
            "engineering"
        ),
        (
            #"GEOGCS["Mars 2000",DATUM["D_Mars_2000",SPHEROID["Mars_2000_IAU_IAG",3396190.0,"#
                + #"169.8944472236118]],PRIMEM["Reference_Meridian",0.0],UNIT["Degree",0.0174532925199433]]"#,
            "another body"
        ),
        (
            #"GEOGCS["GCS_Moon_2000",DATUM["D_Moon_2000",SPHEROID["Moon_2000_IAU_IAG",1737400.0,0.0]],"#
                + #"PRIMEM["Reference_Meridian",0.0],UNIT["Degree",0.0174532925199433]]"#,
            "another body"
        ),
        (
            #"GEOCCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],"#
                + #"PRIMEM["Greenwich",0],UNIT["metre",1],AXIS["X",OTHER],AXIS["Y",EAST],AXIS["Z",NORTH]]"#,
            "not understood"
        ),
        (#"PROJCS["broken""#, "not understood"),
    ])
    func `a system without a place on a map is refused`(prj: String, word: String) throws {
        let path = try shapefile([(3, 4)], prj: prj)
        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(failure?.message.contains(word) == true, "\(failure?.description ?? "")")
        #expect(failure?.message.contains("'points'") == true, "\(failure?.description ?? "")")
    }

    @Test(arguments: [
        ("EPSG:4978", "geocentric"), ("EPSG:5773", "vertical"), ("ESRI:104905", "Mars"),
        (#"LOCAL_CS["Site",UNIT["metre",1]]"#, "engineering"),
    ])
    func `a system of a GeoPackage without a place on a map is refused`(
        definition: String, word: String
    ) throws {
        let source = try geoJSON(nil, "[5,6]")
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr", ["-f", "GPKG", "-a_srs", definition, "g.gpkg", source]))
        let failure = #expect(throws: Failure.self) { try imported(scratch.path + "/g.gpkg") }
        #expect(failure?.message.contains(word) == true, "\(failure?.description ?? "")")
    }

    @Test func `only the layer in a local system fails, by its name`() throws {
        let source = try scratch.features(
            "good.geojson",
            [#"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[5,6]}}"#]
        )
        #expect(try scratch.run("/usr/bin/ogr2ogr", ["-f", "GPKG", "two.gpkg", source]))
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr",
                [
                    "-f", "GPKG", "-update", "-nln", "plan", "-a_srs",
                    #"LOCAL_CS["Site",UNIT["metre",1]]"#, "two.gpkg", source,
                ]))
        var skipped: [String: String] = [:]
        let layers = try DatasetBuilder.importFile(
            path: scratch.path + "/two.gpkg", into: scratch.datasets
        ) { if case .skipped(let layer, let reason) = $0 { skipped[layer] = reason } }
        #expect(layers.map(\.name) == ["good"])
        #expect(skipped["plan"]?.contains("engineering") == true, "\(skipped)")
        #expect(layers.first?.notes.contains { $0.contains("'plan'") } == true)
    }

    // MARK: GeoJSON

    private func geoJSON(_ crs: String?, _ coordinates: String) throws -> String {
        let member = crs.map { #""crs":\#($0),"# } ?? ""
        return try scratch.write(
            "p.geojson",
            #"{"type":"FeatureCollection",\#(member)"features":[{"type":"Feature","properties":{},"#
                + #""geometry":{"type":"Point","coordinates":\#(coordinates)}}]}"#)
    }

    @Test(
        arguments: [
            (nil, "[2600000,1200000]", "2600000"),
            ("null", "[2600000,1200000]", "'crs' is null"),
            (#"{"type":"name","properties":{"name":"my local grid"}}"#, "[26,12]", "my local grid"),
            (#"{"type":"link","properties":{"href":"http://x/y"}}"#, "[260,12]", "'crs'"),
            (nil, "[48.86,152.5]", "exchanged"),
            (nil, "[3,95]", "±90"),
        ] as [(String?, String, String)])
    func `GeoJSON of which the system cannot be told is refused`(
        crs: String?, coordinates: String, word: String
    ) throws {
        let path = try geoJSON(crs, coordinates)
        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(failure?.description.contains(word) == true, "\(failure?.description ?? "")")
    }

    @Test(arguments: [
        (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::2056"}}"#, 2056),
        (#"{"type":"name","properties":{"name":"EPSG:2056"}}"#, 2056),
        (#"{"type":"EPSG","properties":{"code":2056}}"#, 2056),
        (
            #"{"type":"name","properties":{"name":"http:\/\/www.opengis.net\/def\/crs\/EPSG\/0\/2056"}}"#,
            2056
        ),
    ])
    func `the member crs of old GeoJSON is the system`(crs: String, wkid: Int) throws {
        let layer = try #require(try imported(geoJSON(crs, "[2600000,1200000]")).first)
        #expect(layer.properties.spatialReference.wkid == wkid)
        try expect(degrees(layer), 7.4386, 46.9511, within: 1e-3)
    }

    @Test(arguments: [
        ("null", true), (#"{"type":"link","properties":{"href":"http://x/y"}}"#, true),
        (#"{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}}"#, false),
    ])
    func `GeoJSON in degrees is taken, and said where nothing states it`(
        crs: String, isSaid: Bool
    ) throws {
        let layer = try #require(try imported(geoJSON(crs, "[26,12]")).first)
        #expect(layer.properties.spatialReference == .wgs84)
        #expect(layer.notes.contains { $0.contains("4326 was assumed") } == isSaid)
    }

    @Test func `a single latitude beyond the pole is noted`() throws {
        let points = ["[3,4]", "[5,6]", "[7,95]"].map {
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":\#($0)}}"#
        }
        let layer = try #require(try imported(scratch.features("p.geojson", points)).first)
        #expect(layer.featureCount == 3 && layer.rejectedCount == 0)
        #expect(layer.notes.contains { $0.contains("latitude 95.0") }, "\(layer.notes)")
    }

    @Test func `degrees in a projected system, and places far from its area, are said`() throws {
        let near = try imported(
            shapefile([(2.35, 48.86), (3, 49)], prj: Self.utm("UTM", zone: 31), name: "near"))
        #expect(near.first?.notes.contains { $0.contains("not in degrees") } == true)
        let crs = #"{"type":"name","properties":{"name":"EPSG:2056"}}"#
        let far = try imported(geoJSON(crs, "[500000,5500000]"))
        #expect(far.first?.notes.contains { $0.contains("far from the area") } == true)
    }

    // MARK: GeoPackage and shapefiles without a system

    @Test(arguments: [("[500000,5500000]", false), ("[5,6]", true)])
    func `a GeoPackage that knows no system is taken in degrees only`(
        coordinates: String, isTaken: Bool
    ) throws {
        let source = try geoJSON(nil, coordinates)
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr", ["-f", "GPKG", "-a_srs", "EPSG:4326", "p.gpkg", source]))
        #expect(
            try scratch.run(
                "/usr/bin/python3",
                [
                    "-c",
                    "import sqlite3;c=sqlite3.connect('p.gpkg');"
                        + "c.execute('update gpkg_geometry_columns set srs_id=0');"
                        + "c.execute('update gpkg_contents set srs_id=0');c.commit()",
                ]))
        let path = scratch.path + "/p.gpkg"
        guard isTaken else {
            let failure = #expect(throws: Failure.self) { try imported(path) }
            #expect(failure?.message.contains("srs_id 0") == true, "\(failure?.description ?? "")")
            return
        }
        let layer = try #require(try imported(path).first)
        #expect(layer.properties.spatialReference == .wgs84)
        #expect(layer.notes.contains { $0.contains("4326 was assumed") })
    }

    @Test func `a shapefile without a system is taken in degrees only`() throws {
        let layer = try #require(try imported(shapefile([(5, 6)], prj: nil)).first)
        #expect(layer.notes.contains { $0.contains("4326 was assumed") })
        let failure = #expect(throws: Failure.self) {
            try imported(shapefile([(500_000, 6)], prj: nil, name: "metres"))
        }
        #expect(failure?.message.contains("not longitude and latitude") == true)
    }
}
