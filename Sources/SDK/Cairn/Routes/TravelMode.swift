// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// How one travels, as a service names it.
public struct TravelMode: Sendable, Hashable {
    /// The name, as `Driving Time`.
    public let name: String
    /// The service's id of it.
    public let id: String
    /// The service's word for its kind, as `AUTOMOBILE`, `TRUCK` or `WALK`.
    public let type: String
    /// The cost that is a time, as `Minutes`.
    public let timeAttributeName: String
    /// The cost that is a length, as `Meters`.
    public let distanceAttributeName: String
    /// What is least on the best route, by the name that Esri's SDK has for it.
    public var impedanceAttributeName: String { impedance }
    /// What is least on the best route, as `Minutes`.
    public let impedance: String
    private let source: String

    init?(_ json: JSON) {
        guard let name = json.text("name") else { return nil }
        self.name = name
        id = json.text("id") ?? json.text("itemId") ?? name
        impedance = json.text("impedanceAttributeName") ?? ""
        type = json.text("type") ?? ""
        timeAttributeName = json.text("timeAttributeName") ?? ""
        distanceAttributeName = json.text("distanceAttributeName") ?? ""
        source = json.jsonText
    }

    /// As requests have it.
    var parameter: String { source }
}
