// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import TestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct NotifySocketTests {
    private let name = "cairn-notify-" + UUID().uuidString.lowercased()

    @Test func `assignments arrive in one datagram, at a path and at a name without a file`()
        throws
    {
        let path = NSTemporaryDirectory() + name
        defer { try? FileManager.default.removeItem(atPath: path) }
        for address in [path, "@" + name] {
            let received = try ServiceSocket(address)
            let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": address]))

            #expect(socket.send("READY=1", "STATUS=8 of 8 processes run"))

            #expect(received.next() == "READY=1\nSTATUS=8 of 8 processes run", "\(address)")
        }
    }

    @Test func `a sign of life is sent to a watchdog of this process alone`() throws {
        let received = try ServiceSocket("@" + name)
        func milliseconds(_ variables: [String: String]) throws -> Int? {
            let environment = variables.merging(["NOTIFY_SOCKET": "@" + name]) { $1 }
            let socket = try #require(NotifySocket(environment: environment, processID: 47))
            socket.keepAlive()
            socket.send("next")
            let isAlive = received.next() == "WATCHDOG=1"
            if isAlive { #expect(received.next() == "next") }
            #expect(isAlive == (socket.watchdogMilliseconds != nil))
            return socket.watchdogMilliseconds
        }

        #expect(try milliseconds(["WATCHDOG_USEC": "30000000"]) == 30_000)
        #expect(try milliseconds(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "47"]) == 30_000)
        #expect(try milliseconds(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "48"]) == nil)
        for text in ["0", "-1", "soon"] {
            #expect(try milliseconds(["WATCHDOG_USEC": text]) == nil, "\(text)")
        }
        #expect(try milliseconds([:]) == nil)
    }

    @Test func `there is no socket without an address of the form that a service manager gives`() {
        #expect(NotifySocket(environment: [:]) == nil)
        for address in ["", "/", "@", "run/notify", "vsock:2:1234", "/" + name + name + name] {
            #expect(NotifySocket(environment: ["NOTIFY_SOCKET": address]) == nil, "\(address)")
        }
    }

    @Test func `an address without a listener fails at once`() throws {
        let socket = try #require(NotifySocket(environment: ["NOTIFY_SOCKET": "/nowhere/notify"]))

        #expect(!socket.send("READY=1"))
    }
}
