// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Platform

/// The character encoding of a text file.
public enum TextEncoding: String, Hashable, Sendable, Codable {
    /// One to four bytes.
    case utf8 = "UTF-8"
    /// Units of two bytes, the lower first.
    case utf16LittleEndian = "UTF-16LE"
    /// Units of two bytes, the higher first.
    case utf16BigEndian = "UTF-16BE"
    /// One byte; Windows' encoding in western Europe, a superset of ISO 8859-1.
    case windows1252 = "windows-1252"

    /// The detected encoding of a file's text.
    public struct Finding: Hashable, Sendable {
        /// The encoding.
        public var encoding: TextEncoding
        /// Byte count of the byte order mark; 0 without one.
        public var markByteCount: Int
        /// Whether the encoding is a guess, not stated by the file.
        public var isGuess: Bool
    }

    /// The detected encoding of a text: by its byte order mark; UTF-16 where half of the bytes are
    /// zero; UTF-8 where all of it is; else, as a guess, Windows-1252.
    public static func find(_ file: MappedFile) -> Finding {
        find(file.copy(0..<min(file.byteCount, 4096))) { isUTF8(file) }
    }

    /// The encoding detected from the beginning of a text, as far as possible.
    public static func find(_ beginning: [UInt8]) -> Finding {
        find(beginning) { isUTF8(beginning.dropLast(unfinishedCount(beginning))) }
    }

    private static func find(_ beginning: [UInt8], _ isUTF8: () -> Bool) -> Finding {
        if beginning.starts(with: [0xEF, 0xBB, 0xBF]) {
            // A mark before text that is no UTF-8 has been put there by mistake.
            let isRight = isUTF8()
            return Finding(
                encoding: isRight ? .utf8 : .windows1252, markByteCount: 3, isGuess: !isRight)
        }
        if beginning.starts(with: [0xFF, 0xFE]) {
            return Finding(encoding: .utf16LittleEndian, markByteCount: 2, isGuess: false)
        }
        if beginning.starts(with: [0xFE, 0xFF]) {
            return Finding(encoding: .utf16BigEndian, markByteCount: 2, isGuess: false)
        }
        if let wide = wide(beginning) {
            return Finding(encoding: wide, markByteCount: 0, isGuess: true)
        }
        let isPlain = isUTF8()
        return Finding(
            encoding: isPlain ? .utf8 : .windows1252, markByteCount: 0, isGuess: !isPlain)
    }

    /// UTF-16 without a mark: more than a third of one half of the bytes is zero, and hardly any of
    /// the other.
    private static func wide(_ beginning: [UInt8]) -> TextEncoding? {
        guard beginning.count >= 4 else { return nil }
        var zeros = (even: 0, odd: 0)
        for (index, byte) in beginning.enumerated() where byte == 0 {
            if index.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
        }
        let least = beginning.count / 6
        if zeros.odd > least, zeros.even * 4 < zeros.odd { return .utf16LittleEndian }
        return zeros.even > least && zeros.odd * 4 < zeros.even ? .utf16BigEndian : nil
    }

    /// Whether all bytes of a file are well-formed UTF-8.
    public static func isUTF8(_ file: MappedFile) -> Bool {
        var start = 0
        while start < file.byteCount {
            var end = min(start + (256 << 10), file.byteCount)
            var piece = file.copy(start..<end)
            if end < file.byteCount {
                // The next piece begins at the beginning of a character.
                let kept = piece.count - Self.unfinishedCount(piece)
                piece.removeLast(piece.count - kept)
                end = start + kept
                guard kept > 0 else { return false }
            }
            guard isUTF8(piece[...]) else { return false }
            start = end
        }
        return true
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.contains { $0 >= 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    /// Byte count of an incomplete character at the end.
    public static func unfinishedCount(
        _ bytes: some BidirectionalCollection<UInt8>
    ) -> Int {
        for (index, byte) in bytes.suffix(4).reversed().enumerated() {
            let count = index + 1
            if byte < 0x80 { return 0 }
            if byte >= 0xC0 {
                let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
                return length > count ? count : 0
            }
        }
        return 0
    }
}

/// Takes bytes of an encoding and gives characters as UTF-8.
struct CharacterReader: Sendable {
    let encoding: TextEncoding
    private var first: UInt8?
    private var high: UInt16?

    init(_ encoding: TextEncoding) { self.encoding = encoding }

    /// The character that the byte completes, and how many bytes of the file it has; half of a
    /// surrogate pair becomes U+FFFD.
    mutating func take(_ byte: UInt8) -> (utf8: [UInt8], width: Int)? {
        switch encoding {
        case .utf8: return ([byte], 1)
        case .windows1252: return (Windows1252.utf8[Int(byte)], 1)
        case .utf16LittleEndian, .utf16BigEndian:
            guard let first else {
                first = byte
                return nil
            }
            self.first = nil
            let (low, up) = encoding == .utf16LittleEndian ? (first, byte) : (byte, first)
            return take(unit: UInt16(up) << 8 | UInt16(low))
        }
    }

    private mutating func take(unit: UInt16) -> (utf8: [UInt8], width: Int)? {
        if let high {
            self.high = nil
            if 0xDC00...0xDFFF ~= unit {
                let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
                return (Self.utf8(value), 4)
            }
            guard !(0xD800...0xDBFF ~= unit) else {
                self.high = unit
                return (Self.replacement, 2)
            }
            return (Self.replacement + Self.utf8(UInt32(unit)), 4)
        }
        guard !(0xD800...0xDBFF ~= unit) else {
            high = unit
            return nil
        }
        return (Self.utf8(UInt32(unit)), 2)
    }

    /// The replacement of an incomplete character at the end.
    mutating func finish() -> [UInt8]? {
        guard first != nil || high != nil else { return nil }
        (first, high) = (nil, nil)
        return Self.replacement
    }

    private static let replacement = Array("\u{FFFD}".utf8)

    private static func utf8(_ value: UInt32) -> [UInt8] {
        Unicode.Scalar(value).map { Array(Character($0).utf8) } ?? replacement
    }
}

/// Windows-1252, the five bytes that it has no character for being U+FFFD.
public enum Windows1252 {
    /// The character of each byte.
    static let utf8: [[UInt8]] = (0..<256).map { byte in
        let value = 0x80...0x9F ~= byte ? upper[byte - 0x80] : UInt32(byte)
        return Unicode.Scalar(value).map { Array(Character($0).utf8) } ?? []
    }

    /// Bytes of the encoding as UTF-8.
    public static func utf8(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.flatMap { utf8[Int($0)] }
    }

    /// The characters from 0x80 to 0x9F.
    private static let upper: [UInt32] = [
        0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
        0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178,
    ]
}

/// Makes UTF-8 of text in another encoding, piece after piece.
public struct TextDecoder: Sendable {
    private var characters: CharacterReader

    /// A decoder at the beginning of a text, behind its byte order mark.
    public init(_ encoding: TextEncoding) { characters = CharacterReader(encoding) }

    /// The characters that a piece completes.
    public mutating func decode(_ piece: [UInt8]) -> [UInt8] {
        guard characters.encoding != .utf8 else { return piece }
        var text: [UInt8] = []
        text.reserveCapacity(piece.count + piece.count / 4)
        for byte in piece {
            if let character = characters.take(byte) { text += character.utf8 }
        }
        return text
    }

    /// The replacement of an incomplete character at the end.
    public mutating func finish() -> [UInt8] { characters.finish() ?? [] }
}
