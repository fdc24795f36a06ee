// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import SQLite
import TestKit
import Testing

/// Imports that keep every value, or report its loss.
@Suite struct KeptValueTests {
    private let scratch = Scratch()

    private struct Column {
        var type: FieldType?
        var values: [AttributeValue]
    }

    private func imported(_ path: String, _ fields: [String] = []) throws -> ImportedLayer {
        var options = ImportOptions()
        options.fields = try fields.map { try FieldStatement($0) }
        return try #require(
            try DatasetBuilder.importFile(
                path: path, into: scratch.datasets, options: options
            ).first)
    }

    /// A column's type and values, by object id.
    private func column(_ name: String, _ layer: ImportedLayer) throws -> Column {
        let dataset = try scratch.dataset(layer)
        var found: [Int64: AttributeValue] = [:]
        try dataset.forEach { feature in
            found[feature.objectID] = try dataset.attributes(of: feature)[name]
        }
        return Column(
            type: layer.properties.fields.first { $0.name == name }?.type,
            values: found.sorted { $0.key < $1.key }.map(\.value))
    }

    /// The column `v` of a table of points.
    private func table(
        _ values: [String], _ separator: String = ",", fields: [String] = []
    ) throws -> (column: Column, layer: ImportedLayer) {
        let rows = values.map { [$0, "1.5", "2.5"].joined(separator: separator) }
        let header = ["v", "lon", "lat"].joined(separator: separator)
        let path = try scratch.write(
            "t.csv", ([header] + rows).joined(separator: "\n") + "\n")
        let layer = try imported(path, fields)
        return (try column("v", layer), layer)
    }

    @Test(
        .slow,
        arguments: [
            ["01569", "00501"], ["+34123456789", "+1"], ["12E5", "13E7"], ["1e5"],
            ["0x10", "0x1F"],
            ["1,5"], ["1 000", "2 000"], ["'5'"], ["18446744073709551615", "1"],
            ["123456789012345678901234567890", "1.5"], ["9007199254740993", "0.5"],
            ["0.12345678901234567890", "1.5"], ["1.1", "1.10"], [" 12", "  7"], ["12 "], ["007"],
            ["US0378331005", "5"], ["DE89370400440532013000"], ["-", "5"], ["NaN"],
            ["true", "false"],
            ["12:30", "24:00"], ["12:30:05"], ["2023-02-30", "2023-02-01"], ["2023-01-01T24:00:00"],
            ["2016-12-31T23:59:60Z"], ["2020-01-01 10:00 CET"], ["01.02.2020"], ["0000-01-01"],
            ["1e400", "1.5"], [".5", "1."], ["1.2.3"], ["٣"],
        ])
    func `a table's texts that a type would change stay text`(_ values: [String]) throws {
        let quoted = values.map { $0.contains(",") ? "\"\($0)\"" : $0 }
        let (column, _) = try table(quoted)
        #expect(column.type == .string)
        #expect(column.values == values.map { .string($0) })
    }

    @Test(arguments: [
        (
            ["5", "-7", "0"], FieldType.integer,
            [AttributeValue.integer(5), .integer(-7), .integer(0)]
        ),
        (
            ["9223372036854775807", "-9223372036854775808"], .bigInteger,
            [.integer(.max), .integer(.min)]
        ),
        (["3000000000"], .bigInteger, [.integer(3_000_000_000)]),
        (["1.5", "2", "-0.25"], .double, [.real(1.5), .real(2), .real(-0.25)]),
        (["1.50", "2.25"], .double, [.real(1.5), .real(2.25)]),
        (["1e-05", "2.5E+3"], .double, [.real(1e-05), .real(2500)]),
        (["0.1000000000000000055511151231257827"], .double, [.real(0.1)]),
        (["1.5", "", "2"], .double, [.real(1.5), .null, .real(2)]),
        (["1.5", "NaN", "-inf"], .double, [.real(1.5), .null, .null]),
        (
            ["2020-02-29", "1899-12-31"], .date,
            [.date(1_582_934_400_000), .date(-2_209_075_200_000)]
        ),
        (["2020-02-29T12:30:00.250+01:00"], .date, [.date(1_582_975_800_250)]),
        (["2020/02/29 00:00:00"], .date, [.date(1_582_934_400_000)]),
    ])
    func `a table's texts that a type keeps get it`(
        _ values: [String], _ type: FieldType, _ expected: [AttributeValue]
    ) throws {
        let (column, _) = try table(values)
        #expect(column.type == type)
        #expect(column.values == expected)
    }

    @Test func `quoted digits are text unless every field is quoted`() throws {
        #expect(
            try table(["\"12345\"", "\"5\""]).column.values == [.string("12345"), .string("5")])
        let path = try scratch.write(
            "all.csv", "\"v\",\"lon\",\"lat\"\n\"12345\",\"1\",\"2\"\n\"0\",\"1\",\"2\"\n")
        #expect(try column("v", imported(path)).values == [.integer(12345), .integer(0)])
    }

    @Test func `a comma is the decimal point where it separates nothing`() throws {
        let (column, layer) = try table(["1,5", "2,25", "3"], ";")
        #expect(column.values == [.real(1.5), .real(2.25), .real(3)])
        #expect(layer.notes.filter { $0.contains("'v'") } == [])
        #expect(
            try table(["1,5", "2.25"], ";").column.values == [.string("1,5"), .string("2.25")])
        #expect(try table(["1.000,5"], ";").column.values == [.string("1.000,5")])
    }

    @Test func `a column that looked like numbers or days and is text is noted with row and value`()
        throws
    {
        let notes = try table(["1", "01569"]).layer.notes.joined(separator: "\n")
        #expect(notes.contains("column 'v' is text: '01569' in row 2 has a leading zero"))
        let days = try table(["2023-02-01", "2023-02-30"]).layer.notes.joined(separator: "\n")
        #expect(days.contains("column 'v' is text: '2023-02-30' in row 2 is not a valid date"))
        let none = try table(["1.5", "2", "nan", "inf"]).layer.notes.joined(separator: "\n")
        #expect(none.contains("column 'v': 2 values became null, the first in row 3: 'nan'"))
    }

    @Test func `a type that is stated is taken, with a note on what does not fit`() throws {
        let (column, layer) = try table(["01569", "x", "3000000000"], fields: ["V:integer"])
        #expect(column.type == .integer)
        #expect(column.values == [.integer(1569), .null, .null])
        #expect(
            layer.notes.contains("column 'v': 2 values became null, the first in row 2: 'x'"))
        #expect(
            try table(["5", "6"], fields: ["v:text"]).column.values == [.string("5"), .string("6")])
        let moments = try table(["2020-01-01", "2020-02-30"], fields: ["v:date"])
        #expect(moments.column.values == [.date(1_577_836_800_000), .null])
        let failure = #expect(throws: Failure.self) {
            try table(["5"], fields: ["w:text"])
        }
        #expect(failure?.code == .invalidParameter && failure?.message.contains("'lon'") == true)
        #expect(throws: Failure.self) { try FieldStatement("v:number") }
    }

    @Test func `a file of types beside a table states them`() throws {
        _ = try scratch.write("t.csvt", "\"String\",\"Real\",\"Real\"\n")
        #expect(try table(["5", "6"]).column.values == [.string("5"), .string("6")])
        _ = try scratch.write("t.csvt", "\"Integer(10)\",\"CoordX\",\"CoordY\"\n")
        let (column, layer) = try table(["5", "x"])
        #expect(column.values == [.integer(5), .null])
        #expect(layer.notes.contains("column 'v': a value became null, in row 2: 'x'"))
    }

    @Test func `headers that are empty or the same get names, odd rows are noted`() throws {
        let path = try scratch.write(
            "odd.csv", "a,,a,OBJECTID,lon,lat\n1,2,3,9,1,2,7\n4,5\n1,2,3,8,1,2,\n")
        let layer = try imported(path)
        #expect(
            layer.properties.fields.map(\.name) == [
                "OBJECTID", "a", "field_2", "a_2", "OBJECTID_1", "lon", "lat",
            ])
        let notes = layer.notes.joined(separator: "\n")
        #expect(notes.contains("1 rows have more fields than the header, the first of them row 1"))
        #expect(notes.contains("1 rows have fewer fields than the header, the first of them row 2"))
        #expect(notes.contains("column 2 has no name"))
    }

    @Test func `a table of more columns than the bound is refused`() throws {
        let header = [String](repeating: "a", count: 10_001).joined(separator: ",")
        let path = try scratch.write("wide.csv", header + "\n")

        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(failure?.code == .tooLarge)
        #expect(failure?.message.contains("row 0 has more than") == true)
    }

    // MARK: JSON

    private func json(
        _ values: [String], id: (Int) -> String? = { _ in nil }, properties: Bool = true
    ) throws -> ImportedLayer {
        let features = values.enumerated().map { index, value in
            let stated = id(index).map { "\"id\":\($0)," } ?? ""
            let own = properties ? "\"properties\":{\"v\":\(value)}," : ""
            return "{\"type\":\"Feature\",\(stated)\(own)"
                + "\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}"
        }
        return try imported(try scratch.features("f.geojson", features))
    }

    @Test(
        .slow,
        arguments: [
            (
                ["9824657365274853001", "9868811851946736002"],
                ["9824657365274853001", "9868811851946736002"]
            ),
            (["9007199254740993", "0.5"], ["9007199254740993", "0.5"]),
            (["1", "\"1\""], ["1", "1"]), (["true", "1"], ["true", "1"]),
            (["1.50", "\"x\""], ["1.50", "x"]),
            (["[1, \"a\"]", "{\"b\":1.50}"], ["[1, \"a\"]", "{\"b\":1.50}"]),
            (["[\"a\",\"b\"]"], ["[\"a\",\"b\"]"]), (["[1,2]", "3"], ["[1,2]", "3"]),
            (["0.12345678901234567890"], ["0.12345678901234567890"]), (["1e400"], ["1e400"]),
            (["\"12:30\""], ["12:30"]),
            (["\"2023-02-30\"", "\"2023-02-01\""], ["2023-02-30", "2023-02-01"]),
            (["\"01569\""], ["01569"]), (["\"2016-12-31T23:59:60Z\""], ["2016-12-31T23:59:60Z"]),
            ([#""Z\u00fcrich \ud83d\ude00""#], ["Zürich 😀"]), ([#""a\/b""#, "1"], ["a/b", "1"]),
        ])
    func `JSON's values that a type would change are text`(
        _ values: [String], _ expected: [String]
    ) throws {
        let layer = try json(values)
        let column = try column("v", layer)
        #expect(column.type == .string)
        #expect(column.values == expected.map { .string($0) })
    }

    @Test func `JSON's numbers and days keep their types`() throws {
        let big = try column("v", json(["9223372036854775807", "-1", "null"]))
        #expect(big.values == [.integer(.max), .integer(-1), .null])
        let mixed = try column("v", json(["1", "0.5", "-0.0"]))
        #expect(mixed.values == [.real(1), .real(0.5), .real(-0.0)])
        let days = try column("v", json(["\"1899-12-31\"", "null"]))
        #expect(days.values == [.date(-2_209_075_200_000), .null])
        let layer = try json(["1.5", "NaN"])
        #expect(try column("v", layer).values == [.real(1.5), .null])
        #expect(layer.notes.contains { $0.hasPrefix("column 'v': a value became null, in row 2") })
        #expect(try column("v", json(["true", "false"])).values == [.integer(1), .integer(0)])
    }

    @Test(
        .slow,
        arguments: [
            (
                ["10000000001", "10000000002"],
                [AttributeValue.integer(10_000_000_001), .integer(10_000_000_002)]
            ),
            (["3000000000", "0"], [.integer(3_000_000_000), .integer(0)]),
            (["-5", "7"], [.integer(-5), .integer(7)]), (["7", "7"], [.integer(7), .integer(7)]),
            (["\"way/5\"", "\"way/6\""], [.string("way/5"), .string("way/6")]),
            (["\"5\"", "6"], [.string("5"), .string("6")]),
            (["1.5", "2"], [.string("1.5"), .string("2")]),
            (["18446744073709551615", "2"], [.string("18446744073709551615"), .string("2")]),
            (["null", "2"], [.null, .integer(2)]), (["null", "\"a\""], [.null, .string("a")]),
        ])
    func `ids that cannot be object ids are a column`(
        _ ids: [String], _ expected: [AttributeValue]
    ) throws {
        let layer = try json(["1", "2"], id: { ids[$0] })
        #expect(try column("id", layer).values == expected)
        #expect(try column("v", layer).values == [.integer(1), .integer(2)])
        #expect(layer.notes.contains { $0.contains("column 'id'") })
        #expect(
            try column("id", json(["1", "2"], id: { ids[$0] }, properties: false)).values
                == expected)
    }

    @Test func `ids beside properties of that name are kept under another`() throws {
        let path = try scratch.features(
            "ids.geojson",
            [
                #"{"type":"Feature","id":"a","properties":{"id":"own"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
            ])
        let layer = try imported(path)
        #expect(try column("id", layer).values == [.string("own")])
        #expect(try column("id_1", layer).values == [.string("a")])
    }

    // MARK: Other formats

    @Test func `a key of a GeoPackage beyond 32 bits is a column`() throws {
        let table = try scratch.write("k.csv", "osm,WKT\n10000000001,POINT (1 2)\n5,POINT (3 4)\n")
        let path = scratch.path + "/k.gpkg"
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr",
                [
                    "-f", "GPKG", path, table, "-a_srs", "EPSG:4326", "-nln", "k", "-lco",
                    "FID=osm_id", "-lco", "SPATIAL_INDEX=NO", "-sql",
                    "SELECT CAST(osm AS bigint) AS osm_id, osm, geometry FROM k", "-dialect",
                    "sqlite",
                ]))
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("UPDATE k SET osm_id = CAST(osm AS INTEGER)")
        let layer = try imported(path)
        #expect(
            Set(try column("osm_id", layer).values) == [.integer(10_000_000_001), .integer(5)])
    }

    @Test func `GML without a schema keeps codes`() throws {
        let path = try scratch.write(
            "z.gml",
            """
            <?xml version="1.0"?><ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" \
            xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><ogr:p fid="p.1">\
            <ogr:geometryProperty><gml:Point><gml:coordinates>1,2</gml:coordinates></gml:Point>\
            </ogr:geometryProperty><ogr:zip>01569</ogr:zip><ogr:n>5</ogr:n><ogr:r>1.5</ogr:r>\
            <ogr:d>2020-01-01</ogr:d></ogr:p></gml:featureMember></ogr:FeatureCollection>
            """)
        let layer = try imported(path)
        #expect(try column("zip", layer).values == [.string("01569")])
        #expect(try column("n", layer).values == [.integer(5)])
        #expect(try column("r", layer).values == [.real(1.5)])
        #expect(try column("d", layer).values == [.date(1_577_836_800_000)])
    }
}
