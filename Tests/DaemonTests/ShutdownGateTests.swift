// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Daemon

@Suite(.timeLimit(.minutes(1))) struct ShutdownGateTests {
    private struct Fault: Error {}

    @Test func `the shutdown gate hands on what its body gives before it opens`() async throws {
        let gate = ShutdownGate()
        #expect(try await gate.first { 7 } == 7)
        await #expect(throws: Fault.self) { try await gate.first { throw Fault() } }
    }

    @Test func `the shutdown gate ignores a body that it cancels`() async throws {
        // It ends as soon as it is cancelled: a thread that cancels before it answers loses some of
        // these.
        for _ in 0..<20_000 {
            let gate = ShutdownGate()
            let outcome = try await gate.first { () -> Int in
                gate.open(nil)
                while !Task.isCancelled { await Task.yield() }
                throw CancellationError()
            }
            #expect(outcome == nil)
        }
    }

    @Test func `the shutdown gate does not wait for a body that goes on regardless`() async throws {
        let gate = ShutdownGate()
        let late = ShutdownGate()
        let outcome = try await gate.first {
            gate.open(nil)
            await late.wait()
            return 7
        }
        #expect(outcome == nil)
        late.open(nil)
    }
}
