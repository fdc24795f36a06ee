// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import FoundationEssentials
import Platform
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct ThreadTests {
    @Test func `a pinned thread runs its function on a thread of its own`() throws {
        let seen = Mutex<Int32>(0)

        let thread = try PinnedThread(name: "a-name-of-more-than-fifteen-bytes") {
            seen.withLock { $0 = PinnedThread.currentID }
        }
        thread.join()
        thread.join()

        #expect(seen.withLock { $0 } != 0)
        #expect(seen.withLock { $0 } != PinnedThread.currentID)
        #expect(thread.hasEnded)
        #expect(!thread.isCurrent)
    }

    @Test func `every element of a queue reaches exactly one taker, oldest first`() throws {
        let queue = BlockingQueue<Int>(capacity: 8)
        let taken = Mutex<[[Int]]>([[], [], []])
        let takers = try (0..<3).map { taker in
            try PinnedThread(name: "taker") {
                while let element = queue.pop() { taken.withLock { $0[taker].append(element) } }
            }
        }

        for element in 0..<20_000 { #expect(queue.push(element)) }
        queue.close()
        for taker in takers { taker.join() }

        let all = taken.withLock { $0 }
        #expect(all.flatMap { $0 }.sorted() == Array(0..<20_000))
        for one in all { #expect(one == one.sorted()) }
    }

    @Test func `a full queue refuses, a closed one gives what it has and then nil`() {
        let queue = BlockingQueue<Int>(capacity: 2)

        #expect(queue.tryPush(1))
        #expect(queue.tryPush(2))
        #expect(!queue.tryPush(3))
        #expect(queue.pushPastBound(4))
        #expect(queue.count == 3)
        queue.close()
        #expect(!queue.tryPush(5))
        #expect(!queue.push(5))
        #expect(!queue.pushPastBound(5))
        #expect(queue.popBatch(limit: 2) == [1, 2])
        #expect(queue.pop() == 4)
        #expect(queue.pop() == nil)
        #expect(queue.popBatch(limit: 2).isEmpty)
    }

    @Test func `a queue lets go of a taken element though more wait`() {
        final class Token: Sendable {}
        let queue = BlockingQueue<Token>(capacity: 8)
        weak var first: Token?
        do {
            let token = Token()
            first = token
            #expect(queue.tryPush(token))
            #expect(queue.tryPush(Token()))
        }
        #expect(first != nil)

        #expect(queue.pop() === first)

        #expect(first == nil)
        #expect(queue.count == 1)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a queue gives what an array gives, whichever way it is taken`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // So large that an empty queue keeps room for a few only.
        struct Element: Equatable {
            var number: Int
            var padding: (Int, Int, Int, Int) = (0, 0, 0, 0)
            static func == (a: Element, b: Element) -> Bool { a.number == b.number }
        }
        let queue = BlockingQueue<Element>(capacity: 400)
        var expected: [Element] = []
        for number in 0..<20_000 {
            // Long runs of each, so that it is full and empty at times.
            switch Int.random(in: 0..<8, using: &random) + (number / 700 % 2 == 0 ? 0 : 3) {
            case 0...4:
                let fits = expected.count < 400
                #expect(queue.tryPush(Element(number: number)) == fits)
                if fits { expected.append(Element(number: number)) }
            case 5:
                let wanted = expected.randomElement(using: &random)?.number ?? -1
                let found = queue.removeFirst { $0.number == wanted }
                #expect(found?.number == expected.first { $0.number == wanted }?.number)
                expected.removeAll { $0.number == wanted }
            case 6 where number % 50 == 0:
                #expect(queue.takeAll() == expected)
                expected = []
            case 7, 8:
                guard !expected.isEmpty else { continue }
                let batch = queue.popBatch(limit: 3)
                #expect(batch == Array(expected.prefix(3)))
                expected.removeFirst(batch.count)
            default:
                guard !expected.isEmpty else { continue }
                #expect(queue.pop() == expected.removeFirst())
            }
            #expect(queue.count == expected.count)
        }
    }

    @Test func `a writer that waits for room in a queue goes on when there is some`() throws {
        let queue = BlockingQueue<Int>(capacity: 1)
        #expect(queue.push(1))
        let pusher = try PinnedThread(name: "pusher") { _ = queue.push(2) }

        #expect(queue.takeAll() == [1])
        pusher.join()

        #expect(queue.takeAll() == [2])
        #expect(queue.takeAll().isEmpty)
    }

    @Test func `a monotonic clock does not go back, a wall clock is in this century`() {
        var last = MonotonicClock.nanoseconds()
        for _ in 0..<10_000 {
            let now = MonotonicClock.nanoseconds()
            #expect(now >= last)
            last = now
        }
        #expect(WallClock.microseconds() > 1_600_000_000_000_000)
    }
}

@Suite struct FileLockTests {
    private let directory = "/tmp/cairn-lock-" + UUID().uuidString.prefix(8)

    private func inDirectory(_ body: (String) throws -> Void) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/x.lock")
    }

    @Test func `a lock has one owner at a time, who is named`() throws {
        try inDirectory { path in
            let first = try FileLock.tryAcquire(path)
            let isFirst = first != nil
            let second = try FileLock.tryAcquire(path)
            let isSecond = second != nil
            #expect(isFirst)
            #expect(!isSecond)
            #expect(FileLock.owner(of: path) == ProcessInfo.processInfo.processIdentifier)
            first?.release()
            let third = try FileLock.tryAcquire(path)
            let isThird = third != nil
            #expect(isThird)
        }
    }

    @Test func `a lock whose file was removed by its owner can be taken anew`() throws {
        try inDirectory { path in
            for _ in 0..<3 {
                let lock = try FileLock.tryAcquire(path)
                let isMine = lock != nil
                #expect(isMine)
                lock?.release(removingFile: true)
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }
    }

    @Test func `a lock in a directory that is missing is an error`() throws {
        let error = #expect(throws: PlatformError.self) {
            _ = try FileLock.tryAcquire("/nonexistent/x.lock")
        }
        #expect(error?.isNotFound == true)
    }
}

@Suite struct ByteTests {
    @Test func `bytes that were written are read back, and nothing past the end`() throws {
        var writer = ByteWriter()
        writer.append(UInt8(7))
        writer.append(Int64(-3))
        writer.append(UInt16(0xABCD))
        writer.append(1.5)
        writer.append([1, 2, 3])
        let bytes = Data(writer.bytes)

        var reader = ByteReader()
        #expect(try reader.next(UInt8.self, in: bytes.bytes) == 7)
        #expect(try reader.next(Int64.self, in: bytes.bytes) == -3)
        #expect(try reader.next(UInt16.self, in: bytes.bytes) == 0xABCD)
        #expect(try reader.nextDouble(in: bytes.bytes) == 1.5)
        #expect(try reader.nextBytes(3, in: bytes.bytes) == [1, 2, 3])
        let end = reader
        #expect(throws: ByteReader.OutOfBounds.self) {
            try reader.next(UInt8.self, in: bytes.bytes)
        }
        #expect(throws: ByteReader.OutOfBounds.self) {
            try reader.nextBytes(-1, in: bytes.bytes)
        }
        #expect(reader == end)
        #expect(bytes.bytes.littleEndian(at: -1, as: UInt8.self) == nil)
        #expect(bytes.bytes.littleEndian(at: .max, as: UInt64.self) == nil)
        #expect(bytes.bytes.littleEndian(at: 15, as: UInt64.self) == nil)
        #expect(bytes.bytes.littleEndian(at: 14, as: UInt64.self) != nil)
    }

    @Test func `a mapped file lends its bytes, an empty one none`() throws {
        let path = "/tmp/cairn-map-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([1, 2, 3]).write(to: URL(filePath: path))
        let file = try MappedFile(path: path)
        file.advise(.random)
        #expect(file.withBytes { $0.copy() } == [1, 2, 3])
        #expect(file.contains([2, 3]) && file.contains([]) && !file.contains([3, 2]))
        file.evict()
        #expect(file.withBytes { $0.copy() } == [1, 2, 3])
        // What no file has must not go.
        let copy = try MappedFile(copying: [4, 5, 6], path: "copy")
        copy.evict()
        #expect(copy.withBytes { $0.copy() } == [4, 5, 6])

        try Data().write(to: URL(filePath: path))
        let empty = try MappedFile(path: path)
        empty.advise(.willNeed)
        #expect(empty.withBytes { $0.byteCount } == 0)
        #expect(!empty.contains([1]))
        #expect(throws: MappingError.self) { try MappedFile(path: path + "-missing") }
        #expect(throws: MappingError.self) { try MappedFile(path: "/tmp") }
    }
}
