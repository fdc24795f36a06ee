// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A place that was found for a text, or a text for a place.
public struct GeocodeResult: Sendable {
    /// The whole address or name.
    public let label: String
    /// How well it matches, 0 to 100.
    public let score: Double
    /// Where a map shows it; nil where the service gives none.
    public let displayLocation: Point?
    /// The place that was asked for, of a reverse geocode; nil otherwise.
    public let inputLocation: Point?
    /// Where a route ends for it, as at the street; nil where the service gives none.
    public let routeLocation: Point?
    /// Around it; nil where the service gives none.
    public let extent: Envelope?
    /// Values by the names of fields, typed by the service's candidate fields.
    public let attributes: [String: any Sendable]

    package init(
        label: String, score: Double, displayLocation: Point?, inputLocation: Point?,
        routeLocation: Point?, extent: Envelope?, attributes: [String: any Sendable]
    ) {
        (self.label, self.score, self.extent) = (label, score, extent)
        (self.displayLocation, self.routeLocation) = (displayLocation, routeLocation)
        (self.inputLocation, self.attributes) = (inputLocation, attributes)
    }
}

/// A text that may be meant.
public struct SuggestResult: Sendable {
    /// The text.
    public let label: String
    /// Whether it stands for a kind of places instead of one.
    public let isCollection: Bool
    package let magicKey: String
    package let text: String

    package init(label: String, isCollection: Bool, magicKey: String, text: String) {
        (self.label, self.isCollection) = (label, isCollection)
        (self.magicKey, self.text) = (magicKey, text)
    }
}
