// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// The bytes of one part of an answer, row after row.
///
/// A part may end in the middle of a row: the next part writes that row again and omits the bytes
/// already sent.
struct AnswerStream {
    var json: JSONWriter
    private let part: QueryPart
    private let hasOnePart: Bool
    private(set) var rowStart = 0
    private var row = 0

    /// `head` writes the bytes before the first row.
    init<Fault: Error>(
        _ part: QueryPart?, hasOnePart: Bool = false, head: () throws(Fault) -> JSONWriter
    ) throws(Fault) {
        self.hasOnePart = hasOnePart
        self.part = part ?? QueryPart(row: 0, byteCount: 0, totalByteCount: 0)
        if let part {
            json = JSONWriter(isContinued: part.row > 0)
        } else {
            json = try head()
        }
    }

    /// Marks the start of a row; rows are numbered from 0 over all parts.
    mutating func beginRow(_ row: Int) {
        self.row = row
        rowStart = json.bytes.count
    }

    /// Reserves capacity for `rowCount` rows of the mean length so far.
    mutating func makeRoom(for rowCount: Int, after writtenCount: Int) {
        let expected = json.bytes.count / max(writtenCount, 1) * (rowCount + rowCount / 4)
        json.makeRoom(for: min(expected, QueryLimits.partBytes - json.bytes.count))
    }

    /// The start of the next part, when this one is full; the bytes are cut there.
    mutating func endRow() -> QueryPart? {
        if hasOnePart { return nil }
        // Omitted bytes do not count towards the limit of the part.
        let bound = QueryLimits.partBytes + part.byteCount
        guard json.bytes.count > bound else { return nil }
        json.cut(to: bound)
        return QueryPart(
            row: row, byteCount: bound - rowStart,
            totalByteCount: part.totalByteCount + QueryLimits.partBytes)
    }

    /// Removes the last row where it exceeds the limit of an answer with one part.
    ///
    /// Throws `tooLarge` where it is the only one.
    mutating func takesBack(isFirst: Bool) throws(Failure) -> Bool {
        guard hasOnePart, json.bytes.count > QueryLimits.remoteAnswerBytes else { return false }
        guard !isFirst else {
            throw Failure(
                .tooLarge,
                "one row alone has more than \(QueryLimits.remoteAnswerBytes >> 20) MiB, which an "
                    + "answer of a layer on another server may have: ask for fewer 'outFields', or "
                    + "with 'maxAllowableOffset'")
        }
        json.cut(to: rowStart)
        return true
    }

    /// Whether the answer has reached its size limit.
    var isFull: Bool {
        part.totalByteCount + json.bytes.count - part.byteCount > QueryLimits.answerBytes
    }

    /// All bytes, with those after the last row.
    mutating func finished(_ tail: String) -> [UInt8] {
        json.raw(tail)
        return json.bytes
    }
}
