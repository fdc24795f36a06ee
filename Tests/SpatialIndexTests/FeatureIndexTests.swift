// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import SpatialIndex
import TestKit
import Testing

/// Shapes that are hard to get right, all on a small grid so that everything meets everything.
private struct HostileShapes {
    var random: SeededGenerator
    /// Coordinates are `offset + step * k`.
    var step: Double
    var offset: Double
    var cells: Int

    mutating func vertex() -> Coordinate {
        Coordinate(
            x: offset + step * Double(Int.random(in: 0...cells, using: &random)),
            y: offset + step * Double(Int.random(in: 0...cells, using: &random)))
    }

    /// A ring: random corners, so it crosses itself; often with repeated corners, spikes, corners
    /// in one line, or no area at all.
    mutating func ring(_ count: ClosedRange<Int>) -> [Coordinate] {
        var ring: [Coordinate] = []
        let wanted = Int.random(in: count, using: &random)
        while ring.count < wanted {
            let next = vertex()
            ring.append(next)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: ring.append(next)
            case 1: if let before = ring.dropLast().last { ring += [before, next] }
            case 2:
                if let before = ring.dropLast().last {
                    ring.append(
                        Coordinate(x: (before.x + next.x) / 2, y: (before.y + next.y) / 2))
                }
            case 3: ring.append(Coordinate(x: next.x.nextUp, y: next.y))
            default: break
            }
        }
        return ring + [ring[0]]
    }

    /// A star-shaped ring around a middle, long enough for stripes.
    mutating func star(_ count: Int) -> [Coordinate] {
        let middle = vertex()
        var ring = (0..<count).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(count)
            let reach = step * Double(cells) * .random(in: 0.1...0.5, using: &random)
            return Coordinate(x: middle.x + reach * cos(angle), y: middle.y + reach * sin(angle))
        }
        ring.append(ring[0])
        return ring
    }

    mutating func part() -> [[Coordinate]] {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return [star(60 + Int.random(in: 0..<200, using: &random))]
        case 1:
            // Nested holes that touch at corners.
            return (0..<4).map { level in
                let (low, high) = (Double(level), Double(cells - level))
                return [(low, low), (high, low), (high, high), (low, high), (low, low)].map {
                    Coordinate(x: offset + step * $0.0, y: offset + step * $0.1)
                }
            }
        case 2: return [ring(60...120)]
        case 3: return [ring(3...9), ring(3...9)]
        default: return [ring(3...9)]
        }
    }

    /// A position on the grid, on an edge as exactly as doubles allow, or one step of a double off.
    mutating func position(_ coordinates: [Coordinate]) -> Coordinate {
        var position: Coordinate
        let index = Int.random(in: 0..<max(1, coordinates.count - 1), using: &random)
        let (a, b) = (coordinates[index], coordinates[min(index + 1, coordinates.count - 1)])
        switch Int.random(in: 0..<4, using: &random) {
        case 0: position = vertex()
        case 1: position = a
        case 2:
            let along = Double.random(in: 0...1, using: &random)
            position = Coordinate(x: a.x + (b.x - a.x) * along, y: a.y + (b.y - a.y) * along)
        default:
            position = Coordinate(
                x: offset + step * .random(in: 0...Double(cells), using: &random),
                y: offset + step * .random(in: 0...Double(cells), using: &random))
        }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: position.x = position.x.nextUp
        case 1: position.x = position.x.nextDown
        case 2: position.y = position.y.nextUp
        case 3: position.y = position.y.nextDown
        default: break
        }
        return position
    }
}

/// Features laid out as bytes, and their index.
private struct Layer {
    var kind: FeatureIndex.Kind
    var data: [UInt8] = []
    var builder: FeatureIndexBuilder
    private var pieces: [(feature: Int, place: Int, count: Int, ends: [Int])] = []
    private var featureCount = 0

    init(_ kind: FeatureIndex.Kind) {
        self.kind = kind
        builder = FeatureIndexBuilder(kind)
        // Coordinates need not be aligned.
        data = [1, 2, 3]
    }

