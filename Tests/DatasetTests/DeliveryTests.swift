// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

/// Archives and folders as data portals hand them out.
@Suite struct DeliveryTests {
    private let scratch = Scratch()

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(
            path: scratch.path + "/" + path, into: scratch.datasets)
    }

    private func run(_ program: String, _ arguments: String...) throws {
        #expect(try scratch.run(program, arguments), "\(program) \(arguments)")
    }

    private func python(_ script: String) throws { try run("/usr/bin/python3", "-c", script) }

    private func directory(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/" + name, withIntermediateDirectories: true)
    }

    private func move(_ old: String, _ new: String) throws {
        try FileManager.default.moveItem(
            atPath: scratch.path + "/" + old, toPath: scratch.path + "/" + new)
    }

    private static func point(_ name: String) -> String {
        #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Point","#
            + #""coordinates":[26,12]}}"#
    }

    /// `own.geojson`, and a shapefile of it in a directory.
    private func shapefile(_ path: String) throws {
        _ = try scratch.features("own.geojson", [Self.point("Straße")])
        try run("/usr/bin/ogr2ogr", "-lco", "ENCODING=UTF-8", path, "own.geojson")
    }

    private func names(_ layers: [ImportedLayer]) -> [String] { layers.map(\.name) }

    /// The value of every layer's one point.
    private func value(_ layer: ImportedLayer) throws -> AttributeValue? {
        try scratch.dataset(layer).contents().values.first?.values.last
    }

    private func deliver() throws {
        try directory("delivery/shapes/deep")
        try directory("delivery/__MACOSX")
        try shapefile("delivery/shapes/roads.shp")
        try shapefile("delivery/shapes/deep/rivers.shp")
        try run("/usr/bin/ogr2ogr", "-f", "GPKG", "delivery/towns.gpkg", "own.geojson")
        _ = try scratch.write("delivery/readme.txt", "nothing")
        _ = try scratch.write("delivery/codes.csv", "code,text\n1,a\n")
        _ = try scratch.write("delivery/__MACOSX/._roads.shp", "rubbish")
        _ = try scratch.write("delivery/shapes/._roads.shp", "rubbish")
    }

    @Test(.slow, arguments: ["zip", "tar", "tar.gz", "tgz", "folder", "backslashes"])
    func `every data set of a delivery becomes a layer`(form: String) throws {
        try deliver()
        switch form {
        case "zip": try run("/usr/bin/zip", "-qr", "all.zip", "delivery")
        case "folder": break
        case "tar": try run("/usr/bin/tar", "cf", "all.tar", "./delivery")
        case "backslashes":
            try python(
                """
                import os, zipfile
                with zipfile.ZipFile('all.zip', 'w') as z:
                    for d, _, files in os.walk('delivery'):
                        for f in files:
                            p = os.path.join(d, f)
                            i = zipfile.ZipInfo('x'); i.filename = p.replace('/', chr(92))
                            z.writestr(i, open(p, 'rb').read())
                """)
        default: try run("/usr/bin/tar", "czf", "all." + form, "delivery")
        }
        let archive = "all." + (form == "backslashes" ? "zip" : form)
        let layers = try imported(form == "folder" ? "delivery" : archive)
        #expect(names(layers) == ["rivers", "roads", "own"], "\(names(layers))")
        for layer in layers { #expect(try value(layer) == .string("Straße"), "\(layer.name)") }
    }

    @Test func `archives in an archive are opened`() throws {
        try deliver()
        try run("/usr/bin/zip", "-qrj", "inner.gpkg.zip", "delivery/towns.gpkg")
        try run("/usr/bin/tar", "czf", "shapes.tar.gz", "-C", "delivery", "shapes")
        try run("/usr/bin/zip", "-q", "middle.zip", "shapes.tar.gz")
        try run("/usr/bin/zip", "-q", "outer.zip", "inner.gpkg.zip", "middle.zip")
        #expect(names(try imported("outer.zip")) == ["own", "rivers", "roads"])
        #expect(names(try imported("inner.gpkg.zip")) == ["own"])
    }

    @Test func `archives nested deeper than any delivery are refused`() throws {
        _ = try scratch.features("own.geojson", [Self.point("x")])
        var inner = "own.geojson"
        for depth in 1...6 {
            try run("/usr/bin/zip", "-q", "\(depth).zip", inner)
            inner = "\(depth).zip"
        }
        let failure = #expect(throws: Failure.self) { try imported("6.zip") }
        #expect(failure?.code == .tooLarge && failure?.message.contains("nested") == true)
    }

    @Test(
        .slow,
        arguments: [
            (["roads.SHP", "roads.SHX", "roads.DBF", "roads.PRJ"], true),
            (["Roads.Shp", "Roads.Shx", "Roads.Dbf", "Roads.Prj"], true),
            (["roads.shp", "ROADS.SHX", "Roads.dbf", "ROADS.prj"], true),
            (["roads.SHP", "roads.SHX", "roads.DBF", "roads.PRJ"], false),
            (["roads.shp", "ROADS.SHX", "Roads.dbf", "ROADS.prj"], false),
        ])
    func `files of a shapefile belong together in any letters`(
        files: [String], isZipped: Bool
    ) throws {
        try directory("d")
        try shapefile("d/x.shp")
        try? FileManager.default.removeItem(atPath: scratch.path + "/d/x.cpg")
        _ = try scratch.features("own.geojson", [Self.point("Ort")])
        try run(
            "/usr/bin/ogr2ogr", "-overwrite", "-s_srs", "EPSG:4326", "-t_srs", "EPSG:32635",
            "d/x.shp", "own.geojson")
        for (old, new) in zip(["x.shp", "x.shx", "x.dbf", "x.prj"], files) {
            try move("d/" + old, "d/" + new)
        }
        try? FileManager.default.removeItem(atPath: scratch.path + "/d/x.cpg")
        if isZipped { try run("/usr/bin/zip", "-qr", "all.zip", "d") }
        let layer = try #require(try imported(isZipped ? "all.zip" : "d/" + files[0]).first)
        #expect(layer.name.lowercased() == "roads")
        #expect(layer.properties.spatialReference.wkid == 32635)
        #expect(try value(layer) == .string("Ort"))
    }

    @Test func `two shapefiles whose names differ in letters only keep their own tables`() throws {
        try directory("d")
        for (name, text) in [("roads", "small"), ("ROADS", "large")] {
            _ = try scratch.features("own.geojson", [Self.point(text)])
            try run("/usr/bin/ogr2ogr", "d/\(name).shp", "own.geojson")
        }
        let layers = try imported("d")
        #expect(names(layers) == ["ROADS", "roads 2"], "\(names(layers))")
        #expect(layers.last?.notes.contains { $0.contains("'roads 2'") } == true)
        #expect(try layers.map(value) == [.string("large"), .string("small")])
    }

    @Test func `layers of one name in one archive get names of their own`() throws {
        for place in ["a", "b", "c"] {
            try directory("d/" + place)
            _ = try scratch.features("d/\(place)/x.geojson", [Self.point(place)])
        }
        try move("d/b/x.geojson", "d/b/X.geojson")
        try run("/usr/bin/zip", "-qr", "all.zip", "d")
        let layers = try imported("all.zip")
        #expect(names(layers) == ["x", "X 2", "x 3"], "\(names(layers))")
        #expect(try layers.map(value) == [.string("a"), .string("b"), .string("c")])
    }

    @Test(arguments: ["cp437", "utf-8", "latin-1"] as [String])
    func `names in an archive may be in any encoding`(encoding: String) throws {
        _ = try scratch.features("own.geojson", [Self.point("x")])
        try python(
            """
            import io, zipfile
            name = 'Straße.geojson'.encode('\(encoding)')
            mark = b'X' * len(name)
            out = io.BytesIO()
            with zipfile.ZipFile(out, 'w') as z:
                z.writestr(mark.decode(), open('own.geojson', 'rb').read())
            open('all.zip', 'wb').write(out.getvalue().replace(mark, name))
            """)
        let layers = try imported("all.zip")
        #expect(layers.count == 1 && layers.first?.featureCount == 1)
        if encoding != "latin-1" { #expect(names(layers) == ["Straße"], "\(names(layers))") }
    }

    @Test func `names of files in a tar archive may be in Latin-1`() throws {
        _ = try scratch.features("own.geojson", [Self.point("x")])
        try python(
            """
            import tarfile
            t = tarfile.open('all.tar', 'w', encoding='latin1', format=tarfile.USTAR_FORMAT)
            t.add('own.geojson', 'Daten/Straße.geojson')
            t.close()
            """)
        #expect(names(try imported("all.tar")) == ["Straße"])
    }

    @Test func `a kmz is read, alone and in an archive`() throws {
        _ = try scratch.features("own.geojson", [Self.point("x")])
        try run("/usr/bin/ogr2ogr", "-f", "KML", "doc.kml", "own.geojson")
        try run("/usr/bin/zip", "-q", "places.kmz", "doc.kml")
        try run("/usr/bin/zip", "-q", "outer.zip", "places.kmz", "own.geojson")
        #expect(try imported("places.kmz").map(\.featureCount) == [1])
        #expect(try imported("outer.zip").count == 2)
    }

    @Test(.slow) func `an import writes nothing beside its source`() throws {
        try deliver()
        _ = try scratch.write(
            "delivery/wells.gml",
            """
            <wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:x="http://x"
             xmlns:gml="http://www.opengis.net/gml/3.2"><gml:featureMember><x:well gml:id="p.1">
            <x:at><gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>60 10</gml:pos></gml:Point>
            </x:at></x:well></gml:featureMember></wfs:FeatureCollection>
            """)
        try python(
            """
            import sqlite3
            c = sqlite3.connect('delivery/towns.gpkg')
            c.execute('pragma journal_mode=wal')
            c.execute('create table further (a)')
            c.commit()
            """)
        func all() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: scratch.path + "/delivery").sorted()
        }
        let before = try all()
        #expect(try imported("delivery").count == 4)
        for name in ["wells.gml", "towns.gpkg", "shapes/roads.shp"] {
            #expect(try imported("delivery/" + name).count == 1)
        }
        #expect(try all() == before)
    }

    @Test(arguments: [
        (["roads", "ROADS", "roads 2"], ["roads", "ROADS 2", "roads 2 2"]),
        (["", " ", "\n"], ["layer", "layer 2", "layer 3"]),
        (["a/b", "a\tb", "a b"], ["a/b", "a b", "a b 2"]),
        (["caf\u{E9}", "cafe\u{301}"], ["caf\u{E9}", "cafe\u{301} 2"]),
        (
            [String(repeating: "ß", count: 200), String(repeating: "ß", count: 201)],
            [String(repeating: "ß", count: 127), String(repeating: "ß", count: 126) + " 2"]
        ),
    ])
    func `names of layers are free and can be names`(wanted: [String], taken: [String]) {
        var names = LayerNames()
        #expect(wanted.map { names.take($0) } == taken)
    }
}
