// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform
internal import SpatialIndex

/// The links of a network from near to far.
///
/// One queue of nodes of the tree, by the least distance that something in them may have, and of
/// nearest points that were found: the first link in it is nearer than all that was not looked at
/// (Hjaltason, Samet: Distance Browsing in Spatial Databases, ACM TODS 24, 1999).
struct LinksByDistance {
    private let file: NetworkFile
    private let plane: SnapPlane
    private let usable: UsableNodes?
    private var waiting = MinHeap<Item>()
    private var feet: [(link: Int, foot: SnapPlane.Foot)] = []
    private var given: Set<Int> = []

    private struct Item: Comparable {
        var distance: Double
        /// 1 more than the segment of a nearest point; of a node its level below 0.
        ///
        /// So what is still to be looked at comes before a point at the same distance, and of two
        /// points of a link that of the earlier segment.
        var order: Int
        /// The place of a point in ``feet``, the number of a node.
        var place: Int

        init(_ node: PackedHilbertTree.Node, from distance: Double) {
            self.distance = distance
            order = -node.level
            place = node.number
        }

        init(_ foot: SnapPlane.Foot, place: Int) {
            distance = foot.distance
            order = foot.segment + 1
            self.place = place
        }

        var node: PackedHilbertTree.Node? {
            order <= 0 ? PackedHilbertTree.Node(level: -order, number: place) : nil
        }

        static func < (left: Item, right: Item) -> Bool {
            left.distance == right.distance
                ? left.order < right.order : left.distance < right.distance
        }
    }

    /// All links, or those of usable nodes.
    init(_ file: NetworkFile, from position: Coordinate, of usable: UsableNodes?) {
        self.file = file
        self.usable = usable
        plane = SnapPlane(position)
        waiting.push(Item(file.snapping.tree.root, from: 0))
    }

    /// The next link with its point nearest to the position; nil when none is within a distance in
    /// metres.
    mutating func next(
        within reach: Double, _ bytes: RawSpan
    ) -> (link: Int, foot: SnapPlane.Foot)? {
        while let item = waiting.first, item.distance <= reach {
            waiting.removeFirst()
            if let node = item.node {
                open(node, bytes)
            } else if given.insert(feet[item.place].link).inserted {
                return feet[item.place]
            }
        }
        return nil
    }

    private mutating func open(_ node: PackedHilbertTree.Node, _ bytes: RawSpan) {
        let (index, plane, usable) = (file.snapping.tree, plane, usable)
        let tree = bytes.extracting(file.sections[NetworkLayout.Section.tree.rawValue])
        if let piece = index.offset(of: node, in: tree) {
            let (link, start) = SnapIndex.piece(piece)
            let foot = nearest(onPieceOf: link, from: start, bytes)
            waiting.push(Item(foot, place: feet.count))
            feet.append((link, foot))
            return
        }
        index.forEachChild(of: node, in: tree) { child, box in
            if usable?[child] ?? true { waiting.push(Item(child, from: plane.bound(box))) }
        }
    }

    private func nearest(
        onPieceOf link: Int, from start: Int, _ bytes: RawSpan
    ) -> SnapPlane.Foot {
        let points = file.points(ofLink: link, bytes)
        let end = min(start + SnapIndex.segmentsOfPiece, points.count - 1)
        var first = file.point(points.lowerBound + start, bytes)
        var nearest: SnapPlane.Foot?
        for place in start..<end {
            let second = file.point(points.lowerBound + place + 1, bytes)
            let foot = plane.foot(place, first, second)
            if foot.distance < nearest?.distance ?? .infinity { nearest = foot }
            first = second
        }
        // A piece has a segment, as was checked when the file was opened.
        return nearest ?? plane.foot(start, first, first)
    }
}

/// A binary heap, the least element first.
struct MinHeap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, element < elements[(child - 1) / 2] {
            elements[child] = elements[(child - 1) / 2]
            child = (child - 1) / 2
        }
        elements[child] = element
    }

    /// Removes the least element, if there is one.
    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < elements.count else { break }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < last else { break }
            elements[parent] = elements[child]
            parent = child
        }
        elements[parent] = last
    }
}
