// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// An interpretation of a text as a postcode, with the words for its town, region or country.
struct PostcodeReading {
    var postcode: Int
    /// The town under it in the text, else the one with most streets.
    var town: Int
    /// The score, 0…100.
    var score: Double
    /// Whether every word matches exactly.
    var isCertain: Bool

    /// Limit of streets that determine the location of a postcode.
    private static let mostStreets = 4_096

    /// The towns under a postcode, each with its number of streets, most first.
    static func towns(
        ofPostcode postcode: Int, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> [(town: Int, streets: Int)] {
        var counts: [Int: Int] = [:]
        for entry in addresses.streetEntries(ofPostcode: postcode, bytes).prefix(mostStreets) {
            let street = addresses.street(atPostcodeEntry: entry, bytes)
            counts[addresses.town(ofStreet: street, bytes), default: 0] += 1
        }
        return counts.map { ($0.key, $0.value) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// The postcode as a candidate, located by its streets.
    func candidate(
        _ file: LocatorFile, _ addresses: AddressFile, locator: String, _ bytes: RawSpan
    ) -> Candidate {
        var extent = Envelope.empty
        var locations: [Coordinate] = []
        for entry in addresses.streetEntries(ofPostcode: postcode, bytes)
            .prefix(Self.mostStreets)
        {
            let street = addresses.street(atPostcodeEntry: entry, bytes)
            let location = addresses.location(ofStreet: street, bytes)
            extent.extend(to: location)
            locations.append(location)
        }
        // The street nearest to the centre, so that the location is inhabited.
        let middle = extent.center
        let location =
            locations.min {
                Sphere.meters(from: $0, to: middle) < Sphere.meters(from: $1, to: middle)
            } ?? middle
        let place = addresses.place(ofTown: town, bytes)
        let label = PlaceLabel(file, place, name: nil, bytes)
        let code = addresses.text(ofPostcode: postcode, bytes)
        let long = code + " " + label.long
        let own: [String: AttributeValue] = [
            "Match_addr": .string(long), "LongLabel": .string(long), "ShortLabel": .string(code),
            "Addr_type": .string("Postal"), "Type": .string("Postal"), "PlaceName": .string(""),
            "Place_addr": .string(long), "Postal": .string(code), Candidate.origins: .string(""),
            "X": .real(location.x),
            "Y": .real(location.y), "DisplayX": .real(location.x), "DisplayY": .real(location.y),
            "Population": .integer(0), "GeoNamesID": .integer(0),
        ]
        let attributes = label.attributes(
            file, score: score, extent: extent, locator: locator, bytes)
        return Candidate(
            address: long, location: location, score: score,
            matchType: isCertain ? .exact : .fuzzy, extent: extent, attributes: attributes.with(own)
        )
    }
}

extension AddressScoring {
    /// Interprets a text with a postcode among its words; nil where the filter excludes it, or
    /// below the threshold of a score.
    func reading(
        ofPostcode postcode: Int, _ mask: UInt64, _ text: AddressText, _ bytes: RawSpan
    ) -> PostcodeReading? {
        let towns = PostcodeReading.towns(ofPostcode: postcode, addresses, bytes)
        guard let largest = towns.first?.town else { return nil }
        var town = largest
        var (used, lost, isCertain) = (mask, 0.0, true)
        for (other, _) in towns.prefix(64) {
            var (nowUsed, nowLost, nowCertain) = (mask, 0.0, true)
            let isNamed = match(town: other, text, &nowUsed, &nowLost, &nowCertain, bytes)
            guard isNamed, text.weight(nowUsed) - nowLost > text.weight(used) - lost else {
                continue
            }
            (town, used, lost, isCertain) = (other, nowUsed, nowLost, nowCertain)
        }
        let place = addresses.place(ofTown: town, bytes)
        useAreas(around: place, &used, bytes)
        guard let entry = addresses.streetEntries(ofPostcode: postcode, bytes).first,
            filter.accepts(
                address: nil, street: addresses.street(atPostcodeEntry: entry, bytes),
                place: place, file, bytes)
        else { return nil }
        guard
            let score = score(
                text, used: used, lost: lost, isCertain: &isCertain, confirms: true)
        else { return nil }
        return PostcodeReading(postcode: postcode, town: town, score: score, isCertain: isCertain)
    }
}
