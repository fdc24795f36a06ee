// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import TestKit
import Testing

/// Numbers in files.
@Suite struct MappedNumbersTests {
    @Test(arguments: 1...4)
    func `numbers of each width are read as they were written`(width: Int) throws {
        let largest = UInt32.max >> UInt32(8 * (4 - width))
        var random = SeededGenerator(seed: UInt64(width))
        let numbers = [0, largest, largest - 1] + (0..<500).map { _ in random.next() & largest }
        var bytes = ByteWriter()
        bytes.append(UInt8(9))
        for number in numbers { bytes.append(number, width: width) }
        let end = bytes.byteCount
        bytes.append([UInt8](repeating: 0xFF, count: 4 - width))
        let file = try MappedFile(copying: bytes.bytes, path: "numbers")
        let read = try #require(MappedNumbers(file, 1..<end, width: width))
        #expect(Array(read) == numbers)
        #expect(read.largest == largest)
        // One byte more would let the last read leave the file.
        if width < 4 { #expect(MappedNumbers(file, 1..<end + width, width: width) == nil) }
        #expect(MappedNumbers(file, 0..<end, width: width)?.count == (width == 1 ? end : nil))
        #expect(MappedNumbers(file, 1..<end, width: 5) == nil)
    }

    @Test func `the width leaves room for a missing number`() {
        #expect(MappedNumbers.width([]) == 1)
        #expect(MappedNumbers.width([0, 254]) == 1)
        #expect(MappedNumbers.width([255]) == 2)
        #expect(MappedNumbers.width([65_534]) == 2)
        #expect(MappedNumbers.width([65_535]) == 3)
        #expect(MappedNumbers.width([16_777_214]) == 3)
        #expect(MappedNumbers.width([16_777_215]) == 4)
        #expect(MappedNumbers.width([.max]) == 4)
    }
}
