// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import Platform

/// An intersection of two streets of different names.
struct Intersection: Hashable {
    /// The streets in the order of the text.
    var first: Int
    var second: Int
    /// Longitude and latitude.
    var location: Coordinate
}

/// An interpretation of a text as an intersection.
struct IntersectionReading {
    var intersection: Intersection
    /// The score, 0…100.
    var score: Double
    var isCertain: Bool
    var confirmsTown: Bool
}

/// Finds the intersections of two streets in a text.
///
/// One street is searched as any address; the other among the streets of its town.
struct IntersectionSearch {
    let file: LocatorFile
    let addresses: AddressFile
    private let filter: PlaceFilter
    private let extent: Envelope?

    init(file: LocatorFile, addresses: AddressFile, filter: PlaceFilter) {
        self.file = file
        self.addresses = addresses
        var open = filter
        open.extent = nil
        self.filter = open
        extent = filter.extent
    }

    /// Distance within which vertices of two streets coincide, in metres.
    static let reachMeters = 1.0
    /// Distance within which vertices of the same streets are one intersection, in metres.
    private static let crossingMeters = 25.0
    /// Limit of interpretations of the first street, and of streets in their towns.
    private static let mostReadings = 64
    private static let mostTowns = 16
    private static let mostStreets = 6_000
    static let mostVertices = 20_000
    private static let mostAnswers = 20

    /// The interpretations of a text, best first.
    func run(_ text: String, _ bytes: RawSpan) -> [IntersectionReading] {
        var found: [Intersection: IntersectionReading] = [:]
        for split in IntersectionText(text).splits {
            for isTurned in [false, true] {
                let (alone, whole) =
                    isTurned ? (split.second, split.first) : (split.first, split.second)
                for reading in readings(alone, beside: whole, isTurned: isTurned, bytes) {
                    let known = found[reading.intersection]
                    if reading.score > known?.score ?? -1 { found[reading.intersection] = reading }
                }
            }
        }
        let sorted = found.values.filter { reading in
            extent.map { Sphere.envelope($0, contains: reading.intersection.location) } ?? true
        }.sorted {
            if $0.score != $1.score { return $0.score > $1.score }
            let (left, right) = ($0.intersection, $1.intersection)
            if left.first != right.first { return left.first < right.first }
            if left.second != right.second { return left.second < right.second }
            return (left.location.x, left.location.y) < (right.location.x, right.location.y)
        }
        return Array(Self.apart(sorted).prefix(Self.mostAnswers))
    }

    /// Removes those close to a better one with the same names.
    private static func apart(_ sorted: [IntersectionReading]) -> [IntersectionReading] {
        var kept: [IntersectionReading] = []
        for reading in sorted
        where !kept.contains(where: {
            Sphere.meters(from: $0.intersection.location, to: reading.intersection.location)
                <= crossingMeters
        }) {
            kept.append(reading)
        }
        return kept
    }

    /// Combines streets found for `whole` with intersecting streets of their towns found for
    /// `alone`.
    private func readings(
        _ alone: String, beside whole: String, isTurned: Bool, _ bytes: RawSpan
    ) -> [IntersectionReading] {
        let words = Folder.fold(whole, partingApostrophes: true)
        let others = Folder.fold(alone, partingApostrophes: true)
        guard !words.words.isEmpty, !others.words.isEmpty else { return [] }
        var search = AddressSearch(
            file: file, addresses: addresses, text: words, filter: filter, bytes)
        let found = search.run(bytes).filter { $0.house == nil }.prefix(Self.mostReadings)
        let text = AddressText(others, file: addresses, file.ranking.addresses, bytes)
        let scoring = AddressScoring(
            file: file, addresses: addresses, text: text, filter: filter, bytes)
        var ofTown: [Int: [AddressReading]] = [:]
        var result: [IntersectionReading] = []
        let (weight, otherWeight) = (Self.letters(words), Self.letters(others))
        for reading in found {
            let town = addresses.town(ofStreet: reading.street, bytes)
            if ofTown[town] == nil {
                guard ofTown.count < Self.mostTowns else { continue }
                ofTown[town] = streets(ofTown: town, text, scoring, bytes)
            }
            for other in ofTown[town] ?? [] {
                let score =
                    (reading.score * weight + other.score * otherWeight) / (weight + otherWeight)
                var unbounded = Int.max
                let meetings = Self.meetings(
                    reading.street, other.street, addresses, &unbounded, bytes)
                for location in meetings {
                    let (first, second) =
                        isTurned ? (reading.street, other.street) : (other.street, reading.street)
                    result.append(
                        IntersectionReading(
                            intersection: Intersection(
                                first: first, second: second, location: location),
                            score: (100 * score).rounded() / 100,
                            isCertain: reading.isCertain && other.isCertain,
                            confirmsTown: reading.confirmsTown || other.confirmsTown))
                }
            }
        }
        return result
    }

