// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension FloatTree {
    /// The bytes of a tree over items in the order they are given, each with its record: two
    /// numbers of 4 bytes and one of 8.
    func pack(_ items: [FloatBox], _ records: [(UInt32, UInt32, UInt64)]) -> [UInt8] {
        var numbers = [UInt32](repeating: 0, count: byteCount / 4)
        func write(_ box: FloatBox, at place: Int, child: Int) {
            let first = place / 4 + child
            numbers[first] = box.minX.bitPattern
            numbers[first + 16] = box.minY.bitPattern
            numbers[first + 32] = box.maxX.bitPattern
            numbers[first + 48] = box.maxY.bitPattern
        }
        var boxes = items
        for level in 0..<levelCount {
            let count = counts[level]
            var above = [FloatBox](repeating: .nowhere, count: count)
            for index in 0..<count * Self.width {
                let box = index < boxes.count ? boxes[index] : .nowhere
                write(box, at: place(index / Self.width, level), child: index % Self.width)
                above[index / Self.width] = above[index / Self.width].union(box)
            }
            boxes = above
        }
        for (index, record) in records.enumerated() {
            let first = self.record(index) / 4
            numbers[first] = record.0
            numbers[first + 1] = record.1
            numbers[first + 2] = UInt32(truncatingIfNeeded: record.2)
            numbers[first + 3] = UInt32(truncatingIfNeeded: record.2 >> 32)
        }
        return unsafe numbers.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// The offset of an item's record in bytes from the tree's start.
    func record(_ item: Int) -> Int {
        place(item / Self.width, 0) + Self.blockByteCount
            + Self.recordByteCount * (item % Self.width)
    }

    /// Throws unless every block's rectangle holds those of its children, up to the root, and the
    /// slots without an item are empty.
    func check(_ tree: Memory, at offset: Int) throws(IndexDamage) {
        for level in 0..<levelCount {
            for block in 0..<counts[level] {
                let place = offset + self.place(block, level)
                let holder =
                    level + 1 < levelCount
                    ? offset + self.place(block / Self.width, level + 1) : nil
                for child in 0..<Self.width {
                    let inner = Self.box(tree, place, child)
                    if let holder, inner.minX <= inner.maxX {
                        guard Self.box(tree, holder, block % Self.width).contains(inner) else {
                            throw IndexDamage(place + 4 * child, "a rectangle inside its parent's")
                        }
                    }
                    let children = level == 0 ? itemCount : counts[level - 1]
                    guard block * Self.width + child < children || inner == .nowhere else {
                        throw IndexDamage(place + 4 * child, "no rectangle")
                    }
                }
            }
        }
    }

    static func box(_ tree: Memory, _ place: Int, _ child: Int) -> FloatBox {
        FloatBox(
            minX: tree.float(place + 4 * child), minY: tree.float(place + 64 + 4 * child),
            maxX: tree.float(place + 128 + 4 * child), maxY: tree.float(place + 192 + 4 * child))
    }
}
