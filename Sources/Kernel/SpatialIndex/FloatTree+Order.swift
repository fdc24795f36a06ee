// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension FloatTree {
    /// An order of a tree's items in which few of its blocks meet a small rectangle; deterministic.
    ///
    /// The items of a block are split between its children in halves, as nearly as full children
    /// allow, across the longer side of the extent of their centres: Kim and Kwon's overlap
    /// minimizing top-down bulk loading (ADMA, 2003), two ways at a time. Takes n log n for any
    /// distribution, and 25 bytes an item beside the result.
    static func order(of boxes: [FloatBox]) -> [UInt32] {
        guard boxes.count > width else { return (0..<UInt32(boxes.count)).map { $0 } }
        var halves = Halves(boxes)
        var capacity = width
        while capacity * width < boxes.count { capacity *= width }
        halves.part(0..<boxes.count, between: capacity)
        return halves.order
    }

    /// Items parted in halves again and again.
    private struct Halves {
        private let x: [Float]
        private let y: [Float]
        /// The items of each part, by x and by y.
        private var byX: [UInt32]
        private var byY: [UInt32]
        private var isLow: [Bool]
        private var spare: [UInt32] = []

        init(_ boxes: [FloatBox]) {
            x = boxes.map { $0.minX / 2 + $0.maxX / 2 }
            y = boxes.map { $0.minY / 2 + $0.maxY / 2 }
            byX = SpatialOrder.sorted(x.map(\.orderedBits))
            byY = SpatialOrder.sorted(y.map(\.orderedBits))
            isLow = [Bool](repeating: false, count: boxes.count)
        }

        var order: [UInt32] { byX }

        /// Puts the items of a range in order for children that take `capacity` items each.
        mutating func part(_ range: Range<Int>, between capacity: Int) {
            if range.count <= capacity {
                if capacity > FloatTree.width {
                    part(range, between: capacity / FloatTree.width)
                }
                return
            }
            let children = (range.count + capacity - 1) / capacity
            let middle = range.lowerBound + children / 2 * capacity
            if span(x, byX, range) >= span(y, byY, range) {
                mark(byX, range, middle)
                Self.split(&byY, range, isLow, &spare)
            } else {
                mark(byY, range, middle)
                Self.split(&byX, range, isLow, &spare)
            }
            part(range.lowerBound..<middle, between: capacity)
            part(middle..<range.upperBound, between: capacity)
        }

        /// The range of values of some sorted items.
        private func span(_ values: [Float], _ items: [UInt32], _ range: Range<Int>) -> Float {
            values[Int(items[range.upperBound - 1])] - values[Int(items[range.lowerBound])]
        }

        private mutating func mark(_ items: [UInt32], _ range: Range<Int>, _ middle: Int) {
            for place in range { isLow[Int(items[place])] = place < middle }
        }

        /// Those marked first, in the order they have among themselves.
        private static func split(
            _ items: inout [UInt32], _ range: Range<Int>, _ isLow: [Bool], _ spare: inout [UInt32]
        ) {
            spare.removeAll(keepingCapacity: true)
            var end = range.lowerBound
            for place in range {
                let item = items[place]
                if isLow[Int(item)] {
                    items[end] = item
                    end += 1
                } else {
                    spare.append(item)
                }
            }
            for item in spare {
                items[end] = item
                end += 1
            }
        }
    }
}

extension Float {
    /// Bits that are ordered as the numbers are.
    fileprivate var orderedBits: UInt32 {
        bitPattern ^ (bitPattern >> 31 == 1 ? .max : 0x8000_0000)
    }
}
