// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// The SDK against a running site, without a stub.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct SDKProcessTests {
    /// A site with a grid of squares and points; the URL of its services.
    private func running() async throws -> (site: SmallSite, services: URL) {
        let site = try SmallSite()
        var random = SeededGenerator(seed: 42)
        func feature(_ number: Int, _ geometry: String) -> String {
            #"{"type":"Feature","properties":{"name":"n\#(number)","size":\#(number % 7)},"#
                + #""geometry":\#(geometry)}"#
        }
        let squares = (0..<400).map { number -> String in
            let (x, y) = (Double(number % 20), Double(number / 20))
            return feature(
                number,
                #"{"type":"Polygon","coordinates":[[[\#(x),\#(y)],[\#(x + 1),\#(y)],"#
                    + #"[\#(x + 1),\#(y + 1)],[\#(x),\#(y + 1)],[\#(x),\#(y)]]]}"#)
        }
        let points = (0..<300).map { number in
            feature(
                number,
                #"{"type":"Point","coordinates":[\#(Double.random(in: 0...20, using: &random)),"#
                    + #"\#(Double.random(in: 0...20, using: &random))]}"#)
        }
        try site.write("squares", squares)
        try site.write("points", points)
        let imported = try await site.run(
            "import \(site.folder)/squares.geojson \(site.folder)/points.geojson --map Grid")
        try #require(imported.status == 0, "\(imported.errors)")
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let services = try #require(
            URL(string: "http://127.0.0.1:\(port)/arcgis/rest/services"))
        return (site, services)
    }

    private func json(_ url: URL, _ query: [URLQueryItem]) async throws -> [String: Any] {
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.queryItems = query + [URLQueryItem(name: "f", value: "json")]
        let response = try await CurlTransport().send(Request(.get, try #require(parts.url)))
        var bytes = Data()
        for try await piece in response.body { bytes += piece }
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    @Test func `identify through a view is the REST's, for random places, scales and tolerances`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, services) = try await running()
        defer { site.remove() }
        let service = services.appending(path: "Grid/MapServer")
        let map = Map(spatialReference: .wgs84)
        let layer = ArcGISMapImageLayer(url: service)
        map.addOperationalLayer(layer)
        let view = MapViewProxy(map: map, size: CGSize(width: 500, height: 400))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let center = Point(
                x: .random(in: 0...20, using: &random), y: .random(in: 0...20, using: &random),
                spatialReference: .wgs84)
            await view.setViewpoint(
                Viewpoint(center: center, scale: .random(in: 100_000...5_000_000, using: &random)))
            let pixel = CGPoint(
                x: Double.random(in: 0...500, using: &random),
                y: Double.random(in: 0...400, using: &random))
            let tolerance = Double(Int.random(in: 0...20, using: &random))
            let found = try await view.identifyLayers(
                screenPoint: pixel, tolerance: tolerance, maximumResultsPerLayer: nil)
            var mine: [String] = []
            for part in found.flatMap(\.sublayerResults) {
                for element in part.geoElements {
                    let id = try #require(element.attributes["OBJECTID"] as? Int64)
                    mine.append("\(part.layerContent.name) \(id)")
                }
            }
            let place = try #require(view.location(fromScreenPoint: pixel))
            let area = try #require(view.visibleArea?.extent)
            let answer = try await json(
                service.appending(path: "identify"),
                [
                    URLQueryItem(name: "geometry", value: "\(place.x),\(place.y)"),
                    URLQueryItem(name: "sr", value: "4326"),
                    URLQueryItem(name: "layers", value: "visible"),
                    URLQueryItem(name: "tolerance", value: "\(tolerance)"),
                    URLQueryItem(
                        name: "mapExtent",
                        value: "\(area.xMin),\(area.yMin),\(area.xMax),\(area.yMax)"),
                    URLQueryItem(name: "imageDisplay", value: "500,400,96"),
                    URLQueryItem(name: "returnFieldName", value: "true"),
                    URLQueryItem(name: "returnUnformattedValues", value: "true"),
                ])
            let results = try #require(answer["results"] as? [[String: Any]])
            let theirs = results.map { result in
                let attributes = result["attributes"] as? [String: Any]
                return "\(result["layerName"] ?? "") \(attributes?["OBJECTID"] ?? "")"
            }
            #expect(mine.sorted() == theirs.sorted())
        }
    }

    @Test func `features are queried, edited and seen by the next query`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, services) = try await running()
        defer { site.remove() }
        try #require(try await site.run("map editable Grid points on").status == 0)
        let description = try await json(services.appending(path: "Grid/FeatureServer"), [])
        let layers = try #require(description["layers"] as? [[String: Any]])
        let id = try #require(
            layers.first { $0["name"] as? String == "points" }?["id"] as? Int)
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
        let (site, services) = try await running()
        defer { site.remove() }
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
        let (site, services) = try await running()
        defer { site.remove() }
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
