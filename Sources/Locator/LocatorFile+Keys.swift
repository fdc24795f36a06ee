// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension LocatorFile {
    /// How a stored text stands to a wanted one, byte by byte.
    private enum Order { case before, beginsWith, equal, after }

    @inline(__always)
    private func compare(
        _ stored: Range<Int>, _ wanted: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> Order {
        var at = stored.lowerBound
        for byte in wanted {
            guard at < stored.upperBound else { return .before }
            let other = bytes.byte(at: at)
            if other != byte { return other < byte ? .before : .after }
            at += 1
        }
        return at == stored.upperBound ? .equal : .beginsWith
    }

    /// The key of a folded name; nil when no place has it.
    func key(_ name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        let start = firstKey(from: name, bytes)
        guard start < keyCount, compare(keyText(start, bytes), name, bytes) == .equal else {
            return nil
        }
        return start
    }

    /// The keys that begin with the given bytes, the exact one included.
    func keys(beginningWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        let start = firstKey(from: prefix, bytes)
        var range = start..<keyCount
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if compare(keyText(middle, bytes), prefix, bytes) == .after {
                range = range.lowerBound..<middle
            } else {
                range = middle + 1..<range.upperBound
            }
        }
        return start..<range.lowerBound
    }

    /// The first key that is not before the name.
    func firstKey(from name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int {
        var range = 0..<keyCount
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if compare(keyText(middle, bytes), name, bytes) == .before {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The key at a place in the list sorted from the ends.
    func key(fromEnd number: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: offset(.endings, number)))
    }

    /// The places in the list sorted from the ends whose keys end with the given bytes.
    func keys(endingWith ending: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        func first(where isPast: (Order) -> Bool) -> Int {
            var range = 0..<keyCount
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let text = keyText(key(fromEnd: middle, bytes), bytes)
                if isPast(compareFromEnd(text, ending, bytes)) {
                    range = range.lowerBound..<middle
                } else {
                    range = middle + 1..<range.upperBound
                }
            }
            return range.lowerBound
        }
        return first { $0 != .before }..<first { $0 == .after }
    }

    private func compareFromEnd(
        _ stored: Range<Int>, _ wanted: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> Order {
        var at = stored.upperBound
        for byte in wanted.reversed() {
            guard at > stored.lowerBound else { return .before }
            at -= 1
            let other = bytes.byte(at: at)
            if other != byte { return other < byte ? .before : .after }
        }
        return at == stored.lowerBound ? .equal : .beginsWith
    }

    /// Whether a key begins with the given bytes.
    func key(_ key: Int, beginsWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        switch compare(keyText(key, bytes), prefix, bytes) {
        case .equal, .beginsWith: true
        case .before, .after: false
        }
    }

    /// The number of a word of names of several words; nil when there is none.
    func word(_ word: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        var range = 0..<wordCount
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            switch compare(wordText(middle, bytes), word, bytes) {
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
            if compare(start..<end, word, bytes) == .equal { return true }
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
