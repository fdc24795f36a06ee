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
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws {
        unsafe received.append(contentsOf: bytes)
        while try advance() {}
    }

    /// One step; false when the next needs more bytes, or there is none.
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

    private mutating func begin(_ header: ArraySlice<UInt8>) throws {
        let lines = String(decoding: header, as: UTF8.self).lowercased().split(separator: "\r\n")
        guard lines.first?.split(separator: " ").dropFirst().first == "200" else {
            throw CocoaError(.fileReadCorruptFile)
        }
        for line in lines {
            if line.hasPrefix("content-length:"),
                let length = Int(line.dropFirst(15).filter(\.isNumber))
            {
                state = .body(left: length)
            }
            if line.hasPrefix("transfer-encoding:"), line.hasSuffix("chunked") {
                state = .chunkLine
            }
        }
        guard case .header = state else { return }
        throw CocoaError(.fileReadCorruptFile)
    }

    private static let emptyLine: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    private func end(of mark: [UInt8]) -> Int? {
        guard received.count >= place + mark.count else { return nil }
        return (place...(received.count - mark.count)).first { start in
            mark.indices.allSatisfy { received[start + $0] == mark[$0] }
        }.map { $0 + mark.count }
    }
}
