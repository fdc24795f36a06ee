// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Places of a picture's labels, indexed by squares of 64 pixels.
struct TakenPlaces {
    private let columns: Int
    private let rows: Int
    private let bounds: Envelope
    private var boxes: [LabelBox] = []
    /// Indices of boxes, by square.
    private var squares: [[Int]]
    private var names: [String: [Coordinate]] = [:]

    private static let side = 64.0

    init(width: Int, height: Int) {
        columns = Int(Double(width) / Self.side) + 1
        rows = Int(Double(height) / Self.side) + 1
        bounds = Envelope(minX: 0, minY: 0, maxX: Double(width), maxY: Double(height))
        squares = Array(repeating: [], count: columns * rows)
    }

    /// Whether a label fits there: within the picture, and without overlap.
    func isFree(_ box: LabelBox) -> Bool {
        let own = box.bounds
        guard bounds.minX <= own.minX, own.maxX <= bounds.maxX, bounds.minY <= own.minY,
            own.maxY <= bounds.maxY
        else { return false }
        return !numbers(own).contains { square in
            squares[square].contains { boxes[$0].overlaps(box) }
        }
    }

    /// Whether a label of that name is within a distance.
    func has(_ name: String, near place: Coordinate, within distance: Double) -> Bool {
        names[name]?.contains { other in
            let (dx, dy) = (other.x - place.x, other.y - place.y)
            return dx * dx + dy * dy < distance * distance
        } ?? false
    }

    /// Occupies a place, for a label of that name or for a marker.
    mutating func take(_ box: LabelBox, named name: String? = nil) {
        boxes.append(box)
        for square in numbers(box.bounds) { squares[square].append(boxes.count - 1) }
        if let name { names[name, default: []].append(box.center) }
    }

    private func numbers(_ box: Envelope) -> [Int] {
        func range(_ low: Double, _ high: Double, _ count: Int) -> ClosedRange<Int> {
            let first = max(0, min(count - 1, Int((low / Self.side).rounded(.down))))
            return first...max(first, min(count - 1, Int((high / Self.side).rounded(.down))))
        }
        let across = range(box.minX, box.maxX, columns)
        return range(box.minY, box.maxY, rows).flatMap { row in across.map { row * columns + $0 } }
    }
}
