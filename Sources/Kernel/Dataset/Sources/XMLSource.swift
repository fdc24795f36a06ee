// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Platform

/// XML in an encoding that GDAL's parsers do not read.
enum XMLSource {
    /// Encodings that all of them read.
    private static let known: Set<String> = ["utf-8", "utf8", "us-ascii", "ascii"]

    /// Rewrites the document as UTF-8 if it states another encoding, and returns that; else nil.
    ///
    /// Throws `unreadable` for text that is invalid in the stated encoding.
    static func prepare(_ path: String, to target: String, name: String) throws -> String? {
        let file = try MappedFile(path: path)
        guard file.byteCount > 5, let encoding = file.withBytes({ XMLProlog($0).encoding }),
            !known.contains(encoding.lowercased())
        else { return nil }
        let output = try OutputFile(creating: target)
        var (place, written) = (0, 0)
        while place < file.byteCount {
            var piece = file.copy(place..<min(place + (1 << 20), file.byteCount))
            place += piece.count
            // Characters of several bytes are not cut behind a sign of markup or the end of a line.
            if place < file.byteCount,
                let last = piece.lastIndex(where: { $0 == 0x0A || $0 == UInt8(ascii: ">") })
            {
                place -= piece.count - last - 1
                piece.removeLast(piece.count - last - 1)
            }
            guard !piece.contains(0), var text = Recoding.utf8(piece, from: system(encoding)) else {
                throw Failure(
                    .unreadable,
                    "'\(name)' states the encoding '\(encoding.prefix(40))', and its text is not "
                        + "in it"
                )
            }
            if written == 0, let stated = text.firstRange(of: Array(encoding.utf8)) {
                text.replaceSubrange(stated, with: Array("UTF-8".utf8))
            }
            try output.write(text, at: written)
            written += text.count
        }
        return encoding
    }

    /// The system's name of an encoding; documents' ISO 8859-1 is Windows-1252, as in browsers.
    private static func system(_ encoding: String) -> String {
        let word = encoding.lowercased()
        if ["iso-8859-1", "iso8859-1", "latin1", "latin-1"].contains(word) { return "CP1252" }
        return word.hasPrefix("windows-") ? "CP" + word.dropFirst("windows-".count) : encoding
    }
}
