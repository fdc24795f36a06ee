// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Glibc

/// A zip or tar archive; files are read only, and sequentially.
public struct Archive: Sendable {
    /// The format of an archive.
    public enum Kind: String, Sendable {
        /// With its table at the end.
        case zip
        /// Not compressed.
        case tar
    }

    /// A file or directory in it.
    public struct Entry: Hashable, Sendable {
        /// Its path, with `/` at the end of a directory's; bytes that are no UTF-8 are read as
        /// Latin-1.
        public let name: String
        /// The name in GDAL's bytes, with the zero at its end.
        fileprivate let bytes: [CChar]
    }

    private let root: String
    private let name: String

    /// An archive at an absolute path; the format is checked on first read.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: Its name in messages.
    public init(path: String, name: String, kind: Kind) throws(GDALError) {
        guard PlainPath.isPlain(path) else { throw PlainPath.error(name) }
        // Braces delimit the name of the archive, whatever its extension.
        root = "/vsi\(kind.rawValue)/{\(path)}"
        self.name = name
    }

    /// All files and directories in the archive.
    ///
    /// Throws ``GDALError`` for an unreadable or empty archive.
    public func entries() throws(GDALError) -> [Entry] {
        let log = MessageLog()
        let entries = log.listen { () -> [Entry] in
            let list = unsafe VSIReadDirRecursive(root)
            defer { unsafe CSLDestroy(list) }
            return unsafe (0..<CSLCount(list)).compactMap { index in
                unsafe CSLGetField(list, index).map { text in
                    let bytes = unsafe Array(
                        UnsafeBufferPointer(start: text, count: strlen(text) + 1))
                    return Entry(name: Self.name(bytes), bytes: bytes)
                }
            }
        }
        guard !entries.isEmpty else { throw log.error("read the archive '\(name)'") }
        return entries
    }

    private static func name(_ bytes: [CChar]) -> String {
        let units = bytes.dropLast().map { UInt8(bitPattern: $0) }
        guard let name = String(validating: units, as: UTF8.self) else {
            return String(String.UnicodeScalarView(units.map { Unicode.Scalar($0) }))
        }
        return unmarked(name) ?? name
    }

    /// A name in UTF-8 that an archive does not mark as such, which GDAL takes for CP437; nil for
    /// any other.
    private static func unmarked(_ name: String) -> String? {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return nil }
        var units: [UInt8] = []
        for scalar in name.unicodeScalars {
            if scalar.isASCII {
                units.append(UInt8(scalar.value))
            } else if let place = codePage437.firstIndex(of: scalar) {
                units.append(UInt8(0x80 + place))
            } else {
                return nil
            }
        }
        return String(validating: units, as: UTF8.self)
    }

    /// The upper half of code page 437.
    private static let codePage437 = Array(
        ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ"
            + "áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
            + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
            + "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars)

    /// Reads the bytes of one file in pieces of 256 KiB, the last one shorter.
    ///
    /// Throws ``GDALError`` for an unreadable file, and the errors of `body`.
    public func read(_ entry: Entry, _ body: ([UInt8]) throws -> Void) throws {
        let log = MessageLog()
        try log.listen {
            let path = Array((root + "/").utf8CString.dropLast()) + entry.bytes
            guard let file = unsafe VSIFOpenL(path, "rb") else {
                throw log.error("read '\(entry.name)' in the archive '\(name)'")
            }
            defer { unsafe VSIFCloseL(file) }
            var piece = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = unsafe VSIFReadL(&piece, 1, piece.count, file)
                guard log.failures.isEmpty else {
                    throw log.error("read '\(entry.name)' in the archive '\(name)'")
                }
                if count > 0 { try body(Array(piece.prefix(count))) }
                if count < piece.count { return }
            }
        }
    }
}
