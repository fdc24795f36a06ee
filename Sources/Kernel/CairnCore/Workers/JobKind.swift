// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What kind of work a job is; raw values are the names in commands and URLs.
public struct JobKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
}
