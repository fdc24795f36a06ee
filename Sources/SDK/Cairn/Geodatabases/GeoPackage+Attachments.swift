// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension UUID {
    fileprivate var stored: SQLiteValue { .text(globalIDText) }
}

/// Attachments of a geodatabase: in tables of its own, by the global ids of their features.
extension GeoPackage {
    static let attachments = "cairn_attachments"
    static let attachmentLayers = "cairn_directions"

    /// One that was deleted here stays, without its bytes, until the service knows of it.
    private static let attachmentTables = [
        "CREATE TABLE IF NOT EXISTS \(attachmentLayers) (table_name TEXT PRIMARY KEY, "
            + "direction TEXT NOT NULL)",
        "CREATE TABLE IF NOT EXISTS \(attachments) (id INTEGER PRIMARY KEY AUTOINCREMENT, "
            + "table_name TEXT NOT NULL, parent_id TEXT NOT NULL, global_id TEXT NOT NULL, "
            + "attachment_id INTEGER, name TEXT NOT NULL, content_type TEXT NOT NULL, "
            + "size INTEGER NOT NULL, is_deleted INTEGER NOT NULL DEFAULT 0, data BLOB, "
            + "UNIQUE (table_name, global_id))",
        "CREATE INDEX IF NOT EXISTS cairn_attachments_parents ON \(attachments) "
            + "(table_name, parent_id)",
    ]

    /// Lets tables have attachments, which go these ways.
    func keepAttachments(_ tables: [(table: String, direction: AttachmentSyncDirection)]) throws {
        guard !tables.isEmpty else { return }
        try file.transaction { file in
            for statement in Self.attachmentTables { try file.change(statement) }
            for (table, direction) in tables {
                try file.change(
                    "INSERT OR REPLACE INTO \(Self.attachmentLayers) VALUES (?, ?)",
                    [.text(table), .text(direction.rawValue)])
            }
        }
    }

    /// Which way attachments of a table go; nil for a table without.
    func attachmentDirection(_ table: Table) throws -> AttachmentSyncDirection? {
        try Self.attachmentDirection(table, file)
    }

    static func attachmentDirection(
        _ table: Table, _ file: some SQLiteReader
    ) throws -> AttachmentSyncDirection? {
        guard table.globalIDField != nil, try file.has(attachmentLayers) else { return nil }
        return try file.rows(
            "SELECT direction FROM \(attachmentLayers) WHERE table_name = ?", [.text(table.name)]
        ).first?.first?.text.flatMap { AttachmentSyncDirection(rawValue: $0) }
    }

    /// The global id of a row; nil for none.
    func globalID(of row: Int64, in table: Table) throws -> UUID? {
        guard let field = table.globalIDField else { return nil }
        return try file.rows(
            "SELECT \(field.quotedName) FROM \(table.name.quotedName) "
                + "WHERE \(table.key.quotedName) = ?", [.integer(row)]
        ).first?.first?.text.flatMap { UUID(globalID: $0) }
    }

    // MARK: Reading

    /// The attachments of a feature, in the order in which they came.
    func attachments(of parent: UUID, in table: Table) throws -> [Attachment] {
        try file.rows(
            "SELECT id, global_id, name, content_type, size FROM \(Self.attachments) "
                + "WHERE table_name = ? AND parent_id = ? AND is_deleted = 0 ORDER BY id",
            [.text(table.name), parent.stored]
        ).compactMap { row in
            guard let id = row[0].integer.flatMap({ Int(exactly: $0) }), let name = row[2].text
            else { return nil }
            return Attachment(
                Attachment.Values(
                    id: id, globalID: row[1].text.flatMap { UUID(globalID: $0) }, name: name,
                    contentType: row[3].text ?? "", size: Int(row[4].integer ?? 0))
            ) { [self] in
                try bytes(ofAttachment: id, name)
            }
        }
    }

    private func bytes(ofAttachment id: Int, _ name: String) throws -> Data {
        let row = try file.rows(
            "SELECT data FROM \(Self.attachments) WHERE id = ? AND is_deleted = 0",
            [.integer(Int64(id))]
        ).first
        guard case .blob(let bytes)? = row?.first else {
            throw CairnError(
                .invalidState,
                "'\(url.path(percentEncoded: false))' has no attachment '\(name)' (\(id)) any more")
        }
        return Data(bytes)
    }

