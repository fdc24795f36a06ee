// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension LocatorFile {
    /// The key of a folded name; nil when no place has it.
    func key(_ name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? { names.number(of: name, bytes) }

    /// The keys with a prefix, the exact one included.
    func keys(beginningWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Range<Int> {
        names.range(beginningWith: prefix, bytes)
    }

    /// The first key not less than the given name.
    func firstKey(from name: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int {
        names.first(from: name, bytes)
    }

    /// Whether a key has a prefix.
    func key(_ key: Int, beginsWith prefix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Bool {
        names.name(key, beginsWith: prefix, bytes)
    }

    /// The number of a word in names of several words; nil for an unknown one.
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

extension LocatorFile {
    /// Splits of a word that is a name without its spaces, or a name followed by that of a division
    /// or country, each possibly without its spaces; at most eight, excluding the word as it is.
    ///
    /// - Parameter word: Offsets are those of its slice; a word over 80 bytes has no splits.
    func partings(of word: ArraySlice<UInt8>, _ bytes: RawSpan) -> [[Int]] {
        guard word.count <= Self.longestGlued else { return [] }
        var steps = Self.mostGluedSteps
        var result = keys(glued: word, &steps, bytes).filter { !$0.borders.isEmpty }.map(\.borders)
        for border in word.indices.dropFirst(3).dropLast(2) where steps > 0 {
            let areas = keys(glued: word[border...], &steps, bytes).filter {
                postings($0.key, bytes).prefix(64).contains {
                    kind(posting($0, bytes).place, bytes).rawValue <= PlaceKind.subregion.rawValue
                }
            }
            guard let area = areas.first else { continue }
            for name in keys(glued: word[..<border], &steps, bytes) {
                result.append(name.borders + [border] + area.borders)
            }
        }
        return Array(result.prefix(8))
    }

    /// Limit of a word that is split, in bytes.
    private static let longestGlued = 80
    /// Limit of prefix look-ups per word.
    private static let mostGluedSteps = 2_000
    /// Limit of missing spaces in one name.
    private static let mostGluedSpaces = 6

    /// The names that equal a word without spaces, with the positions of the spaces.
    private func keys(
        glued word: ArraySlice<UInt8>, _ steps: inout Int, _ bytes: RawSpan
    ) -> [(key: Int, borders: [Int])] {
        var result: [(key: Int, borders: [Int])] = []
        func search(_ before: [UInt8], _ rest: ArraySlice<UInt8>, _ borders: [Int]) {
            if let key = key((before + rest)[...], bytes) { result.append((key, borders)) }
            guard borders.count < Self.mostGluedSpaces else { return }
            for border in rest.indices.dropFirst() {
                guard steps > 0 else { return }
                steps -= 1
                let beginning = before + rest[..<border] + [UInt8(ascii: " ")]
                // A space sorts before every letter, so the first key not less has the prefix, if
                // any.
                let first = firstKey(from: beginning[...], bytes)
                guard first < keyCount, key(first, beginsWith: beginning.dropLast(), bytes) else {
                    return
                }
                if key(first, beginsWith: beginning[...], bytes) {
                    search(beginning, rest[border...], borders + [border])
                }
            }
        }
        search([], word, [])
        return result
    }
}

/// The keys of a range, heaviest first, by a best-first search over the levels of weights; each
/// step costs a few comparisons, independent of the size of the range.
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

    /// The next key with its weight; nil when the range is exhausted.
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
