// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The content of the sources before it becomes a locator.
struct Gazetteer {
    /// A settlement.
    struct Settlement {
        var id: UInt32
        var name: String
        /// A variant that counts as the name itself.
        var asciiName: String
        var alternateNames: [String]
        var location: Coordinate
        /// ISO 3166-1 alpha-2 in capitals; empty when unknown.
        var country: String
        /// First-level code within the country; empty when unknown.
        var region: String
        /// Second-level code within the region; empty when unknown.
        var subregion: String
        var feature: SettlementKind
        var population: UInt64
        /// The towns of addresses that correspond to it.
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
        /// The name of its town, where a source or a border has it; else empty.
        var city: String
        /// Codes as of settlements.
        var country: String
        var region: String
        var population: UInt64
        /// The number of its settlement, once that is known.
        var town: Int?
        /// Its own street and house number, where a source has them.
        var address: PointAddress?
        var origins = Origins()
        var languageNames: [NameInLanguage] = []
    }

    /// The sources of a division or country, and its names by language.
    struct AreaNames {
        var origins = Origins()
        var alternateNames: [String] = []
        var languageNames: [NameInLanguage] = []
    }

    /// The location of a division or country, from a source that has one.
    struct Seat {
        var location: Coordinate
        var extent: Envelope?
        var population: UInt64
        var alternateNames: [String]
    }

    var settlements: [Settlement] = []
    var points: [PointOfInterest] = []
    /// Ranks of the categories of points of interest, lower first.
    var categories: [String: Int] = [:]
    var regions: [String: Division] = [:]
    var subregions: [String: Division] = [:]
    var countries: [String: Country] = [:]
    /// The points of interest by folded name and grid square.
    var pointNumbers: [PointKey: [Int]] = [:]
    /// By code (`FR`, `US.TX`, `US.TX.113`).
    var seats: [String: Seat] = [:]
    /// Locations from the borders of countries and first-level divisions, by code: for those
    /// without a settlement.
    var outlines: [String: Seat] = [:]
    /// Names and sources of divisions and countries, by code.
    var areas: [String: AreaNames] = [:]
    /// Number of records of unsupported kinds (mountains, lakes …).
    var ignoredCount = 0

    /// The categories in the order of the file.
    var orderedCategories: [String] {
        categories.map { (rank: $0.value, name: SortName($0.key)) }
            .sorted { $0.rank != $1.rank ? $0.rank < $1.rank : $0.name < $1.name }.map(\.name.text)
    }
}

/// The kind of a settlement, from GeoNames' feature codes.
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
