// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a locator says of itself.
public struct LocatorInfo: Sendable {
    /// Its name.
    public let name: String
    /// Its description.
    public let description: String
    /// The fields of an address that ``LocatorTask/geocode(forSearchValues:using:)`` takes.
    public let searchAttributes: [LocatorAttribute]
    /// The attributes of results.
    public let resultAttributes: [LocatorAttribute]
    /// The reference of places.
    public let spatialReference: SpatialReference?
    /// Whether it suggests.
    public let supportsSuggestions: Bool
    /// Whether it knows kinds of places.
    public let supportsPOI: Bool
    /// Whether it finds addresses.
    public let supportsAddresses: Bool
    /// Whether it finds crossings of streets.
    public let supportsIntersections: Bool
    /// The release of its server, as `11.1`; empty where it does not say.
    public let version: String

    package init(
        name: String, description: String, searchAttributes: [LocatorAttribute],
        resultAttributes: [LocatorAttribute], spatialReference: SpatialReference?,
        supportsSuggestions: Bool, supportsPOI: Bool, supportsAddresses: Bool = true,
        supportsIntersections: Bool = false, version: String = ""
    ) {
        (self.supportsAddresses, self.supportsIntersections) = (
            supportsAddresses, supportsIntersections
        )
        self.version = version
        (self.name, self.description) = (name, description)
        (self.searchAttributes, self.resultAttributes) = (searchAttributes, resultAttributes)
        self.spatialReference = spatialReference
        (self.supportsSuggestions, self.supportsPOI) = (supportsSuggestions, supportsPOI)
    }
}

/// An attribute that a locator gives or takes.
public struct LocatorAttribute: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// The name that people read.
    public let displayName: String
    /// Whether it has to be given.
    public let isRequired: Bool
    /// The type of its values; nil for an unknown one.
    public let type: Field.FieldType?

    package init(name: String, displayName: String, isRequired: Bool, type: Field.FieldType?) {
        (self.name, self.displayName) = (name, displayName)
        (self.isRequired, self.type) = (isRequired, type)
    }
}
