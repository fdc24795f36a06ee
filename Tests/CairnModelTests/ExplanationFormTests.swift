// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Testing

/// The JSON of explanations and requests that scripts read and write: members are only ever added.
@Suite struct ExplanationFormTests {
    @Test func `an explanation has the form that is promised`() throws {
        let explanation = IdentifyExplanation(
            mapSpatialReference: .wgs84, resolution: 0.5, scale: 1000, tolerance: 1.5,
            toleranceMeters: 2.5,
            layers: [
                LayerExplanation(
                    searched: 3, layerName: "Roads", candidateCount: 9, excludedByDefinition: 1,
                    excludedByTime: 2, hitCount: 5, resultCount: 4, transferLimitExceeded: true),
                LayerExplanation(
                    skipped: 1, layerName: "Old", reason: .invisible, detail: "the layer is hidden"),
            ])

        let text = String(decoding: try CairnJSON.encode(explanation), as: UTF8.self)

        #expect(
            text == """
                {"layers":[{"candidateCount":9,"excludedByDefinition":1,"excludedByTime":2,\
                "hitCount":5,"layerID":3,"layerName":"Roads","resultCount":4,"status":"searched",\
                "transferLimitExceeded":true},{"candidateCount":0,"detail":"the layer is hidden",\
                "excludedByDefinition":0,"excludedByTime":0,"hitCount":0,"layerID":1,\
                "layerName":"Old","reason":"invisible","resultCount":0,"status":"skipped",\
                "transferLimitExceeded":false}],"mapSpatialReference":{"wkid":4326},\
                "resolution":0.5,"scale":1000,"tolerance":1.5,"toleranceMeters":2.5}
                """)
        #expect(
            try CairnJSON.decode(IdentifyExplanation.self, from: Data(text.utf8)) == explanation)
    }

    @Test func `a request needs only what has no default`() throws {
        let text = """
            {"map":"World","geometry":{"point":{"_0":[1,2]}},"tolerance":3,
            "mapExtent":{"xmin":0,"ymin":0,"xmax":9,"ymax":9},
            "imageDisplay":{"width":90,"height":90,"dpi":96}}
            """

        let request = try CairnJSON.decode(IdentifyRequest.self, from: Data(text.utf8))

        #expect(
            request
                == IdentifyRequest(
                    map: try MapName(parsing: "World"), geometry: .point(Coordinate(x: 1, y: 2)),
                    tolerance: 3, mapExtent: Envelope(minX: 0, minY: 0, maxX: 9, maxY: 9),
                    imageDisplay: ImageDisplay(width: 90, height: 90)))
        #expect(request.returnUnformattedValues && request.returnGeometry)
    }
}
