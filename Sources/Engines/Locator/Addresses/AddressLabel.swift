// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// The label and location of an address in an answer.
struct AddressLabel {
    let street: Int
    let house: AddressHouse?
    let streetName: String
    /// Its house number, such as `12 bis`; empty for a street.
    let number: String
    let postcode: String
    let town: PlaceLabel
    /// Its longitude and latitude.
    let location: Coordinate
    /// The extent around the house, or around all houses of the street.
    let extent: Envelope
    /// The short label: `12 bis Rue de la Paix`.
    let short: String
    /// The long label: `12 bis Rue de la Paix, 75002 Paris, Île-de-France, France`.
    let long: String

    /// Half the side of a house's extent, in metres.
    private static let houseReachMeters = 100.0

    init(
        _ file: LocatorFile, _ addresses: AddressFile, street: Int, house: AddressHouse?,
        _ bytes: RawSpan
    ) {
        self.street = street
        self.house = house
        streetName = addresses.name(ofStreet: street, bytes)
        postcode =
            addresses.postcode(ofStreet: street, bytes).map {
                addresses.text(ofPostcode: $0, bytes)
            } ?? ""
        let place = addresses.place(ofTown: addresses.town(ofStreet: street, bytes), bytes)
        town = PlaceLabel(file, place, name: nil, bytes)
        if let house {
            number = Self.number(of: house, addresses, bytes)
            location = addresses.location(of: house, bytes)
            extent = Sphere.envelope(around: location, radiusMeters: Self.houseReachMeters)
        } else {
            number = ""
            location = addresses.location(ofStreet: street, bytes)
            var bounds = Sphere.envelope(around: location, radiusMeters: Self.houseReachMeters)
            for house in addresses.houses(ofStreet: street, bytes).prefix(10_000) {
                bounds.extend(to: addresses.location(ofHouse: house, bytes))
            }
            let lines = addresses.segments(ofStreet: street, bytes).prefix(1_000)
            for segment in lines {
                for vertex in addresses.vertices(ofSegment: segment, bytes).prefix(1_000) {
                    bounds.extend(to: addresses.location(ofVertex: vertex, bytes))
                }
            }
            extent = bounds
        }
        short = number.isEmpty ? streetName : number + " " + streetName
        long = short + ", " + (postcode.isEmpty ? "" : postcode + " ") + town.long
    }

    /// Formats a number: `12 bis`, `12-14`, `12 1/2`.
    private static func number(
        of house: AddressHouse, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> String {
        let (number, suffix): (Int, String)
        switch house {
        case .point(let house):
            number = addresses.number(ofHouse: house, bytes)
            suffix = addresses.suffixText(addresses.suffix(ofHouse: house, bytes), bytes)
        case .range(let match, _):
            number = match.number
            suffix = match.end.map { "-\($0)" } ?? match.suffix
        }
        // `12 BIS`, but `12A`, `12-14`.
        let isWord = suffix.utf8.count > 1 && suffix.utf8.first.map { $0 >= 0x41 } ?? false
        return "\(number)" + (isWord || suffix.contains("/") ? " " : "") + suffix
    }

    /// Esri's address types by accuracy: a house, within a range of house numbers, beyond the end
    /// of one, or the street.
    private var types: (code: String, name: String) {
        switch house {
        case .point?: ("PointAddress", "Point Address")
        case .range(let match, _)?:
            (match.gap == 0 ? "StreetAddress" : "StreetAddressExt", "Street Address")
        case nil: ("StreetName", "Street Name")
        }
    }

    /// The sources of the house, or of the street for an interpolated house.
    private func origins(_ file: LocatorFile, _ bytes: RawSpan) -> String {
        if case .point(let house)? = house {
            return file.origins?.origins(ofHouse: house, bytes) ?? ""
        }
        return file.origins?.origins(ofStreet: street, bytes) ?? ""
    }

    /// A candidate with Esri's attributes; unknown texts are empty.
    func candidate(
        _ file: LocatorFile, _ addresses: AddressFile, score: Double, type: MatchType,
        locator: String,
        distanceMeters: Double? = nil, _ bytes: RawSpan
    ) -> Candidate {
        var own: [String: AttributeValue] = [
            "Match_addr": .string(long), "LongLabel": .string(long), "ShortLabel": .string(short),
            "Addr_type": .string(types.code), "Type": .string(types.name),
            "PlaceName": .string(""), "Place_addr": .string(long), "StAddr": .string(short),
            "Address": .string(short), Candidate.origins: .string(origins(file, bytes)),
            "AddNum": .string(number), "StName": .string(streetName), "Postal": .string(postcode),
            "X": .real(location.x), "Y": .real(location.y), "DisplayX": .real(location.x),
            "DisplayY": .real(location.y), "Population": .integer(0), "GeoNamesID": .integer(0),
        ]
        if case .range(let match, _)? = house,
            let range = addresses.range(ofSegment: match.segment, match.side, bytes)
        {
            own["AddNumFrom"] = .string("\(range.from)")
            own["AddNumTo"] = .string("\(range.to)")
            let isKnown = addresses.tellsSides(match.segment, bytes)
            own["Side"] = .string(isKnown ? match.side.letter : "")
        }
        let attributes = town.attributes(
            file, score: score, extent: extent, locator: locator, bytes)
        return Candidate(
            address: long, location: location, score: score, matchType: type, extent: extent,
            attributes: attributes.with(own), distanceMeters: distanceMeters)
    }
}

extension Attributes {
    /// Replaces the values of these names; order and other names are kept.
    func with(_ values: [String: AttributeValue]) -> Attributes {
        Attributes(entries.map { .init(name: $0.name, value: values[$0.name] ?? $0.value) })
    }
}
