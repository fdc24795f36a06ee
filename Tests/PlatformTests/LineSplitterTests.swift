// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct LineSplitterTests {
    /// All lines of a text that arrives in pieces of random length.
    private func lines(
        _ text: [UInt8], limit: Int, _ random: inout SeededGenerator
    ) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: limit)
        var lines: [LineSplitter.Line] = []
        var rest = text[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...9, using: &random))
            lines += splitter.take(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return lines + [splitter.finish()].compactMap(\.self)
    }

    @Test(arguments: Seeds.chosen(200))
    func `lines are what lies between line feeds, in whatever pieces they come`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters: [UInt8] = [97, 98, 13, 10, 10]
        let text: [UInt8] = (0..<Int.random(in: 0...80, using: &random)).map { _ in
            letters.randomElement(using: &random) ?? 0
        }
        let limit = Int.random(in: 1...6, using: &random)
        var parts = text.split(separator: 10, omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        let expected = parts.map { part -> LineSplitter.Line in
            guard part.count <= limit else { return .tooLong(limit) }
            return .bytes(Array(part.last == 13 ? part.dropLast() : part))
        }
        #expect(lines(text, limit: limit, &random) == expected, "seed \(seed)")
    }

    @Test
    func `a signal before the wait ends it, one that never comes is waited for until the end`()
        async
    {
        let signal = TaskSignal()
        signal.raise()
        signal.raise()
        #expect(await signal.wait())
        let end = ContinuousClock.now + .milliseconds(20)
        #expect(await signal.wait(until: end))
        #expect(ContinuousClock.now >= end)
        async let waits = signal.wait()
        signal.raise()
        #expect(await waits)
        let cancelled = Task { await signal.wait() }
        cancelled.cancel()
        #expect(await !cancelled.value)
    }

    @Test func `a temporary directory is private and has a name of its own`() throws {
        let prefix = NSTemporaryDirectory() + "cairn-temporary-"
        let paths = try (0..<3).map { _ in try PrivateDirectory.makeTemporary(prefix: prefix) }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        #expect(Set(paths).count == 3)
        for path in paths {
            #expect(path.hasPrefix(prefix) && path.count == prefix.count + 6)
            #expect(PrivateDirectory.fault(at: path) == nil)
        }
        #expect(throws: PlatformError.self) {
            try PrivateDirectory.makeTemporary(prefix: "/no/such/place/")
        }
    }
}
