// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension RawSpan {
    /// The bytes as text, with broken UTF-8 repaired.
    public func text() -> String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the bytes are these.
    @inlinable
    public func isEqual(to other: RawSpan) -> Bool {
        let count = byteCount
        guard count == other.byteCount else { return false }
        var place = 0
        while place + 8 <= count {
            guard uint64(at: place) == other.uint64(at: place) else { return false }
            place += 8
        }
        while place < count {
            guard byte(at: place) == other.byte(at: place) else { return false }
            place += 1
        }
        return true
    }
}

extension [UInt8] {
    /// Lends the bytes.
    @inlinable
    @inline(__always)
    public func lend<Value, Fault>(
        _ body: (RawSpan) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        try unsafe body(span.bytes)
    }
}
