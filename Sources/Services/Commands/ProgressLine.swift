// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Terminal

/// A line on standard error that is overwritten in place; no output unless that is a terminal.
struct ProgressLine {
    private let isShown = StandardStream.error.isTerminal
    private var last: Int64 = 0

    /// Shows a text, at most ten times a second.
    mutating func show(_ text: String) {
        let now = MonotonicClock.nanoseconds()
        guard isShown, now - last > 100_000_000 else { return }
        last = now
        let shown = TextWidth.truncated(TextWidth.displayable(text), to: 100)
        StandardStream.error.write("\r\u{1B}[K" + shown)
    }

    /// Erases the line.
    func clear() {
        if isShown, last > 0 { StandardStream.error.write("\r\u{1B}[K") }
    }
}
