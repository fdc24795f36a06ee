// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Candidate {
    /// Names of the attributes that an address found for a place always has, since clients read
    /// them unchecked.
    private static let addressNames = [
        "Match_addr", "LongLabel", "ShortLabel", "Addr_type", "Type", "PlaceName", "AddNum",
        "Address", "Block", "Sector", "Neighborhood", "District", "City", "MetroArea", "Subregion",
        "Region", "Territory", "Postal", "PostalExt", "CountryCode",
    ]

    /// The attributes of the address that a reverse geocode answers: the usual ones, empty when
    /// unknown, then those that `isWanted` names.
    public func addressAttributes(_ isWanted: (String) -> Bool) -> Attributes {
        var entries = Self.addressNames.map { name in
            Attributes.Entry(name: name, value: .string(addressValue(name)))
        }
        for entry in attributes.entries
        where !Self.addressNames.contains(entry.name) && entry.name != Self.nearerAcrossBorder
            && (isWanted(entry.name) || entry.name == "LangCode" && entry.value != .string(""))
        {
            entries.append(entry)
        }
        // Not Esri's; absent on the same side of the border.
        if let meters = metersAcrossBorder {
            entries.append(.init(name: Self.nearerAcrossBorder, value: .real(meters)))
        }
        return Attributes(entries)
    }

    private func addressValue(_ name: String) -> String {
        let known = attributes[name] ?? .null
        if case .string(let text) = known, !text.isEmpty { return text }
        switch name {
        case "Match_addr", "LongLabel": return address
        case "ShortLabel": return address.split(separator: ",").first.map(String.init) ?? address
        case "CountryCode":
            guard case .string(let country)? = attributes["Country"] else { return "" }
            return country
        default: return ""
        }
    }
}
