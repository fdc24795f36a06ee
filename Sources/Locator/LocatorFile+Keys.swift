// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension LocatorFile {
    /// The key of a folded name; nil when no place has it.
    func key(_ name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? { names.number(of: name, bytes) }

    /// The keys that begin with the given bytes, the exact one included.
    func keys(beginningWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        names.range(beginningWith: prefix, bytes)
    }

    /// The first key that is not before the name.
    func firstKey(from name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int {
        names.first(from: name, bytes)
    }

    /// Whether a key begins with the given bytes.
    func key(_ key: Int, beginsWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        names.name(key, beginsWith: prefix, bytes)
    }

    /// The number of a word of names of several words; nil when there is none.
    func word(_ word: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        var range = 0..<wordCount
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            switch StoredNames.compare(wordText(middle, bytes), word, bytes) {
            case .equal: return middle
            case .before: range = middle + 1..<range.upperBound
            case .beginsWith, .after: range = range.lowerBound..<middle
            }
        }
        return nil
    }

    /// Whether one of a key's words is the given one.
    func key(_ key: Int, hasWord word: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        let text = keyText(key, bytes)
        var start = text.lowerBound
        while start < text.upperBound {
            var end = start
            while end < text.upperBound, bytes.byte(at: end) != UInt8(ascii: " ") { end += 1 }
            if StoredNames.compare(start..<end, word, bytes) == .equal { return true }
            start = end + 1
        }
        return false
    }

    /// The folded bytes of a key.
    func keyBytes(_ key: Int, _ bytes: RawSpan) -> [UInt8] { bytes.copy(keyText(key, bytes)) }
}

/// The keys of a range, heaviest first, found by a best-first walk over the levels of weights; each
/// step costs a few comparisons, however large the range.
struct HeaviestKeys {
    private let file: LocatorFile
    private let range: Range<Int>
    /// A binary heap, heaviest first.
    private var heap: [Block] = []

    private struct Block {
        var weight: UInt16
        var level: Int
        var number: Int

        func precedes(_ other: Block) -> Bool {
            if weight != other.weight { return weight > other.weight }
            if level != other.level { return level > other.level }
            return number < other.number
        }
    }

    init(_ range: Range<Int>, of file: LocatorFile, _ bytes: RawSpan) {
        self.file = file
        self.range = range
        guard !range.isEmpty else { return }
        push(level: file.weightLevels.count - 1, numbers: 0..<1, bytes)
    }

    /// The next key and its weight; nil when the range is exhausted.
    mutating func next(_ bytes: RawSpan) -> (key: Int, weight: UInt16)? {
        while let block = pop() {
            if block.level == 0 { return (block.number, block.weight) }
            let start = block.number * LocatorLayout.weightFanout
            push(
                level: block.level - 1, numbers: start..<start + LocatorLayout.weightFanout, bytes)
        }
        return nil
    }

    private mutating func push(level: Int, numbers: Range<Int>, _ bytes: RawSpan) {
        var width = 1
        for _ in 0..<level { width *= LocatorLayout.weightFanout }
        for number in numbers {
            let covered = number * width..<(number + 1) * width
            guard covered.lowerBound < range.upperBound else { break }
            guard covered.overlaps(range) else { continue }
            let at = file.offset(.weights, file.weightLevels[level] + number)
            heap.append(Block(weight: bytes.uint16(at: at), level: level, number: number))
            siftUp()
        }
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() -> Block? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].precedes(heap[best]) { best = child }
            guard best != parent else { return first }
            heap.swapAt(best, parent)
            parent = best
        }
    }
}
