// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Decodes a terminal's bytes to keys: UTF-8, the CSI and SS3 sequences of xterm, SGR mouse reports
/// (mode 1006) and bracketed paste (mode 2004).
///
/// Input may be split anywhere. Unknown sequences are consumed completely, so that they never type
/// letters; at most 4,096 bytes are buffered.
package struct KeyDecoder: Sendable {
    private static let heldLimit = 4096
    private static let escape: UInt8 = 0x1B
    private var held: [UInt8] = []
    private var pasted: [UInt8]?

    package init() {}

    /// Whether bytes are buffered that need more bytes, or ``flush()``.
    package var isUndecided: Bool { !held.isEmpty }

    /// The keys that are unambiguous so far.
    package mutating func decode(_ bytes: [UInt8]) -> [Key] {
        held += bytes
        var keys: [Key] = []
        var offset = 0
        while offset < held.count, let used = step(at: offset, into: &keys) { offset += used }
        held.removeFirst(offset)
        if held.count > Self.heldLimit { held.removeAll() }
        return keys
    }

    /// The keys of the buffered bytes after a pause in the input: a lone Esc is the Esc key.
    package mutating func flush() -> [Key] {
        defer { held.removeAll() }
        guard pasted == nil else { return [] }
        guard held.first == Self.escape else { return [] }
        return held.count == 1 ? [.escape] : []
    }

    /// The length of one key in bytes; nil while it is ambiguous.
    private mutating func step(at offset: Int, into keys: inout [Key]) -> Int? {
        let bytes = held[offset...]
        if pasted != nil { return pasteStep(bytes, into: &keys) }
        let first = bytes[offset]
        if first == Self.escape { return escapeStep(bytes, into: &keys) }
        if first >= 0x80 { return unicodeStep(bytes, into: &keys) }
        switch first {
        case 0x0D, 0x0A: keys.append(.enter)
        case 0x09: keys.append(.tab)
        case 0x08, 0x7F: keys.append(.backspace)
        case 0x01...0x1A: keys.append(.control(Character(UnicodeScalar(first + 0x60))))
        case 0x20...0x7E: keys.append(.character(Character(UnicodeScalar(first))))
        default: break
        }
        return 1
    }

    private func unicodeStep(_ bytes: ArraySlice<UInt8>, into keys: inout [Key]) -> Int? {
        let first = bytes[bytes.startIndex]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        let continuation = bytes.dropFirst().prefix(length - 1).prefix { $0 & 0xC0 == 0x80 }
        if continuation.count < length - 1, bytes.count == continuation.count + 1 { return nil }
        let text = String(decoding: bytes.prefix(1 + continuation.count), as: UTF8.self)
        if let character = text.first, text.count == 1 { keys.append(.character(character)) }
        return 1 + continuation.count
    }

    private mutating func escapeStep(_ bytes: ArraySlice<UInt8>, into keys: inout [Key]) -> Int? {
        guard bytes.count >= 2 else { return nil }
        switch bytes[bytes.startIndex + 1] {
        case UInt8(ascii: "["): return csiStep(bytes, into: &keys)
        case UInt8(ascii: "O"):
            guard bytes.count >= 3 else { return nil }
            if let key = Self.finalKey(bytes[bytes.startIndex + 2], modifier: 1) {
                keys.append(key)
            }
            return 3
        case Self.escape:
            keys.append(.escape)
            return 1
        default: return 2  // Alt with a key: not used here.
        }
    }

    private mutating func csiStep(_ bytes: ArraySlice<UInt8>, into keys: inout [Key]) -> Int? {
        let body = bytes.dropFirst(2)
        guard let final = body.firstIndex(where: { 0x40...0x7E ~= $0 }) else { return nil }
        let parameters = body[..<final]
        let used = final - bytes.startIndex + 1
        if parameters.first == UInt8(ascii: "<") {
            if let key = Self.mouseKey(parameters.dropFirst(), final: bytes[final]) {
                keys.append(key)
            }
            return used
        }
        let numbers = Self.numbers(parameters)
        if bytes[final] == UInt8(ascii: "~") {
            if numbers.first == 200 { pasted = [] }
            if let key = Self.numberedKey(numbers.first ?? 0) { keys.append(key) }
        } else if let key = Self.finalKey(
            bytes[final], modifier: numbers.count > 1 ? numbers[1] : 1)
        {
            keys.append(key)
        }
        return used
    }

    private mutating func pasteStep(_ bytes: ArraySlice<UInt8>, into keys: inout [Key]) -> Int? {
        let end = Array("\u{1B}[201~".utf8)
        let first = bytes[bytes.startIndex]
        if first == Self.escape {
            if bytes.count < end.count, end.starts(with: bytes) { return nil }
            if bytes.starts(with: end) {
                keys.append(.paste(String(decoding: pasted ?? [], as: UTF8.self)))
                pasted = nil
                return end.count
            }
        }
        if first >= 0x20, first != 0x7F, let count = pasted?.count, count < Self.heldLimit {
            pasted?.append(first)
        }
        return 1
    }

    private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int] {
        bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).prefix(4).map {
            Int(String(decoding: $0, as: UTF8.self)) ?? 1
        }
    }

    private static func finalKey(_ final: UInt8, modifier: Int) -> Key? {
        let isShifted = modifier == 2
        return switch final {
        case UInt8(ascii: "A"): isShifted ? .shiftUp : .up
        case UInt8(ascii: "B"): isShifted ? .shiftDown : .down
        case UInt8(ascii: "C"): isShifted ? .shiftRight : .right
        case UInt8(ascii: "D"): isShifted ? .shiftLeft : .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "Z"): .backTab
        case UInt8(ascii: "M"): .enter
        case UInt8(ascii: "P")...UInt8(ascii: "S"): .function(Int(final) - 0x4F)
        default: nil
        }
    }

    private static func numberedKey(_ number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 2: .insert
        case 3: .delete
        case 4, 8: .end
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23, 24: .function(number - 12)
        default: nil
        }
    }

    private static func mouseKey(_ bytes: ArraySlice<UInt8>, final: UInt8) -> Key? {
        let numbers = numbers(bytes)
        guard final == UInt8(ascii: "M"), numbers.count == 3,
            1...10_000 ~= numbers[1], 1...10_000 ~= numbers[2]
        else { return nil }
        let (column, row) = (numbers[1] - 1, numbers[2] - 1)
        return switch numbers[0] {
        case 0: .click(column: column, row: row)
        case 64: .wheelUp(column: column, row: row)
        case 65: .wheelDown(column: column, row: row)
        default: nil
        }
    }
}
