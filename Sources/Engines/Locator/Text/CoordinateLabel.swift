// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A candidate for coordinates typed as text.
struct CoordinateLabel {
    /// Longitude and latitude.
    let location: Coordinate

    /// Half the side of the extent, in metres.
    private static let reachMeters = 1_000.0

    init(_ location: Coordinate) { self.location = location }

    /// A candidate with Esri's attributes, `Addr_type` `LatLong`; attributes of places are empty.
    func candidate(locator: String) -> Candidate {
        let extent = Sphere.envelope(around: location, radiusMeters: Self.reachMeters)
        let label = "\(location.y), \(location.x)"
        let texts: [(String, String)] = [
            ("Loc_name", locator), ("Status", "M"), ("Match_addr", label), ("LongLabel", label),
            ("ShortLabel", label), ("Addr_type", "LatLong"), ("Type", "LatLong"),
            ("PlaceName", label), ("Place_addr", label), ("StAddr", ""), ("Address", ""),
            ("AddNum", ""),
            ("StName", ""), ("City", ""), ("Subregion", ""), ("Region", ""), ("RegionAbbr", ""),
            ("Postal", ""), ("Country", ""), ("CntryName", ""), ("CountryCode", ""),
            ("LangCode", ""), (Candidate.origins, ""),
        ]
        let numbers: [(String, Double)] = [
            ("X", location.x), ("Y", location.y), ("DisplayX", location.x),
            ("DisplayY", location.y), ("Xmin", extent.minX), ("Xmax", extent.maxX),
            ("Ymin", extent.minY), ("Ymax", extent.maxY),
        ]
        var entries = texts.map { Attributes.Entry(name: $0.0, value: .string($0.1)) }
        entries.insert(Attributes.Entry(name: "Score", value: .real(100)), at: 2)
        entries += numbers.map { Attributes.Entry(name: $0.0, value: .real($0.1)) }
        entries.append(Attributes.Entry(name: "Population", value: .integer(0)))
        entries.append(Attributes.Entry(name: "GeoNamesID", value: .integer(0)))
        return Candidate(
            address: label, location: location, score: 100, matchType: .exact, extent: extent,
            attributes: Attributes(entries))
    }
}
