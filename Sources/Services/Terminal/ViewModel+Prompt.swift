// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel

extension ViewModel {
    /// Opens the prompt for a line of text.
    mutating func open(_ prompt: Prompt) {
        self.prompt = prompt
        editor = LineEditor()
        suggestions = []
        suggestionCursor = nil
    }

    /// Handles a key in the prompt.
    mutating func handle(_ key: Key, in prompt: Prompt) -> [ViewAction] {
        switch key {
        case .escape:
            self.prompt = nil
            return []
        case .enter:
            self.prompt = nil
            return prompt == .search ? find() : travel()
        case .up: moveSuggestion(by: -1)
        case .down, .tab: moveSuggestion(by: 1)
        default:
            guard editor.handle(key), prompt == .search else { return [] }
            suggestionCursor = nil
            suggestions = []
            if !editor.text.isEmpty { return [.suggest(editor.text)] }
        }
        return []
    }

    private mutating func moveSuggestion(by step: Int) {
        guard !suggestions.isEmpty else { return }
        let count = suggestions.count
        let next =
            suggestionCursor.map { ($0 + step + count) % count } ?? (step > 0 ? 0 : count - 1)
        suggestionCursor = next
        editor.set(suggestions[next].text)
    }

    private mutating func find() -> [ViewAction] {
        guard !editor.text.isEmpty else { return [] }
        guard let reference = map?.spatialReference else {
            say("the map is blank: no layer is loaded yet")
            return []
        }
        // The suggestions are those of the present text, so Enter takes the first unless another
        // one was selected.
        let chosen = suggestions.isEmpty ? nil : suggestions[suggestionCursor ?? 0]
        let text = chosen?.text ?? editor.text
        say("looking for '\(text)'")
        return [.find(text, magicKey: chosen?.magicKey, in: reference)]
    }

    private mutating func travel() -> [ViewAction] {
        guard !editor.text.isEmpty else { return travel(to: nil) }
        guard let sequence = Int64(editor.text), sequence > 0 else {
            say(Failure(.invalidParameter, "'\(editor.text)' is not a sequence number"))
            return []
        }
        guard sequence <= head else {
            say(Failure(.invalidParameter, "the log ends at \(head)"))
            return []
        }
        return travel(to: sequence)
    }
}
