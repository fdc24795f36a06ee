// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The chosen line of a list and how far the list is scrolled.
struct ListCursor: Hashable, Sendable {
    /// The chosen line; meaningless while the list is empty.
    private(set) var selected = 0

    /// Chooses a line, kept inside the list.
    mutating func select(_ line: Int, of count: Int) {
        selected = min(max(line, 0), max(count - 1, 0))
    }

    /// Moves the choice.
    mutating func move(by lines: Int, of count: Int) { select(selected + lines, of: count) }

    /// The lines a pane of so many rows shows: the chosen one stays near the middle.
    func visible(of count: Int, rows: Int) -> Range<Int> {
        let first = min(max(selected - rows / 2, 0), max(count - rows, 0))
        return first..<min(count, first + max(rows, 0))
    }

    /// The keys that every list understands; false when it is none of them.
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
