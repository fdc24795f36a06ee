// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import TestKit
import Testing

@Suite struct RasterTests {
    let fixture: RasterFixture
    let site: String

    init() throws {
        fixture = try RasterFixture()
        site = fixture.directory + "/rasters"
    }

    private func grid(_ columns: Int, _ rows: Int, _ seed: UInt64) -> [[Double]] {
        var random = SeededGenerator(seed: seed)
        return (0..<rows).map { _ in
            (0..<columns).map { _ in Double(Int.random(in: -200...200, using: &random)) / 4 }
        }
    }

    private func open(_ path: String) throws -> RasterFile {
        try RasterFile(RasterImport.importFile(path: path, into: site).raster, in: site)
    }

    private func number(_ value: AttributeValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    /// Compares with `gdallocationinfo` on places in and around the raster.
    private func compare(_ path: String, band: Int = 1, noData: Double? = nil) throws {
        let raster = try open(path)
        let extent = try #require(raster.properties.extent)
        var random = SeededGenerator(seed: 7)
        let places = (0..<400).map { _ in
            (
                x: Double.random(
                    in: extent.minX - extent.width / 8...extent.maxX + extent.width / 8,
                    using: &random),
                y: Double.random(
                    in: extent.minY - extent.height / 8...extent.maxY + extent.height / 8,
                    using: &random)
            )
        }

        let expected = try fixture.values(path, band: band, at: places)

        #expect(expected.count == places.count && expected.contains { $0 != nil })
        for (place, value) in zip(places, expected) {
            let pixel = try raster.pixel(at: Coordinate(x: place.x, y: place.y))
            let found = pixel.flatMap { number($0.values[band - 1]) }
            let wanted = value == noData ? nil : value
            // The tool prints 15 digits.
            let isSame =
                found == wanted
                || abs((found ?? .infinity) - (wanted ?? 0)) <= 1e-14 * abs(wanted ?? 0)
            #expect(
                isSame, "\(place): \(String(describing: found)), not \(String(describing: wanted))")
        }
    }

    @Test(arguments: ["Float64", "Float32", "Int16", "Int32", "Byte", "UInt16", "UInt32", "Int64"])
    func `a pixel is what gdallocationinfo says`(type: String) throws {
        let path = try fixture.geoTIFF(
            "grid", rows: grid(30, 20, 1), origin: (x: 6e5, y: 6.8e6), cell: 25, wkid: 2154,
            type: type)

        try compare(path)
    }

