// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
public import Geometry

/// The crossings of Cambridge, Massachusetts, of the shared data: pairs of names with every place
/// that has both.
public struct CambridgeCorners {
    /// Two names.
    public struct Corner {
        /// The place in the list, from 0.
        public var number: Int
        /// One name.
        public var first: String
        /// The other.
        public var second: String
        /// The corner's positions in the city's data.
        public var places: [Coordinate]
    }

    /// In the order of the file.
    public var corners: [Corner] = []

    private struct Collection: Decodable {
        struct Feature: Decodable {
            struct Geometry: Decodable { var coordinates: [Double] }
            struct Properties: Decodable { var Intersection: String? }
            var geometry: Geometry?
            var properties: Properties
        }
        var features: [Feature]
    }

    /// Reads the GeoJSON of the city.
    public init(_ geoJSON: Data) throws {
        var numbers: [[String]: Int] = [:]
        for feature in try JSONDecoder().decode(Collection.self, from: geoJSON).features {
            guard let text = feature.properties.Intersection,
                let ordinates = feature.geometry?.coordinates, ordinates.count >= 2
            else { continue }
            let place = Coordinate(x: ordinates[0], y: ordinates[1])
            let names = text.components(separatedBy: " & ")
            for (index, first) in names.enumerated() {
                for second in names[(index + 1)...] where second != first {
                    let key = [first, second].sorted()
                    if let known = numbers[key] {
                        corners[known].places.append(place)
                    } else {
                        numbers[key] = corners.count
                        corners.append(
                            Corner(
                                number: corners.count, first: first, second: second,
                                places: [place]))
                    }
                }
            }
        }
    }
}
