// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An edited line of text, at most 200 characters.
struct LineEditor: Hashable, Sendable {
    private(set) var characters: [Character] = []
    /// Insertion point.
    private(set) var cursor = 0

    var text: String { String(characters) }

    /// Replaces the text; the cursor moves to its end.
    mutating func set(_ text: String) {
        characters = Array(text.prefix(200))
        cursor = characters.count
    }

    /// Handles an editing key; true when the text has changed.
    mutating func handle(_ key: Key) -> Bool {
        let before = characters
        switch key {
        case .character(let character): insert([character])
        case .paste(let text): insert(Array(text))
        case .backspace where cursor > 0:
            cursor -= 1
            characters.remove(at: cursor)
        case .delete where cursor < characters.count: characters.remove(at: cursor)
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .control("u"): set("")
        default: break
        }
        return characters != before
    }

    private mutating func insert(_ new: [Character]) {
        let room = new.prefix(200 - characters.count)
        characters.insert(contentsOf: room, at: cursor)
        cursor += room.count
    }
}
