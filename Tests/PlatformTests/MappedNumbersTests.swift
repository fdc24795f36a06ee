// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import TestKit
import Testing

/// Numbers in files and in shared memory.
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

    @Test func `copies of numbers are values, whatever is changed in which`() {
        var random = SeededGenerator(seed: 5)
        let first = (0..<20_000).map { _ in UInt32(truncatingIfNeeded: random.next() as UInt64) }
        let lists = ForkedNumbers.lists([first, [], [7]])
        #expect(lists.map(Array.init) == [first, [], [7]])
        var (numbers, arrays) = ([lists[0]], [first])
        for _ in 0..<400 {
            let place = Int.random(in: 0..<numbers.count, using: &random)
            if numbers.count < 12, Bool.random(using: &random) {
                numbers.append(numbers[place])
                arrays.append(arrays[place])
            }
            for _ in 0..<Int.random(in: 0...9, using: &random) {
                let index = Int.random(in: 0..<first.count, using: &random)
                let value = UInt32.random(in: 0...3, using: &random)
                numbers[place][index] = value
                arrays[place][index] = value
            }
            if numbers.count > 8 {
                numbers.remove(at: place)
                arrays.remove(at: place)
            }
        }
        for (number, array) in zip(numbers, arrays) { #expect(Array(number) == array) }
        #expect(Array(lists[0]) == first)
        #expect(lists[0].ownByteCount == 0)
    }

    @Test func `a copy has the pages of its own in which it differs`() {
        let list = ForkedNumbers.lists([[UInt32](repeating: 1, count: 1 << 20)])[0]
        var changed = list
        changed[5] = 2
        changed[6] = 3
        changed[900_000] = 4
        let page = changed.ownByteCount / 2
        #expect(page > 0 && page < 1 << 20)
        #expect(changed != list)
        var undone = changed
        undone[900_000] = 1
        #expect(undone.ownByteCount == 2 * page)
        var later = undone
        // What is again as it was takes no page in the next copy.
        later[5] = 1
        later[6] = 1
        #expect(later == list)
        #expect(later.ownByteCount == page)
        #expect(changed[900_000] == 4 && undone[900_000] == 1 && undone[5] == 2)
    }
}
