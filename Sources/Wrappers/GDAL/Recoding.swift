// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Glibc

/// Conversion of text from the encodings that the system knows by name.
public enum Recoding {
    /// The text as UTF-8; nil for an unknown encoding or invalid bytes.
    ///
    /// The bytes are whole characters, and none is zero.
    public static func utf8(_ bytes: [UInt8], from encoding: String) -> [UInt8]? {
        let log = MessageLog()
        return log.listen { () -> [UInt8]? in
            let text = (bytes + [0]).map { CChar(bitPattern: $0) }
            let result = unsafe CPLRecode(text, encoding, "UTF-8")
            defer { unsafe VSIFree(result) }
            guard log.warnings.isEmpty, log.failures.isEmpty else { return nil }
            return unsafe [UInt8](UnsafeRawBufferPointer(start: result, count: strlen(result)))
        }
    }
}
