// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// A place in a tile's grid: cells from its upper left corner, y downwards.
struct GridPlace: Hashable {
    var x: Int
    var y: Int
}

/// A place inside a tile's buffered square in 32 bits: row, then column.
///
/// Both count cells from the square's upper left corner. Places order by row, then column.
struct PackedPlace: Hashable, Comparable {
    let bits: UInt32

    @inline(__always)
    init(bits: UInt32) { self.bits = bits }

    @inline(__always)
    init(x: Int, y: Int) {
        bits = UInt32(truncatingIfNeeded: y << 16 | x)
    }

    @inline(__always)
    var x: Int { Int(bits & 0xffff) }
    @inline(__always)
    var y: Int { Int(bits >> 16) }

    @inline(__always)
    static func < (first: PackedPlace, second: PackedPlace) -> Bool { first.bits < second.bits }
}

/// The grid of one tile: from metres to places.
struct TileFrame {
    let step: Int
    let stepMeters: Double
    let buffer: Int
    /// The bounds of the buffered square in cells, both ends included.
    let low: Int
    let high: Int
    /// The buffered square in metres, and two steps more: an edge beyond a side of it is beyond
    /// that side of the square after rounding too.
    let reach: Envelope
    /// The least width or height of an area that has a label, in metres.
    let leastLabelledMeters: Double
    private let extent: Int
    private let stepsPerMeter: Double
    private let originX: Int
    private let originY: Int

    init(_ address: TileAddress, _ options: VectorTileOptions) {
        step = options.step(at: address.level)
        buffer = options.buffer
        low = -options.buffer
        high = options.extent + options.buffer
        let steps = TileAddress.count(at: address.level) * options.extent / step
        stepsPerMeter = Double(steps) / (2 * TileAddress.halfWorldMeters)
        stepMeters = options.cellMeters(at: address.level) * Double(step)
        originX = address.column * options.extent
        originY = address.row * options.extent
        extent = options.extent
        // 8 of the 512 pixels of a tile.
        leastLabelledMeters = options.cellMeters(at: address.level) * Double(options.extent) / 64
        reach = address.extent.expanded(
            by: options.cellMeters(at: address.level) * Double(options.buffer) + 2 * stepMeters)
    }

    /// The nearest place of the level's grid; the one further right, or down, of two.
    ///
    /// Beyond 2^40 steps from the map's corner, the place there.
    @inline(__always)
    func place(of coordinate: Coordinate) -> GridPlace {
        GridPlace(
            x: Self.rounded((coordinate.x + TileAddress.halfWorldMeters) * stepsPerMeter) * step
                - originX,
            y: Self.rounded((TileAddress.halfWorldMeters - coordinate.y) * stepsPerMeter) * step
                - originY)
    }

    /// Rounds to within 2^-12 of exact; cutting is one instruction where rounding down is a call.
    @inline(__always)
    private static func rounded(_ number: Double) -> Int {
        let bounded = min(max(number, -0x1p40), 0x1p40)
        return Int(bounded + (0x1p40 + 0.5)) - 0x100_0000_0000
    }

    @inline(__always)
    func contains(_ place: GridPlace) -> Bool {
        low <= place.x && place.x <= high && low <= place.y && place.y <= high
    }

    /// Whether the place is in this tile and not in a neighbour.
    func isOwn(_ place: GridPlace) -> Bool {
        0..<extent ~= place.x && 0..<extent ~= place.y
    }

    @inline(__always)
    func packed(_ place: GridPlace) -> PackedPlace {
        PackedPlace(x: place.x + buffer, y: place.y + buffer)
    }
}
