// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CDeferred
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeferredTests {
    @Test func `every deferred function that is listed is in its library`() {
        var reason: UnsafePointer<CChar>?
        let missing = unsafe cairn_deferred_missing(&reason)

        #expect(
            unsafe missing == nil,
            "\(unsafe missing.map { unsafe String(cString: $0) } ?? "?"): \(unsafe reason.map { unsafe String(cString: $0) } ?? "?")"
        )
    }
}
