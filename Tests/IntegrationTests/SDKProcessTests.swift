// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// The SDK against a running site, without a stub.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct SDKProcessTests {
    @Test func `features are queried, edited and seen by the next query`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let (site, services) = (running.site, running.services)
        try #require(try await site.run("map editable Grid points on").status == 0)
        let id = try await running.layer("points")
        let table = ServiceFeatureTable(
            url: services.appending(path: "Grid/FeatureServer/\(id)"))
        let parameters = QueryParameters()
        parameters.whereClause = "size = 3"
        let count = try await table.queryFeatureCount(using: parameters)
        let found = try await table.queryFeatures(using: parameters)
        #expect(found.features().count == count)
        #expect(table.geometryType == Point.self)
        let feature = try #require(found.features().first)
        #expect(feature.attributes["size"] as? Int32 == 3)
        feature.setAttributeValue("changed", forKey: "name")
        try await table.update(feature)
        let added = table.makeFeature(
            attributes: ["name": "new", "size": 3],
            geometry: Point(latitude: 1, longitude: 1))
        try await table.add(added)
        let results = try await table.applyEdits()
        #expect(results.count == 2 && results.allSatisfy { !$0.didCompleteWithErrors })
        #expect(try await table.queryFeatureCount(using: parameters) == count + 1)
        parameters.whereClause = "name = 'changed'"
        #expect(try await table.queryFeatureCount(using: parameters) == 1)
    }

    @Test func `a job of the site is followed, and goes on in another process after a kill`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let services = running.services
        let task = GeoprocessingTask(
            url: services.appending(path: "Jobs/GPServer/ExportFeatures"))
        let parameters = try await task.makeDefaultParameters()
        parameters.setInputValue(GeoprocessingString(value: "Grid"), forKey: "map")
        parameters.setInputValue(GeoprocessingString(value: "points"), forKey: "layer")
        parameters.setInputValue(GeoprocessingString(value: "geojson"), forKey: "format")
        let job = task.makeJob(parameters: parameters)
        job.start()
        let output = try await job.output
        let file = try #require(output.outputs["output"] as? GeoprocessingDataFile)
        let bytes = try await file.data()
        let object = try #require(
            try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect((object["features"] as? [Any])?.count == 300)

        // Read back by another program, an ended job ends again with its output.
        let again = try GeoprocessingJob.fromJSON(job.toJSON())
        #expect(again.status == .paused)
        again.start()
        #expect(try await again.output.outputs["output"] != nil)

        // The same submission, sent again, is the same job.
        let ticket = try GeoprocessingJob.fromJSON(
            job.toJSON().replacingOccurrences(
                of: #""serverJobID":"\#(job.serverJobID)","#, with: ""
            )
            .replacingOccurrences(of: #""output":"#, with: #""old":"#))
        #expect(ticket.serverJobID == "")
        ticket.start()
        _ = try await ticket.output
        #expect(ticket.serverJobID == job.serverJobID)
    }

    @Test func `a picture of a view has the service's pixels`() async throws {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let services = running.services
        let map = Map()
        map.addOperationalLayer(
            ArcGISMapImageLayer(url: services.appending(path: "Grid/MapServer")))
        let view = MapViewProxy(map: map, size: CGSize(width: 200, height: 150))
        let empty = try await view.exportImage()
        #expect(empty.starts(with: [137, 80, 78, 71]))
        let overlay = GraphicsOverlay()
        overlay.addGraphic(
            Graphic(
                geometry: map.operationalLayers.first?.fullExtent,
                symbol: SimpleFillSymbol(color: .red)))
        view.graphicsOverlays = [overlay]
        #expect(try await view.exportImage() != empty)
    }
}
