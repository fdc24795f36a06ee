// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The importance of a place, from 0 to 65,535, from its population and kind alone.
///
/// A tenth of the decimal logarithm of the population (a million is 0.6), plus or minus a term for
/// the kind, times 65,535. Countries rank above cities of the same population, regions a little
/// below: `New York` more often means the city.
enum Importance {
    static func of(
        kind: PlaceKind, settlement: SettlementKind, population: UInt64, _ kinds: Ranking.Kinds
    ) -> UInt16 {
        var least = 1.0
        let bonus: Double
        switch kind {
        case .country: bonus = kinds.country
        case .region: bonus = kinds.region
        case .subregion: bonus = kinds.subregion
        case .pointOfInterest: return 0
        case .settlement:
            switch settlement {
            case .capital:
                least = kinds.seatPeople
                bonus = kinds.capital
            case .regionSeat:
                least = kinds.seatPeople
                bonus = kinds.regionSeat
            case .lowerSeat: bonus = kinds.lowerSeat
            case .other: bonus = 0
            case .partOfTown: bonus = kinds.partOfTown
            case .former: bonus = kinds.former
            }
        }
        let people = max(Double(population), least)
        return quantised(log10(people) / 10 + bonus)
    }

    /// A fraction of one as an importance.
    static func quantised(_ share: Double) -> UInt16 {
        UInt16((min(max(share, 0), 1) * 65_535).rounded())
    }
}
