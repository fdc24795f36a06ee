// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Geometry
internal import Platform
internal import SQLite

/// A package that is an SQLite database.
enum PackageDatabase {
    /// The bytes that hold the version of SQLite that wrote the file, which no reader needs.
    private static let writerVersion = (offset: 96, bytes: [0, 0x2e, 0x63, 0x21] as [UInt8])

    /// Refuses a file that is cut: shorter than the pages that its header counts.
    static func checkLength(_ file: MappedFile) throws(Failure) {
        let head = file.copy(0..<100)
        guard head.count == 100 else { throw Failure.damaged(file.path, "it is cut") }
        let small = Int(head[16]) << 8 | Int(head[17])
        let pageSize = small == 1 ? 65_536 : small
        let pages = head[28..<32].reduce(0) { $0 << 8 | Int($1) }
        // Without equal counters the number of pages is not to be relied upon.
        guard head[24..<28].elementsEqual(head[92..<96]) else { return }
        guard file.byteCount >= pageSize * pages else {
            throw Failure.damaged(
                file.path, "it has \(file.byteCount) bytes of \(pageSize * pages)")
        }
    }

    /// A database that is written: in one transaction, in a hidden file beside its later name.
    final class Writing {
        private let path: String
        private let staged: String
        private var connection: Connection?
        private var insert: Statement?

        init(
            _ path: String, applicationID: Int, userVersion: Int, schema: String
        ) throws(Failure) {
            self.path = path
            var random = SystemRandomNumberGenerator()
            staged =
                TilePackage.directory(of: path) + "/.staged-"
                + String(random.next(), radix: 36)
            // Made here, so that it is new, and private as the other formats' files are.
            do throws(PlatformError) { _ = try OutputFile(creating: staged) } catch {
                throw Failure(error)
            }
            do throws(SQLiteError) {
                let connection = try Connection(path: staged, mode: .write)
                self.connection = connection
                try connection.execute(
                    """
                    PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA auto_vacuum = 0;
                    PRAGMA secure_delete = 1; PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
                    BEGIN; PRAGMA application_id = \(applicationID);
                    PRAGMA user_version = \(userVersion);
                    """)
                try connection.execute(schema)
            } catch { throw Failure(writing: error, path) }
        }

        /// Prepares the statement of ``put(_:row:_:)``: level, column, row, bytes.
        func prepareInsert(_ sql: String) throws(Failure) {
            do throws(SQLiteError) { insert = try connection?.prepare(sql) } catch {
                throw Failure(writing: error, path)
            }
        }

        /// Inserts a tile; nil bytes are NULL, and so is what `before` has none of.
        func put(
            _ tile: TileAddress, row: Int, _ bytes: [UInt8]?, before: [UInt8]? = nil
        ) throws(Failure) {
            do throws(SQLiteError) {
                try insert?.bind(1, Int64(tile.level))
                try insert?.bind(2, Int64(tile.column))
                try insert?.bind(3, Int64(row))
                if let bytes { try insert?.bind(4, bytes) }
                if let before { try insert?.bind(5, before) }
                try insert?.run()
            } catch { throw Failure(writing: error, path) }
        }

        /// Runs a statement with parameters.
        func run(_ sql: String, _ values: Value...) throws(Failure) {
            do throws(SQLiteError) {
                guard var statement = try connection?.prepare(sql) else { return }
                for (index, value) in values.enumerated() {
                    switch value {
                    case .text(let text): try statement.bind(index + 1, text)
                    case .integer(let number): try statement.bind(index + 1, number)
                    // As text, which a column of type DOUBLE turns into its number.
                    case .real(let number):
                        var text: [UInt8] = []
                        DecimalText.append(number, to: &text)
                        try statement.bind(index + 1, String(decoding: text, as: UTF8.self))
                    }
                }
                try statement.run()
            } catch { throw Failure(writing: error, path) }
        }

        enum Value {
            case text(String)
            case integer(Int64)
            case real(Double)
        }

        /// Commits, and gives the file its name.
        func finish() throws(Failure) -> (byteCount: Int64, sha256: String) {
            do throws(SQLiteError) { try connection?.execute("COMMIT") } catch {
                throw Failure(writing: error, path)
            }
            insert = nil
            connection = nil
            do throws(PlatformError) {
                let file = try OutputFile(existing: staged)
                try file.write(writerVersion.bytes, at: writerVersion.offset)
            } catch { throw Failure(error) }
            let digest: String
            do throws(MappingError) { digest = try MappedFile.sha256(staged).hexadecimal } catch {
                throw Failure(.internal, error.description)
            }
            let count = FileSystem.byteCount(of: staged) ?? 0
            do throws(PlatformError) { try StagedFile.publish(staged, as: path) } catch {
                throw Failure(error)
            }
            return (count, digest)
        }

        deinit {
            insert = nil
            connection = nil
            OutputFile.remove(staged)
        }
    }
}

extension Failure {
    init(writing error: SQLiteError, _ path: String) {
        self.init(
            error.isNoSpace ? .noSpace : .internal,
            "the tile package '\(path)' cannot be written: \(error.description)")
    }
}
