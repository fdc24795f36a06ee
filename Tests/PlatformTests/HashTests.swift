// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Codecs
import FoundationEssentials
import Glibc
import Platform
import Synchronization
import TestKit
import Testing

@Suite struct HashTests {
    /// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
    private static let castagnoli: [(bytes: [UInt8], checksum: UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
        ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
        (Array(0..<32), 0x46dd_794e),
        (Array((0..<32).reversed()), 0x113f_db5c),
        (Array("123456789".utf8), 0xe306_9283),
        ([], 0),
    ]

    @Test func `crc-32c has its published values, by instruction and by table`() {
        for (bytes, expected) in Self.castagnoli {
            #expect(CRC32C.checksum(Data(bytes).bytes) == expected)
            #expect(CRC32C.checksumByTable(Data(bytes).bytes) == expected)
        }
    }

    @Test func `crc-32c of pieces is that of the whole, for every length and split`() {
        var random = SeededGenerator(seed: 32)
        for length in 0..<300 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let split = Int.random(in: 0...length, using: &random)
            var crc = CRC32C()
            crc.update(Array(bytes[..<split]))
            crc.update(Array(bytes[split...]))
            #expect(crc.value == CRC32C.checksumByTable(Data(bytes).bytes), "length \(length)")
        }
    }

    @Test(arguments: [
        // FIPS 180-4 examples (NIST CSRC).
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `sha-256 has its published values`(_ text: String, _ expected: String) {
        #expect(SHA256.digest(text).hexadecimal == expected)
    }

    @Test func `sha-256 of pieces is that of the whole`() {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for size in [1, 7, 63, 64, 65, 4096] {
            var hash = SHA256()
            for start in stride(from: 0, to: bytes.count, by: size) {
                hash.update(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(hash.finish() == SHA256.digest(bytes))
        }
    }

    @Test func `hexadecimal text comes back as the bytes, and nothing else does`() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Hexadecimal.decode(Hexadecimal.encode(bytes)) == bytes)
        #expect(Hexadecimal.decode("0AfF") == [0x0a, 0xff])
        #expect(Hexadecimal.decode("abc") == nil)
        #expect(Hexadecimal.decode("0g") == nil)
    }

    @Test func `version 7 ids carry their version and sort by time`() {
        func id(_ nanoseconds: Int64, _ random: UInt64) -> UUID {
            UUID(uuid: UUIDBits.version7(nanoseconds: nanoseconds, random: random))
        }
        // The example of RFC 9562, appendix A.6, at the same millisecond.
        let text = id(1_645_557_742_000_000_000, 0x18c4_dc0c_0c07_398f).uuidString

        #expect(text == "017F22E2-79B0-7000-98C4-DC0C0C07398F")
        var earlier = ""
        for step in 0..<4000 {
            let next = id(1_645_557_742_000_000_000 + Int64(step) * 250, .max).uuidString
            #expect(earlier <= next)
            earlier = next
        }
    }

    private static func bytes(_ id: UUIDBits.Bytes) -> [UInt8] {
        unsafe withUnsafeBytes(of: id) { unsafe Array($0) }
    }

    @Test
    func `ids of one process count up on each of its threads, at any speed, and none comes twice`()
        throws
    {
        let made = Mutex<[[[UInt8]]]>([])
        let before = WallClock.microseconds()
        let threads = try (0..<4).map { number in
            try PinnedThread(name: "ids-\(number)") {
                let ids = (0..<20_000).map { _ in Self.bytes(TimeOrderedIDs.next()) }
                made.withLock { $0.append(ids) }
            }
        }
        for thread in threads { thread.join() }
        let after = WallClock.microseconds()
        let ids = made.withLock { $0 }
        #expect(ids.count == 4)

        for thread in ids {
            #expect(zip(thread, thread.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        }
        let all = ids.flatMap { $0 }
        // The times alone differ, and so do the rest alone.
        #expect(Set(all.map { Array($0[..<8]) }).count == 80_000)
        #expect(Set(all.map { Array($0[8...]) }).count == 80_000)
        #expect(all.allSatisfy { $0[6] >> 4 == 7 && $0[8] >> 6 == 2 })
        let milliseconds = all.map { $0[..<6].reduce(Int64(0)) { $0 << 8 | Int64($1) } }
        #expect(milliseconds.min() ?? 0 >= before / 1_000)
        // Ahead of the clock by a quarter of a microsecond for each of them at most.
        #expect(milliseconds.max() ?? 0 <= (after + 20_000) / 1_000)
    }

    @Test func `a forked process makes other ids than the one it came from`() throws {
        typealias Fork = @convention(c) () -> pid_t
        let fork = unsafe unsafeBitCast(try #require(unsafe dlsym(nil, "fork")), to: Fork.self)
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        // The child's functions are called here first: they must not wait for a lock of another
        // thread.
        func write(_ words: inout [UInt64], to end: Int32) -> Int {
            for index in words.indices { words[index] = UniqueNumbers.next() }
            return unsafe words.withUnsafeBytes {
                unsafe Glibc.write(end, $0.baseAddress, $0.count)
            }
        }
        var numbers = [UInt64](repeating: 0, count: 100)
        #expect(write(&numbers, to: ends[1]) == 800)

        let child = fork()
        if child == 0 { _exit(write(&numbers, to: ends[1]) == 800 ? 0 : 1) }
        var status: Int32 = 0
        #expect(unsafe waitpid(child, &status, 0) == child && status == 0)

        let ours = Set((0..<200).map { _ in UniqueNumbers.next() })
        var theirs = [UInt64](repeating: 0, count: 200)
        #expect(
            unsafe theirs.withUnsafeMutableBytes { unsafe read(ends[0], $0.baseAddress, $0.count) }
                == 1_600)
        #expect(ours.union(theirs).count == 400)
        close(ends[0])
        close(ends[1])
    }

    @Test func `version 8 ids depend on namespace and name alone`() {
        let namespace = [UInt8](repeating: 7, count: 16)
        func id(_ namespace: [UInt8], _ name: String) -> UUID {
            UUID(uuid: UUIDBits.version8(namespace: namespace, name: Array(name.utf8)))
        }
        let digest = SHA256.digest(namespace + Array("chunk-3".utf8)).bytes
        let made = id(namespace, "chunk-3")

        #expect(made == id(namespace, "chunk-3"))
        #expect(made != id(namespace, "chunk-4"))
        #expect(made != id([UInt8](repeating: 8, count: 16), "chunk-3"))
        #expect(Array(made.uuidString.utf8)[14] == UInt8(ascii: "8"))
        #expect(made.uuid.0 == digest[0])
        #expect(made.uuid.5 == digest[5])
        #expect(made.uuid.6 == digest[6] & 0x0f | 0x80)
        #expect(made.uuid.8 == digest[8] & 0x3f | 0x80)
        #expect(made.uuid.15 == digest[15])
    }
}
