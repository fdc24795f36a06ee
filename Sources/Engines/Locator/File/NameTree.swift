// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The path-compressed tree over sorted folded names, in preorder, before its encoding.
struct NameTree {
    /// One node: the bytes of `firstKey` up to `depthEnd` are the common prefix of all keys below.
    struct Node {
        var firstKey: UInt32
        /// The number of the next node outside this one's subtree.
        var skip: UInt32
        /// Length of the prefix in bytes, at a scalar boundary.
        var depthEnd: UInt32
    }

    private(set) var nodes: [Node] = []

    private let text: [UInt8]
    private let names: [Range<Int>]

    /// Builds the tree over ascending folded names, each a range of `text`.
    init(text: [UInt8], names: [Range<Int>]) {
        self.text = text
        self.names = names
        addChildren(of: 0..<names.count, depth: 0)
    }

    /// The numbers of the names sorted by reversed text.
    var endings: [UInt32] {
        let heads = names.map { name in
            text[name].suffix(8).reversed().enumerated().reduce(UInt64(0)) {
                $0 | UInt64($1.element) << UInt64(56 - 8 * $1.offset)
            }
        }
        return (0..<UInt32(names.count)).sorted { left, right in
            let (first, second) = (heads[Int(left)], heads[Int(right)])
            if first != second { return first < second }
            return text[names[Int(left)]].reversed()
                .lexicographicallyPrecedes(text[names[Int(right)]].reversed())
        }
    }

    /// The encoded nodes and the list sorted by reversed text.
    var sections: (tree: [UInt8], endings: [UInt8]) {
        var tree = ByteWriter(capacity: 12 * nodes.count)
        for node in nodes {
            tree.append(node.firstKey)
            tree.append(node.skip)
            tree.append(node.depthEnd)
        }
        var ends = ByteWriter(capacity: 4 * names.count)
        for number in endings { ends.append(number) }
        return (tree.bytes, ends.bytes)
    }

    /// Adds a node per next scalar of keys with a common prefix of `depth` bytes.
    private mutating func addChildren(of keys: Range<Int>, depth: Int) {
        var start = keys.lowerBound
        while start < keys.upperBound {
            let name = names[start]
            guard name.count > depth else {
                start += 1
                continue
            }
            let width = Self.scalarWidth(text[name.lowerBound + depth])
            var end = start + 1
            while end < keys.upperBound,
                commonPrefix(start, end, from: depth, limit: width) == width
            { end += 1 }
            var common =
                depth
                + commonPrefix(start, end - 1, from: depth, limit: name.count - depth)
            while common < name.count,
                text[name.lowerBound + common] & 0xC0 == 0x80
            { common -= 1 }
            let number = nodes.count
            nodes.append(
                Node(firstKey: UInt32(start), skip: 0, depthEnd: UInt32(common)))
            addChildren(of: start..<end, depth: common)
            nodes[number].skip = UInt32(nodes.count)
            start = end
        }
    }

    private func commonPrefix(
        _ left: Int, _ right: Int, from depth: Int, limit: Int
    ) -> Int {
        let (first, second) = (names[left], names[right])
        let end = min(limit, first.count - depth, second.count - depth)
        var count = 0
        while count < end,
            text[first.lowerBound + depth + count]
                == text[second.lowerBound + depth + count]
        { count += 1 }
        return count
    }

    private static func scalarWidth(_ lead: UInt8) -> Int {
        lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    }
}

/// The words of names of several words, with the keys that contain them, heaviest first.
struct WordTable {
    /// A word: its byte range in the key text, and its keys.
    struct Word {
        var text: Range<Int>
        var keys: [UInt32]
    }

    private(set) var words: [Word] = []

    init(_ table: NameTable) {
        var found: [[UInt8]: Int] = [:]
        for (number, key) in table.keys.enumerated() {
            let pieces = table.keyText[key.text].split(separator: UInt8(ascii: " "))
            guard pieces.count > 1 else { continue }
            for piece in pieces {
                let bytes = Array(piece)
                if let known = found[bytes] {
                    if words[known].keys.last != UInt32(number) {
                        words[known].keys.append(UInt32(number))
                    }
                } else {
                    found[bytes] = words.count
                    words.append(
                        Word(text: piece.startIndex..<piece.endIndex, keys: [UInt32(number)]))
                }
            }
        }
        words.sort {
            table.keyText[$0.text].lexicographicallyPrecedes(table.keyText[$1.text])
        }
        for index in words.indices {
            words[index].keys.sort { left, right in
                let weights = (table.keys[Int(left)].weight, table.keys[Int(right)].weight)
                return weights.0 != weights.1 ? weights.0 > weights.1 : left < right
            }
        }
    }
}

/// Places as an implicit balanced k-d tree: the middle of a range is its root, the halves its
/// subtrees; levels are split by x, y and z in turn.
struct NearestTree {
    private(set) var entries: [(place: UInt32, vector: UnitVector)] = []

    init(_ places: [DraftPlace], of kind: PlaceKind) {
        for (index, place) in places.enumerated() where place.kind == kind {
            entries.append((UInt32(index), UnitVector(place.location)))
        }
        arrange(0..<entries.count, axis: 0)
    }

    private mutating func arrange(_ range: Range<Int>, axis: Int) {
        guard range.count > 1 else { return }
        entries[range].sort { left, right in
            let (a, b) = (left.vector.ordinate(axis), right.vector.ordinate(axis))
            return a != b ? a < b : left.place < right.place
        }
        let middle = range.lowerBound + range.count / 2
        arrange(range.lowerBound..<middle, axis: (axis + 1) % 3)
        arrange(middle + 1..<range.upperBound, axis: (axis + 1) % 3)
    }
}

extension UnitVector {
    /// x, y or z by number 0, 1, 2.
    func ordinate(_ axis: Int) -> Double { axis == 0 ? x : axis == 1 ? y : z }
}
