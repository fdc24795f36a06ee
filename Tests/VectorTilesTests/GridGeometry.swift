// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import VectorTiles

/// Brute-force geometry of decoded tiles, by definition and without care for time.
enum GridGeometry {
    typealias Position = DecodedVectorTile.Position

    /// Twice the area by the surveyor's formula, in the tile's coordinates.
    static func doubledArea(_ ring: [Position]) -> Int64 {
        ring.indices.reduce(0) { sum, index in
            let (a, b) = (ring[index], ring[(index + 1) % ring.count])
            return sum + a.x * b.y - b.x * a.y
        }
    }

    static func edges(_ ring: [Position]) -> [(Position, Position)] {
        ring.indices.map { (ring[$0], ring[($0 + 1) % ring.count]) }
    }

    static func turn(_ a: Position, _ b: Position, _ c: Position) -> Int64 {
        (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
    }

    static func isOn(_ p: Position, _ a: Position, _ b: Position) -> Bool {
        turn(a, b, p) == 0 && min(a.x, b.x) <= p.x && p.x <= max(a.x, b.x) && min(a.y, b.y) <= p.y
            && p.y <= max(a.y, b.y)
    }

    /// Whether two edges share more than an end of both.
    static func collide(_ a: Position, _ b: Position, _ c: Position, _ d: Position) -> Bool {
        for (p, q, r) in [(a, c, d), (b, c, d), (c, a, b), (d, a, b)]
        where p != q && p != r && isOn(p, q, r) {
            return true
        }
        if Set([a, b]) == Set([c, d]) { return true }
        let turns = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)]
        guard !turns.contains(0) else { return false }
        return (turns[0] > 0) != (turns[1] > 0) && (turns[2] > 0) != (turns[3] > 0)
    }

    /// Whether the middle of a cell is inside an odd number of rings.
    static func isInside(_ x: Int64, _ y: Int64, _ rings: [[Position]]) -> Bool {
        var isInside = false
        for (a, b) in rings.flatMap(edges) where (a.y <= y) != (b.y <= y) {
            let across =
                Double(a.x) + (Double(y) + 0.5 - Double(a.y)) * Double(b.x - a.x)
                / Double(b.y - a.y)
            if across > Double(x) + 0.5 { isInside.toggle() }
        }
        return isInside
    }

    /// What is wrong with the rings of a polygon by the specification; nil if nothing is.
    static func fault(_ rings: [[Position]]) -> String? {
        guard let first = rings.first else { return "no rings" }
        guard doubledArea(first) > 0 else { return "the first ring is no exterior" }
        var exterior = first
        for ring in rings {
            if ring.count < 3 { return "a ring of \(ring.count) positions" }
            if Set(ring).count != ring.count { return "a ring passes a position twice" }
            let area = doubledArea(ring)
            if area == 0 { return "a ring without area" }
            if area > 0 { exterior = ring }
            if area < 0 {
                // A position of the hole, or the middle of an edge, off the exterior.
                let doubled = edges(ring).map { Position(x: $0.x + $1.x, y: $0.y + $1.y) }
                let outside = doubled.first { place in
                    !contains(exterior.map { Position(x: 2 * $0.x, y: 2 * $0.y) }, place)
                }
                if outside != nil { return "a hole leaves its exterior" }
            }
        }
        let all = rings.flatMap(edges)
        for one in all.indices {
            for other in all.indices where other > one {
                let ((a, b), (c, d)) = (all[one], all[other])
                if collide(a, b, c, d) { return "\(a)-\(b) and \(c)-\(d) meet" }
            }
        }
        return nil
    }

    private static func contains(_ ring: [Position], _ place: Position) -> Bool {
        let coordinates = ring.map { Coordinate(x: Double($0.x), y: Double($0.y)) }
        return Ring.locate(Coordinate(x: Double(place.x), y: Double(place.y)), in: coordinates)
            != .outside
    }
}

/// Shapes in the square of a tile, in cells of it: x right, y down, as tests think of them.
struct TileCells {
    let address: TileAddress
    var extent = 4096

    func coordinate(_ x: Double, _ y: Double) -> Coordinate {
        let box = address.extent
        let cell = TileAddress.side(at: address.level) / Double(extent)
        return Coordinate(x: box.minX + x * cell, y: box.maxY - y * cell)
    }

    func cells(_ coordinate: Coordinate) -> (x: Double, y: Double) {
        let box = address.extent
        let cell = TileAddress.side(at: address.level) / Double(extent)
        return ((coordinate.x - box.minX) / cell, (box.maxY - coordinate.y) / cell)
    }

    func ring(_ places: [(Double, Double)]) -> [Coordinate] {
        let open = places.map { coordinate($0.0, $0.1) }
        return open + open.prefix(1)
    }
}

extension SeededGenerator {
    /// A ring around a middle that does not cross itself.
    mutating func star(_ x: Double, _ y: Double, reach: Double, count: Int) -> [(Double, Double)] {
        (0..<count).map { number in
            let angle = 2 * Double.pi * Double(number) / Double(count)
            let far = reach * Double.random(in: 0.2...1, using: &self)
            return (x + far * SineTable.cosine(angle), y + far * SineTable.sine(angle))
        }
    }
}

/// Sines without a C library.
enum SineTable {
    static func sine(_ angle: Double) -> Double {
        var rest = angle.remainder(dividingBy: 2 * Double.pi)
        if rest > Double.pi / 2 { rest = Double.pi - rest }
        if rest < -Double.pi / 2 { rest = -Double.pi - rest }
        var (term, sum) = (rest, rest)
        for power in stride(from: 2.0, through: 20, by: 2) {
            term *= -rest * rest / (power * (power + 1))
            sum += term
        }
        return sum
    }

    static func cosine(_ angle: Double) -> Double { sine(angle + Double.pi / 2) }
}

/// The only layer of a tile of some features.
func decodedLayer(
    _ features: [VectorTileFeature], at address: TileAddress,
    options: VectorTileOptions = .standard
) throws -> (layer: DecodedVectorTile.Layer?, fates: VectorTileReport.Layer) {
    var builder = try VectorTileBuilder(
        [VectorTileLayer(name: "a", features: features)], options: options)
    let tile = builder.tile(address)
    let layers = try VectorTileReader().read(tile.bytes ?? []).layers
    return (layers.first, tile.report.layers[0])
}
