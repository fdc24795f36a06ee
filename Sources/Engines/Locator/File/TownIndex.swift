// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// An index of a gazetteer's settlements by town names in sources.
struct TownIndex {
    private var known: [[UInt8]: [Int]] = [:]
    private var otherNames: [[UInt8]: [Int]] = [:]

    /// Indexes the given folded names.
    init(_ gazetteer: Gazetteer, named wanted: Set<[UInt8]>) {
        guard !wanted.isEmpty else { return }
        for (number, settlement) in gazetteer.settlements.enumerated() {
            let folded = Folder.fold(settlement.name, partingApostrophes: true).bytes
            if wanted.contains(folded) { known[folded, default: []].append(number) }
            for name in settlement.alternateNames {
                let other = Folder.fold(name, partingApostrophes: true).bytes
                if wanted.contains(other) { otherNames[other, default: []].append(number) }
            }
        }
    }

    /// Adds a settlement under its name.
    mutating func add(_ settlement: Int, named name: [UInt8]) {
        known[name, default: []].append(settlement)
    }

    /// The settlement of that name, else one with it as an alternate name, within 20 km, no part of
    /// a town; the largest wins, then the first.
    func settlement(
        named name: [UInt8], country: String, near location: Coordinate, in gazetteer: Gazetteer
    ) -> Int? {
        func settlements(_ names: [[UInt8]: [Int]]) -> [Int] {
            (names[name] ?? []).filter {
                let settlement = gazetteer.settlements[$0]
                return (country.isEmpty || Territories.areOne(settlement.country, country))
                    && settlement.feature != .partOfTown
                    && Sphere.meters(from: settlement.location, to: location)
                        <= AddressGazetteer.townReachMeters
            }
        }
        var near = settlements(known)
        if near.isEmpty { near = settlements(otherNames) }
        return near.max { left, right in
            let (first, second) = (gazetteer.settlements[left], gazetteer.settlements[right])
            return first.population != second.population
                ? first.population < second.population : left > right
        }
    }
}
