// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

extension JSONWriter {
    /// The members of ``Explanation``, as in the command line's output.
    mutating func explanation(_ explanation: Explanation) {
        member("words", array: explanation.words) { json, words in
            json.object { json in
                json.member("text", words.text)
                json.member("meaning", words.meaning.rawValue)
                if let match = words.match { json.member("match", match.rawValue) }
                if let name = words.name { json.member("name", name) }
                json.member("lost", words.lost)
            }
        }
        member("weight", explanation.weight)
        member("lost", explanation.lost)
        member("order") { json in
            json.member("importance", explanation.order.importance)
            json.member("role", explanation.order.role)
            json.member("nearness", explanation.order.nearness)
            json.member("weight", explanation.order.weight)
        }
    }
}
