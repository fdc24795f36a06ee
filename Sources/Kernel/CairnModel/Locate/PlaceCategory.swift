// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The category of a place; raw values are Esri's categories.
public enum PlaceCategory: String, Hashable, Sendable, CaseIterable {
    /// A part of a town.
    case neighborhood = "Neighborhood"
    /// Any other settlement.
    case city = "City"
    /// A second-level division.
    case subregion = "Subregion"
    /// A first-level division.
    case region = "Region"
    /// A country.
    case country = "Country"
    /// A shop, station, mountain: any named place, inhabited or not.
    case pointOfInterest = "POI"

    /// The category of all populated places: all but ``pointOfInterest``.
    public static let parent = "Populated Place"

    /// The categories below ``parent``.
    public static let populated = allCases.filter { $0 != .pointOfInterest }

    /// The categories of those names, in any letter case.
    ///
    /// ``parent`` stands for all ``populated``; an unknown name matches no place.
    public static func named(_ names: [String]) -> Set<PlaceCategory> {
        let wanted = Set(names.map { $0.lowercased() })
        let all = wanted.contains(parent.lowercased()) ? populated : []
        return Set(all + allCases.filter { wanted.contains($0.rawValue.lowercased()) })
    }
}

extension Candidate {
    /// The attributes that every candidate of a locator has, in their order.
    public static let fields: [FieldDescription] =
        texts(["Loc_name", "Status"]) + [FieldDescription(name: "Score", type: .double)]
        + texts([
            "Match_addr", "LongLabel", "ShortLabel", "Addr_type", "Type", "PlaceName",
            "Place_addr", "StAddr", "Address", "AddNum", "AddNumFrom", "AddNumTo", "Side", "StName",
            "City",
            "Subregion", "Region",
            "RegionAbbr", "Postal", "Country", "CntryName", "CountryCode", "LangCode",
        ])
        + [FieldDescription(name: origins, type: .string, length: 1_000)]
        + ["X", "Y", "DisplayX", "DisplayY", "Xmin", "Xmax", "Ymin", "Ymax"].map {
            FieldDescription(name: $0, type: .double)
        }
        + ["Population", "GeoNamesID"].map { FieldDescription(name: $0, type: .integer) }

    private static func texts(_ names: [String]) -> [FieldDescription] {
        names.map { FieldDescription(name: $0, type: .string, length: 200) }
    }
}
