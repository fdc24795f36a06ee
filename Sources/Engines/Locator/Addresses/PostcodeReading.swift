// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// One way to read a text as a postcode, with words around it that name its town, region or
/// country.
struct PostcodeReading {
    var postcode: Int
    /// The town under it that the text names, else the one with most streets.
    var town: Int
    /// 0…100.
    var score: Double
    /// Whether every word is explained letter by letter.
    var isCertain: Bool

    /// Of a postcode with more streets the first so many say where it lies.
    private static let mostStreets = 4_096

    /// The towns under a postcode with how many of its streets each has, most first.
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

    /// The postcode as an answer: where its streets are.
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
        // The street nearest to the middle: a place where somebody lives.
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
    /// The reading of a text as a postcode that some of its words are; nil where the filter refuses
    /// it, or the score is none.
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
