// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Selection and scroll position of a list.
struct ListCursor: Hashable, Sendable {
    /// The selected line; meaningless while the list is empty.
    private(set) var selected = 0

    /// Selects a line, clamped to the list.
    mutating func select(_ line: Int, of count: Int) {
        selected = min(max(line, 0), max(count - 1, 0))
    }

    /// Moves the selection.
    mutating func move(by lines: Int, of count: Int) { select(selected + lines, of: count) }

    /// The visible lines of a pane with that many rows: the selection stays near the middle.
    func visible(of count: Int, rows: Int) -> Range<Int> {
        let first = min(max(selected - rows / 2, 0), max(count - rows, 0))
        return first..<min(count, first + max(rows, 0))
    }

    /// Handles the keys common to all lists; false for any other.
    mutating func handle(_ key: Key, of count: Int, page: Int) -> Bool {
        switch key {
        case .up, .character("k"): move(by: -1, of: count)
        case .down, .character("j"): move(by: 1, of: count)
        case .pageUp: move(by: -page, of: count)
        case .pageDown: move(by: page, of: count)
        case .home: select(0, of: count)
        case .end: select(count - 1, of: count)
        default: return false
        }
        return true
    }
}
