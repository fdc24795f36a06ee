// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Codecs
import FoundationEssentials
import Platform
import TestKit
import Testing

@Suite struct HeaderTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/v1")

    private static let metadata = Data(#"{"map":"World","operation":"identify"}"#.utf8)
    private static let payload = Data("what is here?".utf8)

    private static func sample() throws -> Message {
        func id(_ text: String) throws -> UUID { try #require(UUID(uuidString: text)) }
        return Message(
            header: MessageHeader(
                kind: .task, pool: 1, contentType: 1, flags: 0x80,
                messageID: try id("01890A5D-AC96-774B-BCCE-B302099A8057"),
                correlation: try id("00112233-4455-6677-8899-AABBCCDDEEFF"),
                sender: try id("0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"),
                sequence: 0x0102_0304_0506_0708, previousInCategory: -2, epoch: 0xA1B2_C3D4,
                ttlMilliseconds: 10_000, readsGroups: false),
            metadata: metadata, payload: payload)
    }

    private func decode(_ header: [UInt8], _ metadata: Data, _ payload: Data) -> FrameFault? {
        let header = Data(header)
        do throws(FrameFault) {
            _ = try HeaderCoding.decode(header: header.bytes, metadata: metadata, payload: payload)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the header of version 1 has the bytes it was released with`() throws {
        let golden = try Data(contentsOf: Self.golden.appending(path: "header.bin"))

        #expect(HeaderCoding.encode(try Self.sample()) == Array(golden))
        #expect(
            try HeaderCoding.decode(
                header: golden.bytes, metadata: Self.metadata, payload: Self.payload)
                == (try Self.sample()))
    }

    @Test func `byte 11 says that groups are read`() throws {
        var reading = try Self.sample()
        reading.header.readsGroups = true
        let bytes = Data(HeaderCoding.encode(reading))

        #expect(bytes[11] == 2)
        #expect(
            try HeaderCoding.decode(
                header: bytes.bytes, metadata: Self.metadata, payload: Self.payload) == reading)
    }

    @Test func `each field of a header lies where the protocol page says`() throws {
        let golden = try Data(contentsOf: Self.golden.appending(path: "header.bin"))
        let bytes = golden.bytes
        func at<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value? {
            bytes.littleEndian(at: offset)
        }

        #expect(golden.count == 96)
        #expect(Array(golden[0..<4]) == Array("CRN1".utf8))
        #expect(golden[4] == 1)
        #expect(golden[5] == 6)
        #expect(at(6) == UInt16(96))
        #expect(golden[8] == 1)
        #expect(golden[9] == 0x80)
        #expect(golden[10] == 1)
        #expect(golden[11] == 0)
        #expect(at(12) == UInt32(0xA1B2_C3D4))
        #expect(Hexadecimal.encode(Array(golden[16..<32])) == "01890a5dac96774bbcceb302099a8057")
        #expect(Hexadecimal.encode(Array(golden[32..<48])) == "00112233445566778899aabbccddeeff")
        #expect(Hexadecimal.encode(Array(golden[48..<64])) == "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
        #expect(at(64) == Int64(0x0102_0304_0506_0708))
        #expect(at(72) == Int64(-2))
        #expect(at(80) == UInt32(10_000))
        #expect(at(84) == UInt32(Self.metadata.count))
        #expect(at(88) == UInt32(Self.payload.count))
        let checked = Array(golden[0..<92]) + Array(Self.metadata) + Array(Self.payload)
        #expect(at(92) == CRC32C.checksumByTable(Data(checked).bytes))
    }

    @Test func `every changed bit of any frame is noticed`() throws {
        let message = try Self.sample()
        let header = HeaderCoding.encode(message)
        for bit in 0..<header.count * 8 {
            var changed = header
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(decode(changed, message.metadata, message.payload) != nil, "bit \(bit)")
        }
        for bit in 0..<message.payload.count * 8 {
            var changed = message.payload
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(decode(header, message.metadata, changed) == .checksum)
        }
        for bit in 0..<message.metadata.count * 8 {
            var changed = message.metadata
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(decode(header, changed, message.payload) == .checksum)
        }
    }

    @Test func `each fault of a header has its own name`() throws {
        let message = try Self.sample()
        let header = HeaderCoding.encode(message)
        func changed(_ offset: Int, to byte: UInt8) -> [UInt8] {
            var bytes = header
            bytes[offset] = byte
            return bytes
        }
        let (metadata, payload) = (message.metadata, message.payload)

        #expect(decode(Array(header.dropLast()), metadata, payload) == .headerLength)
        #expect(decode([], metadata, payload) == .headerLength)
        #expect(decode(header + [0], metadata, payload) == .headerLength)
        #expect(
            decode([UInt8](repeating: 0, count: 1025), metadata, payload) == .headerLength)
        #expect(decode(changed(3, to: UInt8(ascii: "2")), metadata, payload) == .magic)
        #expect(decode(changed(4, to: 2), metadata, payload) == .version)
        #expect(decode(header, metadata, payload + Data([0])) == .length)
        #expect(decode(header, Data(), payload) == .length)
        #expect(decode(changed(20, to: 0), metadata, payload) == .checksum)
        var unknown = message
        unknown.header.kind = MessageKind(rawValue: 200)
        #expect(decode(HeaderCoding.encode(unknown), metadata, payload) == .kind)
    }

    @Test func `a longer header of a later build is read and checked`() throws {
        let message = try Self.sample()
        var header = HeaderCoding.encode(message)
        header[6] = 104
        header += [1, 2, 3, 4, 5, 6, 7, 8]
        let checked =
            Array(header[..<92]) + Array(header[96...]) + Array(message.metadata)
            + Array(message.payload)
        let checksum = CRC32C.checksum(Data(checked).bytes)
        for index in 0..<4 {
            header[92 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index))
        }

        #expect(decode(header, message.metadata, message.payload) == nil)
        header[100] ^= 1
        #expect(decode(header, message.metadata, message.payload) == .checksum)
    }

    @Test func `any message comes back as it was`() throws {
        var random = SeededGenerator(seed: 0xC41)
        for _ in 0..<500 {
            func bytes(_ limit: Int) -> Data {
                Data(
                    (0..<Int.random(in: 0...limit, using: &random)).map { _ in
                        UInt8.random(in: .min ... .max, using: &random)
                    })
            }
            func id() -> UUID { UUID(words: (random.next(), random.next())) }
            let message = Message(
                header: MessageHeader(
                    kind: MessageKind(rawValue: .random(in: 1...19, using: &random)),
                    pool: .random(in: .min ... .max, using: &random),
                    contentType: .random(in: .min ... .max, using: &random),
                    flags: .random(in: .min ... .max, using: &random), messageID: id(),
                    correlation: id(), sender: id(),
                    sequence: .random(in: .min ... .max, using: &random),
                    previousInCategory: .random(in: .min ... .max, using: &random),
                    epoch: .random(in: .min ... .max, using: &random),
                    ttlMilliseconds: .random(in: .min ... .max, using: &random)),
                metadata: bytes(200), payload: bytes(2000))
            let header = Data(HeaderCoding.encode(message))

            #expect(
                try HeaderCoding.decode(
                    header: header.bytes, metadata: message.metadata, payload: message.payload)
                    == message, "seed \(random.seed)")
        }
    }

    @Test func `random bytes are never taken for a message`() {
        var random = SeededGenerator(seed: 0xBAD)
        let magic = Array("CRN1".utf8)
        var taken: [Int] = []
        for round in 0..<20_000 {
            var header = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            // Half of them get past the first checks.
            if round.isMultiple(of: 2), header.count >= 96 {
                header.replaceSubrange(0..<8, with: magic + [1, 1, UInt8(header.count), 0])
                header.replaceSubrange(84..<92, with: [UInt8](repeating: 0, count: 8))
            }
            if decode(header, Data(), Data()) == nil { taken.append(round) }
        }
        #expect(taken.isEmpty, "seed \(random.seed)")
    }
}