    // MARK: Edits

    private func requireWritable() throws {
        guard isWritable else {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' may not be written")
        }
    }

    /// Adds an attachment, with the note that it was added; its row and global id.
    func addAttachment(
        _ content: Attachment.Content, to parent: UUID, in table: Table
    ) throws -> (row: Int, globalID: UUID) {
        try requireWritable()
        let id = UUID()
        let row = try file.transaction { file in
            try file.change(
                "INSERT INTO \(Self.attachments) (table_name, parent_id, global_id, name, "
                    + "content_type, size, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(table.name), parent.stored, id.stored, .text(content.name),
                    .text(content.contentType), .integer(Int64(content.data.count)),
                    .blob([UInt8](content.data)),
                ])
            let row = try file.rows("SELECT last_insert_rowid()").first?.first?.integer ?? -1
            try Self.noteAttachment("add", row, id, file)
            return row
        }
        return (Int(row), id)
    }

    /// Changes an attachment of a feature.
    func updateAttachment(
        _ attachment: Attachment, to content: Attachment.Content, of parent: UUID, in table: Table
    ) throws {
        try requireWritable()
        try file.transaction { file in
            let (row, id) = try find(attachment, parent, table, file)
            try file.change(
                "UPDATE \(Self.attachments) SET name = ?, content_type = ?, size = ?, data = ? "
                    + "WHERE id = ?",
                [
                    .text(content.name), .text(content.contentType),
                    .integer(Int64(content.data.count)), .blob([UInt8](content.data)),
                    .integer(row),
                ])
            try Self.noteAttachment("update", row, id, file)
        }
    }

    /// Deletes attachments of a feature, all or none.
    func deleteAttachments(
        _ attachments: [Attachment], of parent: UUID, in table: Table
    ) throws {
        try requireWritable()
        try file.transaction { file in
            for attachment in attachments {
                let (row, id) = try find(attachment, parent, table, file)
                try file.change(
                    "UPDATE \(Self.attachments) SET is_deleted = 1, data = NULL WHERE id = ?",
                    [.integer(row)])
                try Self.noteAttachment("delete", row, id, file)
            }
        }
    }

    private func find(
        _ attachment: Attachment, _ parent: UUID, _ table: Table, _ file: SQLiteTransaction
    ) throws -> (row: Int64, globalID: UUID) {
        let row = try file.rows(
            "SELECT id, global_id FROM \(Self.attachments) WHERE id = ? AND table_name = ? "
                + "AND parent_id = ? AND is_deleted = 0",
            [.integer(Int64(attachment.id)), .text(table.name), parent.stored]
        ).first
        guard let row, let number = row[0].integer,
            let id = row[1].text.flatMap({ UUID(globalID: $0) })
        else {
            throw CairnError(
                .invalidArgument,
                "the feature \(parent.globalIDText) of '\(table.name)' has no attachment "
                    + "'\(attachment.name)' (\(attachment.id))")
        }
        return (number, id)
    }

    /// Notes an edit among those of features, so that one number says what was sent.
    private static func noteAttachment(
        _ operation: String, _ row: Int64, _ id: UUID, _ file: SQLiteTransaction
    ) throws {
        try file.change(notesTable)
        try file.change(
            "INSERT INTO \(notes) (table_name, operation, feature_id, global_id) "
                + "VALUES (?, ?, ?, ?)",
            [.text(attachments), .text(operation), .integer(row), id.stored])
    }

    /// Statements that remove the attachments of a feature and the notes of their edits.
    static func withoutAttachments(
        of parent: UUID, in table: Table
    ) -> [(sql: String, values: [SQLiteValue])] {
        let values = [SQLiteValue.text(table.name), parent.stored]
        return [
            (
                "DELETE FROM \(notes) WHERE table_name = '\(attachments)' AND feature_id IN "
                    + "(SELECT id FROM \(attachments) WHERE table_name = ? AND parent_id = ?)",
                values
            ),
            ("DELETE FROM \(attachments) WHERE table_name = ? AND parent_id = ?", values),
        ]
    }

    // MARK: What services give

    /// Writes an attachment as a service has it, over the one of its global id.
    static func put(
        _ json: JSON, _ id: UUID, _ parent: UUID, _ bytes: Data, in table: Table,
        _ file: SQLiteTransaction
    ) throws {
        let name = json.text("name").flatMap(\.orNil) ?? id.uuidString
        let type = json.text("contentType").flatMap(\.orNil) ?? "application/octet-stream"
        try file.change(
            "INSERT INTO \(attachments) (table_name, parent_id, global_id, attachment_id, name, "
                + "content_type, size, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
                + "ON CONFLICT (table_name, global_id) DO UPDATE SET parent_id = ?2, "
                + "attachment_id = coalesce(?4, attachment_id), name = ?5, content_type = ?6, "
                + "size = ?7, data = ?8, is_deleted = 0",
            [
                .text(table.name), parent.stored, id.stored,
                json["attachmentId"]?.whole.map { .integer($0) } ?? .null, .text(name),
                .text(type), .integer(Int64(bytes.count)), .blob([UInt8](bytes)),
            ])
    }

    // MARK: What is sent

    /// The edits of attachments of a layer as the service takes them; nil for none.
    ///
    /// `room` is how many bytes may still go with this synchronisation; those that do not fit wait
    /// for the next one, but one goes with each.
    func attachmentEdits(
        _ table: Table, _ file: SQLiteTransaction, _ room: inout Int, _ isFirst: inout Bool
    ) throws -> JSON? {
        guard let direction = try Self.attachmentDirection(table, file), direction != .none,
            try file.has(Self.notes)
        else { return nil }
        let noted = try file.rows(
            "SELECT n.feature_id, n.operation, a.global_id, a.parent_id, a.size "
                + "FROM \(Self.notes) n JOIN \(Self.attachments) a ON a.id = n.feature_id "
                + "WHERE n.table_name = '\(Self.attachments)' AND a.table_name = ? ORDER BY n.id",
            [.text(table.name)])
        var order: [Int64] = []
        var operations: [Int64: (first: String, last: String, row: [SQLiteValue])] = [:]
        for row in noted {
            guard let id = row[0].integer, let operation = row[1].text else { continue }
            if operations[id] == nil { order.append(id) }
            operations[id] = (operations[id]?.first ?? operation, operation, row)
        }
        var (adds, updates, deletes): ([JSON], [JSON], [JSON]) = ([], [], [])
        for id in order {
            guard let (first, last, row) = operations[id], let global = row[2].text,
                let parent = row[3].text
            else { continue }
            let isThere = try UUID(globalID: parent).map {
                try Self.row(of: $0, in: table, file) != nil
            }
            guard isThere == true, first != "add" || last != "delete" else {
                // What the service has never seen, or has no feature any more, is forgotten.
                for (sql, values) in Self.forget(id) { try file.change(sql, values) }
                continue
            }
            guard last != "delete" else {
                deletes.append(.string(global))
                continue
            }
            let size = Int(row[4].integer ?? 0)
            guard isFirst || size <= room else { continue }
            guard let edit = try attachmentEdit(id, global, parent, file) else { continue }
            (isFirst, room) = (false, max(room - size, 0))
            if first == "add" { adds.append(edit) } else { updates.append(edit) }
        }
        guard !(adds.isEmpty && updates.isEmpty && deletes.isEmpty) else { return nil }
        return .object([
            ("adds", .array(adds)), ("updates", .array(updates)), ("deleteIds", .array(deletes)),
        ])
    }

    private func attachmentEdit(
        _ row: Int64, _ global: String, _ parent: String, _ file: SQLiteTransaction
    ) throws -> JSON? {
        let found = try file.rows(
            "SELECT name, content_type, data FROM \(Self.attachments) WHERE id = ?",
            [.integer(row)]
        ).first
        guard let found, case .blob(let bytes) = found[2] else { return nil }
        return .object([
            ("globalId", .string(global)), ("parentGlobalId", .string(parent)),
            ("name", .string(found[0].text ?? "")),
            ("contentType", .string(found[1].text ?? "")),
            ("data", .string(Data(bytes).base64EncodedString())),
        ])
    }

    static func forget(_ row: Int64) -> [(sql: String, values: [SQLiteValue])] {
        [
            (
                "DELETE FROM \(notes) WHERE table_name = '\(attachments)' AND feature_id = ?",
                [.integer(row)]
            ), ("DELETE FROM \(attachments) WHERE id = ?", [.integer(row)]),
        ]
    }
}
