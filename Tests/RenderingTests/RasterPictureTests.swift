// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Dataset
import Geometry
import Identify
import Rendering
import TestKit
import Testing

/// Layers of rasters in pictures, against what `gdallocationinfo` finds at the middle of pixels.
@Suite struct RasterPictureTests {
    private let fixture: RasterFixture
    private let engine: IdentifyEngine
    private let directory: String

    init() throws {
        fixture = try RasterFixture()
        let directory = fixture.directory + "/rasters"
        self.directory = directory
        engine = IdentifyEngine { id throws(Failure) in
            throw Failure(.notFound, "\(id)")
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: directory)
        }
    }

    private func layer(_ path: String) throws -> LayerDescription {
        let raster = try RasterImport.importFile(path: path, into: directory)
        return LayerDescription(
            id: 0, name: raster.name, parent: nil, children: [],
            kind: .layer(source: .raster(raster.raster)), isVisible: true, scaleRange: .unlimited,
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: raster.properties)
    }

    private func draw(_ request: ExportRequest, _ layer: LayerDescription) throws -> Pixels {
        let picture = try MapPicture.draw(
            request, of: PreparedMap(makeMap([layer])), by: engine)
        return try Pixels(Array(picture.bytes))
    }

    private func rows(_ count: Int, _ value: (Int, Int) -> Double) -> [[Double]] {
        (0..<count).map { row in (0..<count).map { value($0, row) } }
    }

    private func isNear(_ one: [UInt8], _ two: [UInt8], _ slack: Int = 2) -> Bool {
        zip(one, two).allSatisfy { abs(Int($0) - Int($1)) <= slack }
    }

    @Test func `a pixel has the colour that the table states for the value there`() throws {
        let colors: [[UInt8]] = [
            [200, 0, 0, 255], [0, 150, 0, 255], [0, 0, 220, 255], [250, 240, 10, 255],
        ]
        let plain = try fixture.geoTIFF(
            "classes", rows: rows(40) { Double(($0 / 4 * 7 + $1 / 3 * 3) % 4) },
            origin: (x: 6e5, y: 6.4e6), cell: 5000, wkid: 2154, type: "Byte")
        let table = colors.map {
            #"<Entry c1="\#($0[0])" c2="\#($0[1])" c3="\#($0[2])" c4="\#($0[3])"/>"#
        }
        let list = fixture.directory + "/classes.vrt"
        try fixture.run(["gdal_translate", "-q", "-of", "VRT", plain, list])
        let text = try fixture.run(["cat", list]).replacing(
            "<ColorInterp>Gray</ColorInterp>",
            with: "<ColorInterp>Palette</ColorInterp><ColorTable>\(table.joined())</ColorTable>")
        try fixture.write(text, as: "classes.vrt")
        let path = fixture.directory + "/coloured.tif"
        try fixture.run(["gdal_translate", "-q", list, path])

        let request = makeRequest(size: 120) {
            $0.extent = Envelope(minX: 2, minY: 44.5, maxX: 5, maxY: 47.5)
            ($0.extentReference, $0.imageReference) = (.wgs84, .wgs84)
        }
        let drawn = try draw(request, try layer(path))

        var random = SeededGenerator(seed: 3)
        let pixels = (0..<600).map { _ in
            (Int.random(in: 0..<120, using: &random), Int.random(in: 0..<120, using: &random))
        }
        let values = try fixture.values(
            path, band: 1,
            at: pixels.map { (2 + (Double($0.0) + 0.5) / 40, 47.5 - (Double($0.1) + 0.5) / 40) },
            isWGS84: true)
        #expect(values.count { $0 != nil } > 200 && values.contains { $0 == nil })
        let wrong = zip(pixels, values).count { pixel, value in
            drawn[pixel.0, pixel.1] != (value.map { colors[Int($0)] } ?? white)
        }
        // The way into the raster is worked out to an eighth of a pixel.
        #expect(wrong <= 12)
    }

    @Test func `one band is grey from its least to its greatest value, clear without data`() throws
    {
        let path = try fixture.geoTIFF(
            "relief", rows: rows(10) { $0 == 4 && $1 == 4 ? -9999 : Double($0 + 10 * $1) / 2 - 7 },
            origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: "Float32", noData: -9999)
        var request = makeRequest(size: 110)
        request.isTransparent = true

        let drawn = try draw(request, try layer(path))

        // Each cell has eleven pixels in each direction: the middle of the sixth is its own.
        for row in 0..<10 {
            for column in 0..<10 {
                let pixel = drawn[column * 11 + 5, row * 11 + 5]
                if (column, row) == (4, 4) {
                    #expect(pixel[3] == 0)
                } else {
                    let shade = UInt8((Double(column + 10 * row) / 99 * 255).rounded())
                    #expect(isNear(pixel, [shade, shade, shade, 255]))
                }
            }
        }
    }

    @Test func `three bands are red, green and blue, under the layer's transparency`() throws {
        let bands = try (0..<3).map { band in
            try fixture.geoTIFF(
                "band\(band)", rows: rows(10) { Double(($0 * 20 + $1 * (band + 1)) % 256) },
                origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: "Byte")
        }
        let list = fixture.directory + "/bands.vrt"
        try fixture.run(["gdalbuildvrt", "-q", "-separate", list] + bands)
        let path = fixture.directory + "/bands.tif"
        try fixture.run(["gdal_translate", "-q", list, path])
        var layer = try layer(path)
        layer.drawing = LayerDrawing(transparency: 50)

        let drawn = try draw(makeRequest(size: 110), layer)

        for (column, row) in [(0, 0), (3, 7), (9, 9)] {
            let seen = (0..<3).map { band in
                UInt8((column * 20 + row * (band + 1) + 255) / 2)
            }
            #expect(isNear(drawn[column * 11 + 5, row * 11 + 5], seen + [255]))
        }
    }

    @Test func `far from the raster nothing is drawn, and nobody is kept waiting for it`() throws {
        let path = try fixture.geoTIFF(
            "far", rows: rows(4) { Double($0 + $1) }, origin: (x: 5_000, y: 0), cell: 10, wkid: 3857
        )
        let layer = try layer(path)
        let far = try draw(makeRequest(size: 20), layer)
        #expect((0..<400).allSatisfy { far[$0 % 20, $0 / 20] == white })

        let request = makeRequest(size: 20) {
            $0.extent = Envelope(minX: 5_000, minY: 0, maxX: 5_040, maxY: 40)
        }
        var count = 0
        let failure = #expect(throws: Failure.self) {
            try MapPicture.draw(
                request, of: PreparedMap(makeMap([layer])), by: engine, remotes: nil
            ) {
                count += 1
                return count > 2
            }
        }
        #expect(failure?.code == .cancelled)
    }
}
