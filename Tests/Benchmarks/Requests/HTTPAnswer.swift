// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// One HTTP answer as it comes in, its body of a stated length or in chunks.
struct HTTPAnswer {
    private enum State {
        case header
        case body(left: Int)
        case chunkLine
        case chunk(left: Int)
        case complete
    }

    private var received: [UInt8] = []
    private var place = 0
    private var state = State.header
    private(set) var body: [UInt8] = []

    var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// Forgets everything, and keeps the memory.
    mutating func reset() {
        received.removeAll(keepingCapacity: true)
        body.removeAll(keepingCapacity: true)
        place = 0
        state = .header
    }

    /// Throws unless it is an answer of status 200 with a body whose end can be found.
    mutating func take(_ bytes: ArraySlice<UInt8>) throws {
        received.append(contentsOf: bytes)
        while try advance() {}
    }

    /// One step; false when the next needs more bytes, or at the end.
    private mutating func advance() throws -> Bool {
        switch state {
        case .complete: return false
        case .header:
            guard let end = end(of: Self.emptyLine) else { return false }
            try begin(received[..<end])
            place = end
            return true
        case .body(let left):
            return move(left) { $0 == 0 ? .complete : .body(left: $0) }
        case .chunkLine:
            guard let end = end(of: Self.lineEnd) else { return false }
            let digits = received[place..<end].prefix { $0 != 0x0D && $0 != 0x3B }
            guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            // The last one is followed by an empty line.
            if size == 0, received.count < end + 2 { return false }
            place = end
            state = size == 0 ? .complete : .chunk(left: size)
            return true
        case .chunk(let left):
            guard left == 0 else { return move(left) { .chunk(left: $0) } }
            guard received.count >= place + 2 else { return false }
            place += 2
            state = .chunkLine
            return true
        }
    }

    private mutating func move(_ left: Int, _ next: (Int) -> State) -> Bool {
        let count = min(left, received.count - place)
        guard count > 0 || left == 0 else { return false }
        body.append(contentsOf: received[place..<(place + count)])
        place += count
        state = next(left - count)
        return true
    }

    /// Reads the status and the form of the body's end; byte by byte, because the client's cost
    /// reduces the server's share of the processor.
    private mutating func begin(_ header: ArraySlice<UInt8>) throws {
        guard header.count > 12, header[(header.startIndex + 9)...].starts(with: Self.success)
        else { throw CocoaError(.fileReadCorruptFile) }
        var rest = header
        while let end = rest.firstIndex(of: 0x0A) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if let value = Self.value(of: Self.contentLength, in: line) {
                let digits = value.filter { 0x30...0x39 ~= $0 }
                guard 1...9 ~= digits.count else { throw CocoaError(.fileReadCorruptFile) }
                state = .body(left: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            } else if Self.value(of: Self.transferEncoding, in: line) != nil {
                state = .chunkLine
            }
        }
        guard case .header = state else { return }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// The value after this name, which is in lower case and ends with a colon; nil in another
    /// line.
    private static func value(
        of name: [UInt8], in line: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        guard line.count >= name.count,
            zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        return line.dropFirst(name.count)
    }

    private static let success = Array("200".utf8)
    private static let contentLength = Array("content-length:".utf8)
    private static let transferEncoding = Array("transfer-encoding:".utf8)
    private static let emptyLine: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private func end(of mark: [UInt8]) -> Int? {
        var start = place
        while let first = received[start...].firstIndex(of: mark[0]) {
            guard received.count >= first + mark.count else { return nil }
            if received[first...].starts(with: mark) { return first + mark.count }
            start = first + 1
        }
        return nil
    }
}
