// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import SQLite
import Testing

/// Geodatabases in files, without a server.
@Suite struct GeodatabaseTests {
    private let file: URL

    init() throws {
        file = try PackageFiles.folder().appending(path: "city.gpkg")
        try PackageFiles.geodatabase(at: file)
    }

    private func places() async throws -> GeodatabaseFeatureTable {
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        return try #require(geodatabase.featureTable(named: "places"))
    }

    private func names(
        _ table: GeodatabaseFeatureTable, _ change: (QueryParameters) -> Void
    ) async throws -> [String] {
        let parameters = QueryParameters()
        change(parameters)
        return try await table.queryFeatures(using: parameters).features()
            .map { $0.attributes["name"] as? String ?? "" }
    }

    // MARK: Description

    @Test func `its tables are those of the file, with typed fields`() async throws {
        let geodatabase = Geodatabase(fileURL: file)
        #expect(geodatabase.featureTables.isEmpty)
        try await geodatabase.load()
        #expect(geodatabase.featureTables.map(\.tableName) == ["Areas", "Notes", "Places"])
        let table = try #require(geodatabase.featureTable(named: "Places"))
        try await table.load()
        #expect(table.geodatabase === geodatabase && table.displayName == "Places of the city")
        #expect(table.geometryType == Point.self && table.spatialReference == .webMercator)
        #expect(table.extent?.xMax == 300 && table.objectIDField == "fid")
        #expect(table.numberOfFeatures == 3)
        let types = table.fields.map { "\($0.name) \($0.type?.rawValue.dropFirst(13) ?? "")" }
        #expect(
            types == [
                "fid OID", "name String", "height Double", "kind SmallInteger", "people Integer",
                "opened Date", "GlobalID GlobalID",
            ])
        #expect(table.field(named: "name")?.length == 40)
        let notes = try #require(geodatabase.featureTable(named: "Notes"))
        #expect(!notes.hasGeometry && notes.field(named: "text")?.isNullable == false)
        #expect(geodatabase.featureTable(named: "Roads") == nil)
    }

    @Test func `what is no GeoPackage is named, and a closed one throws`() async throws {
        let other = file.deletingLastPathComponent().appending(path: "other.gpkg")
        try Data("no database, but long enough to have a header of one".utf8).write(to: other)
        let error = await #expect(throws: CairnError.self) {
            try await Geodatabase(fileURL: other).load()
        }
        #expect(error?.kind == .invalidDocument)
        #expect(error?.description.contains("other.gpkg' is no GeoPackage") == true)
        let esri = await #expect(throws: CairnError.self) {
            try await Geodatabase(fileURL: URL(filePath: "/tmp/a.geodatabase")).load()
        }
        #expect(esri?.kind == .unsupported)
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        let table = try #require(geodatabase.featureTables.first)
        geodatabase.close()
        let closed = await #expect(throws: CairnError.self) {
            try await table.queryFeatureCount(using: QueryParameters())
        }
        #expect(closed?.kind == .invalidState)
    }

    // MARK: Queries

    @Test func `features have typed attributes and geometries`() async throws {
        let table = try await places()
        let found = try await table.queryFeatures(using: QueryParameters()).features()
        let first = try #require(found.first)
        #expect(first.attributes["fid"] as? Int64 == 1 && first.attributes["kind"] as? Int16 == 1)
        #expect(first.attributes["height"] as? Double == 1.5)
        #expect(first.attributes["people"] as? Int32 == 10)
        #expect(
            first.attributes["opened"] as? Date == Date(timeIntervalSince1970: 1_577_934_245))
        #expect(
            first.attributes["GlobalID"] as? UUID
                == UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
        #expect(first.geometry == Point(x: 100, y: 100, spatialReference: .webMercator))
        #expect(found[2].attributes["height"] == nil && first.table === table)
    }

    @Test func `clauses, ids, order, offset and maximum choose`() async throws {
        let table = try await places()
        #expect(try await names(table) { $0.whereClause = "kind = 2" } == ["B", "C"])
        #expect(try await names(table) { $0.addObjectIDs([1, 3]) } == ["A", "C"])
        let ordered = try await names(table) {
            $0.addOrderByField(OrderBy(fieldName: "NAME", sortOrder: .descending))
            $0.resultOffset = 1
            $0.maxFeatures = 1
        }
        #expect(ordered == ["B"])
        let later = "opened > date '2020-06-01' AND name <> 'date ''x'''"
        #expect(try await names(table) { $0.whereClause = later } == ["B"])
        let exact = "opened <= timestamp '2020-01-02 03:04:05'"
        #expect(try await names(table) { $0.whereClause = exact } == ["A"])
        let parameters = QueryParameters()
        parameters.whereClause = "height > 1"
        #expect(try await table.queryFeatureCount(using: parameters) == 2)
        let extent = try await table.queryExtent(using: parameters)
        #expect(extent.xMin == 100 && extent.xMax == 200)
        for clause in ["colour = 1", "1=1; DELETE FROM Places", "name ="] {
            let error = await #expect(throws: CairnError.self) {
                try await names(table) { $0.whereClause = clause }
            }
            #expect(error?.kind == .invalidArgument, "\(clause)")
        }
        #expect(table.numberOfFeatures == 3)
        await #expect(throws: CairnError.self) {
            try await names(table) { $0.addOrderByField(OrderBy(fieldName: "colour")) }
        }
    }

    @Test func `geometries choose by how features lie to them, in any known reference`()
        async throws
    {
        let table = try await places()
        let box = Envelope(
            xMin: 150, yMin: 150, xMax: 400, yMax: 400, spatialReference: .webMercator)
        #expect(try await names(table) { $0.geometry = box } == ["B", "C"])
        // The corner of its box has B, the triangle has not.
        let triangle = Polygon(points: [
            Point(x: 150, y: 150, spatialReference: .webMercator),
            Point(x: 320, y: 150, spatialReference: .webMercator),
            Point(x: 320, y: 320, spatialReference: .webMercator),
        ])
        #expect(try await names(table) { $0.geometry = triangle } == ["B", "C"])
        let beside = Polygon(points: [
            Point(x: 150, y: 140, spatialReference: .webMercator),
            Point(x: 320, y: 140, spatialReference: .webMercator),
            Point(x: 320, y: 310, spatialReference: .webMercator),
        ])
        #expect(try await names(table) { $0.geometry = beside } == [])
        let degrees = GeometryEngine.project(box, into: .wgs84)
        let found = try await names(table) {
            $0.geometry = degrees
            $0.outSpatialReference = .wgs84
        }
        #expect(found == ["B", "C"])
        let other = try #require(WKID(2056)).rawValue
        await #expect(throws: CairnError.self) {
            try await names(table) {
                $0.geometry = Point(
                    x: 0, y: 0, spatialReference: SpatialReference(wkid: WKID(other)!))
            }
        }
    }

    @Test func `the hole of an area is not in it`() async throws {
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        let areas = try #require(geodatabase.featureTable(named: "Areas"))
        func count(_ x: Double, _ relationship: SpatialRelationship = .intersects) async throws
            -> Int
        {
            let parameters = QueryParameters()
            parameters.geometry = Point(x: x, y: x, spatialReference: .webMercator)
            parameters.spatialRelationship = relationship
            return try await areas.queryFeatureCount(using: parameters)
        }
        #expect(try await count(100) == 1)
        #expect(try await count(200) == 0)
        #expect(try await count(100, .within) == 1)
        #expect(try await count(100, .contains) == 0)
        await #expect(throws: CairnError.self) { try await count(100, .touches) }
    }

    // MARK: Edits

    @Test func `an edit is in the file, in its index, and waits for a synchronisation`()
        async throws
    {
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        #expect(!geodatabase.hasLocalEdits())
        let table = try #require(geodatabase.featureTable(named: "Places"))
        let fresh = table.makeFeature(
            attributes: ["name": "D", "kind": 3, "opened": Date(timeIntervalSince1970: 0)],
            geometry: Point(x: 500, y: 500, spatialReference: .webMercator))
        try await table.add(fresh)
        #expect(fresh.attributes["fid"] as? Int64 == 4)
        #expect(fresh.attributes["GlobalID"] is UUID)
        let found = try #require(
            await table.queryFeatures(using: QueryParameters()).features().first)
        found.setAttributeValue("A2", forKey: "name")
        found.setAttributeValue(nil, forKey: "height")
        found.geometry = Point(x: 50, y: 50, spatialReference: .webMercator)
        try await table.update(found)
        let second = try #require(
            await table.queryFeatures(using: QueryParameters()).features().dropFirst().first)
        try await table.delete(second)
        await #expect(throws: CairnError.self) { try await table.delete(second) }
        #expect(geodatabase.hasLocalEdits() && table.hasLocalEdits)
        #expect(geodatabase.featureTable(named: "Areas")?.hasLocalEdits == false)
        geodatabase.close()

        // Another program.
        let again = try await places()
        #expect(try await names(again) { _ in } == ["A2", "C", "D"])
        let far = Envelope(
            xMin: 450, yMin: 450, xMax: 550, yMax: 550, spatialReference: .webMercator)
        #expect(try await names(again) { $0.geometry = far } == ["D"])
        let near = Point(x: 50, y: 50, spatialReference: .webMercator)
        #expect(try await names(again) { $0.geometry = near } == ["A2"])
        let stored = try #require(
            await again.queryFeatures(using: QueryParameters()).features().first)
        #expect(stored.attributes["height"] == nil && stored.attributes["people"] as? Int32 == 10)
        #expect(again.extent?.xMax == 500 && again.extent?.xMin == 50)
        #expect(again.hasLocalEdits)
        let connection = try Connection(path: file.path(percentEncoded: false), mode: .read)
        #expect(try connection.integer("SELECT count(*) FROM rtree_Places_geom") == 3)
        #expect(
            try connection.text("SELECT opened FROM Places WHERE fid = 4")
                == "1970-01-01T00:00:00.000Z")
    }

    @Test func `an edit that does not fit is refused, and nothing is changed`() async throws {
        let table = try await places()
        let place = Point(x: 1, y: 1, spatialReference: .webMercator)
        let line = Polyline(points: [place, Point(x: 2, y: 2, spatialReference: .webMercator)])
        for (attributes, geometry, sentence) in [
            (["colour": "red"], place, "has no field 'colour'"),
            (["kind": "many"], place, "the field 'kind' takes"),
            ([:], line, "takes a geometry of the kind POINT, found a Polyline"),
        ] as [([String: any Sendable], Geometry, String)] {
            let error = await #expect(throws: CairnError.self) {
                try await table.add(table.makeFeature(attributes: attributes, geometry: geometry))
            }
            #expect(error?.description.contains(sentence) == true, "\(error as Any)")
        }
        #expect(table.numberOfFeatures == 3 && !table.hasLocalEdits)
        #expect(table.canAddFeature)
    }

    @Test func `areas go through the file with their holes`() async throws {
        let geodatabase = Geodatabase(fileURL: file)
        try await geodatabase.load()
        let areas = try #require(geodatabase.featureTable(named: "Areas"))
        func ring(_ least: Double, _ most: Double) -> [Point] {
            PackageFiles.square(least, most).map {
                Point(x: $0.0, y: $0.1, spatialReference: .webMercator)
            }
        }
        let shape = Polygon(rings: [
            ring(1_000, 1_100), ring(1_040, 1_060).reversed(), ring(2_000, 2_100),
        ])
        try await areas.add(areas.makeFeature(attributes: ["owner": "Bob"], geometry: shape))
        let parameters = QueryParameters()
        parameters.whereClause = "owner = 'Bob'"
        let found = try #require(await areas.queryFeatures(using: parameters).features().first)
        #expect(found.geometry?.extent == shape.extent)
        #expect((found.geometry as? Polygon)?.pathPoints.map(\.count) == [5, 5, 5])
        parameters.whereClause = ""
        parameters.geometry = Point(x: 1_050, y: 1_050, spatialReference: .webMercator)
        #expect(try await areas.queryFeatureCount(using: parameters) == 0)
        parameters.geometry = Point(x: 1_020, y: 1_020, spatialReference: .webMercator)
        #expect(try await areas.queryFeatureCount(using: parameters) == 1)
    }

    // MARK: Layers

    @Test func `a layer over a table is identified and drawn`() async throws {
        let table = try await places()
        let layer = FeatureLayer(featureTable: table)
        layer.definitionExpression = "kind = 2"
        let map = Map(spatialReference: .webMercator)
        map.addOperationalLayer(layer)
        let view = MapViewProxy(map: map, size: CGSize(width: 200, height: 200))
        await view.setViewpoint(
            Viewpoint(center: Point(x: 200, y: 200, spatialReference: .webMercator), scale: 8_000))
        let middle = CGPoint(x: 100, y: 100)
        let hits = try await view.identifyLayers(screenPoint: middle, tolerance: 3)
        #expect(hits.map(\.layerContent.name) == ["Places"])
        let hit = try #require(hits.first?.geoElements.first as? ArcGISFeature)
        #expect(hit.attributes["name"] as? String == "B" && hit.table?.layer === layer)
        let place = Point(x: 100, y: 100, spatialReference: .webMercator)
        let hidden = try #require(view.screenPoint(fromLocation: place))
        #expect(try await view.identifyLayers(screenPoint: hidden, tolerance: 3).isEmpty)
        let picture = try await view.exportRaster()
        #expect(picture.pixel(100, 100).alpha == 255)
        #expect(picture.pixel(Int(hidden.x), Int(hidden.y)).alpha == 0)
    }
}
