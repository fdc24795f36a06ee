// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Identify
import Rendering
import TestKit
import Testing

/// Legends of rasters, against pictures and `gdallocationinfo`.
@Suite struct RasterLegendTests {
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

    private func rows(_ count: Int, _ value: (Int, Int) -> Double) -> [[Double]] {
        (0..<count).map { row in (0..<count).map { value($0, row) } }
    }

    /// The legend of a raster, and the colour of each of its cells in a picture that shows one cell
    /// as 5 by 5 pixels.
    private func legendAndCells(
        _ path: String, count: Int, limit: Int = 200
    ) throws -> (legend: [RasterLegendRow], cells: [[[UInt8]]]) {
        let raster = try RasterImport.importFile(path: path, into: directory)
        let file = try RasterFile(raster.raster, in: directory)
        let layer = LayerDescription(
            id: 0, name: raster.name, parent: nil, children: [],
            kind: .layer(source: .raster(raster.raster)), isVisible: true, scaleRange: .unlimited,
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: raster.properties)
        var request = makeRequest(size: count * 5)
        request.isTransparent = true
        request.extent = try #require(raster.properties.extent)
        let picture = try MapPicture.draw(request, of: PreparedMap(makeMap([layer])), by: engine)
        let pixels = try Pixels(Array(picture.bytes))
        let cells = (0..<count).map { row in
            (0..<count).map { column in pixels[column * 5 + 2, row * 5 + 2] }
        }
        return (try file.legend(rowLimit: limit, steps: 20) { false }, cells)
    }

    /// A raster with that table of colours; some values have names.
    private func classes(
        _ name: String, _ values: [[Double]], _ colors: [[UInt8]], names: [Int: String] = [:],
        noData: Int? = nil, format: String = "GTiff"
    ) throws -> String {
        let plain = try fixture.geoTIFF(
            name + "-plain", rows: values, origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: "Byte")
        let list = fixture.directory + "/\(name).vrt"
        try fixture.run(["gdal_translate", "-q", "-of", "VRT", plain, list])
        let table = colors.map {
            #"<Entry c1="\#($0[0])" c2="\#($0[1])" c3="\#($0[2])" c4="\#($0[3])"/>"#
        }
        let text = try fixture.run(["cat", list]).replacing(
            "<ColorInterp>Gray</ColorInterp>",
            with: "<ColorInterp>Palette</ColorInterp><ColorTable>\(table.joined())</ColorTable>")
        try fixture.write(text, as: name + ".vrt")
        let path = fixture.directory + "/\(name).tif"
        try fixture.run(
            ["gdal_translate", "-q", "-of", format]
                + (noData.map { ["-a_nodata", "\($0)"] } ?? []) + [list, path])
        if let last = names.keys.max() {
            let categories = (0...last).map { "<Category>\(names[$0] ?? "")</Category>" }
            try fixture.write(
                """
                <PAMDataset><PAMRasterBand band="1"><CategoryNames>\(categories.joined())\
                </CategoryNames></PAMRasterBand></PAMDataset>
                """, as: name + ".tif.aux.xml")
        }
        return path
    }

    private func bytes(_ color: LayerSymbol.Color) -> [UInt8] {
        [color.red, color.green, color.blue, color.alpha]
    }

    /// The middle of a row's picture.
    private func middle(_ row: RasterLegendRow) throws -> [UInt8] {
        try Pixels(try #require(SymbolPicture.png(row.colors, side: 20)))[10, 10]
    }

    @Test(.slow, arguments: 0..<6)
    func `every class that is drawn has a row, in the colour that it has in the picture`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...40, using: &random)
        var colors: [[UInt8]] = []
        for _ in 0..<count {
            var color: [UInt8] = [255, 255, 255, 255]
            for light in 0..<3 { color[light] = UInt8.random(in: 0...255, using: &random) }
            colors.append(color)
        }
        let values = rows(12) { _, _ in Double(Int.random(in: 0..<count, using: &random)) }
        let named = (0..<count).filter { _ in Bool.random(using: &random) }
        var names: [Int: String] = [:]
        for value in named { names[value] = "kind <\(value)> & more" }
        var blank: Int?
        if Bool.random(using: &random) { blank = Int.random(in: 0..<count, using: &random) }
        let path = try classes(
            "classes", values, colors,
            names: names.mapValues {
                $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            }, noData: blank)

