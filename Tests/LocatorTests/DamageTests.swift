// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import TestKit
import Testing

@testable import Locator

@Suite struct DamageTests {
    private static let whole: (id: ContentID, bytes: [UInt8])? = {
        guard let (built, path) = try? Scratch.build(Tiny.all),
            let data = try? Data(contentsOf: URL(filePath: path))
        else { return nil }
        return (built.id, Array(data))
    }()

    private func bytes() throws -> (id: ContentID, bytes: [UInt8]) { try #require(Self.whole) }

    private func open(_ bytes: [UInt8], _ id: ContentID, at path: String) throws -> Locator {
        try Data(bytes).write(to: URL(filePath: path))
        return try Locator(path: path, id: id)
    }

    private func isCorrupt(_ error: any Error, _ path: String) -> Bool {
        guard let failure = error as? Failure else { return false }
        return [.corrupt, .newerVersion].contains(failure.code) && failure.message.contains(path)
    }

    @Test func `every flipped bit is found, and the file named`() throws {
        let (id, whole) = try bytes()
        let path = Scratch.directory("flip") + "/locator.bin"
        for offset in whole.indices {
            var damaged = whole
            damaged[offset] ^= 1 << UInt8(offset % 8)
            #expect(throws: (any Error).self, "byte \(offset)") {
                try open(damaged, id, at: path)
            }
        }
        #expect(try open(whole, id, at: path).placeCount == 12)
    }

    @Test func `every cut is found`() throws {
        let (id, whole) = try bytes()
        let path = Scratch.directory("cut") + "/locator.bin"
        for count in stride(from: 0, to: whole.count, by: 7) {
            #expect {
                try open(Array(whole[..<count]), id, at: path)
            } throws: {
                isCorrupt($0, path)
            }
        }
        #expect {
            try open(whole + [0], id, at: path)
        } throws: {
            isCorrupt($0, path)
        }
    }

    @Test func `a newer version is told from damage`() throws {
        let (id, whole) = try bytes()
        var newer = whole
        newer[8] = 2
        #expect {
            try open(newer, id, at: Scratch.directory("newer") + "/locator.bin")
        } throws: { error in
            (error as? Failure)?.code == .newerVersion
        }
    }

    @Test func `a missing file is not found`() throws {
        let (id, _) = try bytes()
        #expect {
            try Locator(path: "/nowhere/locator.bin", id: id)
        } throws: { error in
            (error as? Failure)?.code == .notFound
        }
    }

    /// Checksums stop accidents; these files have right checksums and wrong contents.
    @Test func `forged contents are refused or answer something, never trap`() throws {
        let (id, whole) = try bytes()
        let path = Scratch.directory("forged") + "/locator.bin"
        var random = SeededGenerator(seed: 31)
        print("seed \(random.seed)")
        var refused = 0
        var answered = 0
        for _ in 0..<1_500 {
            var forged = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let offset = Int.random(in: 64..<whole.count, using: &random)
                forged[offset] = UInt8.random(in: 0...255, using: &random)
            }
            seal(&forged)
            guard let locator = try? open(forged, id, at: path) else {
                refused += 1
                continue
            }
            answered += 1
            for text in ["Paris", "paris, texas", "Sant Luis", "p", "Münchn", "pa"] {
                _ = try? locator.geocode(GeocodeRequest(singleLine: text))
                _ = try? locator.suggest(SuggestRequest(text: text))
            }
            _ = try? locator.reverse(
                ReverseGeocodeRequest(
                    location: Coordinate(x: 2, y: 48), maxDistanceMeters: 1e6))
        }

        #expect(refused > 100)
        #expect(answered > 100)
    }

    /// Computes both checksums anew.
    private func seal(_ bytes: inout [UInt8]) {
        func put(_ value: UInt32, at offset: Int) {
            for byte in 0..<4 { bytes[offset + byte] = UInt8(value >> UInt32(8 * byte) & 0xFF) }
        }
        var crc = CRC32C()
        crc.update(Array(bytes[LocatorLayout.fixedHeaderByteCount...]))
        put(crc.value, at: 24)
        crc = CRC32C()
        crc.update(Array(bytes[..<60]))
        put(crc.value, at: 60)
    }
}
