// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// How well known a place is, from 0 to 65,535, from its population and kind alone.
///
/// A tenth of the decimal logarithm of the population (a million is 0.6), plus or minus what the kind
/// is worth, times 65,535. Countries stand above cities of the same population, regions a little
/// below: who writes `New York` more often means the city.
enum Importance {
    static func of(
        kind: PlaceKind, settlement: SettlementKind, population: UInt64
    ) -> UInt16 {
        var least: UInt64 = 1
        let bonus: Double
        switch kind {
        case .country: bonus = 0.10
        case .region: bonus = -0.10
        case .subregion: bonus = -0.15
        case .settlement:
            switch settlement {
            case .capital:
                least = 5_000
                bonus = 0.08
            case .regionSeat:
                least = 5_000
                bonus = 0.03
            case .lowerSeat: bonus = 0.01
            case .other: bonus = 0
            case .partOfTown: bonus = -0.12
            case .former: bonus = -0.30
            }
        }
        let people = Double(max(population, least))
        return quantised(log10(people) / 10 + bonus)
    }

    /// A share of one as an importance.
    static func quantised(_ share: Double) -> UInt16 {
        UInt16((min(max(share, 0), 1) * 65_535).rounded())
    }
}
