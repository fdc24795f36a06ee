// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import TestKit
import Testing
import TilePackages

@testable import JobKinds

@Suite struct GatheredTilesTests {
    /// Bytes of files in a folder that are in this process's resident memory, as the kernel counts.
    private func resident(below folder: String) throws -> Int {
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var isOfFolder = false
        var total = 0
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words[0].contains("-") {
                isOfFolder = line.contains(folder)
            } else if isOfFolder, words[0] == "Rss:" {
                total += (Int(words[1]) ?? 0) << 10
            }
        }
        return total
    }

    @Test func `tiles of many blobs come in order, and none of their bytes stay resident`() throws {
        let folder = NSTemporaryDirectory() + "gathered-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = SeededGenerator(seed: 5)
        // More than are open at a time.
        let (blobs, tilesOfBlob, level) = (150, 7, 10)
        var cells = (0..<blobs * tilesOfBlob).map { $0 * 997 }
        cells.shuffle(using: &random)
        // Each tile is its number over and over.
        func bytes(_ cell: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(cell % 251), count: 20_000 + cell % 20_000)
        }
        func tile(_ cell: Int) throws -> TileAddress {
            try #require(TileAddress(level: level, row: cell >> level, column: cell % (1 << level)))
        }
        var total = 0
        for blob in 0..<blobs {
            var data = Data()
            for cell in cells[blob * tilesOfBlob..<(blob + 1) * tilesOfBlob] {
                data += TileBlob.record(try tile(cell), bytes(cell))
            }
            total += data.count
            try data.write(to: URL(filePath: "\(folder)/\(blob)"))
        }

        let tiles = try GatheredTiles((0..<blobs).map { "\(folder)/\($0)" })
        var most = try resident(below: folder)
        var last: UInt64 = 0
        var seen = 0
        try tiles.forEach { tile, found, number in
            let cell = tile.row << level | tile.column
            #expect(found == bytes(cell) && number == seen)
            #expect(seen == 0 || tile.sortKey > last)
            last = tile.sortKey
            seen += 1
            if seen.isMultiple(of: 16) { most = max(most, try resident(below: folder)) }
        }
        #expect(seen == cells.count)
        #expect(most == 0, "\(most) of \(total) bytes are resident")
        // Mapped, they would be.
        let file = try MappedFile(path: folder + "/0")
        _ = file.copy(0..<file.byteCount)
        #expect(try resident(below: folder) >= file.byteCount)
    }
}
