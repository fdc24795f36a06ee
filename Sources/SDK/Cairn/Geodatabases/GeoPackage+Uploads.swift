// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension GeoPackage {
    /// What a synchronisation sends.
    struct Upload: Sendable {
        var replica: Replica
        /// A name of its own; nil for a synchronisation that sends no edits.
        var name: String?
    }

    struct Note {
        var number: Int64
        var table: String
        var operation: String
        var row: Int64
        var global: UUID?
    }

    /// The notes of edits in tables of a replica, in order.
    func notes(
        _ tables: [Table], _ replica: Replica, _ file: SQLiteTransaction
    ) throws -> [Note] {
        guard try file.has(Self.notes) else { return [] }
        return try file.rows(
            "SELECT id, table_name, operation, feature_id, global_id FROM \(Self.notes) "
                + "ORDER BY id"
        ).compactMap { columns in
            guard let name = columns[1].text, replica.layers.contains(where: { $0.table == name }),
                let table = tables.first(where: { $0.name == name }),
                let number = columns[0].integer, let operation = columns[2].text,
                let row = columns[3].integer
            else { return nil }
            var global = columns[4].text.flatMap { UUID(globalID: $0) }
            if global == nil, let field = table.globalIDField {
                global = try file.rows(
                    "SELECT \(field.quotedName) FROM \(name.quotedName) "
                        + "WHERE \(table.key.quotedName) = ?", [.integer(row)]
                ).first?.first?.text.flatMap { UUID(globalID: $0) }
            }
            return Note(
                number: number, table: name, operation: operation, row: row, global: global)
        }
    }

    /// Fixes what a synchronisation sends, until its answer is taken: a repetition sends the same.
    ///
    /// Throws ``CairnError`` (`invalidState`) for a file that is registered with no service, and
    /// for an edit of a feature without a global id.
    func prepareUpload(isUploading: Bool) throws -> Upload {
        guard let replica = try replica() else {
            throw CairnError(.invalidState, "the geodatabase is registered with no service")
        }
        guard isUploading else { return Upload(replica: replica, name: nil) }
        let tables = try tables()
        return try file.transaction { file in
            let fixed = try file.rows("SELECT name FROM \(Self.uploads)").first?.first?.text
            if let fixed { return Upload(replica: replica, name: fixed) }
            try checkTables(replica, file)
            let notes = try self.notes(tables, replica, file)
            let edits = try self.edits(notes, tables, replica, file)
            let last =
                try file.has(Self.notes)
                ? file.rows("SELECT max(id) FROM \(Self.notes)").first?.first?.integer : nil
            let name = UUID().uuidString
            try file.change(
                "INSERT INTO \(Self.uploads) VALUES (1, ?, ?, ?)",
                [.text(name), .integer(last ?? 0), .text(edits.jsonText)])
            return Upload(replica: replica, name: name)
        }
    }

    /// Throws ``CairnError`` (`invalidState`) for edits in a table that is no layer of the replica:
    /// no synchronisation would send them.
    private func checkTables(_ replica: Replica, _ file: SQLiteTransaction) throws {
        guard try file.has(Self.notes) else { return }
        let names = try file.rows("SELECT DISTINCT table_name FROM \(Self.notes)")
        let own = Set(replica.layers.map(\.table) + [Self.attachments])
        for name in names.compactMap({ $0.first?.text }) where !own.contains(name) {
            throw CairnError(
                .invalidState,
                "'\(url.path(percentEncoded: false))': the table '\(name)' has edits, and is no "
                    + "layer of the replica \(replica.id)")
        }
    }

    /// The edits of an upload as the service takes them.
    func edits(ofUpload name: String) throws -> String {
        let edits = try file.rows(
            "SELECT edits FROM \(Self.uploads) WHERE name = ?", [.text(name)]
        ).first?.first?.text
        guard let edits else { throw stale }
        return edits
    }

    /// Forgets an upload that the service refused: its edits are noted as before.
    func dropUpload(_ name: String) throws {
        try file.change([("DELETE FROM \(Self.uploads) WHERE name = ?", [.text(name)])])
    }

    var stale: CairnError {
        CairnError(
            .invalidState,
            "'\(url.path(percentEncoded: false))' was synchronised by another job meanwhile")
    }

    private func edits(
        _ notes: [Note], _ tables: [Table], _ replica: Replica, _ file: SQLiteTransaction
    ) throws -> JSON {
        var layers: [JSON] = []
        var (room, isFirst) = (AttachmentFiles.limit, true)
        for layer in replica.layers {
            guard let table = tables.first(where: { $0.name == layer.table }) else { continue }
            var order: [UUID] = []
            var operations: [UUID: (first: String, last: String)] = [:]
            for note in notes where note.table == table.name {
                guard let id = note.global else {
                    throw CairnError(
                        .invalidState,
                        "'\(table.name)': the feature \(note.row) was edited and has no global id: "
                            + "it cannot be synchronised")
                }
                if operations[id] == nil { order.append(id) }
                operations[id] = (operations[id]?.first ?? note.operation, note.operation)
            }
            var (adds, updates, deletes): ([JSON], [JSON], [JSON]) = ([], [], [])
            for id in order {
                guard let (first, last) = operations[id] else { continue }
                if last == "delete" {
                    // What the service has never seen is not deleted there.
                    if first != "add" { deletes.append(.string(id.globalIDText)) }
                } else if let feature = try feature(id, table, file) {
                    if first == "add" { adds.append(feature) } else { updates.append(feature) }
                }
            }
            let attachments = try attachmentEdits(table, file, &room, &isFirst)
            let isEmpty = adds.isEmpty && updates.isEmpty && deletes.isEmpty
            guard !isEmpty || attachments != nil else { continue }
            layers.append(
                .object(of: [
                    "id": .integer(Int64(layer.id)),
                    "features": .object([
                        ("adds", .array(adds)), ("updates", .array(updates)),
                        ("deleteIds", .array(deletes)),
                    ]), "attachments": attachments,
                ]))
        }
        return .array(layers)
    }

    /// A feature as it is uploaded: without the object id, which is the file's own; nil for one
    /// that has gone.
    private func feature(_ id: UUID, _ table: Table, _ file: SQLiteTransaction) throws -> JSON? {
        let fields = table.fields.filter {
            $0.name != table.key && ($0.isEditable || $0.name == table.globalIDField)
                && $0.type != .blob
        }
        let columns =
            fields.map(\.name.quotedName) + [table.geometryColumn?.quotedName ?? "NULL"]
        guard let field = table.globalIDField,
            let row = try file.rows(
                "SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quotedName) "
                    + "WHERE \(field.quotedName) IN (?, ?, ?, ?)", id.spellings
            ).first
        else { return nil }
        let attributes: [(name: String, value: JSON)] = zip(fields, row).map { field, value in
            if field.name == table.globalIDField {
                return (field.name, .string(id.globalIDText))
            }
            return (field.name, JSON(attribute: Self.value(value, field)))
        }
        var members: [(name: String, value: JSON)] = [("attributes", .object(attributes))]
        if table.geometryColumn != nil {
            var geometry: Geometry?
            if case .blob(let bytes)? = row.last {
                geometry = try GeoPackageGeometry.read(bytes, table.spatialReference)
            }
            members.append(("geometry", geometry?.json ?? .null))
        }
        return .object(members)
    }
}
