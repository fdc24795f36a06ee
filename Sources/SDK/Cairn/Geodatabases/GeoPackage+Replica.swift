// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

/// What a geodatabase is to the service that it was taken from; kept in its file.
struct Replica: Sendable {
    struct Layer: Sendable {
        var id: Int
        var table: String
        /// The moment of the service that the layer has, where each layer has its own.
        var generation: Int64?
        /// The fields as the service describes them; nil where the file's own columns count.
        var fields: JSON?
    }

    var id: String
    var isPerLayer: Bool
    /// The moment of the service that the file has; nil where each layer has its own.
    var generation: Int64?
    var layers: [Layer]

    /// The moments as one text, by which a change of them is seen.
    var moment: String {
        isPerLayer
            ? layers.map { "\($0.id):\($0.generation ?? -1)" }.joined(separator: ",")
            : generation.map(String.init) ?? ""
    }
}

extension UUID {
    /// The forms in which a file may have it as a global id.
    var spellings: [SQLiteValue] {
        [globalIDText, uuidString, globalIDText.lowercased(), uuidString.lowercased()]
            .map { .text($0) }
    }
}

extension GeoPackage {
    static let layers = "cairn_layers"
    static let replicas = "cairn_replica"
    static let uploads = "cairn_upload"

    private static let replicaTables = [
        "CREATE TABLE IF NOT EXISTS \(replicas) (id INTEGER PRIMARY KEY CHECK (id = 1), "
            + "replica_id TEXT NOT NULL, is_per_layer INTEGER NOT NULL, generation INTEGER)",
        "CREATE TABLE IF NOT EXISTS \(layers) (layer_id INTEGER PRIMARY KEY, table_name TEXT "
            + "NOT NULL UNIQUE, generation INTEGER, fields TEXT)",
        "CREATE TABLE IF NOT EXISTS \(uploads) (id INTEGER PRIMARY KEY CHECK (id = 1), "
            + "name TEXT NOT NULL, last_note INTEGER NOT NULL, edits TEXT NOT NULL)",
    ]

    // MARK: Registration

    /// The registration; nil for a file that is registered with no service.
    func replica() throws -> Replica? {
        guard try file.has(Self.replicas) else { return nil }
        return try Self.replica(file)
    }

    static func replica(_ file: some SQLiteReader) throws -> Replica? {
        let found = try file.rows(
            "SELECT replica_id, is_per_layer, generation FROM \(replicas)", []
        ).first
        guard let found, let id = found[0].text else { return nil }
        let layers = try file.rows(
            "SELECT layer_id, table_name, generation FROM \(layers) ORDER BY layer_id", [])
        return Replica(
            id: id, isPerLayer: found[1].integer == 1, generation: found[2].integer,
            layers: layers.map {
                Replica.Layer(
                    id: Int($0[0].integer ?? -1), table: $0[1].text ?? "",
                    generation: $0[2].integer)
            })
    }

    /// Registers the file, in the place of an earlier registration.
    func register(_ replica: Replica) throws {
        try file.transaction { try Self.register(replica, $0) }
    }

    static func register(_ replica: Replica, _ file: SQLiteTransaction) throws {
        for table in replicaTables { try file.change(table) }
        for table in [replicas, layers, uploads] { try file.change("DELETE FROM \(table)") }
        func value(_ generation: Int64?) -> SQLiteValue { generation.map { .integer($0) } ?? .null }
        // A file that is registered nowhere has its layers alone.
        if !replica.id.isEmpty {
            try file.change(
                "INSERT INTO \(replicas) VALUES (1, ?, ?, ?)",
                [
                    .text(replica.id), .integer(replica.isPerLayer ? 1 : 0),
                    value(replica.generation),
                ])
        }
        for layer in replica.layers {
            try file.change(
                "INSERT INTO \(layers) VALUES (?, ?, ?, ?)",
                [
                    .integer(Int64(layer.id)), .text(layer.table), value(layer.generation),
                    layer.fields.map { .text($0.jsonText) } ?? .null,
                ])
        }
    }

    /// The names of tables by the numbers of their layers.
    func layerTables() throws -> [Int: String] {
        guard try file.has(Self.layers) else { return [:] }
        let rows = try file.rows("SELECT layer_id, table_name FROM \(Self.layers)")
        return Dictionary(
            rows.compactMap { row in
                row[0].integer.flatMap { id in row[1].text.map { (Int(id), $0) } }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Ends the registration.
    func unregister() throws {
        guard try file.has(Self.replicas) else { return }
        try file.transaction { file in
            for table in [Self.replicas, Self.uploads] {
                try file.change("DELETE FROM \(table)")
            }
        }
    }

    /// The fields of a table as the service describes them, by their names in small letters.
    func describedFields(_ table: String) throws -> [String: Field] {
        let text = try file.rows(
            "SELECT fields FROM \(Self.layers) WHERE table_name = ?", [.text(table)]
        ).first?.first?.text
        guard let text, let json = JSON(Array(text.utf8)) else { return [:] }
        return Dictionary(
            Field.list(json).map { ($0.name.lowercased(), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The row that has a global id; nil for none, and in a table without global ids.
    func row(of id: UUID, in table: Table) throws -> Int64? {
        try Self.row(of: id, in: table, file)
    }

    static func row(
        of id: UUID, in table: Table, _ file: some SQLiteReader
    ) throws -> Int64? {
        guard let field = table.globalIDField else { return nil }
        return try file.rows(
            "SELECT \(table.key.quotedName) FROM \(table.name.quotedName) "
                + "WHERE \(field.quotedName) IN (?, ?, ?, ?)", id.spellings
        ).first?.first?.integer
    }
}
