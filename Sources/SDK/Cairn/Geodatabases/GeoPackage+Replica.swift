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
    /// A global id as servers write it: in either letter case, with and without braces.
    init?(globalID text: String) {
        self.init(uuidString: text.trimmingCharacters(in: CharacterSet(charactersIn: "{} ")))
    }

    /// The forms in which a file may have it.
    fileprivate var spellings: [SQLiteValue] {
        let small = uuidString.lowercased()
        return ["{\(uuidString)}", uuidString, "{\(small)}", small].map { .text($0) }
    }
}

extension GeoPackage {
    static let layers = "cairn_layers"
    private static let replicas = "cairn_replica"
    private static let uploads = "cairn_upload"

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
        guard try has(Self.replicas) else { return nil }
        return try Self.replica { try file.rows($0) }
    }

    private static func replica(_ rows: (String) throws -> [[SQLiteValue]]) throws -> Replica? {
        let found = try rows("SELECT replica_id, is_per_layer, generation FROM \(replicas)").first
        guard let found, let id = found[0].text else { return nil }
        let layers = try rows(
            "SELECT layer_id, table_name, generation FROM \(layers) ORDER BY layer_id")
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

    /// Ends the registration.
    func unregister() throws {
        guard try has(Self.replicas) else { return }
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
        try Self.row(of: id, in: table) { try file.rows($0, $1) }
    }

    private static func row(
        of id: UUID, in table: Table,
        _ rows: (String, [SQLiteValue]) throws -> [[SQLiteValue]]
    ) throws -> Int64? {
        guard let field = table.globalIDField else { return nil }
        return try rows(
            "SELECT \(table.key.quotedName) FROM \(table.name.quotedName) "
                + "WHERE \(field.quotedName) IN (?, ?, ?, ?)", id.spellings
        ).first?.first?.integer
    }

    // MARK: Uploads

    /// What a synchronisation sends.
    struct Upload: Sendable {
        var replica: Replica
        /// A name of its own; nil for a synchronisation that sends no edits.
        var name: String?
    }

    private struct Note {
        var number: Int64
        var table: String
        var operation: String
        var row: Int64
        var global: UUID?
    }

    /// The notes of edits in tables of a replica, in order.
    private func notes(
        _ tables: [Table], _ replica: Replica, _ file: SQLiteTransaction
    ) throws -> [Note] {
        let isThere = try !file.rows(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(Self.notes)]
        ).isEmpty
        guard isThere else { return [] }
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
            let name = UUID().uuidString
            try file.change(
                "INSERT INTO \(Self.uploads) VALUES (1, ?, ?, ?)",
                [.text(name), .integer(notes.last?.number ?? 0), .text(edits.jsonText)])
            return Upload(replica: replica, name: name)
        }
    }

    /// Throws ``CairnError`` (`invalidState`) for edits in a table that is no layer of the replica:
    /// no synchronisation would send them.
    private func checkTables(_ replica: Replica, _ file: SQLiteTransaction) throws {
        let isThere = try !file.rows(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(Self.notes)]
        ).isEmpty
        let names =
            isThere ? try file.rows("SELECT DISTINCT table_name FROM \(Self.notes)") : []
        let own = Set(replica.layers.map(\.table))
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

    private var stale: CairnError {
        CairnError(
            .invalidState,
            "'\(url.path(percentEncoded: false))' was synchronised by another job meanwhile")
    }

    private func edits(
        _ notes: [Note], _ tables: [Table], _ replica: Replica, _ file: SQLiteTransaction
    ) throws -> JSON {
        var layers: [JSON] = []
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
                    if first != "add" { deletes.append(.string("{\(id.uuidString)}")) }
                } else if let feature = try feature(id, table, file) {
                    if first == "add" { adds.append(feature) } else { updates.append(feature) }
                }
            }
            guard !(adds.isEmpty && updates.isEmpty && deletes.isEmpty) else { continue }
            layers.append(
                .object([
                    ("id", .integer(Int64(layer.id))),
                    (
                        "features",
                        .object([
                            ("adds", .array(adds)), ("updates", .array(updates)),
                            ("deleteIds", .array(deletes)),
                        ])
                    ),
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
                return (field.name, .string("{\(id.uuidString)}"))
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

    // MARK: Answers

    /// The service's answer to a synchronisation, and what it answers.
    struct SyncAnswer: Sendable {
        var json: JSON
        /// The moments of the file when the service was asked.
        var moment: String
        var upload: String?
        var downloads: Bool
        var rollsBack: Bool
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
            guard let replica = try Self.replica({ try file.rows($0) }),
                replica.moment == answer.moment
            else { throw stale }
            var sync = SyncTransaction(
                store: self, file: file, tables: tables, replica: replica, json: answer.json,
                notes: try notes(tables, replica, file))
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
        var notes: [Note]
        private var refused: [Int: [JSON]] = [:]
        private var failed: Set<Key> = []
        private(set) var firstFailure: String?

        init(
            store: GeoPackage, file: SQLiteTransaction, tables: [Table], replica: Replica,
            json: JSON, notes: [Note]
        ) {
            (self.store, self.file, self.tables) = (store, file, tables)
            (self.replica, self.json, self.notes) = (replica, json, notes)
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
                ?? "\(operation) of {\(id.uuidString)} in '\(table.name)': \(code) \(reason)"
            let row = try GeoPackage.row(of: id, in: table) { try file.rows($0, $1) }
            refused[layer, default: []].append(
                .object([
                    ("operation", .string(operation)),
                    ("objectId", .integer(row ?? result["objectId"]?.whole ?? -1)),
                    ("globalId", .string("{\(id.uuidString)}")), ("code", .integer(Int64(code))),
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
            let row = try GeoPackage.row(of: id, in: table) { try file.rows($0, $1) }
            guard let row, row != number, try isFree(number, table) else { return }
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

        private func isFree(_ number: Int64, _ table: Table) throws -> Bool {
            try file.rows(
                "SELECT 1 FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
                [.integer(number)]
            ).isEmpty
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
                guard !puts.isEmpty || !deletes.isEmpty else { continue }
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
                    let row = try GeoPackage.row(of: id, in: table) { try file.rows($0, $1) }
                    try writer.put(feature, id, row)
                }
                for text in deletes { try delete(globalID(text.text, "deleteIds"), number, table) }
            }
            try keepMoments(hasChanges)
        }

        private mutating func delete(_ id: UUID, _ layer: Int, _ table: Table) throws {
            let waiting = notes.filter { $0.table == table.name && $0.global == id }
            if let last = waiting.last, last.operation != "delete",
                !failed.contains(Key(table: table.name, id: id))
            {
                try refuse(
                    layer, table, id, last.operation,
                    .object([
                        (
                            "error",
                            .object([
                                ("code", .integer(1019)),
                                ("description", .string("it was deleted on the service")),
                            ])
                        )
                    ]))
            }
            try drop(waiting)
            guard let row = try GeoPackage.row(of: id, in: table, { try file.rows($0, $1) }) else {
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
            let layers = refused.sorted { $0.key < $1.key }.map { number, edits in
                JSON.object([
                    ("id", .integer(Int64(number))),
                    ("name", .string(table(number)?.title ?? "")),
                    ("editResults", .array(edits)),
                ])
            }
            return .object([("layerResults", .array(layers))])
        }
    }

    // MARK: Writing of features

    /// Writes features as services have them into a table.
    struct FeatureWriter {
        let store: GeoPackage
        let file: SQLiteTransaction
        let table: Table
        private let fields: [String: Field]

        init(store: GeoPackage, file: SQLiteTransaction, table: Table) {
            (self.store, self.file, self.table) = (store, file, table)
            fields = Dictionary(
                table.fields.map { ($0.name.lowercased(), $0) },
                uniquingKeysWith: { first, _ in first })
        }

        /// Writes a feature into a row, or into a new one: of the service's object id, where that
        /// is free.
        func put(_ feature: JSON, _ id: UUID?, _ row: Int64?) throws {
            var names: [String] = []
            var values: [SQLiteValue] = []
            var number: Int64?
            for (name, json) in feature["attributes"]?.members ?? [] {
                // What is no field of the file is the service's own, as a length.
                guard let field = fields[name.lowercased()] else { continue }
                if field.name == table.key {
                    number = json.whole
                    continue
                }
                names.append(field.name)
                if let id, field.name == table.globalIDField {
                    values.append(.text("{\(id.uuidString)}"))
                } else if json.isNull {
                    values.append(.null)
                } else if let value = field.value(json),
                    let stored = GeoPackage.stored(value, field)
                {
                    values.append(stored)
                } else {
                    throw CairnError(
                        .invalidDocument,
                        "'\(table.name)': the field '\(field.name)' takes "
                            + "\(field.type?.rawValue ?? "text"), the service has "
                            + json.jsonText.prefix(80))
                }
            }
            var geometry: Geometry?
            if let column = table.geometryColumn, let json = feature["geometry"] {
                geometry = try shape(json)
                names.append(column)
                values.append(try store.geometry(geometry, of: table))
            }
            let name = table.name.quotedName
            if let row {
                guard !names.isEmpty else { return }
                let list = names.map { "\($0.quotedName) = ?" }.joined(separator: ", ")
                try file.change(
                    "UPDATE \(name) SET \(list) WHERE \(table.key.quotedName) = ?",
                    values + [.integer(row)])
            } else {
                if let number,
                    try file.rows(
                        "SELECT 1 FROM \(name) WHERE \(table.key.quotedName) = ?",
                        [.integer(number)]
                    ).isEmpty
                {
                    names.append(table.key)
                    values.append(.integer(number))
                }
                try file.change(
                    names.isEmpty
                        ? "INSERT INTO \(name) DEFAULT VALUES"
                        : "INSERT INTO \(name) (\(names.map(\.quotedName).joined(separator: ", "))"
                            + ") VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))",
                    values)
            }
            for (sql, values) in store.touch(table, geometry) { try file.change(sql, values) }
        }

        private func shape(_ json: JSON) throws -> Geometry? {
            guard json.member("curvePaths") == nil, json.member("curveRings") == nil else {
                throw CairnError(
                    .unsupported, "'\(table.name)': geometries with curves are not stored")
            }
            return Geometry.make(json, table.spatialReference)
        }
    }
}
