// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@Suite struct FailureTests {
    @Test(arguments: [
        ("layer 'a'", "layer 'a'"), ("Zürich, 北京", "Zürich, 北京"),
        (
            "a\u{0}b\r\n\u{1b}[31mc\u{7f}\u{85}",
            "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}[31mc\u{fffd}\u{fffd}"
        ),
    ])
    func `a sentence has no control characters`(_ text: String, _ expected: String) {
        let failure = Failure(.invalidParameter, text, details: [text])

        #expect(failure.message.unicodeScalars.elementsEqual(expected.unicodeScalars))
        #expect(
            failure.details.map { Array($0.unicodeScalars) } == [Array(expected.unicodeScalars)])
    }

    @Test func `a sentence is bounded, also where one letter has a million marks`() {
        let marks = "e" + String(repeating: "\u{301}", count: 1_000_000)
        #expect(marks.count == 1)

        let failure = Failure(.invalidParameter, marks)

        #expect(failure.message.unicodeScalars.count == Failure.messageLimit + 1)
        #expect(failure.message.unicodeScalars.last == "…")
        let long = String(repeating: "a", count: Failure.messageLimit)
        #expect(Failure(.invalidParameter, long).message == long)
    }
}
