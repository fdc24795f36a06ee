// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension GeoPackage {
    /// The service's answer to a synchronisation, and what it answers.
    struct SyncAnswer: Sendable {
        var json: JSON
        /// The moments of the file when the service was asked.
        var moment: String
        var upload: String?
        var downloads: Bool
        var rollsBack: Bool
        var attachments: ReplicaAttachments

        /// The attachments that came with an answer, in all layers.
        static func attachments(_ json: JSON) -> [JSON] {
            (json["edits"]?.elements ?? []).flatMap { layer in
                (layer["attachments"]?["adds"]?.elements ?? [])
                    + (layer["attachments"]?["updates"]?.elements ?? [])
            }
        }
    }

    private struct Key: Hashable {
        var table: String
        var id: UUID
    }

    /// Takes an answer over, in one transaction with the moments that the file then has; the edits
    /// that were refused, as JSON of a job.
    ///
    /// A feature with edits that still wait keeps them, except where it was deleted on the service:
    /// it is deleted here too, and its edits are among those refused. Throws ``CairnError`` and
    /// ``TransportError`` (`invalidAnswer`); the file is as it was then.
    func apply(_ answer: SyncAnswer) throws -> JSON {
        let tables = try tables()
        return try file.transaction { file in
            guard let replica = try Self.replica(file),
                replica.moment == answer.moment
            else { throw stale }
            var sync = SyncTransaction(
                store: self, file: file, tables: tables, replica: replica, json: answer.json,
                attachments: answer.attachments, notes: try notes(tables, replica, file))
            if let upload = answer.upload {
                let row = try file.rows(
                    "SELECT last_note, edits FROM \(Self.uploads) WHERE name = ?", [.text(upload)]
                ).first
                guard let row, let last = row[0].integer,
                    let edits = JSON(Array((row[1].text ?? "").utf8))
                else { throw stale }
                try sync.takeResults(edits, last)
                if answer.rollsBack, let failed = sync.firstFailure {
                    throw CairnError(
                        .jobFailed, "the service rolled the synchronisation back: \(failed)")
                }
                try file.change("DELETE FROM \(Self.uploads)")
            }
            if answer.downloads { try sync.download() }
            return sync.report
        }
    }

    /// One answer that is taken over.
    private struct SyncTransaction {
        let store: GeoPackage
        let file: SQLiteTransaction
        let tables: [Table]
        let replica: Replica
        let json: JSON
        let attachments: ReplicaAttachments
        var notes: [Note]
        private var refused: [Int: [JSON]] = [:]
        /// The refused edits of attachments, by layer and feature.
        private var refusedAttachments: [Int: [UUID: [JSON]]] = [:]
        private var failed: Set<Key> = []
        private(set) var firstFailure: String?

        init(
            store: GeoPackage, file: SQLiteTransaction, tables: [Table], replica: Replica,
            json: JSON, attachments: ReplicaAttachments, notes: [Note]
        ) {
            (self.store, self.file, self.tables) = (store, file, tables)
            (self.replica, self.json, self.notes) = (replica, json, notes)
            self.attachments = attachments
        }

        private func fault(_ what: String) -> TransportError {
            TransportError(.invalidAnswer, "the answer to synchronizeReplica: \(what)")
        }

        private func table(_ layer: Int) -> Table? {
            replica.layers.first { $0.id == layer }.flatMap { layer in
                tables.first { $0.name == layer.table }
            }
        }

        private func globalID(_ text: String?, _ place: String) throws -> UUID {
            guard let id = text.flatMap({ UUID(globalID: $0) }) else {
                throw fault("\(place): '\(text ?? "")' is no global id")
            }
            return id
        }

        // MARK: Results of uploads

        /// The results of what was sent; an edit of which the answer says nothing was taken.
        mutating func takeResults(_ sent: JSON, _ last: Int64) throws {
            var numbers: [(table: Table, id: UUID, number: Int64)] = []
            for layer in sent.elements {
                guard let number = layer["id"]?.int, let table = table(number) else { continue }
                let answered = (json["edits"]?.elements ?? []).filter { $0["id"]?.int == number }
                if let sent = layer.member("attachments") {
                    try takeAttachmentResults(sent, answered, number, table, last)
                }
                for (list, name, operation) in [
                    ("adds", "addResults", "add"), ("updates", "updateResults", "update"),
                    ("deleteIds", "deleteResults", "delete"),
                ] {
                    let ids = try (layer["features"]?[list]?.elements ?? []).map { feature in
                        let text =
                            feature.text
                            ?? table.globalIDField.flatMap { feature["attributes"]?.text($0) }
                        return try globalID(text, "edits")
                    }
                    let results = answered.flatMap { $0[name]?.elements ?? [] }
                    for (place, result) in results.enumerated() {
                        let id: UUID
                        if let text = result.text("globalId") {
                            id = try globalID(text, name)
                            // Not one of those that were sent.
                            guard ids.contains(id) else { continue }
                        } else {
                            guard place < ids.count else { continue }
                            id = ids[place]
                        }
                        let error = result.member("error")
                        guard result["success"]?.flag ?? (error == nil) else {
                            try refuse(number, table, id, operation, result)
                            continue
                        }
                        if operation == "add", let object = result["objectId"]?.whole, object > 0 {
                            numbers.append((table, id, object))
                        }
                    }
                }
            }
            let taken = notes.filter { note in
                note.number <= last
                    && !(note.global.map { failed.contains(Key(table: note.table, id: $0)) }
                        ?? false)
            }
            try drop(taken)
            for (table, id, number) in numbers { try renumber(table, id, number) }
        }

        /// As of features; an attachment is known by its global id.
        private mutating func takeAttachmentResults(
            _ sent: JSON, _ answered: [JSON], _ layer: Int, _ table: Table, _ last: Int64
        ) throws {
            for (list, name, operation) in [
                ("adds", "addResults", "add"), ("updates", "updateResults", "update"),
                ("deleteIds", "deleteResults", "delete"),
            ] {
                let ids = try (sent[list]?.elements ?? []).map {
                    try globalID($0.text ?? $0.text("globalId"), "attachments")
                }
                var isRefused: Set<UUID> = []
                let results = answered.flatMap { $0["attachments"]?[name]?.elements ?? [] }
                for (place, result) in results.enumerated() {
                    let stated = try result.text("globalId").map { try globalID($0, name) }
                    guard let id = stated ?? (place < ids.count ? ids[place] : nil),
                        ids.contains(id)
                    else { continue }
                    let error = result.member("error")
                    if !(result["success"]?.flag ?? (error == nil)) {
                        isRefused.insert(id)
                        try refuseAttachment(layer, table, id, operation, result)
                    } else if let number = result["objectId"]?.whole, number > 0 {
                        try file.change(
                            "UPDATE \(GeoPackage.attachments) SET attachment_id = ? "
                                + "WHERE table_name = ? AND global_id = ?",
                            [.integer(number), .text(table.name), .text(id.globalIDText)])
                    }
                }
                for id in ids where !isRefused.contains(id) {
                    try dropAttachment(id, table, upTo: last)
                }
            }
        }

        /// Lets the notes of an attachment go, and with the last one what was deleted.
        private func dropAttachment(_ id: UUID, _ table: Table, upTo last: Int64) throws {
            guard let row = try attachment(id, table)?.row else { return }
            let isOfAttachment = "table_name = '\(GeoPackage.attachments)' AND feature_id = ?1"
            try file.change(
                "DELETE FROM \(GeoPackage.notes) WHERE \(isOfAttachment) AND id <= ?2",
                [.integer(row), .integer(last)])
            try file.change(
                "DELETE FROM \(GeoPackage.attachments) WHERE id = ?1 AND is_deleted = 1 AND NOT "
                    + "EXISTS (SELECT 1 FROM \(GeoPackage.notes) WHERE \(isOfAttachment))",
                [.integer(row)])
        }

        private func attachment(
            _ id: UUID, _ table: Table
        ) throws -> (row: Int64, parent: UUID?)? {
            let found = try file.rows(
                "SELECT id, parent_id FROM \(GeoPackage.attachments) "
                    + "WHERE table_name = ? AND global_id = ?",
                [.text(table.name), .text(id.globalIDText)]
            ).first
            guard let found, let row = found[0].integer else { return nil }
            return (row, found[1].text.flatMap { UUID(globalID: $0) })
        }

        private mutating func refuseAttachment(
            _ layer: Int, _ table: Table, _ id: UUID, _ operation: String, _ result: JSON
        ) throws {
            let error = result.member("error")
            let code = error?["code"]?.int ?? 0
            let reason =
                error?.text("description") ?? error?.text("message") ?? "no reason is given"
            firstFailure =
                firstFailure
                ?? "\(operation) of the attachment \(id.globalIDText) in '\(table.name)': "
                + "\(code) \(reason)"
            let found = try attachment(id, table)
            guard let parent = found?.parent else { return }
            refusedAttachments[layer, default: [:]][parent, default: []].append(
                .object([
                    ("operation", .string(operation)),
                    ("objectId", .integer(found?.row ?? -1)),
                    ("globalId", .string(id.globalIDText)), ("code", .integer(Int64(code))),
                    ("reason", .string(reason)),
                ]))
        }

        private mutating func refuse(
            _ layer: Int, _ table: Table, _ id: UUID, _ operation: String, _ result: JSON
        ) throws {
            let error = result.member("error")
            let code = error?["code"]?.int ?? 0
            let reason =
                error?.text("description") ?? error?.text("message") ?? "no reason is given"
            failed.insert(Key(table: table.name, id: id))
            firstFailure =
                firstFailure
                ?? "\(operation) of \(id.globalIDText) in '\(table.name)': \(code) \(reason)"
            let row = try GeoPackage.row(of: id, in: table, file)
            refused[layer, default: []].append(
                .object([
                    ("operation", .string(operation)),
                    ("objectId", .integer(row ?? result["objectId"]?.whole ?? -1)),
                    ("globalId", .string(id.globalIDText)), ("code", .integer(Int64(code))),
                    ("reason", .string(reason)),
                ]))
        }

        private mutating func drop(_ gone: [Note]) throws {
            for note in gone {
                try file.change(
                    "DELETE FROM \(GeoPackage.notes) WHERE id = ?", [.integer(note.number)])
            }
            let numbers = Set(gone.map(\.number))
            notes.removeAll { numbers.contains($0.number) }
        }

        /// Gives a feature the object id of the service, where that is free.
        private mutating func renumber(_ table: Table, _ id: UUID, _ number: Int64) throws {
            let row = try GeoPackage.row(of: id, in: table, file)
            guard let row, row != number, try !file.has(number, in: table) else { return }
            let name = table.name.quotedName
            let key = table.key.quotedName
            let columns =
                table.fields.map(\.name).filter { $0 != table.key }
                + (table.geometryColumn.map { [$0] } ?? [])
            let list = columns.map(\.quotedName).joined(separator: ", ")
            guard
                let values = try file.rows(
                    "SELECT \(list) FROM \(name) WHERE \(key) = ?", [.integer(row)]
                ).first
            else { return }
            // Not an UPDATE: not every file has the trigger of its spatial index for that.
            try file.change("DELETE FROM \(name) WHERE \(key) = ?", [.integer(row)])
            try file.change(
                "INSERT INTO \(name) (\(key), \(list)) VALUES (?"
                    + columns.map { _ in ", ?" }.joined() + ")", [.integer(number)] + values)
            for place in notes.indices
            where notes[place].table == table.name && notes[place].global == id {
                notes[place].row = number
                try file.change(
                    "UPDATE \(GeoPackage.notes) SET feature_id = ? WHERE id = ?",
                    [.integer(number), .integer(notes[place].number)])
            }
        }

        // MARK: Changes of the service

        mutating func download() throws {
            guard (json["layers"]?.elements ?? []).isEmpty else {
                throw fault("expected edits, found whole layers")
            }
            var hasChanges = false
            for layer in json["edits"]?.elements ?? [] {
                let features = layer["features"]
                let puts =
                    (features?["adds"]?.elements ?? []) + (features?["updates"]?.elements ?? [])
                let deletes =
                    (features?["deleteIds"]?.elements ?? [])
                    + (features?["deletes"]?.elements ?? [])
                let changed = layer["attachments"]
                let attached =
                    (changed?["adds"]?.elements ?? []) + (changed?["updates"]?.elements ?? [])
                let detached =
                    (changed?["deleteIds"]?.elements ?? [])
                    + (changed?["deletes"]?.elements ?? [])
                let lists = [puts, deletes, attached, detached]
                guard lists.contains(where: { !$0.isEmpty }) else { continue }
                hasChanges = true
                guard let number = layer["id"]?.int else { throw fault("a layer has no id") }
                guard let table = table(number) else {
                    throw fault(
                        "it has changes of the layer \(number), which the geodatabase has not")
                }
                guard let field = table.globalIDField else {
                    throw fault("'\(table.name)' has no field of global ids")
                }
                let waiting = Set(
                    notes.lazy.filter { $0.table == table.name }.compactMap(\.global))
                let writer = FeatureWriter(store: store, file: file, table: table)
                for feature in puts {
                    let attribute = feature["attributes"]?.members.first {
                        $0.name.lowercased() == field.lowercased()
                    }
                    let id = try globalID(attribute?.value.text, "layer \(number)")
                    // What waits here goes there with the next upload.
                    guard !waiting.contains(id) else { continue }
                    let row = try GeoPackage.row(of: id, in: table, file)
                    try writer.put(feature, id, row)
                }
                for text in deletes { try delete(globalID(text.text, "deleteIds"), number, table) }
                try downloadAttachments(attached, detached, number, table)
            }
            try keepMoments(hasChanges)
        }

        /// Takes over what the service has changed; an attachment with edits that wait keeps them,
        /// except where it was deleted there.
        private mutating func downloadAttachments(
            _ puts: [JSON], _ deletes: [JSON], _ layer: Int, _ table: Table
        ) throws {
            guard try GeoPackage.attachmentDirection(table, file) == .bidirectional else { return }
            for json in puts {
                let (id, parent) = try ReplicaAttachments.ids(json, table.name)
                guard try GeoPackage.row(of: parent, in: table, file) != nil,
                    try waiting(try attachment(id, table)?.row) == nil
                else { continue }
                try GeoPackage.put(json, id, parent, attachments.bytes(json), in: table, file)
            }
            for text in deletes {
                let id = try globalID(text.text ?? text.text("globalId"), "attachments")
                try deleteAttachment(id, layer, table)
            }
        }

        /// The last edit of an attachment that waits; nil for none.
        private func waiting(_ row: Int64?) throws -> String? {
            guard let row, try file.has(GeoPackage.notes) else { return nil }
            return try file.rows(
                "SELECT operation FROM \(GeoPackage.notes) WHERE table_name = ? "
                    + "AND feature_id = ? ORDER BY id DESC LIMIT 1",
                [.text(GeoPackage.attachments), .integer(row)]
            ).first?.first?.text
        }

        private mutating func deleteAttachment(
            _ id: UUID, _ layer: Int, _ table: Table
        ) throws {
            guard let row = try attachment(id, table)?.row else { return }
            if let last = try waiting(row), last != "delete" {
                try refuseAttachment(layer, table, id, last, Self.isDeleted)
            }
            if try file.has(GeoPackage.notes) {
                for (sql, values) in GeoPackage.forget(row) { try file.change(sql, values) }
            } else {
                try file.change(
                    "DELETE FROM \(GeoPackage.attachments) WHERE id = ?", [.integer(row)])
            }
        }

        private static let isDeleted = JSON.object([
            (
                "error",
                .object([
                    ("code", .integer(1019)),
                    ("description", .string("it was deleted on the service")),
                ])
            )
        ])

        private mutating func delete(_ id: UUID, _ layer: Int, _ table: Table) throws {
            let waiting = notes.filter { $0.table == table.name && $0.global == id }
            if let last = waiting.last, last.operation != "delete",
                !failed.contains(Key(table: table.name, id: id))
            {
                try refuse(layer, table, id, last.operation, Self.isDeleted)
            }
            try drop(waiting)
            if try GeoPackage.attachmentDirection(table, file) != nil {
                let ids = try file.rows(
                    "SELECT global_id FROM \(GeoPackage.attachments) "
                        + "WHERE table_name = ? AND parent_id = ?",
                    [.text(table.name), .text(id.globalIDText)])
                for attachment in ids.compactMap({ $0.first?.text }) {
                    try deleteAttachment(globalID(attachment, "attachments"), layer, table)
                }
            }
            guard let row = try GeoPackage.row(of: id, in: table, file) else {
                return
            }
            try file.change(
                "DELETE FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
                [.integer(row)])
        }

        private func keepMoments(_ hasChanges: Bool) throws {
            if replica.isPerLayer {
                for layer in json["layerServerGens"]?.elements ?? [] {
                    guard let id = layer["id"]?.int, let moment = layer["serverGen"]?.whole else {
                        throw fault("its layerServerGens are no list of id and serverGen")
                    }
                    try file.change(
                        "UPDATE \(GeoPackage.layers) SET generation = ? WHERE layer_id = ?",
                        [.integer(moment), .integer(Int64(id))])
                }
                guard !hasChanges || json.member("layerServerGens") != nil else {
                    throw fault("it has changes and no layerServerGens")
                }
            } else if let moment = json["replicaServerGen"]?.whole {
                try file.change(
                    "UPDATE \(GeoPackage.replicas) SET generation = ?", [.integer(moment)])
            } else if hasChanges {
                throw fault("it has changes and no replicaServerGen")
            }
        }

        /// The refused edits by layer.
        var report: JSON {
            var all = refused
            for (layer, features) in refusedAttachments {
                for (id, edits) in features.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
                    let member = (name: "attachments", value: JSON.array(edits))
                    let place = all[layer]?.firstIndex {
                        $0.text("globalId") == id.globalIDText
                    }
                    if let place, let edit = all[layer]?[place] {
                        all[layer]?[place] = .object(edit.members + [member])
                        continue
                    }
                    let row = table(layer).flatMap { try? GeoPackage.row(of: id, in: $0, file) }
                    all[layer, default: []].append(
                        .object([
                            ("operation", .string("update")),
                            ("objectId", .integer(row ?? -1)),
                            ("globalId", .string(id.globalIDText)), member,
                        ]))
                }
            }
            let layers = all.sorted { $0.key < $1.key }.map { number, edits in
                JSON.object([
                    ("id", .integer(Int64(number))),
                    ("name", .string(table(number)?.title ?? "")),
                    ("editResults", .array(edits)),
                ])
            }
            return .object([("layerResults", .array(layers))])
        }
    }
}
