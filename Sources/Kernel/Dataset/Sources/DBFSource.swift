// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Platform
import Tables

/// The table of a shapefile: which encoding its text has, and which of its numbers GDAL would not
/// keep.
struct DBFSource {
    /// Sentences on columns and on the file.
    private(set) var types = ColumnTypes()
    /// The driver's `ENCODING`; nil where it detects it itself.
    private(set) var encoding: String?
    /// Offsets of the bytes in the header that declare `N` or `F` for columns to be read as text.
    private(set) var textMarks: [Int] = []

    private struct Column {
        let name: String
        let type: UInt8
        let range: Range<Int>
        let decimals: Int
        let mark: Int
        var overflow: (count: Int, row: Int) = (0, 0)
        var rounded: (count: Int, row: Int, text: String) = (0, 0, "")
    }

    /// Reads the table at `path`; nil for a file that is not one.
    ///
    /// - Parameters:
    ///   - codePage: The text of the `.cpg` file beside it.
    ///   - chosen: The encoding that counts before what the table states.
    init?(_ path: String, codePage: String?, chosen: String? = nil) {
        guard let file = try? MappedFile(path: path), file.byteCount > 64 else { return nil }
        let head = file.copy(0..<min(file.byteCount, 65_536))
        func number(_ place: Int) -> Int { Int(head[place]) | Int(head[place + 1]) << 8 }
        let (start, length) = (number(8), number(10))
        guard start > 32, start <= head.count, length > 1 else { return nil }
        var columns: [Column] = []
        var place = 1
        var mark = 32
        while mark + 32 <= start, head[mark] != 0x0D {
            let width = Int(head[mark + 16])
            let name = head[mark..<mark + 11].prefix { $0 != 0 }
            guard place + width <= length else { return nil }
            columns.append(
                Column(
                    name: String(decoding: TextRepair.utf8(Array(name)), as: UTF8.self),
                    type: head[mark + 11], range: place..<place + width,
                    decimals: Int(head[mark + 17]), mark: mark + 11))
            place += width
            mark += 32
        }
        let isPlain = scan(file, start, length, &columns)
        tell(columns)
        if let chosen {
            encoding = chosen
            types.encoding = SourceEncoding(chosen, .chosen)
        } else {
            decideEncoding(codePage, language: head[29], isPlain)
        }
    }

    /// The statistics of the bytes of texts.
    private struct Bytes {
        var areASCII = true
        var areUTF8 = true
    }

    private func scan(
        _ file: MappedFile, _ start: Int, _ length: Int, _ columns: inout [Column]
    ) -> Bytes {
        var found = Bytes()
        let numbers = columns.indices.filter { [0x4E, 0x46].contains(columns[$0].type) }
        let texts = columns.indices.filter { columns[$0].type == 0x43 }
        let perBlock = max(1, (256 << 10) / length)
        let count = (file.byteCount - start) / length
        for first in stride(from: 0, to: count, by: perBlock) {
            let last = min(first + perBlock, count)
            let block = file.copy(start + first * length..<start + last * length)
            for row in first..<last where block[(row - first) * length] != 0x2A {
                let record = (row - first) * length
                for index in numbers {
                    let range = columns[index].range
                    Self.take(
                        block[record + range.lowerBound..<record + range.upperBound], row + 1,
                        &columns[index])
                }
                guard found.areUTF8 else { continue }
                for index in texts {
                    let range = columns[index].range
                    let text = block[record + range.lowerBound..<record + range.upperBound]
                    guard text.contains(where: { $0 >= 0x80 }) else { continue }
                    found.areASCII = false
                    // Writers cut a text within a character where the column ends.
                    let whole = text.dropLast(TextEncoding.unfinishedCount(text))
                    if String(validating: whole, as: UTF8.self) == nil { found.areUTF8 = false }
                }
            }
        }
        return found
    }

    private static func take(_ cell: ArraySlice<UInt8>, _ row: Int, _ column: inout Column) {
        guard let first = cell.first(where: { $0 > 0x20 }) else { return }
        if first == 0x2A {
            if column.overflow.count == 0 { column.overflow.row = row }
            column.overflow.count += 1
            return
        }
        // 15 digits are held by any number.
        guard cell.count > 15 else { return }
        let text = TextValue.trimmed(Array(cell))
        if column.decimals == 0, column.range.count <= 18 { return }
        guard let parts = TextValue.Decimal(text, decimalComma: false),
            let value = Double(parts.text), !value.isFinite || !parts.isHeld(by: value)
        else { return }
        if column.rounded.count == 0 {
            (column.rounded.row, column.rounded.text) = (row, TextFacts.shown(text))
        }
        column.rounded.count += 1
    }

    private mutating func tell(_ columns: [Column]) {
        for column in columns {
            if column.overflow.count > 0 {
                types.notes.append(
                    (
                        column.name,
                        "has \(column.overflow.count) fields of asterisks, which shapefiles have "
                            + "for "
                            + "numbers too wide for the column; they are null, the first in row "
                            + "\(column.overflow.row)"
                    ))
            }
            guard column.rounded.count > 0 else { continue }
            textMarks.append(column.mark)
            types.notes.append(
                (
                    column.name,
                    "is text: '\(column.rounded.text)' in row \(column.rounded.row) has more "
                        + "digits "
                        + "than a number of 64 bits"
                ))
        }
    }

