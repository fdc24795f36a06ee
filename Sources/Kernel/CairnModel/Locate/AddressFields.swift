// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An address or place given in parts; nil where a part is not given.
public struct AddressFields: Hashable, Sendable, Codable {
    /// Street and house number.
    public var address: String?
    /// A part of a town.
    public var neighborhood: String?
    /// A town.
    public var city: String?
    /// A second-level division.
    public var subregion: String?
    /// A first-level division, its name or abbreviation.
    public var region: String?
    /// A postcode.
    public var postal: String?

    /// States the parts.
    public init(
        address: String? = nil, neighborhood: String? = nil, city: String? = nil,
        subregion: String? = nil, region: String? = nil, postal: String? = nil
    ) {
        self.address = address
        self.neighborhood = neighborhood
        self.city = city
        self.subregion = subregion
        self.region = region
        self.postal = postal
    }
}
