// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry
package import Platform

/// A feature of a request: a stop, a facility, a barrier.
package struct NetworkFeature {
    /// WGS 84 longitude and latitude; nil for an empty geometry.
    package var shape: Shape?
    /// By name in lower case.
    package var attributes: [String: JSONTree]
    /// Its place in the request, from 1.
    package var number: Int
    /// Seconds that are spent at it, or that it adds, of a form that states them in a unit of its
    /// own; nil for the attributes that name a cost.
    package var seconds: Double?
    /// The factor of times within it, of such a form.
    package var factor: Double?

    /// A feature as a client states it.
    package init(shape: Shape?, attributes: [String: JSONTree], number: Int) {
        self.shape = shape
        self.attributes = attributes
        self.number = number
    }

    /// A number; nil where it is absent or null.
    package func number(_ name: String) throws(Failure) -> Double? {
        switch attributes[name.lowercased()] {
        case nil, .null?: return nil
        case .integer(let number)?: return Double(number)
        case .real(let number)?: return number
        case .string(let text)? where text.isEmpty: return nil
        case .string(let text)?:
            if let number = FormText.number(text) { return number }
            throw Failure(
                .invalidParameter,
                "attribute '\(name)' of feature \(number) is '\(text.prefix(60))': expected a "
                    + "number")
        default:
            throw Failure(
                .invalidParameter, "attribute '\(name)' of feature \(number): expected a number")
        }
    }

    /// A whole number in a range; nil where it is absent or null.
    package func whole(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let value = try number(name) else { return nil }
        guard let whole = Int(exactly: value), range.contains(whole) else {
            throw Failure(
                .invalidParameter,
                "attribute '\(name)' of feature \(number) is \(value): expected "
                    + "\(range.lowerBound) "
                    + "to \(range.upperBound)")
        }
        return whole
    }

    /// Text, or a number as text; nil where it is absent, null or empty.
    package func text(_ name: String) -> String? {
        switch attributes[name.lowercased()] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let number)?: "\(number)"
        case .real(let number)?: Int(exactly: number).map(String.init) ?? "\(number)"
        default: nil
        }
    }

    /// The point; nil for an empty or other geometry.
    package var point: Coordinate? {
        if case .point(let place)? = shape { place } else { nil }
    }

    /// The id that answers refer to.
    package var objectID: Int {
        switch attributes["objectid"] {
        case .integer(let id)?: Int(id)
        case .real(let id)?: Int(exactly: id) ?? number
        default: number
        }
    }

    /// The side of the vehicle at which it is reached, as it was stated; 0 for either.
    var approach: Int {
        switch attributes["curbapproach"] {
        case .integer(let number)?: Int(number)
        case .real(let number)?: Int(exactly: number) ?? 0
        default: 0
        }
    }

    package var name: String { text("Name") ?? "Location \(number)" }
}