    mutating func add(_ parts: [[[Coordinate]]]) {
        for rings in parts {
            let place = data.count
            var ends: [Int] = []
            for ring in rings {
                for coordinate in ring {
                    for ordinate in [coordinate.x, coordinate.y] {
                        unsafe withUnsafeBytes(of: ordinate.bitPattern.littleEndian) {
                            unsafe data.append(contentsOf: $0)
                        }
                    }
                }
                ends.append((ends.last ?? 0) + ring.count)
            }
            pieces.append((featureCount, place, ends.last ?? 0, kind == .areas ? ends : []))
        }
        featureCount += 1
    }

    mutating func index() -> [UInt8] {
        var builder = builder
        var next = 0
        for feature in 0..<featureCount {
            builder.addFeature(Int64(feature) + 1000)
            while next < pieces.count, pieces[next].feature == feature {
                let piece = pieces[next]
                unsafe builder.add(
                    place: piece.place, count: piece.count, ringEnds: piece.ends,
                    in: data.span.bytes)
                next += 1
            }
        }
        return unsafe builder.finish(
            data: data.span.bytes, dataHash: [UInt8](repeating: 7, count: 32))
    }
}

/// An index with the files it is about, in memory.
private struct Opened {
    let bytes: [UInt8]
    let data: [UInt8]
    let index: FeatureIndex

    init(_ bytes: [UInt8], _ data: [UInt8]) throws {
        self.bytes = bytes
        self.data = data
        index = unsafe try FeatureIndex(bytes.span.bytes, dataByteCount: data.count)
    }

    func check() throws { unsafe try index.check(bytes.span.bytes, data.span.bytes) }

    private static func probe(_ position: Coordinate, _ limit: Double) -> PointProbe {
        let box = Envelope(
            minX: position.x, minY: position.y, maxX: position.x, maxY: position.y)
        let hair = max(abs(position.x), abs(position.y), limit) * 0x1p-40
        return PointProbe(
            position, within: limit, window: limit == 0 ? box : box.expanded(by: limit + hair))
    }

    func features(near position: Coordinate, within limit: Double = 0) throws -> [NearFeature] {
        var found: [NearFeature] = []
        var counted = 0
        unsafe try index.search(
            bytes.span.bytes, data.span.bytes, Self.probe(position, limit), into: &found,
            counted: &counted)
        return found
    }

    func features(
        near positions: [Coordinate], within limit: Double = 0
    ) throws -> NearFeatures {
        unsafe try index.search(bytes.span.bytes, data.span.bytes, positions) {
            Self.probe($0, limit)
        }
    }
}

@Suite struct FeatureIndexTests {
    private static let seed: UInt64 = 20_261_121

    /// Grids: whole numbers; steps that no double holds; far from the origin, where doubles are
    /// coarse; tiny.
    private static let grids = [(1.0, 0.0), (0.1, 0.3), (0.1, 1e6), (1e-9, 45)]

    @Test(.slow, arguments: grids.indices)
    func `areas hold what exact arithmetic says they hold`(grid: Int) throws {
        let (step, offset) = Self.grids[grid]
        var shapes = HostileShapes(
            random: SeededGenerator(seed: Self.seed &+ UInt64(grid)), step: step, offset: offset,
            cells: 12)
        var cases = 0
        var inside = 0
        var mismatches: [String] = []
        for round in 0..<5 {
            var layer = Layer(.areas)
            let features = (0..<24).map { _ in
                (0..<Int.random(in: 1...3, using: &shapes.random)).map { _ in shapes.part() }
            }
            for parts in features { layer.add(parts) }
            let opened = try Opened(layer.index(), layer.data)
            try opened.check()
            let positions = (0..<40).map { number in
                shapes.position(features[number % features.count][0].flatMap { $0 })
            }
            let many = try opened.features(near: positions)
            for (number, position) in positions.enumerated() {
                let found = try opened.features(near: position)
                let expected = Set(
                    features.indices.filter { ExactRule.holds(position, features[$0]) })
                cases += features.count
                inside += expected.count
                if Set(found.map(\.feature)) != expected || found.count != expected.count
                    || found.contains(where: { $0.distance != 0 })
                    || Array(many[number]) != found
                    || found.contains(where: { $0.objectID != Int64($0.feature) + 1000 })
                {
                    mismatches.append("round \(round) at \(position.x), \(position.y)")
                }
            }
        }
        print(
            "areas, step \(step) at \(offset): \(cases) cases, \(inside) held,",
            "\(mismatches.count) mismatches")
        #expect(mismatches.isEmpty, "seed \(Self.seed): \(mismatches.prefix(5))")
        #expect(inside > 100)
    }

