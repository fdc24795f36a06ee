// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Codecs
public import FoundationEssentials
public import Platform

extension UUID {
    /// A new version 7 id, sorted by wall-clock time and after all earlier ones of this process;
    /// see ``TimeOrderedIDs``.
    ///
    /// For commands, events, jobs and messages; never made inside a fold or a state machine.
    public static func timeOrdered() -> UUID { UUID(uuid: TimeOrderedIDs.next()) }

    /// A new version 7 id whose 62 random bits come from the operating system.
    ///
    /// Unlike those of ``timeOrdered()``, it cannot be derived from other ids of this process, so
    /// it can serve as a secret.
    public static func unguessable() -> UUID {
        UUID(
            uuid: UUIDBits.version7(
                nanoseconds: WallClock.microseconds() * 1_000, random: .random(in: .min ... .max)))
    }

    /// The version 8 id that `name` has inside this namespace, the same in every process: for an
    /// effect that must happen once, `job.named("chunk-3-completed")`.
    public func named(_ name: String) -> UUID {
        UUID(uuid: UUIDBits.version8(namespace: bytes, name: Array(name.utf8)))
    }

    /// The sixteen bytes in the order they are written.
    public var bytes: [UInt8] {
        let id = uuid
        return [
            id.0, id.1, id.2, id.3, id.4, id.5, id.6, id.7,
            id.8, id.9, id.10, id.11, id.12, id.13, id.14, id.15,
        ]
    }

    /// The sixteen bytes as two numbers, the first byte on top of the first one.
    public var words: (UInt64, UInt64) {
        func word(
            _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8,
            _ e: UInt8, _ f: UInt8, _ g: UInt8, _ h: UInt8
        ) -> UInt64 {
            let high = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
            let low = UInt32(e) << 24 | UInt32(f) << 16 | UInt32(g) << 8 | UInt32(h)
            return UInt64(high) << 32 | UInt64(low)
        }
        let id = uuid
        return (
            word(id.0, id.1, id.2, id.3, id.4, id.5, id.6, id.7),
            word(id.8, id.9, id.10, id.11, id.12, id.13, id.14, id.15)
        )
    }

    /// The opposite of `words`.
    public init(words: (UInt64, UInt64)) {
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
        }
        let (high, low) = words
        self.init(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3),
                byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
                byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    /// Makes an id of sixteen bytes; nil for any other number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14],
                bytes[15]
            ))
    }
}

extension Failure {
    /// The failure for a failed system call: `noSpace` for a full disk, `notFound` for a missing
    /// path, `unreadable` for denied access, otherwise `internal`.
    public init(_ error: PlatformError) {
        let code: Code =
            if error.isNoSpace {
                .noSpace
            } else if error.isNotFound {
                .notFound
            } else {
                error.isPermission ? .unreadable : .internal
            }
        self.init(code, error.description)
    }
}
