// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// What the sources say, before it becomes a locator.
struct Gazetteer {
    /// A settlement.
    struct Settlement {
        var id: UInt32
        var name: String
        /// Other writings of the name that count as the name itself.
        var asciiName: String
        var alternateNames: [String]
        var location: Coordinate
        /// ISO 3166-1 alpha-2 in capitals; empty when unknown.
        var country: String
        /// The first-level code inside the country; empty when unknown.
        var region: String
        /// The second-level code inside the region; empty when unknown.
        var subregion: String
        var feature: SettlementKind
        var population: UInt64
        /// The towns of the addresses that it is.
        var towns: [Int] = []
        var origins = Origins()
        var languageNames: [NameInLanguage] = []
    }

    /// A first-level or second-level division: `US.TX`, `US.TX.113`.
    struct Division {
        var code: String
        var name: String
        var asciiName: String
        var id: UInt32
    }

    /// A country.
    struct Country {
        /// Alpha-2.
        var code: String
        /// Alpha-3; empty when unknown.
        var code3: String
        var name: String
        var capital: String
        var population: UInt64
        var id: UInt32
    }

    /// A point of interest.
    struct PointOfInterest {
        var id: UInt32
        var name: String
        var alternateNames: [String]
        var location: Coordinate
        var extent: Envelope
        /// Its name; never empty.
        var category: String
        /// The name of the town it is in, where a source or a border says so; else empty.
        var city: String
        /// As of settlements.
        var country: String
        var region: String
        var population: UInt64
        /// The settlement it is in, by number, once they are known.
        var town: Int?
        /// Its own street and house number, where a source has them.
        var address: PointAddress?
        var origins = Origins()
        var languageNames: [NameInLanguage] = []
    }

    /// Where a division or country came from, and its names in languages.
    struct AreaNames {
        var origins = Origins()
        var alternateNames: [String] = []
        var languageNames: [NameInLanguage] = []
    }

    /// A position for a division or country, from a source that has one.
    struct Seat {
        var location: Coordinate
        var extent: Envelope?
        var population: UInt64
        var alternateNames: [String]
    }

    var settlements: [Settlement] = []
    var points: [PointOfInterest] = []
    /// The categories of points of interest, and what orders them: the less the earlier.
    var categories: [String: Int] = [:]
    var regions: [String: Division] = [:]
    var subregions: [String: Division] = [:]
    var countries: [String: Country] = [:]
    /// The points of interest of a name, folded, in a square.
    var pointNumbers: [PointKey: [Int]] = [:]
    /// By code (`FR`, `US.TX`, `US.TX.113`).
    var seats: [String: Seat] = [:]
    /// By code, where the borders of a country or first-level division are: for those without a
    /// settlement.
    var outlines: [String: Seat] = [:]
    /// What sources that know a division or country say of it besides, by code.
    var areas: [String: AreaNames] = [:]
    /// Records of kinds that a locator does not hold (mountains, lakes …).
    var ignoredCount = 0

    /// The categories in the order of the file.
    var orderedCategories: [String] {
        categories.map { (rank: $0.value, name: SortName($0.key)) }
            .sorted { $0.rank != $1.rank ? $0.rank < $1.rank : $0.name < $1.name }.map(\.name.text)
    }
}

/// What sort of settlement a place is, by GeoNames' feature codes.
enum SettlementKind: UInt8 {
    /// The capital of a country (PPLC).
    case capital = 1
    /// The seat of a first-level division (PPLA).
    case regionSeat
    /// The seat of a lower division (PPLA2 … PPLA5).
    case lowerSeat
    /// Any other (PPL, PPLG, PPLL, PPLS, PPLF, STLMT).
    case other
    /// A part of a town (PPLX).
    case partOfTown
    /// Abandoned, destroyed or historical (PPLQ, PPLW, PPLH, PPLCH).
    case former

    init(code: some StringProtocol) {
        switch code {
        case "PPLC": self = .capital
        case "PPLA": self = .regionSeat
        case "PPLA2", "PPLA3", "PPLA4", "PPLA5": self = .lowerSeat
        case "PPLX": self = .partOfTown
        case "PPLQ", "PPLW", "PPLH", "PPLCH": self = .former
        default: self = .other
        }
    }
}
