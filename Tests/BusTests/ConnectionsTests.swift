// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Bus

struct ConnectionsTests {
    @Test func `a peer is at the end of its connection until that has ended`() {
        var connections = Connections<String>()
        #expect(!connections.isOpen(7))
        connections.opened(7)
        #expect(connections.isOpen(7))
        #expect(connections.peer(at: 7) == nil)
        #expect(connections.bind("a", to: 7) == nil)
        #expect(connections.bind("a", to: 7) == nil)
        #expect(connections.peer(at: 7) == "a")
        #expect(connections.closed(7) == "a")
        #expect(!connections.isOpen(7))
        #expect(connections.closed(7) == nil)
    }

    @Test func `a number that is used again is nobody's until something has come over it`() {
        var connections = Connections<String>()
        connections.opened(7)
        _ = connections.bind("a", to: 7)
        _ = connections.closed(7)
        connections.opened(7)
        #expect(connections.peer(at: 7) == nil)
        #expect(connections.closed(7) == nil)
    }

    /// Both of its connections are known before the first message of either is taken.
    @Test func `a peer mistaken for another connection's is named when that connection speaks`() {
        var connections = Connections<String>()
        connections.opened(7)
        #expect(connections.closed(7) == nil)
        connections.opened(7)
        #expect(connections.bind("gone", to: 7) == nil)
        #expect(connections.bind("here", to: 7) == "gone")
        #expect(connections.closed(7) == "here")
    }
}
