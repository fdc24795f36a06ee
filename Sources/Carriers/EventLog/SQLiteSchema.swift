// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import SQLite

/// The tables of the log's file.
///
/// `Docs/event-log-format.md` describes every column.
enum SQLiteSchema {
    /// `CRNL`, in the file's header.
    static let applicationID: Int64 = 0x4352_4e4c
    /// The schema version of the tables that this build makes.
    static let version: Int64 = 4
    /// The version of a file with erased records, which is the same but for `batch.hash`; older
    /// builds would take it for damaged.
    static let erasedVersion: Int64 = 5

    private static let eventTable = """
        CREATE TABLE event (
            position INTEGER PRIMARY KEY,
            stream INTEGER NOT NULL REFERENCES stream (number),
            stream_position INTEGER NOT NULL,
            category INTEGER NOT NULL REFERENCES category (number),
            recorded_at INTEGER NOT NULL,
            id BLOB NOT NULL,
            type TEXT NOT NULL,
            schema INTEGER NOT NULL,
            metadata BLOB NOT NULL,
            data BLOB NOT NULL,
            crc INTEGER NOT NULL
        ) STRICT;
        """

    static let tables = """
        CREATE TABLE stream (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            category INTEGER NOT NULL REFERENCES category (number)
        ) STRICT;
        CREATE TABLE category (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        \(eventTable)
        CREATE TABLE batch (
            last INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,
            hash BLOB NOT NULL
        ) STRICT;
        """

    /// Version 2 adds incarnations.
    ///
    /// Incarnation 1 of every log begins before its first event; the other tables begin empty.
    static let additionsOfVersion2 = """
        CREATE TABLE writer (
            category TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            instance BLOB NOT NULL,
            holder TEXT NOT NULL,
            after INTEGER NOT NULL,
            PRIMARY KEY (category, epoch),
            UNIQUE (category, instance)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE incarnation (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            after INTEGER NOT NULL
        ) STRICT;
        INSERT INTO incarnation (number, id, after) VALUES (1, randomblob(16), 0);
        CREATE TABLE archive (
            last INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,
            name TEXT NOT NULL,
            byte_count INTEGER NOT NULL,
            file_hash BLOB NOT NULL
        ) STRICT;
        CREATE TABLE archived_event (
            id BLOB PRIMARY KEY,
            position INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE stream ADD COLUMN archived INTEGER NOT NULL DEFAULT -1;
        ALTER TABLE category ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
        """

    /// Version 3 adds indexes that are written some time after the events.
    ///
    /// It also had `stream_event` and `category_event`, with one row for each event.
    static let additionsOfVersion3 = """
        CREATE TABLE event_id (
            id BLOB PRIMARY KEY,
            position INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE indexed (
            through INTEGER NOT NULL,
            newest_id BLOB
        ) STRICT;
        INSERT INTO indexed (through, newest_id) VALUES (0, NULL);
        """

    /// Version 4 replaces them with one row for each run of neighbours.
    static let additionsOfVersion4 = """
        CREATE TABLE stream_run (
            stream INTEGER NOT NULL,
            first INTEGER NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (stream, first)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE category_run (
            category INTEGER NOT NULL,
            first INTEGER NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (category, first)
        ) STRICT, WITHOUT ROWID;
        """

    /// The views that present a file of an older version as one of this version.
    static func views(of found: Int64) -> String {
        // Before version 3 the table `event` had its own indexes.
        let (streams, categories) =
            found < 3 ? ("event", "event") : ("stream_event", "category_event")
        let runs = """
            CREATE TEMP VIEW stream_run AS
                SELECT stream, position AS first, 1 AS count FROM \(streams);
            CREATE TEMP VIEW category_run AS
                SELECT category, position AS first, 1 AS count FROM \(categories);
            """
        guard found < 3 else { return found < version ? runs : "" }
        return runs + """
            CREATE TEMP VIEW event_id AS SELECT id, position FROM event;
            CREATE TEMP VIEW indexed AS SELECT coalesce(max(position), 0) AS through FROM event;
            """
    }

    /// Settings that belong to a connection, not to the file.
    static let writerSettings = """
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 16777216;
        PRAGMA cache_size = -16384;
        PRAGMA foreign_keys = OFF;
        PRAGMA temp_store = MEMORY;
        """

    /// Creates the tables in an empty file, migrates an older build's file, or checks that the file
    /// is a log this build knows.
    ///
    /// The connection is ready for writing afterwards.
    static func prepare(_ connection: Connection) throws(Failure) {
        let path = connection.path
        do throws(SQLiteError) {
            // After a crash whichever process opens the file first recovers it, under a lock: a
            // backup or a command that reads it may be before its writer.
            try connection.execute("PRAGMA busy_timeout = \(openingMilliseconds)")
            let isEmpty = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
            let found = isEmpty ? 0 : try check(connection)
            try connection.execute(isEmpty ? "PRAGMA page_size = 8192" : "")
            let mode = try connection.text("PRAGMA journal_mode = WAL")
            guard mode == "wal" else {
                throw SQLiteError(
                    extendedCode: 14, operation: "journal_mode",
                    reason: "the file system does not support a write-ahead log")
            }
            try connection.execute(writerSettings)
            if found < version { try make(connection, from: found) }
            try connection.execute("PRAGMA busy_timeout = 0")
        } catch {
            throw opening(path, error)
        }
    }