        let (legend, cells) = try legendAndCells(path, count: 12)

        // The tool's value of each cell, and its colour in the picture, are those of the legend.
        var places: [(x: Double, y: Double)] = []
        for place in 0..<144 {
            let (column, row) = (Double(place % 12), Double(place / 12))
            places.append((x: column * 10 + 5, y: 115 - row * 10))
        }
        let found = try fixture.values(path, band: 1, at: places)
        var seen: Set<String> = []
        for (place, value) in found.enumerated() {
            let value = Int(try #require(value))
            let cell = cells[place / 12][place % 12]
            if value == blank {
                #expect(cell[3] == 0)
                continue
            }
            let label = names[value] ?? "\(value)"
            seen.insert(label)
            let row = try #require(legend.first { $0.label == label })
            #expect(try middle(row) == cell && bytes(row.colors[0]) == cell)
        }
        // Beyond what is seen there are only classes with names.
        let labels = legend.map(\.label)
        for (value, name) in names where value != blank { seen.insert(name) }
        #expect(labels.count == seen.count && Set(labels) == seen)
    }

    @Test func `a clear class has no row, and beyond a limit the rest are counted`() throws {
        var colors: [[UInt8]] = []
        for number in UInt8(0)..<30 {
            let light = number * 8
            colors.append([light, 0, 255 - light, number == 3 ? 0 : 255])
        }
        let values = rows(6) { column, row in Double((column + 6 * row) % 30) }
        // A TIFF has no transparent colours.
        let path = try classes("many", values, colors, format: "HFA")

        let all = try legendAndCells(path, count: 6).legend
        let some = try legendAndCells(path, count: 6, limit: 10).legend

        var numbers = (0..<30).map { "\($0)" }
        numbers.remove(at: 3)
        #expect(all.map(\.label) == numbers)
        #expect(some.dropLast() == all.prefix(9))
        #expect(some.last?.label == "20 more classes, from '10' on")
        #expect(try middle(some[9])[3] == 0)
    }

    @Test func `names without a table of colours are rows in grey, as drawn`() throws {
        let path = try fixture.geoTIFF(
            "named", rows: rows(10) { column, row in Double(column / 5 + 2 * (row / 5)) },
            origin: (x: 0, y: 0),
            cell: 10, wkid: 3857, type: "Byte")
        try fixture.write(
            """
            <PAMDataset><PAMRasterBand band="1"><GDALRasterAttributeTable tableType="thematic">
            <FieldDefn index="0"><Name>Value</Name><Type>0</Type><Usage>5</Usage></FieldDefn>
            <FieldDefn index="1"><Name>Label</Name><Type>2</Type><Usage>2</Usage></FieldDefn>
            <Row index="0"><F>0</F><F>Wasser</F></Row><Row index="1"><F>1</F><F>Wald</F></Row>
            <Row index="2"><F>3</F><F>Fels</F></Row>
            </GDALRasterAttributeTable></PAMRasterBand></PAMDataset>
            """, as: "named.tif.aux.xml")

        let (legend, cells) = try legendAndCells(path, count: 10)

        #expect(legend.map(\.label) == ["Wasser", "Wald", "2", "Fels"])
        for (row, place) in zip(legend, [(1, 1), (8, 1), (1, 8), (8, 8)]) {
            #expect(try middle(row) == cells[place.1][place.0])
        }
    }

