// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation

/// What of a layer lies within a distance of places: `within-distance LAYER KILOMETRES LON,LAT…`.
@main struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        let places = arguments.dropFirst(3).compactMap(place)
        guard arguments.count >= 4, places.count == arguments.count - 3,
            let layer = URL(string: arguments[1]), let distance = Double(arguments[2]),
            distance > 0
        else {
            print("usage: within-distance LAYER KILOMETRES LON,LAT...")
            print("LAYER is a URL, as http://HOST:PORT/arcgis/rest/services/World/FeatureServer/2")
            exit(64)
        }
        do {
            try await find(ServiceFeatureTable(url: layer), within: distance, of: places)
        } catch {
            print("within-distance: \(error)")
            exit(1)
        }
    }

    private static func place(_ text: String) -> Point? {
        let numbers = text.split(separator: ",").compactMap { Double($0) }
        return numbers.count == 2 ? Point(latitude: numbers[1], longitude: numbers[0]) : nil
    }

    private static func find(
        _ table: ServiceFeatureTable, within distance: Double, of places: [Point]
    ) async throws {
        let circles = places.compactMap {
            GeometryEngine.geodeticBuffer(
                around: $0, distance: distance, distanceUnit: .kilometers, maxDeviation: .nan,
                curveType: .geodesic)
        }
        let parameters = QueryParameters()
        // The service is asked for each feature once, also where circles overlap.
        parameters.geometry = try GeometryEngine.union(of: circles) as Geometry
        parameters.spatialRelationship = .intersects
        for feature in try await table.queryFeatures(using: parameters).features() {
            let near = zip(places, circles).compactMap { place, circle in
                feature.geometry.flatMap { shape in
                    GeometryEngine.isGeometry(shape, intersecting: circle) ? place : nil
                }
            }
            let values = feature.attributes.sorted { $0.key < $1.key }.prefix(6)
            print(
                values.map { "\($0.key)=\($0.value)" }.joined(separator: " "),
                "near \(near.count) of \(places.count)")
        }
    }
}
