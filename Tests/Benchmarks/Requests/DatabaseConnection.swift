// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CPostgreSQL
import Foundation
import Glibc

/// A connection to PostgreSQL with one prepared statement of one binary parameter; used on one
/// thread.
@safe final class DatabaseConnection {
    private let link: OpaquePointer
    /// The values of the last answer, each with 0x1F behind it.
    private(set) var rows: [UInt8] = []
    /// The first two columns of each row, where requested.
    private(set) var numbers: [(Int, Int)] = []

    /// Throws, with libpq's message, when the database cannot be reached or refuses the statement.
    init(_ database: String, statement: String) throws {
        guard let link = unsafe PQconnectdb(database) else {
            throw CocoaError(.fileReadUnknown)
        }
        unsafe self.link = link
        let result = unsafe PQprepare(link, "ask", statement, 1, nil)
        defer { unsafe PQclear(result) }
        guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure }
    }

    deinit { unsafe PQfinish(link) }

    /// The descriptor to poll for reading.
    var descriptor: Int32 { unsafe PQsocket(link) }

    private var failure: any Error {
        let text = unsafe PQerrorMessage(link).map { unsafe String(cString: $0) } ?? ""
        return CocoaError(.fileReadUnknown, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// The first value of the first row.
    func value(of query: String) throws -> String {
        let result = unsafe PQexec(link, query)
        defer { unsafe PQclear(result) }
        guard unsafe PQresultStatus(result) == PGRES_TUPLES_OK,
            let value = unsafe PQgetvalue(result, 0, 0)
        else { throw failure }
        return unsafe String(cString: value)
    }

    /// Sends the statement with its parameter.
    func ask(_ parameter: [UInt8]) throws {
        rows.removeAll(keepingCapacity: true)
        numbers = []
        let code = unsafe parameter.withUnsafeBytes { bytes in
            var value = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var length = Int32(bytes.count)
            var binary: Int32 = 1
            return unsafe PQsendQueryPrepared(link, "ask", 1, &value, &length, &binary, 0)
        }
        guard code == 1 else { throw failure }
    }

    /// Takes what has come; true when the answer is complete.
    func take(keepsNumbers: Bool) throws -> Bool {
        guard unsafe PQconsumeInput(link) == 1 else { throw failure }
        guard unsafe PQisBusy(link) == 0 else { return false }
        while let result = unsafe PQgetResult(link) {
            defer { unsafe PQclear(result) }
            guard unsafe PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure }
            for row in 0..<(unsafe PQntuples(result)) {
                for column in 0..<(unsafe PQnfields(result)) {
                    let length = Int(unsafe PQgetlength(result, row, column))
                    unsafe rows.append(
                        contentsOf: UnsafeRawBufferPointer(
                            start: PQgetvalue(result, row, column), count: length))
                    rows.append(0x1F)
                }
                if keepsNumbers {
                    numbers.append(
                        (
                            Int(unsafe atoi(PQgetvalue(result, row, 0))),
                            Int(unsafe atoi(PQgetvalue(result, row, 1)))
                        ))
                }
            }
        }
        return true
    }
}