    @Test(arguments: ["Float32", "Float64", "Int16", "Byte"])
    func `one band is a ramp from its greatest to its least value, as it is drawn`(
        type: String
    ) throws {
        let isWhole = !type.hasPrefix("F")
        let path = try fixture.geoTIFF(
            "relief",
            rows: rows(10) { column, row in
                let place = Double(column + 10 * row)
                return isWhole ? place * 2 + 7 : place * 0.3 - 7.1
            },
            origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: type)

        let (legend, cells) = try legendAndCells(path, count: 10)

        // The greatest value is in the last cell, the least in the first.
        let ends = try fixture.values(path, band: 1, at: [(95, 5), (5, 95)])
        #expect(legend.count == 3 && legend[1].label.isEmpty)
        #expect(abs(try #require(Double(legend[0].label)) - (try #require(ends[0]))) < 1e-5)
        #expect(abs(try #require(Double(legend[2].label)) - (try #require(ends[1]))) < 1e-5)
        #expect(legend.allSatisfy { $0.label.count < 20 })
        let steps = legend.flatMap(\.colors).map(bytes)
        #expect(steps.first == cells[9][9] && steps.last == cells[0][0])
        // A cell's shade is in the ramp where its value is between the ends.
        for place in 0..<100 {
            let cell = cells[place / 10][place % 10]
            let step = steps[Int(((1 - Double(place) / 99) * 59).rounded())]
            #expect(abs(Int(cell[0]) - Int(step[0])) <= 5 && cell[3] == 255)
        }
        let pictures = try legend.map {
            try Pixels(try #require(SymbolPicture.png($0.colors, side: 20)))
        }
        let drawn = pictures.flatMap { picture in (0..<20).map { picture[10, $0] } }
        #expect(drawn == steps)
    }

    @Test func `a raster of one value has one row, and one without any has none`() throws {
        let flat = try fixture.geoTIFF(
            "flat", rows: rows(4) { _, _ in 12.5 }, origin: (x: 0, y: 0), cell: 10, wkid: 3857,
            type: "Float32")
        let (legend, cells) = try legendAndCells(flat, count: 4)
        #expect(legend.map(\.label) == ["12.5"])
        #expect(try middle(try #require(legend.first)) == cells[1][1])

        let blank = try fixture.geoTIFF(
            "blank", rows: rows(4) { _, _ in -1 }, origin: (x: 0, y: 0), cell: 10, wkid: 3857,
            type: "Float32", noData: -1)
        let nothing = try legendAndCells(blank, count: 4)
        #expect(nothing.legend.isEmpty && nothing.cells[1][1][3] == 0)
    }

    @Test func `three bands have a row each, in the light that they are shown in`() throws {
        // In one third of the columns only one band has anything.
        let bands = try (0..<3).map { band in
            try fixture.geoTIFF(
                "band\(band)", rows: rows(9) { column, _ in column / 3 == band ? 255 : 0 },
                origin: (x: 0, y: 0), cell: 10, wkid: 3857, type: "Byte")
        }
        let list = fixture.directory + "/bands.vrt"
        try fixture.run(["gdalbuildvrt", "-q", "-separate", list] + bands)
        let path = fixture.directory + "/bands.tif"
        try fixture.run(["gdal_translate", "-q", list, path])

        let (legend, cells) = try legendAndCells(path, count: 9)

        #expect(legend.map(\.label) == ["Red: Band 1", "Green: Band 2", "Blue: Band 3"])
        for (band, row) in legend.enumerated() {
            #expect(try middle(row) == cells[4][band * 3 + 1])
        }
    }

    @Test func `reading stops when nobody waits, and leaves the raster's files alone`() throws {
        let path = try classes(
            "left", rows(6) { Double(($0 + $1) % 2) }, [[1, 2, 3, 255], [9, 9, 9, 255]])
        let raster = try RasterImport.importFile(path: path, into: directory).raster
        let failure = #expect(throws: Failure.self) {
            try RasterFile(raster, in: directory).legend(rowLimit: 9, steps: 2) { true }
        }
        #expect(failure?.code == .cancelled)
        #expect(throws: Never.self) {
            _ = try RasterFile(raster, in: directory).legend(rowLimit: 9, steps: 2) { false }
            // Compares every file with what was imported.
            _ = try RasterFile(raster, in: directory, isVerified: true)
        }
        let names = try fixture.run(["ls", directory + "/\(raster)"]).split(separator: "\n")
        #expect(names == ["raster.json", "raster.tif"])
    }
}
