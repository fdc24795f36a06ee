// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

/// What the caller of an import chooses, and what the import says about its source.
@Suite struct ImportOptionsTests {
    private let scratch = Scratch()

    private func imported(
        _ path: String, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> [ImportedLayer] {
        var options = ImportOptions()
        change(&options)
        return try DatasetBuilder.importFile(
            path: path, into: scratch.datasets, options: options)
    }

    /// The first coordinate of each feature, by object id.
    private func places(_ layer: ImportedLayer) throws -> [Int64: [Double]] {
        try scratch.dataset(layer).contents().compactMapValues { $0.parts.first?.first }
    }

    private static func point(_ name: String, _ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Point","#
            + #""coordinates":[\#(x),\#(y)]}}"#
    }

    @Test func `a chosen spatial reference counts before that of the source`() throws {
        let path = try scratch.features("swiss.geojson", [Self.point("Bern", 2_600_000, 1_200_000)])

        let layer = try #require(
            try imported(path) { $0.spatialReference = SpatialReference(wkid: 2056) }.first)

        #expect(layer.properties.spatialReference.wkid == 2056)
        #expect(layer.provenance.referenceBasis == "the import")
        #expect(layer.notes.contains { $0.contains("was chosen by the import") })
        let unknown = #expect(throws: Failure.self) {
            try imported(path) { $0.spatialReference = SpatialReference(wkid: 999_999) }
        }
        #expect(unknown?.code == .invalidParameter)
    }

    @Test func `columns of coordinates are chosen by name`() throws {
        let path = try scratch.write(
            "trees.csv", "id;ost;nord\n1;7,5;47,25\n2;8,5;46,5\n3;;1\n")

        let layer = try #require(
            try imported(path) { $0.geometry = .coordinates(x: "OST", y: "nord") }.first)

        #expect(try places(layer) == [1: [7.5, 47.25], 2: [8.5, 46.5]])
        #expect(layer.featureCount == 3)
        #expect(layer.notes.contains { $0.contains("1 features have no geometry") })
        let missing = #expect(throws: Failure.self) {
            try imported(path) { $0.geometry = .coordinates(x: "east", y: "nord") }
        }
        #expect(missing?.message.contains("'id', 'ost', 'nord'") == true)
    }

    @Test func `a column holds geometries as WKT, GeoJSON and hexadecimal WKB`() throws {
        let path = try scratch.write(
            "shapes.csv",
            """
            id,place,x,y
            1,POINT (1 2),9,9
            2,"{""type"":""Point"",""coordinates"":[3,4]}",9,9
            3,0101000000000000000000F03F0000000000000040,9,9
            4,nothing,9,9

            """)

        let layer = try #require(try imported(path) { $0.geometry = .shape("place") }.first)

        #expect(try places(layer) == [1: [1, 2], 2: [3, 4], 3: [1, 2]])
    }

    @Test func `columns of geometry are refused for a source with its own`() throws {
        let path = try scratch.features("own.geojson", [Self.point("a", 1, 2)])
        let failure = #expect(throws: Failure.self) {
            try imported(path) { $0.geometry = .shape("name") }
        }
        #expect(failure?.message.contains("expected a table of text") == true)
    }

    @Test(arguments: [
        ("CP850", [UInt8]([0x53, 0x81, 0x64]), "Süd"),
        ("latin1", [0x53, 0xFC, 0x64], "Süd"),
        ("UTF-16LE", [0x53, 0, 0xFC, 0, 0x64, 0], "Süd"),
        ("Shift_JIS", [0x93, 0x8C], "東"),
    ])
    func `text is read in the chosen encoding`(
        encoding: String, name: [UInt8], expected: String
    ) throws {
        func text(_ ascii: String) -> [UInt8] {
            encoding == "UTF-16LE" ? ascii.utf8.flatMap { [$0, 0] } : Array(ascii.utf8)
        }
        let path = try scratch.write(
            "t.csv", Data(text("name,x,y\n") + name + text(",1,2\n")))

        let layer = try #require(try imported(path) { $0.encoding = encoding }.first)

        let values = try scratch.dataset(layer).contents()[1]?.values
        #expect(values?.contains(.string(expected)) == true, "\(values ?? [])")
        #expect(layer.provenance.encoding.basis == .chosen)
    }

    @Test func `an unknown encoding, and text that is not in it, are refused`() throws {
        let path = try scratch.write("t.csv", Data("name,x,y\n".utf8 + [0xFC] + ",1,2\n".utf8))
        let unknown = #expect(throws: Failure.self) {
            try imported(path) { $0.encoding = "klingon" }
        }
        #expect(unknown?.code == .invalidParameter)
        let wrong = #expect(throws: Failure.self) { try imported(path) { $0.encoding = "utf8" } }
        #expect(wrong?.message.contains("is not UTF-8") == true)

        let guessed = try #require(try imported(path).first)
        #expect(guessed.provenance.encoding.name == "windows-1252")
        #expect(guessed.provenance.encoding.basis == .guessed)
    }

    @Test func `layers are chosen by name, and a name that is not there is refused`() throws {
        for name in ["roads", "rivers", "towns"] {
            _ = try scratch.features("\(name).geojson", [Self.point(name, 1, 2)])
            #expect(
                try scratch.run(
                    "/usr/bin/ogr2ogr",
                    ["-f", "GPKG", "-update", "-append", "all.gpkg", "\(name).geojson"]))
        }
        let path = scratch.path + "/all.gpkg"

        let layers = try imported(path) { $0.layers = ["Towns", "roads"] }

        #expect(Set(layers.map(\.name)) == ["roads", "towns"])
        let failure = #expect(throws: Failure.self) {
            try imported(path) { $0.layers = ["canals"] }
        }
        #expect(failure?.message.contains("there are 'roads', 'rivers', 'towns'") == true)
    }

    @Test func `an import states the driver, rows, reference and encoding of its source`() throws {
        let path = try scratch.write("t.csv", "name,x,y\na,1,2\nb,3,4\n")
        let layer = try #require(try imported(path).first)
        #expect(
            layer.provenance.text
                == "read from '\(path)' (CSV), layer 't': 2 rows, spatial reference 4326 assumed, "
                + "text UTF-8 (detected)")
    }

    @Test func `the mean area of polygons is in square metres, holes left out`() throws {
        let path = try scratch.write(
            "square.csv",
            "id,wkt\n1,\"POLYGON ((0 0,0 90,90 90,90 0,0 0),(10 10,20 10,20 20,10 20,10 10))\"\n")
        let layer = try #require(
            try imported(path) { $0.spatialReference = SpatialReference(wkid: 2056) }.first)
        #expect(layer.provenance.meanArea == 8_000)
        let degrees = try #require(
            try imported(path) { options in
                options.spatialReference = nil
                options.geometry = .shape("wkt")
            }.first { $0.properties.spatialReference.wkid == 4326 })
        #expect(degrees.provenance.meanArea ?? 0 > 1e13)
    }

    @Test func `rows keep the object ids of features by a key column`() throws {
        let old = try scratch.write("old.csv", "code,x,y\na,1,1\nb,2,2\nc,3,3\n")
        let first = try #require(try imported(old).first)
        let keys = try KeyedIDs(
            of: EditedDataset(scratch.dataset(first)), column: "CODE", nextID: 4)
        let new = try scratch.write("new.csv", "code,x,y\nz,9,9\nc,3,3\na,1,5\n")

        let second = try #require(try imported(new) { $0.keys = keys }.first)

        #expect(try places(second) == [1: [1, 5], 3: [3, 3], 4: [9, 9]])
        #expect(
            second.notes.contains(
                "2 rows keep the object ids of features with their key in column 'CODE', 1 have "
                    + "new ones"))
        let twice = try scratch.write("twice.csv", "code,x,y\na,9,9\na,3,3\n")
        let failure = #expect(throws: Failure.self) { try imported(twice) { $0.keys = keys } }
        #expect(failure?.message.contains("rows 1 and 2 have the key 'a'") == true)
    }

    @Test func `a difference counts features by object id, and names the first of each`() throws {
        let old = try scratch.write("old.csv", "code,n,x,y\na,1,1,1\nb,2,2,2\nc,3,3,3\n")
        let new = try scratch.write("new.csv", "code,n,x,y\na,1,1,1\nb,7,2,2\n")
        let (before, after) = (
            try #require(try imported(old).first), try #require(try imported(new).first)
        )

        let difference = try DatasetDifference(
            from: EditedDataset(scratch.dataset(before)), to: scratch.dataset(after))

        #expect(difference.removed.first == [3] && difference.added.count == 0)
        #expect(difference.changed.first == [2])
        #expect(difference.firstChange.map(\.field) == ["n"])
        #expect(difference.firstChange.first?.after == .integer(7))
        #expect((difference.rowsBefore, difference.rowsAfter) == (3, 2))
        #expect(difference.fields.isEmpty)
        let same = try DatasetDifference(
            from: EditedDataset(scratch.dataset(before)), to: scratch.dataset(before))
        #expect(same.isNothing)
    }
}
