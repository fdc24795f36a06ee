// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CICU
internal import Synchronization

/// Transliterates texts to another script, by one of ICU's transliterators; any thread, one call at
/// a time.
///
/// The result follows ICU's data, which change a little from version to version. It owns a
/// `UTransliterator`.
@safe
public final class Transliterator: Sendable {
    private let handle: Mutex<Handle>

    @safe
    private struct Handle: ~Copyable, @unchecked Sendable {
        // Used by the holder of the mutex only.
        let pointer: UnsafeMutableRawPointer
        deinit { unsafe cairn_icu_close_transliterator(pointer) }
    }

    /// Opens one by its identifier; nil when ICU has none of the name, or lacks its data.
    ///
    /// An identifier is like `Any-Latin; Latin-ASCII`. Takes some milliseconds.
    public init?(_ identifier: String) {
        let units = Array(identifier.utf16)
        guard let pointer = unsafe cairn_icu_transliterator(units, Int32(units.count)) else {
            return nil
        }
        handle = unsafe Mutex(Handle(pointer: pointer))
    }

    /// The text in the other script; nil when the result would be more than 16 times as long.
    ///
    /// Some tens of microseconds for a name.
    public func transliterated(_ text: String) -> String? {
        let units = Array(text.utf16)
        let capacity = 16 * units.count + 64
        var buffer = units + [UInt16](repeating: 0, count: capacity - units.count)
        let length = handle.withLock { handle in
            unsafe cairn_icu_transliterate(
                handle.pointer, &buffer, Int32(units.count), Int32(capacity))
        }
        guard length >= 0 else { return nil }
        return String(decoding: buffer.prefix(Int(length)), as: UTF16.self)
    }
}
