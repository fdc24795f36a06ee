// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Testing

@Suite struct QueryWireTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Golden/v1/wire")

    /// With something other than the default everywhere.
    private func request() throws -> QueryRequest {
        var request = QueryRequest(map: try MapName(parsing: "World"), layer: 3)
        request.clause = "POP > 0"
        request.objectIDs = [4, 2]
        request.spatialFilter = QuerySpatialFilter(
            geometry: .point(Coordinate(x: 2.5, y: 48.75)), spatialReference: .wgs84,
            relation: .within, distanceMeters: 250.5)
        request.time = TimeExtent(from: 5, to: nil)
        request.timeRelation = .within
        request.result = .extent
        request.returnCount = true
        request.form = .geoJSON
        request.outFields = ["NAME", "POP"]
        request.returnGeometry = false
        request.returnCentroid = true
        request.outReference = .webMercator
        request.maxAllowableOffset = 0.5
        request.geometryPrecision = 3
        (request.returnZ, request.returnM) = (true, true)
        request.returnDistinctValues = true
        request.order = [QueryOrder(field: "NAME", isDescending: true)]
        request.groupFields = ["CONT"]
        request.statistics = [QueryStatistic(kind: .variance, field: "POP", name: "V")]
        (request.offset, request.limit) = (100, 50)
        (request.at, request.minSequence) = (12, 9)
        request.part = QueryPart(row: 20, byteCount: 7, totalByteCount: 6_000_000)
        return request
    }

    @Test func `a query keeps its form`() throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "query-request.json"))

        #expect(
            String(decoding: try CairnJSON.encode(try request()), as: UTF8.self)
                == String(decoding: bytes, as: UTF8.self))
        #expect(try CairnJSON.decode(QueryRequest.self, from: bytes) == request())
    }
}