    private static func letters(_ text: FoldedText) -> Double {
        Double(text.letters.reduce(0) { $0 + Int($1) })
    }

    /// The streets of a town found for a text, best first.
    private func streets(
        ofTown town: Int, _ text: AddressText, _ scoring: AddressScoring, _ bytes: RawSpan
    ) -> [AddressReading] {
        var result: [AddressReading] = []
        for street in addresses.streets(ofTown: town, bytes).prefix(Self.mostStreets) {
            guard let reading = scoring.reading(of: street, text, bytes), reading.house == nil
            else {
                continue
            }
            result.append(reading)
        }
        result.sort { $0.precedes($1) }
        return Array(result.prefix(Self.mostReadings))
    }

    /// Common vertices of two streets of different names; every intersection once, from west to
    /// east, in either order of the streets.
    ///
    /// `left` is the remaining number of vertices to examine; it is decreased by theirs.
    static func meetings(
        _ first: Int, _ second: Int, _ addresses: AddressFile, _ left: inout Int, _ bytes: RawSpan
    ) -> [Coordinate] {
        guard
            addresses.nameWords(ofStreet: first, bytes)
                != addresses.nameWords(ofStreet: second, bytes)
        else { return [] }
        var grid = VertexGrid()
        let vertices = addresses.vertices(
            ofStreet: min(first, second), most: mostVertices, bytes)
        for vertex in vertices { grid.add(vertex, name: 0) }
        let others = addresses.vertices(ofStreet: max(first, second), most: mostVertices, bytes)
        left -= vertices.count + others.count
        var result: [Coordinate] = []
        for vertex in others.sorted(by: { ($0.x, $0.y) < ($1.x, $1.y) })
        where grid.names(within: reachMeters, of: vertex).contains(0) {
            let isKnown = result.contains {
                Sphere.meters(from: $0, to: vertex) <= crossingMeters
            }
            if !isKnown { result.append(vertex) }
        }
        return result
    }
}

extension AddressFile {
    func nameWords(ofStreet street: Int, _ bytes: RawSpan) -> [Int] {
        words(ofStreet: street, bytes).map { word(at: $0, bytes) }
    }

    /// The vertices of a street's lines, `most` at most.
    func vertices(ofStreet street: Int, most: Int, _ bytes: RawSpan) -> [Coordinate] {
        let segments = segments(ofStreet: street, bytes)
        guard let first = segments.first, let last = segments.last else { return [] }
        let range =
            vertices(ofSegment: first, bytes)
            .lowerBound..<vertices(ofSegment: last, bytes).upperBound
        return range.prefix(most).map { location(ofVertex: $0, bytes) }
    }
}

/// A spatial hash of vertices with the names that meet there, in squares of about two metres.
struct VertexGrid {
    private struct Cell: Hashable {
        var x: Int
        var y: Int
    }

    private var cells: [Cell: [(location: Coordinate, name: Int)]] = [:]
    private static let cellDegrees = 2e-5

    private static func cell(_ location: Coordinate) -> Cell {
        // Squares are narrower on the ground towards the poles; there they are widened.
        let shrink = max(0.05, (cos(location.y.rounded() * .pi / 180) * 20).rounded(.down) / 20)
        return Cell(
            x: Int((location.x * shrink / cellDegrees).rounded(.down)),
            y: Int((location.y / cellDegrees).rounded(.down)))
    }

    mutating func add(_ location: Coordinate, name: Int) {
        cells[Self.cell(location), default: []].append((location, name))
    }

    /// The names with a vertex within a distance of at most two metres.
    func names(within meters: Double, of location: Coordinate) -> Set<Int> {
        let center = Self.cell(location)
        var result: Set<Int> = []
        for x in center.x - 1...center.x + 1 {
            for y in center.y - 1...center.y + 1 {
                for vertex in cells[Cell(x: x, y: y)] ?? []
                where Sphere.meters(from: vertex.location, to: location) <= meters {
                    result.insert(vertex.name)
                }
            }
        }
        return result
    }
}