    @Test(arguments: [FeatureIndex.Kind.points, .lines, .areas], grids.indices)
    func `distances are those of a scan, to the last bit`(
        kind: FeatureIndex.Kind, grid: Int
    ) throws {
        let (step, offset) = Self.grids[grid]
        var shapes = HostileShapes(
            random: SeededGenerator(seed: Self.seed &+ UInt64(grid)), step: step, offset: offset,
            cells: 12)
        var cases = 0
        var mismatches: [String] = []
        for round in 0..<5 {
            var layer = Layer(kind)
            var prepared: [PreparedShape] = []
            var all: [[Coordinate]] = []
            for _ in 0..<24 {
                switch kind {
                case .points:
                    let positions = (0..<Int.random(in: 1...80, using: &shapes.random)).map { _ in
                        shapes.vertex()
                    }
                    layer.add([[positions]])
                    prepared.append(PreparedShape(.multipoint(positions), isIndexed: false))
                    all.append(positions)
                case .lines:
                    let paths = [shapes.ring(2...90), [shapes.vertex(), shapes.vertex()]]
                    layer.add(paths.map { [$0] })
                    prepared.append(PreparedShape(.polyline(paths: paths), isIndexed: false))
                    all.append(paths[0])
                case .areas:
                    let parts = [shapes.part(), shapes.part()]
                    layer.add(parts)
                    prepared.append(PreparedShape(polygonParts: parts, isIndexed: false))
                    all.append(parts[0][0])
                }
            }
            let opened = try Opened(layer.index(), layer.data)
            try opened.check()
            for number in 0..<40 {
                let position = shapes.position(all[number % all.count])
                let alone = PreparedShape(.point(position))
                let limit = [0, 0.3, 1, 4, 40][number % 5] * step
                let found = try opened.features(near: position, within: limit)
                var distances: [Int: Double] = [:]
                for each in found { distances[each.feature] = each.distance }
                for (feature, shape) in prepared.enumerated() {
                    cases += 1
                    let expected = shape.distance(to: alone, within: limit)
                    if distances[feature] != expected {
                        mismatches.append(
                            "round \(round) feature \(feature) at \(position.x), \(position.y) "
                                + "within \(limit): \(String(describing: distances[feature])), "
                                + "not \(String(describing: expected))")
                    }
                }
            }
        }
        print(
            "\(kind), step \(step) at \(offset): \(cases) distances,",
            "\(mismatches.count) mismatches")
        #expect(mismatches.isEmpty, "seed \(Self.seed): \(mismatches.prefix(5))")
    }

    /// Layers of one, two and three levels of blocks; positions all over and crowded together,
    /// duplicates, and some invalid ones.
    @Test(arguments: [FeatureIndex.Kind.points, .lines, .areas], [3, 200, 1500])
    func `many positions are answered as one by one`(
        kind: FeatureIndex.Kind, features: Int
    ) throws {
        var shapes = HostileShapes(
            random: SeededGenerator(seed: Self.seed &+ UInt64(features)), step: 0.1, offset: 0.3,
            cells: 300)
        var layer = Layer(kind)
        for _ in 0..<features {
            let corner = shapes.vertex()
            let ring = (0..<Int.random(in: 3...6, using: &shapes.random)).map { _ in
                Coordinate(
                    x: corner.x + .random(in: 0...2, using: &shapes.random),
                    y: corner.y + .random(in: 0...2, using: &shapes.random))
            }
            layer.add([[ring + [ring[0]]]])
        }
        if kind == .areas { layer.add([[shapes.star(400)]]) }
        let opened = try Opened(layer.index(), layer.data)
        let crowd = shapes.vertex()
        var positions = (0..<700).map { number in
            switch number % 4 {
            case 0: shapes.vertex()
            case 1:
                Coordinate(
                    x: crowd.x + .random(in: -1...1, using: &shapes.random),
                    y: crowd.y + .random(in: -1...1, using: &shapes.random))
            default:
                Coordinate(
                    x: .random(in: -2...34, using: &shapes.random),
                    y: .random(in: -2...34, using: &shapes.random))
            }
        }
        positions[17] = Coordinate(x: .nan, y: 1)
        positions[311] = Coordinate(x: .infinity, y: 1)
        positions += positions.prefix(70)
        var found = 0
        var mismatches: [String] = []
        for limit in [0, 0.05, 3] {
            for count in [0, 1, 64, 65, positions.count] {
                let asked = Array(positions.prefix(count))
                let many = try opened.features(near: asked, within: limit)
                #expect(many.starts.count == count + 1)
                for (number, position) in asked.enumerated() {
                    let expected = try opened.features(near: position, within: limit)
                    if Array(many[number]) != expected {
                        mismatches.append("\(number) of \(count) within \(limit)")
                    }
                    found += expected.count
                }
            }
        }
        #expect(mismatches.isEmpty, "\(mismatches.count): \(mismatches.prefix(5))")
        #expect(found > 50)
    }

