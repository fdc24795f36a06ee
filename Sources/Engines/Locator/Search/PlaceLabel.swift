// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// The label and location of a place in an answer.
struct PlaceLabel {
    let place: Int
    let kind: PlaceKind
    /// The usual name.
    let name: String
    /// The town of a point of interest, a settlement's own name; empty where unknown.
    let city: String
    /// The category of a point of interest; empty for other places.
    let pointCategory: String
    /// The location of a point of interest, `12 Rue Haute, Paris, Île-de-France, France`; for other
    /// places ``long``.
    let around: String
    /// Its second-level division; empty where unknown, and for such a division itself.
    let subregion: String
    let region: String
    /// Its country, for a country itself; empty where unknown.
    let country: String
    /// The long label, `Paris, Île-de-France, France`, starting with the matched name if that is
    /// another.
    let long: String
    /// The street and house number of a point of interest; nil for other places and where unknown.
    let address: PointAddress?
    /// Whether its own name is in the language of labels.
    let isInLanguage: Bool

    init(_ file: LocatorFile, _ place: Int, name other: String?, _ bytes: RawSpan) {
        self.place = place
        kind = file.kind(place, bytes)
        let translated = file.nameInLanguage(place, bytes)
        isInLanguage = translated != nil
        name = translated ?? file.name(place, bytes)
        func nameOf(_ container: Int?) -> String {
            container.map { file.nameInLanguage($0, bytes) ?? file.name($0, bytes) } ?? ""
        }
        region = nameOf(file.region(place, bytes))
        subregion = nameOf(file.subregion(place, bytes))
        country = nameOf(file.country(place, bytes))
        let town = file.town(ofPoint: place, bytes)
        city = kind == .settlement ? name : nameOf(town)
        pointCategory = file.pointCategory(place, bytes) ?? ""
        var parts = [other ?? name]
        switch kind {
        case .country: break
        case .region: parts.append(country)
        case .subregion: parts += [region, country]
        case .settlement:
            // A city that is its own region and country is listed once less.
            if region != name || region != country { parts.append(region) }
            parts.append(country)
        case .pointOfInterest:
            parts.append(city)
            if region != city || region != country { parts.append(region) }
            parts.append(country)
        }
        let isPoint = kind == .pointOfInterest
        address = isPoint ? file.pointAddresses?.address(of: place, bytes) : nil
        around =
            ([address?.text ?? ""] + (isPoint ? parts.dropFirst() : parts[...]))
            .filter { !$0.isEmpty }.joined(separator: ", ")
        long = parts.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// Esri's attributes of a candidate; unknown texts are empty.
    func attributes(
        _ file: LocatorFile, score: Double, extent: Envelope, locator: String, _ bytes: RawSpan
    ) -> Attributes {
        let codes = file.country(place, bytes).map { file.countryCodes($0, bytes) }
        let abbreviation = file.region(place, bytes).map { file.abbreviation($0, bytes) }
        let location = file.location(place, bytes)
        let texts: [(String, String)] = [
            ("Loc_name", locator), ("Status", "M"), ("Match_addr", long), ("LongLabel", long),
            ("ShortLabel", name), ("Addr_type", kind == .pointOfInterest ? "POI" : "Locality"),
            ("Type", type(file, bytes)),
            ("PlaceName", name), ("Place_addr", around), ("StAddr", address?.text ?? ""),
            ("Address", ""), ("AddNum", address?.number ?? ""),
            ("AddNumFrom", ""), ("AddNumTo", ""), ("Side", ""), ("StName", address?.street ?? ""),
            ("City", city),
            ("Subregion", subregion), ("Region", region), ("RegionAbbr", abbreviation ?? ""),
            ("Postal", ""), ("Country", codes?.alpha3 ?? ""), ("CntryName", country),
            ("CountryCode", codes?.alpha2 ?? ""), ("LangCode", isInLanguage ? file.shown.code : ""),
            (Candidate.origins, file.origins?.origins(ofPlace: place, bytes) ?? ""),
        ]
        let numbers: [(String, Double)] = [
            ("X", location.x), ("Y", location.y), ("DisplayX", location.x),
            ("DisplayY", location.y), ("Xmin", extent.minX), ("Xmax", extent.maxX),
            ("Ymin", extent.minY), ("Ymax", extent.maxY),
        ]
        var entries = texts.map { Attributes.Entry(name: $0.0, value: .string($0.1)) }
        entries.insert(Attributes.Entry(name: "Score", value: .real(score)), at: 2)
        entries += numbers.map { Attributes.Entry(name: $0.0, value: .real($0.1)) }
        let population = Int64(clamping: file.population(place, bytes))
        entries.append(Attributes.Entry(name: "Population", value: .integer(population)))
        let id = Int64(file.sourceID(place, bytes))
        entries.append(Attributes.Entry(name: "GeoNamesID", value: .integer(id)))
        return Attributes(entries)
    }

    private func type(_ file: LocatorFile, _ bytes: RawSpan) -> String {
        switch file.category(place, bytes) {
        case .region: "State or Province"
        case .subregion: "County"
        case .pointOfInterest: pointCategory
        case .country, .city, .neighborhood: file.category(place, bytes).rawValue
        }
    }
}

extension LocatorFile {
    /// The category of the place for filters.
    func category(_ place: Int, _ bytes: RawSpan) -> PlaceCategory {
        switch kind(place, bytes) {
        case .country: .country
        case .region: .region
        case .subregion: .subregion
        case .settlement:
            settlementKind(place, bytes) == .partOfTown ? .neighborhood : .city
        case .pointOfInterest: .pointOfInterest
        }
    }

    /// The category of a point of interest, as in its source; nil for other places.
    func pointCategory(_ place: Int, _ bytes: RawSpan) -> String? {
        guard let points, kind(place, bytes) == .pointOfInterest else { return nil }
        return points.category(place, bytes).map { points.name(ofCategory: $0, bytes) }
    }
}
