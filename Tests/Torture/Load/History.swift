// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import Synchronization

/// Answers received by the clients, as JSON lines on standard output, in order of arrival.
final class History: Sendable {
    private let over = Atomic<Bool>(false)
    private let output = Mutex(())

    /// Whether clients start no further requests.
    var isOver: Bool { over.load(ordering: .relaxed) }
    func end() { over.store(true, ordering: .relaxed) }

    /// Writes one line; values are those of `JSONSerialization`.
    func note(_ what: String, _ members: [String: Any]) {
        var line = members
        line["what"] = what
        guard
            let data = try? JSONSerialization.data(
                withJSONObject: line, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return }
        let text = String(decoding: data, as: UTF8.self) + "\n"
        output.withLock { _ in _ = StandardStream.output.write(text) }
    }

    /// A refusal, or that nothing came in time.
    func note(_ operation: String, failed failure: Failure) {
        note(
            "failure",
            [
                "operation": operation, "code": failure.code.rawValue,
                "message": failure.description, "isRetriable": failure.isRetriable,
            ])
    }
}

extension UUID {
    var text: String { uuidString.lowercased() }
}
