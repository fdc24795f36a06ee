// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension FloatTree {
    /// The bytes of a tree over items in the order they are given.
    func pack(_ items: [FloatBox]) -> [UInt8] {
        var numbers = [Float](repeating: 0, count: byteCount / 4)
        func write(_ box: FloatBox, block: Int, child: Int) {
            let place = block * Self.blockByteCount / 4 + child
            numbers[place] = box.minX
            numbers[place + 16] = box.minY
            numbers[place + 32] = box.maxX
            numbers[place + 48] = box.maxY
        }
        for place in 0..<blockCount {
            for child in 0..<Self.width { write(.nowhere, block: place, child: child) }
        }
        var boxes = items
        for start in starts {
            var above: [FloatBox] = []
            above.reserveCapacity(boxes.count / Self.width + 1)
            for (index, box) in boxes.enumerated() {
                write(box, block: start + index / Self.width, child: index % Self.width)
                if index % Self.width == 0 { above.append(box) }
                above[above.count - 1] = above[above.count - 1].union(box)
            }
            boxes = above
        }
        return unsafe numbers.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Throws unless every block's rectangle holds those of its children, up to the root.
    func check(_ tree: Memory, at offset: Int) throws(IndexDamage) {
        for level in starts.indices.dropLast() {
            let count = blocks(level)
            for block in 0..<count {
                let place = offset + (starts[level] + block) * Self.blockByteCount
                let parent =
                    offset
                    + (starts[level + 1] + block / Self.width) * Self.blockByteCount
                let box = Self.box(tree, parent, block % Self.width)
                for child in 0..<Self.width {
                    let inner = Self.box(tree, place, child)
                    guard box.contains(inner) || inner.minX > inner.maxX else {
                        throw IndexDamage(place + 4 * child, "a rectangle inside its parent's")
                    }
                }
            }
        }
    }

    private func blocks(_ level: Int) -> Int {
        (level == 0 ? blockCount : starts[level - 1]) - starts[level]
    }

    static func box(_ tree: Memory, _ place: Int, _ child: Int) -> FloatBox {
        FloatBox(
            minX: tree.float(place + 4 * child), minY: tree.float(place + 64 + 4 * child),
            maxX: tree.float(place + 128 + 4 * child), maxY: tree.float(place + 192 + 4 * child))
    }
}
