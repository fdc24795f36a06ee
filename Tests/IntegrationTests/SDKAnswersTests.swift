// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// Random requests through the SDK, beside the REST and the engines in this process.
extension SDKProcessTests {
    // MARK: Identify

    @Test
    func `identify through a view is the REST's and the engine's, for random places and layers`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        let atlas = try SiteAtlas(site: running.site.path, map: "Grid")
        let map = Map(spatialReference: .wgs84)
        let layer = ArcGISMapImageLayer(
            url: running.services.appending(path: "Grid/MapServer"))
        map.addOperationalLayer(layer)
        let view = MapViewProxy(map: map, size: CGSize(width: 500, height: 400))
        try await layer.load()
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        let seed = random.seed
        var (hitCount, changedCount) = (0, 0)
        for number in 0..<600 {
            let center = Point(
                x: .random(in: 0...20, using: &random), y: .random(in: 0...20, using: &random),
                spatialReference: .wgs84)
            await view.setViewpoint(
                Viewpoint(center: center, scale: .random(in: 100_000...5_000_000, using: &random)))
            var definitions: [Int: String] = [:]
            for sublayer in layer.mapImageSublayers {
                sublayer.isVisible = Int.random(in: 0..<5, using: &random) > 0
                sublayer.definitionExpression =
                    Int.random(in: 0..<4, using: &random) > 0
                    ? "" : "size < \(Int.random(in: 0...7, using: &random))"
                let clause = sublayer.definitionExpression
                if sublayer.isVisible, !clause.isEmpty { definitions[sublayer.id] = clause }
            }
            let shown = layer.mapImageSublayers.filter(\.isVisible).map(\.id)
            guard !shown.isEmpty else { continue }
            let pixel = CGPoint(
                x: Double.random(in: 0...500, using: &random),
                y: Double.random(in: 0...400, using: &random))
            let tolerance = Double(Int.random(in: 0...20, using: &random))
            let place = try #require(view.location(fromScreenPoint: pixel))
            let area = try #require(view.visibleArea?.extent)
            let question = SiteAtlas.Question(
                x: place.x, y: place.y, tolerance: tolerance,
                area: [area.xMin, area.yMin, area.xMax, area.yMax], width: 500, height: 400,
                layers: shown, definitions: definitions)
            let results = try await view.identifyLayers(
                screenPoint: pixel, tolerance: tolerance, maximumResultsPerLayer: nil)
            var mine = try features(results)
            let (theirs, order) = try await restFeatures(running, question)
            // Top to bottom, as the service answers.
            let layers = results.flatMap(\.sublayerResults).map(\.layerContent)
            try #require(layers.map { ($0 as? ArcGISSublayer)?.id } == order, "seed \(seed)")
            let engines = try atlas.features(question)
            try #require(mine == theirs, "seed \(seed), question \(number): \(question)")
            try #require(mine == engines, "seed \(seed), question \(number): \(question)")
            // One id that differs is noticed.
            guard let first = mine.keys.min() else { continue }
            hitCount += 1
            mine[first]?[0].id += 1
            if mine != theirs, mine != engines { changedCount += 1 }
        }
        #expect(hitCount > 200, "seed \(seed)")
        #expect(changedCount == hitCount, "seed \(seed)")
    }

    private func features(
        _ results: [IdentifyLayerResult]
    ) throws -> [Int: [FoundFeature]] {
        var found: [Int: [FoundFeature]] = [:]
        for part in results.flatMap(\.sublayerResults) {
            let layer = try #require(part.layerContent as? ArcGISSublayer).id
            found[layer] = try part.geoElements.map { element in
                FoundFeature(
                    id: try #require(element.attributes["OBJECTID"] as? Int64),
                    attributes: PlainValue.attributes(element.attributes))
            }
        }
        return found
    }

    private func restFeatures(
        _ running: SDKSite, _ question: SiteAtlas.Question
    ) async throws -> ([Int: [FoundFeature]], order: [Int]) {
        let definitions = question.definitions.map { "\"\($0.key)\":\"\($0.value)\"" }
        let answer = try await running.answer(
            "Grid/MapServer/identify",
            [
                "geometry": "\(question.x),\(question.y)", "sr": "4326",
                "layers": "visible:" + question.layers.map(String.init).joined(separator: ","),
                "layerDefs": "{" + definitions.joined(separator: ",") + "}",
                "tolerance": "\(question.tolerance)",
                "mapExtent": question.area.map { "\($0)" }.joined(separator: ","),
                "imageDisplay": "\(Int(question.width)),\(Int(question.height)),96",
                "returnFieldName": "true", "returnUnformattedValues": "true",
            ])
        var found: [Int: [FoundFeature]] = [:]
        var order: [Int] = []
        for result in try #require(answer["results"] as? [[String: Any]], "\(answer)") {
            let attributes = try #require(result["attributes"] as? [String: Any])
            let layer = try #require(result["layerId"] as? Int)
            if found[layer] == nil { order.append(layer) }
            found[layer, default: []].append(
                FoundFeature(
                    id: try #require(attributes["OBJECTID"] as? Int64),
                    attributes: PlainValue.attributes(attributes)))
        }
        return (found, order)
    }

    // MARK: Queries

    @Test func `random queries have the REST's features, values, geometries and order`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite()
        defer { running.remove() }
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        let seed = random.seed
        var tables: [(id: Int, table: ServiceFeatureTable)] = []
        for name in ["squares", "points", "lines"] {
            let id = try await running.layer(name)
            let url = running.services.appending(path: "Grid/FeatureServer/\(id)")
            tables.append((id, ServiceFeatureTable(url: url)))
        }
        var (hitCount, changedCount) = (0, 0)
        for number in 0..<200 {
            let (id, table) = tables[Int.random(in: 0..<3, using: &random)]
            let (parameters, query) = Self.query(&random)
            let result = try await table.queryFeatures(using: parameters)
            var mine = try result.features().map { feature in
                "\(PlainValue.attributes(feature.attributes).sorted { $0.key < $1.key }) "
                    + "\(try PlainValue.coordinates(feature.geometry) ?? "")"
            }
            let answer = try await running.answer("Grid/FeatureServer/\(id)/query", query)
            let list = try #require(answer["features"] as? [[String: Any]], "\(answer)")
            let theirs = try list.map { feature in
                let attributes = PlainValue.attributes(feature["attributes"] as? [String: Any])
                let geometry = feature["geometry"] as? [String: Any]
                return "\(attributes.sorted { $0.key < $1.key }) "
                    + "\(try PlainValue.coordinates(geometry) ?? "")"
            }
            try #require(mine == theirs, "seed \(seed), query \(number): \(query)")
            guard !mine.isEmpty else { continue }
            hitCount += 1
            mine[0] += "1"
            if mine != theirs { changedCount += 1 }
        }
        #expect(hitCount > 50, "seed \(seed)")
        #expect(changedCount == hitCount, "seed \(seed)")
    }

    /// A query in both forms.
    private static func query(
        _ random: inout SeededGenerator
    ) -> (QueryParameters, [String: String]) {
        let parameters = QueryParameters()
        var query = ["where": "1=1", "outFields": "*"]
        let clauses = [
            "", "size = \(Int.random(in: 0...7, using: &random))",
            "size > 3 AND height < \(Double.random(in: 0...40, using: &random))",
            "name LIKE 'n\(Int.random(in: 1...9, using: &random))%'", "name IS NULL",
            "NOT (size IN (1, 3)) OR name = 'n77'",
            "height BETWEEN 5 AND \(Int.random(in: 6...30, using: &random))",
            "seen >= TIMESTAMP '2026-03-\(Int.random(in: 10...28, using: &random)) 00:00:00'",
        ]
        if let clause = clauses.randomElement(using: &random), !clause.isEmpty {
            parameters.whereClause = clause
            query["where"] = clause
        }
        if Bool.random(using: &random) {
            let x = Double.random(in: 0...19, using: &random)
            let y = Double.random(in: 0...19, using: &random)
            let side = Double.random(in: 0.1...8, using: &random)
            parameters.geometry = Envelope(
                xMin: x, yMin: y, xMax: x + side, yMax: y + side, spatialReference: .wgs84)
            query["geometry"] = "\(x),\(y),\(x + side),\(y + side)"
            query["geometryType"] = "esriGeometryEnvelope"
            query["inSR"] = "4326"
            if Int.random(in: 0..<3, using: &random) == 0 {
                parameters.spatialRelationship = .contains
                query["spatialRel"] = "esriSpatialRelContains"
            }
        }
        let fields = [["*"], ["*"], ["name", "size"], ["height"], ["OBJECTID", "seen"]]
        parameters.outFields = fields.randomElement(using: &random) ?? ["*"]
        query["outFields"] = parameters.outFields.joined(separator: ",")
        if Bool.random(using: &random) {
            let isDescending = Bool.random(using: &random)
            parameters.addOrderByField(
                OrderBy(
                    fieldName: "size", sortOrder: isDescending ? .descending : .ascending))
            parameters.addOrderByField(OrderBy(fieldName: "name"))
            query["orderByFields"] = "size \(isDescending ? "DESC" : "ASC"),name ASC"
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            parameters.maxFeatures = Int.random(in: 1...30, using: &random)
            parameters.resultOffset = Int.random(in: 1...30, using: &random)
            query["resultRecordCount"] = "\(parameters.maxFeatures)"
            query["resultOffset"] = "\(parameters.resultOffset)"
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            parameters.outSpatialReference = .webMercator
            query["outSR"] = "3857"
        }
        if Int.random(in: 0..<6, using: &random) == 0 {
            parameters.returnsGeometry = false
            query["returnGeometry"] = "false"
        }
        return (parameters, query)
    }
}
