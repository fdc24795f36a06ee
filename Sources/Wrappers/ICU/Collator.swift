// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CICU
internal import Synchronization

/// Orders texts as people expect them in lists that belong to no language, by CLDR's root collation
/// in ICU; any thread, one call at a time.
///
/// The order follows ICU's data, which change a little from version to version. It owns a
/// `UCollator`.
@safe
public final class Collator: Sendable {
    private let handle: Mutex<Handle>

    @safe
    private struct Handle: ~Copyable, @unchecked Sendable {
        // Used by the holder of the mutex only.
        let pointer: UnsafeMutableRawPointer
        deinit { unsafe cairn_icu_close_collator(pointer) }
    }

    /// The root collation; nil where ICU lacks its data.
    public init?() {
        guard let pointer = unsafe cairn_icu_root_collator() else { return nil }
        handle = unsafe Mutex(Handle(pointer: pointer))
    }

    /// The collation key of a text: texts sort as their keys do, byte by byte.
    ///
    /// Letters count first, then marks, then capitals, as in `cote`, `Cote`, `coté`. Texts of equal
    /// keys look alike to people. About a microsecond and twice the text's bytes for a name.
    public func key(_ text: String) -> [UInt8] {
        let units = Array(text.utf16)
        return handle.withLock { handle in
            var capacity = 4 * units.count + 16
            while true {
                var length: Int32 = 0
                let key = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                    length = unsafe cairn_icu_sort_key(
                        handle.pointer, units, Int32(units.count), buffer.baseAddress,
                        Int32(capacity))
                    // Without the zero that ends it.
                    count = min(max(0, Int(length) - 1), capacity)
                }
                if Int(length) <= capacity { return key }
                capacity = Int(length)
            }
        }
    }
}
