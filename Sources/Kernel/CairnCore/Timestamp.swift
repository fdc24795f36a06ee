// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A moment as microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// It never orders anything: sequence numbers do. Microseconds keep the number inside the 2^53 that
/// JSON readers hold exactly.
public struct Timestamp: Hashable, Sendable, Comparable, Codable {
    /// Microseconds since the epoch.
    public var microseconds: Int64

    /// Wraps a count of microseconds since the epoch.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// Reads the plain integer.
    public init(from decoder: any Decoder) throws {
        microseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes the plain integer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }

    /// Earlier is less.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
