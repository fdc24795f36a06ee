// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import SQLite
import TestKit
import Testing

/// GeoPackages with views that never end, or that end late.
@Suite struct EndlessViewTests {
    private let scratch = Scratch()

    private static let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    private static let point = "(SELECT geom FROM own LIMIT 1) AS geom"

    /// A GeoPackage with a table `own` of two points, and the view `seen` of the statement.
    private func package(_ statement: String, as kind: String = "features") throws -> String {
        let path = scratch.path + "/views.gpkg"
        let points = try scratch.write(
            "points.csv", "WKT,name\n\"POINT (1 2)\",own\n\"POINT (3 4)\",other\n")
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr",
                ["-f", "GPKG", "-a_srs", "EPSG:4326", "-nln", "own", path, points]))
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("CREATE VIEW seen AS \(statement)")
        try connection.execute(
            "INSERT INTO gpkg_contents(table_name, identifier, data_type, srs_id) "
                + "VALUES('seen', 'seen', '\(kind)', 4326)")
        if kind == "features" {
            try connection.execute(
                "INSERT INTO gpkg_geometry_columns VALUES('seen', 'geom', 'POINT', 4326, 0, 0)")
        }
        return path
    }

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets)
    }

    @Test(
        .slow,
        arguments: [
            // Rows without an end; none, after searching without an end; a value without an end.
            "\(EndlessViewTests.endless) SELECT x AS fid, \(EndlessViewTests.point) FROM c",
            "\(EndlessViewTests.endless) SELECT x AS fid, \(EndlessViewTests.point) FROM c WHERE x < 0",
            "SELECT fid, geom, (\(EndlessViewTests.endless) SELECT count(*) FROM c) AS n FROM own",
        ])
    func `a layer that never ends is left out by its name, and the others are imported`(
        _ statement: String
    ) throws {
        let layers = try imported(try package(statement))
        #expect(layers.map(\.name) == ["own"])
        #expect(layers.first?.featureCount == 2)
        let note = try #require(layers.first?.notes.first { $0.contains("left out") })
        #expect(
            note.contains("'seen'") && note.contains("expected a table, or a view that ends"),
            "\(note)")
    }

    @Test(.slow) func `a file without a layer that ends is refused`() throws {
        let path = try package("\(Self.endless) SELECT x AS fid, \(Self.point) FROM c")
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("DELETE FROM gpkg_contents WHERE table_name = 'own'")
        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(
            failure?.details.contains { $0.contains("cannot read layer 'seen'") } ?? false,
            "\(failure?.description ?? "") \(failure?.details ?? [])")
        #expect(scratch.entries().isEmpty)
    }

    @Test(.slow) func `a table of attributes that never ends does not hold up the others`() throws {
        let layers = try imported(
            try package("\(Self.endless) SELECT x AS fid, 'n' AS name FROM c", as: "attributes"))
        #expect(layers.map(\.name) == ["own"])
        #expect(layers.first?.featureCount == 2)
    }

    @Test(.slow) func `a system table that is an endless view is refused`() throws {
        let path = try package("SELECT fid, geom FROM own")
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("ALTER TABLE gpkg_contents RENAME TO kept")
        try connection.execute(
            "CREATE VIEW gpkg_contents AS \(Self.endless) SELECT kept.* FROM kept, c")
        let failure = #expect(throws: Failure.self) { try imported(path) }
        #expect(failure?.code == .unreadable)
        #expect(scratch.entries().isEmpty)
    }

    @Test(.slow) func `a view of many rows is imported`() throws {
        let count = 100_000
        let path = try package(
            "\(Self.endless.dropLast()) LIMIT \(count)) SELECT x AS fid, \(Self.point) FROM c")
        let layers = try imported(path)
        #expect(layers.map(\.name) == ["own", "seen"])
        #expect(layers.last?.featureCount == count)
    }
}