    @Test func `where there is no data there is no pixel`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: grid(30, 20, 2).map { $0.map { $0 < 0 ? -9999 : $0 } },
            origin: (x: 5, y: 45), cell: 0.125, wkid: 4326, noData: -9999)

        try compare(path, noData: -9999)
    }

    @Test func `a rotated raster beside a world file is read through it`() throws {
        var random = SeededGenerator(seed: 3)
        let pixels = (0..<40).map { _ in
            (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        let plain = try fixture.writePicture(pixels, as: "plain.pgm")
        let path = fixture.directory + "/turned.tif"
        try fixture.run(["gdal_translate", "-q", "-a_srs", "EPSG:32632", plain, path])
        try fixture.write("8\n3\n2.5\n-7\n500000\n5200000\n", as: "turned.tfw")

        try compare(path)
        let raster = try RasterImport.importFile(path: path, into: site)
        #expect(raster.properties.spatialReference.wkid == 32632)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: site + "/\(raster.raster)")
        #expect(names.sorted() == ["raster.json", "raster.tfw", "raster.tif"])
    }

    @Test func `every band has its value`() throws {
        let one = try fixture.geoTIFF(
            "a", rows: grid(10, 10, 4), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let two = try fixture.geoTIFF(
            "b", rows: grid(10, 10, 5), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let list = fixture.directory + "/both.vrt"
        try fixture.run(["gdalbuildvrt", "-q", "-separate", list, one, two])
        let path = fixture.directory + "/both.tif"
        try fixture.run(["gdal_translate", "-q", list, path])

        try compare(path, band: 1)
        try compare(path, band: 2)
        #expect(try open(path).properties.raster?.bands.map(\.type) == ["Float64", "Float64"])
        #expect(throws: Failure.self) { try RasterImport.importFile(path: list, into: site) }
    }

    @Test func `classes and the table of attributes come with the value`() throws {
        let path = try fixture.geoTIFF(
            "land", rows: [[0, 1], [2, 3]], origin: (x: 0, y: 0), cell: 1, wkid: 3857, type: "Byte")
        try fixture.write(
            """
            <PAMDataset><PAMRasterBand band="1">
            <CategoryNames><Category>Water</Category><Category>Forest</Category></CategoryNames>
            <GDALRasterAttributeTable tableType="thematic">
            <FieldDefn index="0"><Name>Value</Name><Type>0</Type><Usage>5</Usage></FieldDefn>
            <FieldDefn index="1"><Name>Label</Name><Type>2</Type><Usage>2</Usage></FieldDefn>
            <FieldDefn index="2"><Name>Share</Name><Type>1</Type><Usage>0</Usage></FieldDefn>
            <Row index="0"><F>1</F><F>Wald</F><F>0.5</F></Row>
            <Row index="1"><F>2</F><F>Fels</F><F>0.25</F></Row>
            </GDALRasterAttributeTable></PAMRasterBand></PAMDataset>
            """, as: "land.tif.aux.xml")
        let raster = try open(path)
        func entries(_ x: Double, _ y: Double) throws -> [String] {
            try #require(try raster.pixel(at: Coordinate(x: x, y: y))).further.entries
                .map { "\($0.name)=\($0.value)" }
        }

        #expect(try entries(0.5, 1.5) == [#"Class Name=string("Water")"#])
        #expect(
            try entries(1.5, 1.5) == [
                #"Class Name=string("Forest")"#, "Value=integer(1)", #"Label=string("Wald")"#,
                "Share=real(0.5)",
            ])
        #expect(
            try entries(0.5, 0.5) == [
                "Value=integer(2)", #"Label=string("Fels")"#, "Share=real(0.25)",
            ])
        #expect(try entries(1.5, 0.5).isEmpty)
    }

    @Test func `the same files give the same raster, without their names`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: grid(4, 4, 6), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let other = fixture.directory + "/Another name.tif"
        try FileManager.default.copyItem(atPath: path, toPath: other)

        let first = try RasterImport.importFile(path: path, into: site)
        let again = try RasterImport.importFile(path: other, into: site)

        #expect(first.raster == again.raster && again.name == "Another name")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: site) == [first.raster.rawValue])
    }

    @Test func `a raster without a place, or of other than plain numbers, is not imported`() throws
    {
        let nowhere = try fixture.writePicture([[1, 2], [3, 4]], as: "nowhere.pgm")
        let tiff = fixture.directory + "/nowhere.tif"
        try fixture.run(["gdal_translate", "-q", nowhere, tiff])
        let placed = try fixture.geoTIFF(
            "placed", rows: grid(4, 4, 6), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let complex = fixture.directory + "/complex.tif"
        try fixture.run(["gdal_translate", "-q", "-ot", "CFloat32", placed, complex])
        let homeless = fixture.directory + "/homeless.tif"
        try fixture.run(["gdal_translate", "-q", fixture.directory + "/placed.asc", homeless])

        for path in [tiff, complex, homeless, fixture.directory + "/missing.tif"] {
            do throws(Failure) {
                _ = try RasterImport.importFile(path: path, into: site)
                Issue.record("\(path) was imported")
            } catch {
                #expect(error.message.contains(path), "\(error)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: site).isEmpty)
    }

    @Test func `a damaged raster is refused by name`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: grid(40, 40, 8), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let imported = try RasterImport.importFile(path: path, into: site)
        let file = site + "/\(imported.raster)/raster.tif"
        let manifest = site + "/\(imported.raster)/raster.json"
        let bytes = try Data(contentsOf: URL(filePath: file))
        let listed = try Data(contentsOf: URL(filePath: manifest))
        func refusal(isVerified: Bool = false) -> Failure? {
            do throws(Failure) {
                _ = try RasterFile(imported.raster, in: site, isVerified: isVerified)
                return nil
            } catch {
                return error
            }
        }

        #expect(refusal(isVerified: true) == nil)
        try bytes.prefix(bytes.count / 2).write(to: URL(filePath: file))
        #expect(refusal()?.message.contains(file) == true)
        var flipped = bytes
        flipped[bytes.count - 9] ^= 4
        try flipped.write(to: URL(filePath: file))
        #expect(refusal() == nil)
        #expect(refusal(isVerified: true)?.message.contains(file) == true)
        try FileManager.default.removeItem(atPath: file)
        #expect(refusal()?.code == .corrupt)
        try bytes.write(to: URL(filePath: file))
        try (listed + Data(" ".utf8)).write(to: URL(filePath: manifest))
        #expect(refusal()?.message.contains(manifest) == true)
        try FileManager.default.removeItem(atPath: manifest)
        #expect(refusal()?.code == .notFound)
    }

    @Test(.slow) func `a raster whose tiles are cut short is read as far as they go`() throws {
        // The bytes are complete, but wrong: any result of GDAL is an answer or a failure.
        let path = try fixture.geoTIFF(
            "grid", rows: grid(64, 64, 9), origin: (x: 0, y: 0), cell: 1, wkid: 3857)
        let whole = try Data(contentsOf: URL(filePath: path))
        var random = SeededGenerator(seed: 10)
        for round in 0..<60 {
            var bytes = whole
            for _ in 0...round % 4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
            let damaged = fixture.directory + "/damaged.tif"
            try bytes.write(to: URL(filePath: damaged))
            do throws(Failure) {
                let id = try RasterImport.importFile(path: damaged, into: site).raster
                let raster = try RasterFile(id, in: site)
                for step in 0..<8 {
                    _ = try raster.pixel(at: Coordinate(x: Double(step) * 8 + 0.5, y: 30.5))
                }
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }
}
