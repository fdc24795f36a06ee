// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Codecs
import Foundation
import Platform

/// An address of a table, with its usual spellings.
public struct AddressQuery: Sendable {
    /// One way to write an address.
    public enum Kind: String, CaseIterable, Sendable {
        /// As the table has it.
        case exact
        /// The full address without the postcode.
        case withoutPostcode
        /// Small ASCII letters.
        case plain
        /// With the usual short forms.
        case abbreviated
        /// One letter wrong, missing, too many, or two exchanged, in a word of four letters or
        /// more.
        case oneTypo
        /// Town and postcode before the street.
        case cityFirst
    }

    /// As the table has it, a suffix included.
    public var number: String
    /// The street's name.
    public var street: String
    /// The postcode.
    public var postcode: String
    /// The town.
    public var city: String
    /// In degrees.
    public var latitude: Double
    /// In degrees.
    public var longitude: Double
    /// Whether the postcode is written before the town, with French abbreviations, or after it and
    /// a comma, with those of the United States.
    public var hasPostcodeFirst: Bool

    /// Makes an address.
    public init(
        number: String, street: String, postcode: String, city: String, latitude: Double,
        longitude: Double, hasPostcodeFirst: Bool = true
    ) {
        self.number = number
        self.street = street
        self.postcode = postcode
        self.city = city
        self.latitude = latitude
        self.longitude = longitude
        self.hasPostcodeFirst = hasPostcodeFirst
    }

    /// Reads a row of BANO's table: id, number, street, postcode, town, origin, latitude,
    /// longitude; nil for one with quotes, or too short.
    ///
    /// A row whose origin is `OSM-US` is written as in the United States.
    public init?(bano row: String) {
        let fields = row.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8, !row.contains("\""), let latitude = Double(fields[6]),
            let longitude = Double(fields[7])
        else { return nil }
        self.init(
            number: fields[1], street: fields[2], postcode: fields[3], city: fields[4],
            latitude: latitude, longitude: longitude, hasPostcodeFirst: fields[5] != "OSM-US")
    }

    /// All rows of BANO's table at a path, plain or gzip.
    public static func read(bano path: String) throws -> [AddressQuery] {
        var lines = try TextLines(path: path)
        var result: [AddressQuery] = []
        while let line = try lines.next() {
            if let address = AddressQuery(bano: String(decoding: line, as: UTF8.self)) {
                result.append(address)
            }
        }
        return result
    }

    /// The address as it is written in one line.
    public func written(_ kind: Kind, using random: inout SeededGenerator) -> String {
        switch kind {
        case .exact: return line(street, city)
        case .withoutPostcode:
            return hasPostcodeFirst
                ? "\(number) \(street) \(city)" : "\(number) \(street), \(city)"
        case .plain: return Self.plain(line(street, city))
        case .abbreviated:
            let shortForms = hasPostcodeFirst ? Self.frenchForms : Self.americanForms
            let words = street.split(separator: " ").map { word in
                shortForms[Self.plain(String(word))] ?? String(word)
            }
            let city = city.split(separator: "-").map { word in
                shortForms[Self.plain(String(word))] ?? String(word)
            }
            return line(words.joined(separator: " "), city.joined(separator: "-"))
        case .oneTypo:
            return "\(number) "
                + Self.withTypo("\(street) \(city)", using: &random).replacing(
                    "\u{0}", with: " ")
        case .cityFirst: return "\(postcode) \(city) \(number) \(street)"
        }
    }

    private func line(_ street: String, _ city: String) -> String {
        hasPostcodeFirst
            ? "\(number) \(street) \(postcode) \(city)"
            : "\(number) \(street), \(city) \(postcode)"
    }

    /// Small ASCII letters.
    public static func plain(_ text: String) -> String {
        text.folding(options: .diacriticInsensitive, locale: nil).lowercased()
            .replacing("œ", with: "oe")
    }

    private static func withTypo(
        _ text: String, using random: inout SeededGenerator
    ) -> String {
        var letters = Array(text)
        var places: [Int] = []
        var start = 0
        for end in 0...letters.count where end == letters.count || !letters[end].isLetter {
            if end - start >= 4 { places += Array(start..<end) }
            start = end + 1
        }
        guard let place = places.randomElement(using: &random) else { return text }
        let letter = "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "x"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: letters.remove(at: place)
        case 1: letters.insert(letter, at: place)
        case 2: letters[place] = letter
        default:
            if place + 1 < letters.count, letters[place + 1].isLetter {
                letters.swapAt(place, place + 1)
            } else {
                letters.swapAt(place, place - 1)
            }
        }
        return String(letters)
    }

    private static let frenchForms = [
        "rue": "r", "avenue": "av.", "boulevard": "bd", "place": "pl", "chemin": "che",
        "route": "rte", "impasse": "imp", "allee": "all", "lotissement": "lot", "saint": "St",
        "sainte": "Ste", "general": "gal", "marechal": "mal", "docteur": "dr",
        "president": "pdt", "faubourg": "fbg", "square": "sq", "residence": "res",
        "commandant": "cdt", "colonel": "col", "grande": "gde", "passage": "pass",
    ]

    private static let americanForms = [
        "street": "St", "avenue": "Ave.", "boulevard": "Blvd", "place": "Pl", "road": "Rd",
        "drive": "Dr", "lane": "Ln", "court": "Ct", "square": "Sq", "parkway": "Pkwy",
        "highway": "Hwy", "terrace": "Ter", "saint": "St", "north": "N", "south": "S", "east": "E",
        "west": "W",
    ]
}
