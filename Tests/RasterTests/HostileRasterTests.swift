// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

/// Rasters that name other files: the copies in the site hold what was named, and lead nowhere.
@Suite struct HostileRasterTests {
    private let fixture: RasterFixture
    private let outside: Outside
    private var rasters: String { fixture.directory + "/rasters" }

    init() throws {
        fixture = try RasterFixture()
        outside = try Outside()
    }

    private func grid() throws -> String {
        try fixture.geoTIFF(
            "grid", rows: [[1, 2], [3, 4]], origin: (0, 0), cell: 1, wkid: 4326)
    }

    private func expectRefused(
        _ path: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        _ = outside.wasTouched()
        let failure = #expect(throws: Failure.self, sourceLocation: sourceLocation) {
            try RasterImport.importFile(path: path, into: rasters)
        }
        let text = failure?.description ?? ""
        #expect(
            text.contains(words) && text.contains(path) && !text.contains(outside.text), "\(text)",
            sourceLocation: sourceLocation)
        #expect(!outside.wasTouched(), sourceLocation: sourceLocation)
        let left = try? FileManager.default.contentsOfDirectory(atPath: rasters)
        #expect(left?.isEmpty != false, sourceLocation: sourceLocation)
    }

    @Test func `a raster with overviews in another file is refused`() throws {
        let path = try grid()
        try fixture.write(
            "<PAMDataset><Metadata domain=\"OVERVIEWS\"><MDI key=\"OVERVIEW_FILE\">"
                + "\(outside.path)/canary.tif</MDI></Metadata></PAMDataset>", as: "grid.tif.aux.xml"
        )

        expectRefused(path, "overviews in another file")
    }

    @Test func `a GeoTIFF whose own tags name overviews in another file is refused`() throws {
        let rows = (0..<4).map { _ in [1.0, 2, 3, 4] }
        let grid = try fixture.geoTIFF("grid", rows: rows, origin: (0, 0), cell: 1, wkid: 4326)
        try fixture.run([
            "gdal_translate", "-q", "-outsize", "2", "2", grid, outside.path + "/canary.tif",
        ])
        // A key that gdal_translate writes is made one of another domain, of the same length.
        let key = #"OVERVIEW_FILE" domain="OVERVIEWS"#
        let written = String(repeating: "A", count: key.utf8.count)
        let path = fixture.directory + "/tagged.tif"
        try fixture.run([
            "gdal_translate", "-q", "-mo", "\(written)=\(outside.path)/canary.tif", grid, path,
        ])
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes.replaceSubrange(
            try #require(bytes.range(of: Data(written.utf8))), with: Data(key.utf8))
        try bytes.write(to: URL(filePath: path))
        _ = outside.wasTouched()
        try fixture.run(["gdalinfo", path])
        #expect(outside.wasTouched(), "gdalinfo does not follow it: it shows nothing")

        expectRefused(path, "overviews in another file")
    }

    @Test func `a raster with a mask that is another format is refused`() throws {
        let path = try grid()
        let raster = try grid()
        try fixture.run(["cp", raster, outside.path + "/canary.tif"])
        try fixture.run([
            "gdal_translate", "-q", "-of", "VRT", outside.path + "/canary.tif",
            fixture.directory + "/grid.tif.msk",
        ])

        expectRefused(path, "grid.tif.msk")
    }

    @Test func `a link out of the directory beside a raster is refused`() throws {
        let picture = try fixture.writePicture([[1, 2], [3, 4]], as: "picture.pgm")
        let path = fixture.directory + "/picture.png"
        try fixture.run(["gdal_translate", "-q", "-of", "PNG", picture, path])
        try FileManager.default.createSymbolicLink(
            atPath: fixture.directory + "/picture.wld",
            withDestinationPath: outside.path + "/canary.txt")

        expectRefused(path, "picture.wld")
    }

    @Test func `a virtual raster in disguise is no raster`() throws {
        let raster = try grid()
        try fixture.run(["cp", raster, outside.path + "/canary.tif"])
        let path = fixture.directory + "/virtual.tif"
        try fixture.run([
            "gdal_translate", "-q", "-of", "VRT", outside.path + "/canary.tif", path,
        ])

        #expect(!RasterImport.recognises(path))
        expectRefused(path, "not recognized")
    }

    @Test(arguments: ["/vsicurl/http://127.0.0.1:PORT/x.tif", "/vsizip/OUTSIDE/canary.zip"])
    func `a path in a file system of GDAL is no raster`(form: String) {
        let path = form.replacing("PORT", with: "\(outside.port)")
            .replacing("OUTSIDE", with: outside.path)
        _ = outside.wasTouched()

        #expect(!RasterImport.recognises(path))
        expectRefused(path, "does not exist")
    }

    @Test func `a raster with statistics and a mask beside it is imported with both`() throws {
        let path = try grid()
        try fixture.run([
            "gdal_translate", "-q", "-of", "GTiff", "-mask", "1", "--config",
            "GDAL_TIFF_INTERNAL_MASK", "NO", "-stats", path, fixture.directory + "/whole.tif",
        ])
        #expect(FileManager.default.fileExists(atPath: fixture.directory + "/whole.tif.msk"))

        let raster = try RasterImport.importFile(
            path: fixture.directory + "/whole.tif", into: rasters)

        let names = try FileManager.default.contentsOfDirectory(
            atPath: rasters + "/" + raster.raster.rawValue)
        #expect(names.contains("raster.tif") && names.contains("raster.tif.msk"), "\(names)")
    }
}
