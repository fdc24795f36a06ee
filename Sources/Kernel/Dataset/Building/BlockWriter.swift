// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform

/// Writes a new file on a background thread: first the bytes after a certain offset, at last those
/// before it.
///
/// Used from one thread.
final class BlockWriter {
    private struct Block {
        var bytes: [UInt8]
        var place: Int
    }

    private let blocks: BlockingQueue<Block>
    private let writing: BackgroundThread<UInt32>
    private var place: Int

    /// Creates the file, which must not exist; blocks will follow each other from byte `start`.
    init(_ path: String, from start: Int) throws {
        let blocks = BlockingQueue<Block>(capacity: 8)
        self.blocks = blocks
        place = start
        writing = try BackgroundThread("dataset-writer") {
            defer { blocks.close() }
            let file = try OutputFile(creating: path)
            var checksum = CRC32C()
            while let block = blocks.pop() {
                try file.write(block.bytes, at: block.place)
                if block.place >= start { checksum.update(block.bytes) }
            }
            return checksum.value
        }
    }

    /// Adds a block behind the last one; waits when the disk is far behind.
    ///
    /// Throws the error of an earlier one.
    func append(_ bytes: [UInt8]) throws {
        try write(Block(bytes: bytes, place: place))
        place += bytes.count
    }

    /// Writes the front and closes the file; returns the CRC-32C of the blocks.
    func finish(front: [UInt8]) throws -> UInt32 {
        try write(Block(bytes: front, place: 0))
        blocks.close()
        return try writing.value()
    }

    private func write(_ block: Block) throws {
        // The queue is closed early only by a failure, which is thrown here.
        if !blocks.push(block) { _ = try writing.value() }
    }

    deinit { blocks.close() }
}
