// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import RouteDirections

/// The places of a URL of OSRM: `lon,lat;lon,lat`, `polyline(…)` or `polyline6(…)`.
enum OSRMCoordinates {
    /// Longitude and latitude; `.json` at the end is passed over.
    ///
    /// Throws OSRM's `InvalidQuery`, `InvalidValue`.
    static func parse(_ text: String) throws(Failure) -> [Coordinate] {
        var text = text[...]
        if text.hasSuffix(".json") { text = text.dropLast(5) }
        let places = try line(text)
        for place in places {
            guard -180...180 ~= place.x, -90...90 ~= place.y else {
                throw OSRMCode.invalidValue.failure("Invalid coordinate value.")
            }
        }
        return places
    }

    private static func line(_ text: Substring) throws(Failure) -> [Coordinate] {
        for (name, form) in [("polyline(", EncodedPolyline.five), ("polyline6(", .six)]
        where text.hasPrefix(name) {
            guard text.hasSuffix(")") else { throw malformed(at: text.utf8.count) }
            do throws(Failure) {
                return try form.decode(String(text.dropFirst(name.count).dropLast()))
            } catch {
                throw OSRMCode.invalidQuery.failure(error.message)
            }
        }
        var places: [Coordinate] = []
        var position = 0
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            guard let pair = Parameters.numbers(String(part), counts: 2...2) else {
                throw malformed(at: position)
            }
            places.append(Coordinate(x: pair[0], y: pair[1]))
            position += part.utf8.count + 1
        }
        return places
    }

    private static func malformed(at position: Int) -> Failure {
        OSRMCode.invalidQuery.failure("Query string malformed close to position \(position)")
    }
}