    // MARK: Encodings

    private mutating func decideEncoding(_ codePage: String?, language: UInt8, _ found: Bytes) {
        let stated = codePage.flatMap { Self.name($0) }
        types.encoding = SourceEncoding("UTF-8", .detected)
        if let stated {
            encoding = stated
            types.encoding = SourceEncoding(stated, .stated)
        } else if let page = codePage, !page.isEmpty {
            if !found.areASCII {
                types.fileNotes.append(
                    "the encoding '\(page.prefix(40))' of the .cpg file is unknown: the "
                        + "text was read as \(guess(found))")
            }
        } else if let page = Self.languages[language] {
            encoding = page
            types.encoding = SourceEncoding(page, .stated)
        } else if !found.areASCII {
            let guess = guess(found)
            if guess != "UTF-8" {
                types.fileNotes.append(
                    "the shapefile does not state its encoding and is not UTF-8: its text was read "
                        + "as windows-1252")
            }
        }
    }

    private mutating func guess(_ found: Bytes) -> String {
        encoding = found.areUTF8 ? "UTF-8" : "CP1252"
        types.encoding = SourceEncoding(
            found.areUTF8 ? "UTF-8" : "CP1252", found.areUTF8 ? .detected : .guessed)
        return found.areUTF8 ? "UTF-8" : "windows-1252"
    }

    /// The name of an encoding, as `iconv` has it, for the words of a `.cpg` file: `UTF8`, `65001`,
    /// `ANSI 1252`, `LDID/87`, `ISO-8859-15`, `88591`, `OEM 850`; nil for others.
    static func name(_ text: String) -> String? {
        let word = text.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if word.hasSuffix("UTF8") || word.hasSuffix("65001") { return "UTF-8" }
        if word.hasPrefix("LDID") { return UInt8(word.dropFirst(4)).flatMap { languages[$0] } }
        let latin = ["LATIN1": "ISO-8859-1", "LATIN2": "ISO-8859-2", "LATIN9": "ISO-8859-15"]
        if let found = latin[word] { return found }
        if let part = word.firstRange(of: "8859"), let number = Int(word[part.upperBound...]),
            1...16 ~= number
        {
            return "ISO-8859-\(number)"
        }
        let others = [
            "BIG5": "BIG5", "SJIS": "SJIS", "SHIFTJIS": "SJIS", "GBK": "GBK", "GB2312": "GB2312",
            "GB18030": "GB18030", "EUCKR": "EUC-KR", "EUCJP": "EUC-JP", "KOI8R": "KOI8-R",
            "KOI8U": "KOI8-U", "TIS620": "TIS-620",
        ]
        if let found = others[word] { return found }
        let prefixes = ["ANSI", "WINDOWS", "WIN", "CP", "OEM", "IBM", "MS", "DOS", ""]
        for prefix in prefixes where word.hasPrefix(prefix) {
            guard let number = Int(word.dropFirst(prefix.count)) else { continue }
            return known.contains(number) ? "CP\(number)" : nil
        }
        return nil
    }

    private static let known: Set<Int> = [
        437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, 932,
        936,
        949, 950, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258,
    ]

    /// The encodings by the language byte of a table's header.
    private static let languages: [UInt8: String] = [
        0x01: "CP437", 0x02: "CP850", 0x03: "CP1252", 0x08: "CP865", 0x09: "CP437", 0x0A: "CP850",
        0x0B: "CP437", 0x0D: "CP437", 0x0E: "CP850", 0x0F: "CP437", 0x10: "CP850", 0x11: "CP437",
        0x12: "CP850", 0x13: "CP932", 0x14: "CP850", 0x15: "CP437", 0x16: "CP850", 0x17: "CP865",
        0x18: "CP437", 0x19: "CP437", 0x1A: "CP850", 0x1B: "CP437", 0x1C: "CP863", 0x1D: "CP850",
        0x1F: "CP852", 0x22: "CP852", 0x23: "CP852", 0x24: "CP860", 0x25: "CP850", 0x26: "CP866",
        0x37: "CP850", 0x40: "CP852", 0x4D: "CP936", 0x4E: "CP949", 0x4F: "CP950", 0x50: "CP874",
        0x57: "CP1252", 0x58: "CP1252", 0x59: "CP1252", 0x64: "CP852", 0x65: "CP866", 0x66: "CP865",
        0x67: "CP861", 0x6A: "CP737", 0x6B: "CP857", 0x6C: "CP863", 0x78: "CP950", 0x79: "CP949",
        0x7A: "CP936", 0x7B: "CP932", 0x7C: "CP874", 0x86: "CP737", 0x87: "CP852", 0x88: "CP857",
        0xC8: "CP1250", 0xC9: "CP1251", 0xCA: "CP1254", 0xCB: "CP1253", 0xCC: "CP1257",
    ]
}
