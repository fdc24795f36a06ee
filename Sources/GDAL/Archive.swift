// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A zip or tar archive; what it holds is only read, from its beginning to its end.
public struct Archive: Sendable {
    /// How it is made.
    public enum Kind: String, Sendable {
        /// With its table at the end.
        case zip
        /// Not compressed.
        case tar
    }

    private let root: String
    private let name: String

    /// An archive at an absolute path; whether it is one is seen later.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: What messages call it.
    public init(path: String, name: String, kind: Kind) throws(GDALError) {
        guard PlainPath.isPlain(path) else { throw PlainPath.error(name) }
        // Braces say where the name of the archive ends, whatever it ends in.
        root = "/vsi\(kind.rawValue)/{\(path)}"
        self.name = name
    }

    /// The names of all files and directories in it, directories with `/` at the end.
    ///
    /// Throws ``GDALError`` where it cannot be read, or holds nothing.
    public func entries() throws(GDALError) -> [String] {
        let log = MessageLog()
        let names = log.listen { () -> [String] in
            let list = unsafe VSIReadDirRecursive(root)
            defer { unsafe CSLDestroy(list) }
            return unsafe (0..<CSLCount(list)).compactMap { index in
                unsafe CSLGetField(list, index).map { unsafe String(cString: $0) }
            }
        }
        guard !names.isEmpty else { throw log.error("read the archive '\(name)'") }
        return names
    }

    /// Hands out the bytes of one file in pieces of 256 KiB, the last one shorter.
    ///
    /// Throws ``GDALError`` where it cannot be read, and what `body` throws.
    public func read(_ entry: String, _ body: ([UInt8]) throws -> Void) throws {
        let log = MessageLog()
        try log.listen {
            guard let file = unsafe VSIFOpenL(root + "/" + entry, "rb") else {
                throw log.error("read '\(entry)' in the archive '\(name)'")
            }
            defer { unsafe VSIFCloseL(file) }
            var piece = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = unsafe VSIFReadL(&piece, 1, piece.count, file)
                guard log.failures.isEmpty else {
                    throw log.error("read '\(entry)' in the archive '\(name)'")
                }
                if count > 0 { try body(Array(piece.prefix(count))) }
                if count < piece.count { return }
            }
        }
    }
}
