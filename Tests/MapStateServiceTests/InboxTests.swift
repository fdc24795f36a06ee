// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import MapStateService

@Suite struct InboxTests {
    @Test func `an inbox holds one wake-up, however many come while a log is away`() {
        let inbox = Inbox()
        for _ in 0..<1_000 { inbox.wake() }

        #expect(inbox.takeAll().count == 1)
        #expect(inbox.takeAll().isEmpty)
        inbox.wake()
        #expect(inbox.takeAll().count == 1)
    }
}