    @Test func `rectangles where no block and no piece is are not followed`() throws {
        var shapes = HostileShapes(
            random: SeededGenerator(seed: Self.seed), step: 0.1, offset: 0, cells: 60)
        var layer = Layer(.areas)
        // Two levels: seven blocks with pieces, the last with one piece.
        for _ in 0..<97 { layer.add([[shapes.ring(3...6)]]) }
        let bytes = layer.index()
        var damaged = bytes
        let nowhere = [Float.infinity, .infinity, -.infinity, -.infinity]
        var changed = 0
        func number(_ place: Int) -> Float {
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * $1) })
        }
        for block in [128] + (0..<7).map({ 128 + 256 + 512 * $0 }) {
            for child in 0..<16 {
                let places = (0..<4).map { block + 64 * $0 + 4 * child }
                guard places.map(number) == nowhere else { continue }
                changed += 1
                for (place, number) in zip(places, nowhere) {
                    for byte in 0..<4 {
                        damaged[place + byte] = UInt8(
                            truncatingIfNeeded: (-number).bitPattern >> UInt32(8 * byte))
                    }
                }
            }
        }
        #expect(changed == 9 + 15)
        let sound = try Opened(bytes, layer.data)
        let opened = try Opened(damaged, layer.data)
        let positions = (0..<200).map { _ in shapes.vertex() }
        let many = try opened.features(near: positions)
        for (number, position) in positions.enumerated() {
            let expected = try sound.features(near: position)
            #expect(try opened.features(near: position) == expected)
            #expect(Array(many[number]) == expected)
        }
    }

    @Test func `damage is an error, never a read outside`() throws {
        var shapes = HostileShapes(
            random: SeededGenerator(seed: Self.seed), step: 1, offset: 0, cells: 12)
        var layer = Layer(.areas)
        for _ in 0..<20 { layer.add([shapes.part(), [shapes.star(150)]]) }
        let bytes = layer.index()
        var refused = 0
        for round in 0..<300 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &shapes.random) {
                // The header has a checksum of its own; the rest is validated in use.
                let place = Int.random(
                    in: (round.isMultiple(of: 8) ? 0 : 128)..<bytes.count, using: &shapes.random)
                damaged[place] = UInt8.random(in: 0...255, using: &shapes.random)
            }
            if round.isMultiple(of: 16) { damaged.removeLast(round / 16 + 1) }
            do {
                let opened = try Opened(damaged, layer.data)
                for number in 0..<20 {
                    _ = try opened.features(near: shapes.vertex(), within: Double(number % 4))
                }
                _ = try opened.features(near: (0..<20).map { _ in shapes.vertex() }, within: 1)
                if damaged != bytes { #expect(throws: IndexDamage.self) { try opened.check() } }
            } catch { refused += 1 }
        }
        #expect(refused > 20)
        #expect(throws: IndexDamage.self) { try Opened(bytes, layer.data + [0]) }
    }

    @Test func `the same features give the same bytes, and none gives an empty index`() throws {
        func make(_ count: Int) -> [UInt8] {
            var shapes = HostileShapes(
                random: SeededGenerator(seed: Self.seed), step: 1, offset: 0, cells: 12)
            var layer = Layer(.areas)
            for _ in 0..<count { layer.add([shapes.part()]) }
            return layer.index()
        }

        #expect(make(50) == make(50))
        #expect(try Opened(make(0), [1, 2, 3]).index.featureCount == 0)
    }
}
