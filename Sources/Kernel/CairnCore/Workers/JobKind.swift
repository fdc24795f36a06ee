// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The kind of a job; raw values are the names in commands and URLs.
public struct JobKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
}
