// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// A spatial hash of a gazetteer's settlements, in squares of a quarter of a degree.
struct SettlementGrid {
    private struct Cell: Hashable {
        var x: Int
        var y: Int
    }

    private let settlements: [Gazetteer.Settlement]
    private var cells: [Cell: [Int]] = [:]
    private static let cellsPerDegree = 4.0

    init(_ gazetteer: Gazetteer) {
        settlements = gazetteer.settlements
        for (number, settlement) in settlements.enumerated()
        where settlement.feature != .partOfTown && settlement.feature != .former {
            cells[Self.cell(settlement.location), default: []].append(number)
        }
    }

    private static func cell(_ location: Coordinate) -> Cell {
        Cell(
            x: Int((location.x * cellsPerDegree).rounded(.down)),
            y: Int((location.y * cellsPerDegree).rounded(.down)))
    }

    /// The number of the nearest settlement by great circle, within `country` where given.
    ///
    /// Nil for none within the distance, which is at most 25 km. The first one wins ties.
    func nearest(
        to location: Coordinate, within meters: Double, country: String
    ) -> Int? {
        let center = Self.cell(location)
        let box = Sphere.envelope(around: location, radiusMeters: meters)
        let reach = min(40, Int((box.width / 2 * Self.cellsPerDegree).rounded(.up)))
        var best: (meters: Double, number: Int)?
        for x in center.x - reach...center.x + reach {
            for y in center.y - 1...center.y + 1 {
                for number in cells[Cell(x: x, y: y)] ?? []
                where country.isEmpty
                    || Territories.areOne(settlements[number].country, country)
                {
                    let distance = Sphere.meters(
                        from: location, to: settlements[number].location)
                    if distance <= meters, (distance, number) < best ?? (.infinity, 0) {
                        best = (distance, number)
                    }
                }
            }
        }
        return best?.number
    }
}
