// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib

/// Bytes compressed with zlib (RFC 1950).
public enum ZlibData {
    /// The expanded bytes; nil unless complete and of exactly `count` bytes.
    public static func expand(_ bytes: [UInt8], count: Int) -> [UInt8]? {
        var expanded = [UInt8](repeating: 0, count: count)
        var length = uLong(count)
        let code = unsafe expanded.withUnsafeMutableBufferPointer { target in
            unsafe bytes.withUnsafeBufferPointer { source in
                // A null pointer is only passed with no bytes.
                unsafe uncompress(
                    target.baseAddress, &length, source.baseAddress, uLong(source.count))
            }
        }
        return code == Z_OK && length == uLong(count) ? expanded : nil
    }
}
