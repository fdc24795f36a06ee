// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import TestKit
import Testing

/// Text of every encoding that a source states, or seems to have.
@Suite struct SourceTextTests {
    private let scratch = Scratch()

    private func imported(_ path: String) throws -> ImportedLayer {
        try #require(
            try DatasetBuilder.importFile(path: path, into: scratch.datasets).first)
    }

    private func values(_ name: String, _ layer: ImportedLayer) throws -> [AttributeValue?] {
        let dataset = try scratch.dataset(layer)
        var found: [Int64: AttributeValue] = [:]
        try dataset.forEach { feature in
            found[feature.objectID] = try dataset.attributes(of: feature)[name]
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    @Test(arguments: ["utf-8", "mark", "latin", "little", "big", "bare"])
    func `a table is read in its encoding`(_ encoding: String) throws {
        let text = "name;lon;lat\r\n\"Zürich;\r\n\"\"x\"\"\";1,5;2,5\r\n"
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let bytes: [UInt8] =
            switch encoding {
            case "mark": [0xEF, 0xBB, 0xBF] + Array(text.utf8)
            case "latin": text.unicodeScalars.map { UInt8($0.value) }
            case "little": [0xFF, 0xFE] + wide
            case "big": [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            case "bare": wide
            default: Array(text.utf8)
            }
        let layer = try imported(try scratch.write("t.csv", Data(bytes)))
        #expect(try values("name", layer) == [.string("Zürich;\n\"x\"")])
        #expect(layer.properties.extent?.minX == 1.5 && layer.properties.extent?.minY == 2.5)
        let isGuess = encoding == "latin" || encoding == "bare"
        #expect(layer.notes.contains { $0.contains("read as") } == isGuess)
    }

    @Test(arguments: ["little", "big", "latin"])
    func `JSON in another encoding is read`(_ encoding: String) throws {
        let text =
            #"{"type":"Feature","properties":{"größe":"Zürich"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        let bytes: [UInt8] =
            switch encoding {
            case "little":
                [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            case "big": [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            default: text.unicodeScalars.map { UInt8($0.value) }
            }
        let layer = try imported(try scratch.write("t.geojson", Data(bytes)))
        #expect(try values("größe", layer) == [.string("Zürich")])
        #expect(layer.notes.contains { $0.contains("read as") } == (encoding == "latin"))
    }

    /// A shapefile of two points with a table of one column.
    private func shapefile(
        _ type: String, width: Int, decimals: UInt8 = 0, _ cells: [[UInt8]], language: UInt8 = 0,
        page: String? = nil
    ) throws -> String {
        let table = try scratch.write("source.csv", "WKT,a\nPOINT (1 2),1\nPOINT (3 4),2\n")
        let path = scratch.path + "/s.shp"
        try scratch.run(
            "/usr/bin/ogr2ogr",
            ["-f", "ESRI Shapefile", path, table, "-a_srs", "EPSG:4326", "-nlt", "POINT"])
        try? FileManager.default.removeItem(atPath: scratch.path + "/s.cpg")
        var bytes: [UInt8] = [
            3, 124, 1, 1, UInt8(cells.count), 0, 0, 0, 65, 0, UInt8(width + 1), 0,
        ]
        bytes += [UInt8](repeating: 0, count: 17) + [language, 0, 0]
        bytes += Array("V".utf8) + [UInt8](repeating: 0, count: 10) + Array(type.utf8)
        bytes += [0, 0, 0, 0, UInt8(width), decimals] + [UInt8](repeating: 0, count: 14) + [0x0D]
        for cell in cells {
            let pad = [UInt8](repeating: 0x20, count: width - cell.count)
            bytes += [0x20] + (type == "N" ? pad + cell : cell + pad)
        }
        _ = try scratch.write("s.dbf", Data(bytes + [0x1A]))
        if let page { _ = try scratch.write("s.cpg", page) }
        return path
    }

    @Test(arguments: [
        ("UTF-8", "Zürich"), ("UTF8", "Zürich"), ("65001\r\n", "Zürich"), (nil, "Zürich"),
        ("utf_8", "Zürich"),
    ])
    func `a shapefile in UTF-8 is read`(_ page: String?, _ text: String) throws {
        let layer = try imported(
            try shapefile("C", width: 12, [Array(text.utf8), Array("a".utf8)], page: page))
        #expect(try values("V", layer) == [.string(text), .string("a")])
        #expect(layer.notes.allSatisfy { $0.contains("object ids are places") })
    }

    @Test(
        .slow,
        arguments: [
            ("ANSI 1252", 0, "éÀ"), ("1252", 0, "éÀ"), ("LDID/87", 0, "éÀ"), ("88591", 0, "éÀ"),
            ("ISO-8859-1", 0, "éÀ"), ("Windows-1252", 0x57, "éÀ"), (nil, 0x57, "éÀ"),
            (nil, 0x03, "éÀ"), ("ANSI 1251", 0, "йА"), ("CP1251", 0x57, "йА"), (nil, 0xC9, "йА"),
            ("1250", 0, "éŔ"), ("OEM 850", 0, "Ú└"), (nil, 0x26, "щ└"), ("8859_5", 0, "щР"),
        ] as [(String?, UInt8, String)])
    func `a shapefile is read in the encoding that it states`(
        _ page: String?, _ language: UInt8, _ expected: String
    ) throws {
        let path = try shapefile(
            "C", width: 12, [[0xE9, 0xC0], Array("a".utf8)], language: language, page: page)
        let layer = try imported(path)
        #expect(try values("V", layer) == [.string(expected), .string("a")])
    }

    @Test func `a shapefile that states none, or one unknown, is guessed with a note`() throws {
        for page in [nil, "Klingon"] {
            let layer = try imported(
                try shapefile("C", width: 12, [[0xE9, 0xC0], Array("a".utf8)], page: page))
            #expect(try values("V", layer) == [.string("éÀ"), .string("a")])
            #expect(layer.notes.contains { $0.contains("windows-1252") })
        }
    }

    @Test func `a shapefile's numbers that no type holds are text`() throws {
        let cells = ["12345678901234567890", "7"].map { Array($0.utf8) }
        let layer = try imported(try shapefile("N", width: 25, cells))
        #expect(try values("V", layer) == [.string("12345678901234567890"), .string("7")])
        #expect(
            layer.notes.contains { $0.contains("'V' is text: '12345678901234567890' in row 1") })
    }

    @Test func `asterisks and impossible days are null with a note`() throws {
        let numbers = try imported(try shapefile("N", width: 5, [Array("*****".utf8), [0x37]]))
        #expect(try values("V", numbers) == [.null, .integer(7)])
        #expect(numbers.notes.contains { $0.contains("'V'") && $0.contains("asterisks") })
        let days = try imported(
            try shapefile("D", width: 8, [Array("20230230".utf8), Array("20240229".utf8)]))
        #expect(try values("V", days) == [.null, .date(1_709_164_800_000)])
        #expect(days.notes.contains { $0.hasPrefix("column 'V': a value became null, in row 1") })
        let none = try imported(
            try shapefile("D", width: 8, [Array("00000000".utf8), Array("18991231".utf8)]))
        #expect(try values("V", none) == [.null, .date(-2_209_075_200_000)])
        #expect(none.notes.allSatisfy { $0.contains("object ids are places") })
    }

    @Test(
        .slow,
        arguments: [
            ("windows-1251", "йА"), ("iso-8859-2", "éŔ"), ("iso-8859-1", "éÀ"), ("koi8-r", "Ию"),
            ("windows-1252", "éÀ"), ("iso-8859-15", "éÀ"),
        ])
    func `XML is read in the encoding that it declares`(
        _ encoding: String, _ expected: String
    ) throws {
        let start = #"<?xml version="1.0" encoding="\#(encoding)"?><gpx version="1.1" creator="x">"#
        let bytes =
            Array((start + #"<wpt lat="1" lon="2"><name>"#).utf8) + [0xE9, 0xC0]
            + Array("&amp;&#x17C;<![CDATA[<b>]]></name></wpt></gpx>".utf8)
        let layer = try imported(try scratch.write("t.gpx", Data(bytes)))
        #expect(try values("name", layer) == [.string(expected + "&ż<b>")])
    }

    @Test func `a measure that a shapefile marks as missing is none`() throws {
        let table = try scratch.write(
            "m.csv", "WKT,a\n\"LINESTRING M (1 2 5,3 4 -1.5e38,5 6 0)\",1\n")
        let path = scratch.path + "/m.shp"
        try scratch.run(
            "/usr/bin/ogr2ogr", ["-f", "ESRI Shapefile", path, table, "-a_srs", "EPSG:4326"])
        let layer = try imported(path)
        #expect(layer.properties.hasM)
        let dataset = try scratch.dataset(layer)
        var reader = FeatureReader(dataset)
        try reader.move(to: 0)
        var chains = FeatureChains()
        try reader.read(into: &chains, hasM: true)
        #expect(chains.m.count == 3 && chains.m[0] == 5 && chains.m[1].isNaN && chains.m[2] == 0)
    }
}
