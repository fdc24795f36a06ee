// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

extension Intersection {
    /// Half the side of the extent, in metres.
    private static let reachMeters = 100.0

    /// The short label: `Cambridge St & Prospect St`.
    private func short(_ addresses: AddressFile, _ bytes: RawSpan) -> String {
        [first, second].map { addresses.name(ofStreet: $0, bytes) }.joined(separator: " & ")
    }

    private func town(
        _ file: LocatorFile, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> PlaceLabel {
        let place = addresses.place(ofTown: addresses.town(ofStreet: first, bytes), bytes)
        return PlaceLabel(file, place, name: nil, bytes)
    }

    /// The text of a suggestion: without a postcode, since an intersection may have several.
    func suggestion(
        _ file: LocatorFile, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> String {
        short(addresses, bytes) + ", " + town(file, addresses, bytes).long
    }

    /// A candidate with Esri's attributes: `Cambridge St & Prospect St, Cambridge, …`.
    func candidate(
        _ file: LocatorFile, _ addresses: AddressFile, score: Double, type: MatchType,
        locator: String, distanceMeters: Double? = nil, _ bytes: RawSpan
    ) -> Candidate {
        let short = short(addresses, bytes)
        let town = town(file, addresses, bytes)
        let code = addresses.postcode(ofStreet: first, bytes).map {
            addresses.text(ofPostcode: $0, bytes)
        }
        let postal = code ?? ""
        let long = short + ", " + (postal.isEmpty ? "" : postal + " ") + town.long
        let extent = Sphere.envelope(around: location, radiusMeters: Self.reachMeters)
        let own: [String: AttributeValue] = [
            "Match_addr": .string(long), "LongLabel": .string(long), "ShortLabel": .string(short),
            "Addr_type": .string("StreetInt"), "Type": .string("Intersection"),
            "PlaceName": .string(""), "Place_addr": .string(long), "StAddr": .string(short),
            "Address": .string(short),
            Candidate.origins: .string(
                file.origins?.origins(ofStreets: first, second, bytes) ?? ""),
            "StName": .string(""), "Postal": .string(postal), "X": .real(location.x),
            "Y": .real(location.y), "DisplayX": .real(location.x), "DisplayY": .real(location.y),
            "Population": .integer(0), "GeoNamesID": .integer(0),
        ]
        let attributes = town.attributes(
            file, score: score, extent: extent, locator: locator, bytes)
        return Candidate(
            address: long, location: location, score: score, matchType: type, extent: extent,
            attributes: attributes.with(own), distanceMeters: distanceMeters)
    }
}
