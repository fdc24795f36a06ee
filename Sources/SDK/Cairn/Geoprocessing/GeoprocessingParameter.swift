// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A value that a geoprocessing task takes or gives.
public class GeoprocessingParameter: @unchecked Sendable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    init() {}

    /// As the form of a submission has it.
    var formValue: String { "" }
}

/// A text.
public final class GeoprocessingString: GeoprocessingParameter, @unchecked Sendable {
    /// The text.
    public let value: String
    /// Makes a value.
    public init(value: String) { self.value = value }
    override var formValue: String { value }
}

/// A number.
public final class GeoprocessingDouble: GeoprocessingParameter, @unchecked Sendable {
    /// The number.
    public let value: Double
    /// Makes a value.
    public init(value: Double) { self.value = value }
    override var formValue: String { value.plainText }
}

/// A whole number.
public final class GeoprocessingLong: GeoprocessingParameter, @unchecked Sendable {
    /// The number.
    public let value: Int
    /// Makes a value.
    public init(value: Int) { self.value = value }
    override var formValue: String { String(value) }
}

/// True or false.
public final class GeoprocessingBoolean: GeoprocessingParameter, @unchecked Sendable {
    /// The value.
    public let value: Bool
    /// Makes a value.
    public init(value: Bool) { self.value = value }
    override var formValue: String { String(value) }
}

/// A time.
public final class GeoprocessingDate: GeoprocessingParameter, @unchecked Sendable {
    /// The time.
    public let value: Date
    /// Makes a value.
    public init(value: Date) { self.value = value }
    override var formValue: String { String(value.millisecondsSince1970) }
}

/// A length with its unit.
public final class GeoprocessingLinearUnit: GeoprocessingParameter, @unchecked Sendable {
    /// Units of lengths, by the service's names for them.
    public enum Unit: String, Sendable, Hashable, CaseIterable {
        case meters = "esriMeters"
        case kilometers = "esriKilometers"
        case decimeters = "esriDecimeters"
        case centimeters = "esriCentimeters"
        case millimeters = "esriMillimeters"
        case inches = "esriInches"
        case feet = "esriFeet"
        case yards = "esriYards"
        case miles = "esriMiles"
        case nauticalMiles = "esriNauticalMiles"
        case points = "esriPoints"
        case decimalDegrees = "esriDecimalDegrees"
        /// Any other.
        case unknown = "esriUnknownUnits"
    }

    /// The length.
    public let distance: Double
    /// The unit.
    public let unit: Unit
    /// Makes a value.
    public init(distance: Double, unit: Unit = .meters) {
        self.distance = distance
        self.unit = unit
    }
    override var formValue: String {
        JSON.object([(name: "distance", value: .real(distance)), ("units", .string(unit.rawValue))])
            .jsonText
    }
}
