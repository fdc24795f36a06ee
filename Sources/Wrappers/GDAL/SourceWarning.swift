// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A warning of GDAL while it opened or read a source.
public struct SourceWarning: Hashable, Sendable {
    /// GDAL's words.
    public var text: String
    /// The feature at which it was given, from 1; nil while the file was opened.
    public var row: Int?

    /// Makes one.
    public init(text: String, row: Int?) { (self.text, self.row) = (text, row) }
}
