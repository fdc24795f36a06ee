// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Platform
import TestKit
import Testing

/// Files that name others, or servers: an import reads the file that was named and nothing else.
@Suite struct HostileSourceTests {
    private let scratch = Scratch()
    private let outside: Outside

    init() throws { outside = try Outside() }

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets)
    }

    /// Expects that an import is refused, in words that name the file and have `words`, without a
    /// trace of the outside.
    private func expectRefused(
        _ path: String, _ words: String, code: Failure.Code? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let failure = #expect(throws: Failure.self, sourceLocation: sourceLocation) {
            try DatasetBuilder.importFile(path: path, into: scratch.datasets)
        }
        let text = failure?.description ?? ""
        #expect(
            text.contains(words) && text.contains("'\(path)'"), "\(text)",
            sourceLocation: sourceLocation)
        if let code { #expect(failure?.code == code, "\(text)", sourceLocation: sourceLocation) }
        #expect(!text.contains(outside.text), sourceLocation: sourceLocation)
        #expect(scratch.entries().isEmpty, sourceLocation: sourceLocation)
        expectUntouched(sourceLocation)
    }

    private func expectUntouched(_ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(!outside.wasTouched(), "the outside was opened", sourceLocation: sourceLocation)
        #expect(!outside.isFound(below: scratch.datasets), sourceLocation: sourceLocation)
    }

    // MARK: What leads elsewhere

    @Test(.slow, arguments: HostileSource.all)
    func `a file that leads elsewhere gives nothing of what it leads to`(
        _ source: HostileSource
    ) throws {
        let path = try source.make(scratch, outside)
        if source.bites {
            // The listener accepts connections and sends nothing.
            try scratch.run(
                "/usr/bin/ogrinfo", ["--config", "GDAL_HTTP_TIMEOUT", "1", "-al", "-q", path])
            #expect(outside.wasTouched(), "ogrinfo does not follow it: it shows nothing")
        }
        _ = outside.wasTouched()

        switch source.outcome {
        case .refused(let words): expectRefused(path, words)
        case .imported:
            let layers = try imported(path)
            #expect(layers.reduce(0) { $0 + $1.featureCount } > 0)
            expectUntouched()
        }
    }

    @Test(
        .slow,
        arguments: [
            "/vsicurl/http://127.0.0.1:PORT/x.geojson", "/vsicurl?url=http://127.0.0.1:PORT/x",
            "/vsizip/OUTSIDE/canary.zip", "/vsizip/{OUTSIDE/canary.zip}/a",
            "//vsicurl/http://127.0.0.1:PORT/x",
            "/vsistdin/", "/vsisubfile/0_100,OUTSIDE/canary.csv", "/vsigzip/OUTSIDE/canary.csv",
            "http://127.0.0.1:PORT/x.geojson", "PG:host=127.0.0.1 port=PORT",
            "WFS:http://127.0.0.1:PORT/",
            "MYSQL:a,host=127.0.0.1,port=PORT", "OAPIF:http://127.0.0.1:PORT/",
            "GPKG:OUTSIDE/canary.csv",
            "CSV:OUTSIDE/canary.csv", "OGCAPI:http://127.0.0.1:PORT/", "GMLAS:OUTSIDE/canary.gml",
            #"{"type":"Point","coordinates":[1,2]}"#,
            "<OGRVRTDataSource><OGRVRTLayer name='canary'><SrcDataSource>OUTSIDE/canary.csv</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>",
            "",
        ])
    func `a source that is no path of a file is not found`(form: String) {
        let path = form.replacing("PORT", with: "\(outside.port)")
            .replacing("OUTSIDE", with: outside.path)

        expectRefused(path, "does not exist", code: .notFound)
    }

    @Test(.slow, arguments: ["/dev/zero", "/dev/null"])
    func `a device is refused`(path: String) { expectRefused(path, "expected", code: .unreadable) }

    // MARK: Archives and links

    private func python(_ script: String) throws {
        #expect(try scratch.run("/usr/bin/env", ["python3", "-c", script]))
    }

    @Test(.slow, arguments: ["../led.csv", "/tmp/led.csv", "a/../../led.csv", "a\\..\\led.csv"])
    func `an archive with a name that leads out of it is refused`(name: String) throws {
        let name = name.replacing("\\", with: "\\\\")
        try python(
            """
            import io, tarfile, zipfile
            text = b'WKT,name\\n"POINT (1 2)",own\\n'
            with zipfile.ZipFile('hostile.zip', 'w') as archive:
                archive.writestr('own.csv', text)
                archive.writestr('\(name)', text)
            with tarfile.open('hostile.tar', 'w') as archive:
                entry = tarfile.TarInfo('\(name)')
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
            """)

        for archive in ["hostile.zip", "hostile.tar"] {
            let layers = (try? imported(scratch.path + "/" + archive)) ?? []
            // GDAL makes a plain name of some: what is left must be the file's own.
            #expect(layers.allSatisfy { $0.featureCount == 1 })
            expectUntouched()
        }
        let above = try FileManager.default.contentsOfDirectory(
            atPath: FileManager.default.temporaryDirectory.path)
        #expect(!above.contains("led.csv"))
    }

    @Test(.slow, arguments: ["zip", "tar", "tar.gz"])
    func `a symbolic link in an archive leads nowhere`(ending: String) throws {
        try python(
            """
            import os
            os.mkdir('packed')
            os.symlink('\(outside.path)/canary.csv', 'packed/led.csv')
            os.symlink('\(outside.path)', 'packed/folder')
            """)
        switch ending {
        case "zip": #expect(try scratch.run("/usr/bin/zip", ["-ry", "hostile.zip", "packed"]))
        case "tar": #expect(try scratch.run("/usr/bin/tar", ["cf", "hostile.tar", "packed"]))
        default: #expect(try scratch.run("/usr/bin/tar", ["czf", "hostile.tar.gz", "packed"]))
        }
        _ = outside.wasTouched()

        let path = scratch.path + "/hostile." + ending
        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(failure?.message.contains(path) == true, "\(failure?.description ?? "")")
        #expect(scratch.entries().isEmpty)
        expectUntouched()
    }

    @Test func `a symbolic link out of the directory beside a file is refused`() throws {
        let path = try shapefile()
        try FileManager.default.removeItem(atPath: scratch.path + "/own.dbf")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path + "/own.dbf",
            withDestinationPath: outside.path + "/canary.dbf")

        expectRefused(path, "own.dbf")
    }

    @Test func `a symbolic link out of a directory that is a source is refused`() throws {
        let path = try shapefile()
        let folder = scratch.path + "/folder"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for ending in ["shp", "shx"] {
            try FileManager.default.moveItem(
                atPath: scratch.path + "/own." + ending, toPath: folder + "/own." + ending)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/own.dbf", withDestinationPath: outside.path + "/canary.dbf")
        #expect(path.hasSuffix("own.shp"))

        expectRefused(folder, "own.dbf")
    }

    @Test(.slow, arguments: ["gz", "zip", "tar.gz"])
    func `a bomb is refused at the bound`(form: String) throws {
        let path = scratch.path + "/bomb.geojson." + form
        try python(
            """
            import gzip, tarfile, zipfile
            piece = bytes(1 << 20)
            if '\(form)' == 'zip':
                with zipfile.ZipFile('bomb.geojson.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
                    with archive.open('bomb.geojson', 'w') as file:
                        for _ in range(300): file.write(piece)
            elif '\(form)' == 'gz':
                with gzip.open('bomb.geojson.gz', 'wb', 1) as file:
                    for _ in range(300): file.write(piece)
            else:
                class Zeros:
                    def read(self, size): return bytes(size)
                with tarfile.open('bomb.geojson.tar.gz', 'w:gz', compresslevel=1) as archive:
                    entry = tarfile.TarInfo('bomb.geojson')
                    entry.size = 300 << 20
                    archive.addfile(entry, Zeros())
            """)

        expectRefused(path, "expands to more than", code: .tooLarge)
    }

    @Test func `a table of MapInfo with a view's words behind the bound is refused`() throws {
        let text = "!table\n!version 300\n" + String(repeating: " ", count: 1 << 20)
        expectRefused(
            try scratch.write("long.tab", text + "create view v as select * from other;\n"),
            "expected a table of MapInfo", code: .unreadable)
    }

    @Test(.slow) func `gzip in gzip, or in an archive, is refused`() throws {
        let text = try points("GeoJSON", "geojson")
        #expect(try scratch.run("/usr/bin/gzip", [text]))
        #expect(try scratch.run("/usr/bin/zip", ["twice.zip", "own.geojson.gz"]))
        try python(
            "import gzip; gzip.open('twice.gz', 'wb').write(open('own.geojson.gz', 'rb').read())")

        expectRefused(scratch.path + "/twice.gz", "holds gzip")
        expectRefused(scratch.path + "/twice.zip", "holds gzip")
    }

    @Test(.slow) func `an archive of too many files, or too deep, is refused`() throws {
        try python(
            """
            import zipfile
            with zipfile.ZipFile('many.zip', 'w') as archive:
                for index in range(\(ImportBounds.entryCount + 1)): archive.writestr(f'{index}.csv', b'')
            with zipfile.ZipFile('deep.zip', 'w') as archive:
                archive.writestr('a/' * \(ImportBounds.depth) + 'own.csv', b'')
            """)

        expectRefused(scratch.path + "/many.zip", "the most is", code: .tooLarge)
        expectRefused(scratch.path + "/deep.zip", "deeper than", code: .tooLarge)
    }

    @Test func `documents in UTF-16 and other encodings are refused, UTF-8 is read`() throws {
        let text =
            #"<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]><gpx version="1.1" creator="own"/>"#
        let path = try scratch.write("wide.gpx", try #require(text.data(using: .utf16)))
        expectRefused(path, "UTF-16")
        let other = try scratch.write(
            "other.gpx", text.replacing("UTF-16", with: "UTF-7").replacing("<!", with: "+ADw-!"))
        expectRefused(other, "UTF-7")
    }

    // MARK: What must be read as before

    private static let table = "WKT,name\n\"POINT (1 2)\",own\n\"POINT (3 4)\",other\n"

    /// A file of two points named `own` in a format of `ogr2ogr`.
    private func points(_ format: String, _ ending: String, _ options: [String] = []) throws
        -> String
    {
        let table = scratch.path + "/source/own.csv"
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/source", withIntermediateDirectories: true)
        try Data(Self.table.utf8).write(to: URL(filePath: table))
        let path = scratch.path + "/own." + ending
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr",
                ["-f", format, "-a_srs", "EPSG:4326", "-nlt", "POINT", "-nln", "own", path, table]
                    + options))
        return path
    }

    private func shapefile() throws -> String { try points("ESRI Shapefile", "shp") }

    /// - Parameter hasNames: Whether the format keeps attributes.
    private func expectBothPoints(_ path: String, hasNames: Bool = true) throws {
        let layers = try imported(path)
        #expect(layers.map(\.featureCount) == [2], "\(path)")
        guard hasNames else { return }
        let layer = try #require(layers.first)
        let names = try scratch.dataset(layer).contents().values.flatMap(\.values)
        #expect(names.contains(.string("own")) && names.contains(.string("other")), "\(path)")
    }

    @Test(
        .slow,
        arguments: [
            ("ESRI Shapefile", "shp"), ("GeoJSON", "geojson"), ("GeoJSONSeq", "geojsonl"),
            ("GPKG", "gpkg"), ("FlatGeobuf", "fgb"), ("GML", "gml"), ("KML", "kml"),
            ("LIBKML", "kml"),
            ("LIBKML", "kmz"), ("MapInfo File", "tab"), ("MapInfo File", "mif"),
            ("SQLite", "sqlite"),
            ("OGR_GMT", "gmt"), ("OpenFileGDB", "gdb"), ("JML", "jml"),
            ("MBTiles", "mbtiles"), ("CSV", "csv"), ("DGN", "dgn"), ("DXF", "dxf"), ("GPX", "gpx"),
            ("GeoRSS", "xml"),
        ])
    func `a file of each format is read with what lies beside it`(
        format: String, ending: String
    ) throws {
        let options = [
            "CSV": ["-lco", "GEOMETRY=AS_WKT"], "GeoRSS": ["-dsco", "USE_EXTENSIONS=YES"],
        ]
        try expectBothPoints(
            try points(format, ending, options[format] ?? []),
            hasNames: !["DGN", "DXF"].contains(format))
    }

    @Test func `a database of SpatiaLite with its indexes is read`() throws {
        try expectBothPoints(
            try points(
                "SQLite", "sqlite", ["-dsco", "SPATIALITE=YES", "-lco", "SPATIAL_INDEX=YES"]))
    }

    @Test(.slow) func `a database with a log that is not empty is read whole`() throws {
        let path = try points("GPKG", "gpkg")
        try python(
            """
            import shutil, sqlite3
            file = sqlite3.connect('own.gpkg')
            file.execute('PRAGMA journal_mode = WAL')
            file.execute("CREATE TABLE more(a)")
            file.commit()
            for ending in ['', '-wal']: shutil.copy('own.gpkg' + ending, 'logged.gpkg' + ending)
            """)
        #expect(FileManager.default.fileExists(atPath: scratch.path + "/logged.gpkg-wal"))

        try expectBothPoints(path)
        let logged = try imported(scratch.path + "/logged.gpkg")
        #expect(logged.map(\.featureCount) == [2])
    }

    @Test(.slow, arguments: ["zip", "tar", "tar.gz", "tgz"])
    func `an archive of a shapefile, and of a folder of it, is read`(ending: String) throws {
        _ = try shapefile()
        let files = ["own.shp", "own.shx", "own.dbf", "own.prj"]
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/folder", withIntermediateDirectories: false)
        for file in files {
            try FileManager.default.copyItem(
                atPath: scratch.path + "/" + file, toPath: scratch.path + "/folder/" + file)
        }
        let (program, option) =
            switch ending {
            case "zip": ("/usr/bin/zip", "-r")
            case "tar": ("/usr/bin/tar", "cf")
            default: ("/usr/bin/tar", "czf")
            }
        #expect(try scratch.run(program, [option, "flat." + ending] + files))
        #expect(try scratch.run(program, [option, "deep." + ending, "folder"]))

        try expectBothPoints(scratch.path + "/flat." + ending)
        try expectBothPoints(scratch.path + "/deep." + ending)
    }

    @Test func `a gzip file and a zipped file geodatabase are read`() throws {
        let text = try points("GeoJSON", "geojson")
        #expect(try scratch.run("/usr/bin/gzip", ["-k", text]))
        _ = try points("OpenFileGDB", "gdb")
        #expect(try scratch.run("/usr/bin/zip", ["-r", "packed.gdb.zip", "own.gdb"]))

        try expectBothPoints(text + ".gz")
        try expectBothPoints(scratch.path + "/packed.gdb.zip")
    }

    @Test(.slow) func `a path with odd signs, and a symbolic link to a file, are read`() throws {
        let text = try Data(contentsOf: URL(filePath: points("GeoJSON", "geojson")))
        for name in ["{own}.geojson", "o'w\"n {.geojson", "own,b?x=1.geojson", "PG:own.geojson"] {
            try expectBothPoints(try scratch.write(name, text))
        }
        let link = scratch.path + "/link.geojson"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.path + "/own.geojson")
        try expectBothPoints(link)
    }
}
