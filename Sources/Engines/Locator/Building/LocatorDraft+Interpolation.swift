// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import Geometry

extension LocatorDraft {
    /// A line of interpolated house numbers between known houses (`addr:interpolation` of
    /// OpenStreetMap).
    ///
    /// Its side of the street is unknown.
    public struct Interpolation: Sendable {
        /// `even`, `odd`, `all`, `alphabetic`, or the difference of consecutive numbers, 1 to
        /// 65,535.
        public var kind: String
        /// Longitude and latitude; it starts and ends at a house.
        public var line: [Coordinate]
        /// The street; may be empty where its houses have one.
        public var street: String

        /// Creates an interpolation.
        public init(kind: String, line: [Coordinate], street: String) {
            self.kind = kind
            self.line = line
            self.street = street
        }
    }

    /// A position as stored, in 10⁻⁷ degrees.
    struct PlaceKey: Hashable {
        private let x: Int64
        private let y: Int64

        /// The key of a position on the Earth.
        init(_ location: Coordinate) {
            x = Int64((location.x * 1e7).rounded())
            y = Int64((location.y * 1e7).rounded())
        }
    }

    /// A pending interpolation, with its place in the source.
    struct PendingInterpolation {
        var way: Interpolation
        var source: String
        var number: Int
        /// Number of its source in the build, for origins.
        var origin: UInt16
    }

    /// Adds a line, before or after its houses; `source` and `number` locate it for error messages.
    ///
    /// It is rejected and counted where it has more than ``mostVertices``.
    public mutating func add(_ way: Interpolation, source: String, number: Int) {
        guard way.line.count <= Self.mostVertices else {
            return reject(
                "the line has \(way.line.count) vertices; expected at most \(Self.mostVertices)",
                source: source, number: number)
        }
        guard way.line.allSatisfy(Self.isOnEarth) else {
            return reject(
                "the line leaves longitude and latitude", source: source, number: number)
        }
        interpolations.append(
            PendingInterpolation(
                way: way, source: source, number: number, origin: tally.source))
    }

    /// Records the number of a house without a street, which a line along it may supply.
    public mutating func addNumber(_ text: String, at location: Coordinate) {
        guard Self.isOnEarth(location),
            let house = try? AddressReader.house(text, suffix: "")
        else { return }
        streetless[PlaceKey(location)] = house.number
    }

    /// Converts all interpolations to lines with numbers, one between each pair of consecutive
    /// houses; rejects those whose ends are no houses, or disagree.
    mutating func settleInterpolations() {
        guard !interpolations.isEmpty else { return }
        var wanted: Set<PlaceKey> = []
        for pending in interpolations {
            for vertex in pending.way.line { wanted.insert(PlaceKey(vertex)) }
        }
        var houses: [PlaceKey: Int] = [:]
        for (number, feature) in features.enumerated() {
            guard case .house(_?, let location, _) = feature.position else { continue }
            let key = PlaceKey(location)
            if wanted.contains(key), houses[key] == nil { houses[key] = number }
        }
        for pending in interpolations {
            do {
                features += try lines(of: pending, houses)
            } catch {
                reject(error.reason, source: pending.source, number: pending.number)
            }
        }
        interpolations = []
        streetless = [:]
    }

    private func lines(
        of pending: PendingInterpolation, _ houses: [PlaceKey: Int]
    ) throws(Unusable) -> [Feature] {
        let way = pending.way
        let step = Self.step(way.kind)
        guard step != nil || ["even", "odd", "all", "alphabetic"].contains(way.kind) else {
            throw Unusable(
                "addr:interpolation '\(way.kind.prefix(40))': expected even, odd, all, alphabetic "
                    + "or a step from 1 to \(UInt16.max)")
        }
        var stops: [(vertex: Int, number: UInt32)] = []
        var known: Feature?
        for (vertex, location) in way.line.enumerated() {
            let key = PlaceKey(location)
            if let at = houses[key], case .house(let house?, _, _) = features[at].position {
                stops.append((vertex, house.number))
                if let known, !Self.isSameStreet(known.street, features[at].street) {
                    throw Unusable(
                        "its houses are on '\(known.street)' and on '\(features[at].street)'")
                }
                known = known ?? features[at]
            } else if let number = streetless[key] {
                stops.append((vertex, number))
            }
        }
        guard stops.count > 1, stops.first?.vertex == 0,
            stops.last?.vertex == way.line.count - 1
        else { throw Unusable("an end of the interpolation is no house with a number") }
        if let known, !way.street.isEmpty, !Self.isSameStreet(known.street, way.street) {
            throw Unusable("it is on '\(way.street)', its houses on '\(known.street)'")
        }
        let street = known?.street ?? way.street
        guard !street.isEmpty else { throw Unusable("neither it nor its houses have a street") }
        var result: [Feature] = []
        for (first, second) in zip(stops, stops.dropFirst()) {
            let range = try Self.range(way.kind, step, first.number, second.number)
            let path = Array(way.line[first.vertex...second.vertex])
            guard let line = StreetPath.joined([path]), line.count > 1 else { continue }
            var postal = ""
            if case .house(_, _, let text)? = known?.position { postal = text }
            let side = DraftSide(range: range, postal: postal)
            var feature =
                known
                ?? Feature(
                    street: street, city: "", region: "", country: "",
                    position: .line(line, left: side, right: side), source: pending.source,
                    number: pending.number, origin: pending.origin)
            feature.position = .line(line, left: side, right: side)
            (feature.source, feature.number) = (pending.source, pending.number)
            feature.origin = pending.origin
            // It is the line of its houses, not of the street.
            feature.isApart = true
            result.append(feature)
        }
        return result
    }

    private static func isSameStreet(_ left: String, _ right: String) -> Bool {
        left == right
            || Folder.fold(left, partingApostrophes: true).bytes
                == Folder.fold(right, partingApostrophes: true).bytes
    }

    /// Parses a positive number of digits only; nil for anything else.
    private static func step(_ text: String) -> UInt16? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard text.utf8.allSatisfy(digits.contains), let step = UInt16(text), step > 0 else {
            return nil
        }
        return step
    }

    private static func range(
        _ kind: String, _ step: UInt16?, _ from: UInt32, _ to: UInt32
    ) throws(Unusable) -> AddressRange {
        let steps = step.map { (Int64(to) - Int64(from)).isMultiple(of: Int64($0)) }
        let fits =
            switch kind {
            case _ where steps != nil: steps == true && from != to
            case "even": from % 2 == 0 && to % 2 == 0 && from != to
            case "odd": from % 2 == 1 && to % 2 == 1 && from != to
            // The letters increase, the number is constant.
            case "alphabetic": from == to
            default: from != to
            }
        guard fits else {
            throw Unusable("addr:interpolation '\(kind)' goes from \(from) to \(to)")
        }
        return AddressRange(
            from: from, to: to, parity: kind == "all" || step == 1 ? .both : nil,
            step: step.flatMap { $0 < AddressRange.leastStep ? nil : $0 } ?? 0)
    }
}
