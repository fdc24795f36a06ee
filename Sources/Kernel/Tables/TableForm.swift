// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Platform

/// The form of a table of text: its encoding, and its field separator.
public struct TableForm: Hashable, Sendable, Codable {
    /// Character encoding.
    public var encoding: TextEncoding
    /// Whether the encoding is a guess, not stated by the file.
    public var isGuess: Bool
    /// Field separator.
    public var separator: UInt8
    /// Offset of the header: behind a byte order mark, and Excel's line `sep=;`.
    public var start: Int

    /// Signs that separate fields; of equally good ones the first is taken.
    static let separators = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }
    private static let sampleByteCount = 256 << 10
    private static let sampleRecordCount = 50

    /// Detects the form of a file: the separator splits the header into several fields and most of
    /// the first records into as many.
    public init(_ file: MappedFile) {
        let end = min(file.byteCount, Self.sampleByteCount)
        self.init(file.copy(0..<end), TextEncoding.find(file))
    }

    /// Detects the form from the beginning of a file, as far as possible.
    public init(beginning bytes: [UInt8]) { self.init(bytes, TextEncoding.find(bytes)) }

    private init(_ bytes: [UInt8], _ found: TextEncoding.Finding) {
        (encoding, isGuess) = (found.encoding, found.isGuess)
        (separator, start) = (Self.separators[0], found.markByteCount)
        let sample = Array(bytes.dropFirst(start))
        if let stated = Self.statement(sample, encoding) {
            separator = stated.separator
            start += stated.byteCount
            return
        }
        var best = (share: 0.0, count: 1)
        for candidate in Self.separators {
            let counts = Self.fieldCounts(sample, encoding, candidate)
            guard let header = counts.first, header > 1 else { continue }
            let share = Double(counts.count { $0 == header }) / Double(counts.count)
            if share > best.share || share == best.share && header > best.count {
                best = (share, header)
                separator = candidate
            }
        }
    }

    /// A table of UTF-8 and commas from its first byte on.
    public init() {
        (encoding, isGuess, separator, start) = (.utf8, false, Self.separators[0], 0)
    }

    /// A sentence on the assumptions made; nil for stated facts.
    public var note: String? {
        isGuess
            ? "the file does not state its encoding and is not UTF-8: read as \(encoding.rawValue)"
            : nil
    }

    /// A scanner of a part of the file that begins where a record does.
    public func scanner(at offset: Int, limit: Int = CSVScanner.longestRecord) -> CSVScanner {
        CSVScanner(at: offset, separator: separator, encoding: encoding, limit: limit)
    }

    private static func fieldCounts(
        _ sample: [UInt8], _ encoding: TextEncoding, _ separator: UInt8
    ) -> [Int] {
        var counts: [Int] = []
        var scanner = CSVScanner(separator: separator, encoding: encoding, limit: sampleByteCount)
        // Malformed text is used as far as it can be split.
        try? scanner.feed(sample) { record in
            counts.append(record.fields.count)
            if counts.count == sampleRecordCount { throw Enough() }
        }
        if counts.isEmpty { try? scanner.finish { counts.append($0.fields.count) } }
        return counts
    }

    private struct Enough: Error {}

    /// A first line `sep=;`, as Excel reads and writes it.
    private static func statement(
        _ sample: [UInt8], _ encoding: TextEncoding
    ) -> (separator: UInt8, byteCount: Int)? {
        var characters = CharacterReader(encoding)
        var line: [UInt8] = []
        var byteCount = 0
        for byte in sample.prefix(32) {
            guard let character = characters.take(byte) else { continue }
            line += character.utf8
            byteCount += character.width
            guard line.last != UInt8(ascii: "\n") else { break }
        }
        let text = String(decoding: line, as: UTF8.self)
        guard text.lowercased().hasPrefix("sep="), line.last == UInt8(ascii: "\n"),
            let sign = line.dropFirst(4).first, sign < 0x80, sign > 0x20 || sign == 9,
            line.dropFirst(5).allSatisfy({ $0 == 13 || $0 == 10 })
        else { return nil }
        return (sign, byteCount)
    }
}