    /// How long opening waits for another process that recovers the file.
    private static let openingMilliseconds = 10_000

    /// Begins a new incarnation of a copied log, in which every earlier writer is fenced.
    static func beginIncarnation(_ connection: Connection) throws(SQLiteError) {
        let head = "(SELECT coalesce(max(position), 0) FROM event)"
        try connection.transaction { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO incarnation (number, id, after)
                SELECT max(number) + 1, randomblob(16), \(head) FROM incarnation;
                INSERT INTO writer (category, epoch, instance, holder, after)
                SELECT category, max(epoch) + 1, randomblob(16), 'a restore', \(head)
                FROM writer GROUP BY category;
                """)
        }
    }

    /// States the version of a file with erased records, where it has any; an archive of an older
    /// version keeps its own.
    static func markErased(_ connection: Connection) throws(SQLiteError) {
        let count = try connection.integer("SELECT count(*) FROM batch WHERE length(hash) > 32")
        guard count ?? 0 > 0, try check(connection) == version else { return }
        try connection.execute("PRAGMA user_version = \(erasedVersion)")
    }

    /// Makes the tables that a file of an older version, or an empty one (0), lacks.
    static func make(_ connection: Connection, from found: Int64 = 0) throws(SQLiteError) {
        try connection.transaction { () throws(SQLiteError) in
            if found < 1 { try connection.execute(tables) }
            if found < 2 { try connection.execute(additionsOfVersion2) }
            if found < 3 { try connection.execute(additionsOfVersion3) }
            try connection.execute(additionsOfVersion4)
            switch found {
            case 0: break
            case 3: try joinNeighbours(connection)
            default: try moveIndexes(connection)
            }
            try connection.execute("PRAGMA application_id = \(applicationID)")
            try connection.execute("PRAGMA user_version = \(version)")
        }
    }

    /// Moves the events of an older file to a table without indexes of its own, and the indexes
    /// beside it.
    ///
    /// A one-time cost in time and space of a copy of all events.
    private static func moveIndexes(_ connection: Connection) throws(SQLiteError) {
        let columns =
            "position, stream, stream_position, category, recorded_at, id, type, schema, metadata, "
            + "data, crc"
        try connection.execute("ALTER TABLE event RENAME TO event_before")
        try connection.execute(eventTable)
        try connection.execute(
            "INSERT INTO event (\(columns)) SELECT \(columns) FROM event_before ORDER BY position; "
                + "DROP TABLE event_before")
        let head = try connection.integer("SELECT max(position) FROM event") ?? 0
        var newest = try connection.prepare(
            """
            SELECT max(id) FROM (SELECT id FROM event UNION ALL SELECT id FROM archived_event) \
            WHERE substr(hex(id), 13, 1) = '7'
            """)
        let id = try newest.step() ? UUID(bytes: newest.bytes(0)) : nil
        newest.reset()
        try EventIndexes.write(after: 0, through: head, newest: id, to: connection)
    }

    /// Gives a file of version 3 runs in the place of its rows for every event; they go as far as
    /// those did.
    private static func joinNeighbours(_ connection: Connection) throws(SQLiteError) {
        let through = try connection.integer("SELECT through FROM indexed") ?? 0
        let floor = try connection.integer("SELECT min(position) - 1 FROM event") ?? through
        try EventIndexes.writeRuns(after: floor, through: through, to: connection)
        try connection.execute("DROP TABLE stream_event; DROP TABLE category_event")
    }

    /// Refuses a file that is another program's or a newer build's; returns the version of its
    /// tables.
    @discardableResult
    static func check(_ connection: Connection) throws(SQLiteError) -> Int64 {
        guard try connection.integer("PRAGMA application_id") == applicationID else {
            throw SQLiteError(
                extendedCode: notALog, operation: "open", reason: "it is another program's database"
            )
        }
        let found = try connection.integer("PRAGMA user_version") ?? 0
        guard found <= erasedVersion else {
            throw SQLiteError(
                extendedCode: newerSchema, operation: "open",
                reason: "it has schema \(found); this build knows schema \(erasedVersion)")
        }
        return found
    }

    private static let notALog: Int32 = 26
    private static let newerSchema: Int32 = -1

    /// The reason an open failed, in one sentence.
    static func opening(_ path: String, _ error: SQLiteError) -> Failure {
        let code: Failure.Code =
            if error.extendedCode == newerSchema {
                .newerVersion
            } else if error.isNoSpace {
                .noSpace
            } else {
                error.isCorrupt && error.code != notALog ? .corrupt : .unreadable
            }
        return Failure(code, "'\(path)' cannot be opened as an event log: \(error.reason)")
    }
}

extension Failure {
    /// The failure of a statement on an open log; for a damaged file it names `path`, if given.
    init(log error: SQLiteError, at path: String? = nil) {
        let code: Code = error.isNoSpace ? .noSpace : error.isCorrupt ? .corrupt : .internal
        if code == .corrupt, let path {
            self.init(code, "the log's file '\(path)' is damaged: \(error.reason)")
            return
        }
        self.init(code, "the event log: \(error.description)")
    }
}

extension LogFault {
    /// The failure of a statement that reads a file at an event, or after the one before it.
    init(near position: Int64, in path: String, _ error: SQLiteError) {
        self.init(
            position: position, message: "the file '\(path)' cannot be read there: \(error.reason)")
    }
}
