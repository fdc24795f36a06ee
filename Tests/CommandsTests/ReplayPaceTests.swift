// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Commands

@Suite struct ReplayPaceTests {
    private typealias Command = ReplayControls.Command
    private typealias Pace = ReplayControls.Pace

    private func pace(_ keys: String, speed: Double = 1) -> Pace {
        var pace = Pace(speed: speed)
        for key in keys.utf8 { if let command = Command(key: key) { pace.take(command) } }
        return pace
    }

    @Test func `every key does what the help says, and no other does anything`() {
        let known: [UInt8: Command] = [
            UInt8(ascii: " "): .toggle, UInt8(ascii: "n"): .step, UInt8(ascii: "+"): .faster,
            UInt8(ascii: "-"): .slower, UInt8(ascii: "q"): .quit, 3: .quit, 4: .quit,
        ]
        for key in UInt8.min ... .max { #expect(Command(key: key) == known[key]) }
    }

    @Test(arguments: [
        ("", 0.0, Pace.Next.wait(10)), ("", 10, .event), ("+", 0, .wait(5)), ("++-", 4, .wait(1)),
        ("-", 0, .wait(20)), ("------------", 0, .wait(80)), (" ", 100, .wait(nil)),
        ("  ", 10, .event), ("n", 0, .event), ("nq", 0, .end), ("q", 100, .end),
        ("x", 0, .wait(10)),
    ])
    private func `keys change the pace of the next event`(
        keys: String, waited: Double, next: Pace.Next
    ) {
        var pace = pace(keys)
        #expect(pace.next(after: 10, waited: waited) == next)
    }

    @Test func `a step is one event each, and a pause after them`() {
        var pace = pace("nn")
        let events = (0..<4).map { _ in pace.next(after: 10, waited: 0) }
        #expect(events == [.event, .event, .wait(nil), .wait(nil)])
        pace.take(.resume)
        #expect(pace.next(after: 10, waited: 0) == .wait(10))
    }

    @Test func `a replay as fast as possible waits for nothing, but can be slowed down`() {
        var pace = pace("", speed: 0)
        #expect(pace.next(after: 10, waited: 0) == .event)
        pace.take(.faster)
        #expect(pace.speed == 0.25)
        pace.take(.speed(0))
        pace.take(.slower)
        #expect(pace.speed == 0.125)
    }

    @Test func `lines of input are commands of their own`() {
        #expect(Command(line: "speed 2.5") == .speed(2.5))
        #expect(Command(line: "pause") == .pause && Command(line: "quit") == .quit)
        for line in ["speed", "speed -1", "speed x", "speed nan", "go", ""] {
            #expect(Command(line: line) == nil, "\(line)")
        }
    }
}
