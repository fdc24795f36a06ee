// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import GEOS
import Geometry
import Locator
import Platform
import TestKit

/// An area of a made-up map.
struct SampleArea {
    var kind = LocatorDraft.Area.Kind.country
    var name: String
    var code: String
    var rings: [[Coordinate]]
    var accuracyMeters = 0.0

    /// A rectangle.
    static func box(
        _ code: String, _ west: Double, _ south: Double, _ east: Double, _ north: Double,
        kind: LocatorDraft.Area.Kind = .country, accuracyMeters: Double = 0
    ) -> SampleArea {
        SampleArea(
            kind: kind, name: "Land " + code, code: code,
            rings: [ring(west, south, east, north)], accuracyMeters: accuracyMeters)
    }

    static func ring(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double
    ) -> [Coordinate] {
        [(west, south), (east, south), (east, north), (west, north), (west, south)].map {
            Coordinate(x: $0.0, y: $0.1)
        }
    }

    /// GEOS's view of it.
    func relation() throws -> GEOSRelation { try GEOSRelation(wkb: WKB.polygon(rings)) }
}

/// Locators of made-up maps.
enum BorderSample {
    static func build(
        _ texts: [String], _ areas: [SampleArea], columns: [String] = []
    ) throws -> (built: BuiltLocator, path: String, locator: Locator) {
        let directory = Scratch.directory("borders")
        let sources =
            try texts.enumerated().map { try Scratch.source($1, name: "\($0).tsv") }
            + [try Scratch.source("{}", name: "areas.json")]
        let built = try LocatorBuilder.build(
            sources: sources,
            columns: try columns.map { try Scratch.source($0, name: "columns.json") },
            vectors: { (path, draft, _) throws(Failure) in
                for (number, area) in areas.enumerated() {
                    draft.add(source: path, number: number + 1) { () throws(Failure) in
                        try LocatorDraft.Area(
                            kind: area.kind, name: area.name, code: area.code,
                            shapes: [.polygon(rings: area.rings)],
                            accuracyMeters: area.accuracyMeters)
                    }
                }
            }, into: directory)
        let path = directory + "/" + built.id.rawValue + "/locator.bin"
        return (built, path, try Locator(path: path, id: built.id))
    }

    /// A gazetteer: id, name, longitude, latitude, country, region.
    static func gazetteer(
        _ rows: [(id: Int, name: String, x: Double, y: Double, country: String, region: String)]
    ) -> String {
        "id\tname\tlongitude\tlatitude\tcountry\tadmin1\tfeature_code\tpopulation\n"
            + rows.map {
                "\($0.id)\t\($0.name)\t\($0.x)\t\($0.y)\t\($0.country)\t\($0.region)\tPPL\t100"
            }.joined(separator: "\n")
    }
}

extension Locator {
    func near(
        _ x: Double, _ y: Double, within meters: Double = 50_000, types: [String]? = nil
    ) throws -> Candidate? {
        var request = ReverseGeocodeRequest(
            location: Coordinate(x: x, y: y), maxDistanceMeters: meters)
        request.featureTypes = types
        return try reverse(request).candidate
    }
}

extension Candidate {
    /// Distance of a nearer feature across a border; nil where the answer has none.
    var metersAcross: Double? {
        guard case .real(let meters)? = attributes["NearerAcrossBorder"] else { return nil }
        return meters
    }
}
