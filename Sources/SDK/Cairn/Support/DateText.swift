// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Dates as text.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds.
    static func text(_ date: Date) -> String {
        // The style cuts, and a millisecond is seldom exact in a Double.
        let whole = Date(millisecondsSince1970: Double(date.millisecondsSince1970) + 0.2)
        return Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(whole)
    }

    /// Reads ISO 8601, with and without a fraction; nil for anything else.
    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle()
        return (try? style.parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}
