// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// What tasks say of themselves, take and give.
@Suite struct GeoprocessingTests {
    private let server = StubServer()

    init() {
        CairnEnvironment.jobPolling = JobPolling(
            first: .milliseconds(2), longest: .milliseconds(10))
        server.on(
            "/Spots/GPServer", json: #"{"tasks":["Find"],"resultMapServerName":"Spots"}"#)
        server.on(
            "/Spots/GPServer/Find",
            json: #"""
                {"name":"Find","displayName":"Find spots","description":"Finds them.",
                "executionType":"esriExecutionTypeAsynchronous","helpUrl":"http://h.test/find",
                "parameters":[
                {"name":"within","displayName":"Within","dataType":"GPLinearUnit",
                "direction":"esriGPParameterDirectionInput",
                "parameterType":"esriGPParameterTypeRequired",
                "defaultValue":{"distance":5,"units":"esriMiles"}},
                {"name":"kind","dataType":"GPString","direction":"esriGPParameterDirectionInput",
                "parameterType":"esriGPParameterTypeOptional","choiceList":["hot","cold"]},
                {"name":"out","dataType":"GPFeatureRecordSetLayer",
                "direction":"esriGPParameterDirectionOutput"}]}
                """#)
        server.on(
            "/Spots/GPServer/Find/submitJob",
            json: #"{"jobId":"j1","jobStatus":"esriJobSubmitted"}"#)
        server.on(
            "/Spots/GPServer/Find/jobs/j1",
            json: #"""
                {"jobId":"j1","jobStatus":"esriJobSucceeded",
                "results":{"out":{"paramUrl":"results/out"}}}
                """#)
        server.on(
            "/Spots/GPServer/Find/jobs/j1/results/out",
            json: #"""
                {"paramName":"out","dataType":"GPFeatureRecordSetLayer","value":{
                "geometryType":"esriGeometryPoint","spatialReference":{"wkid":4326},
                "fields":[{"name":"n","type":"esriFieldTypeInteger"}],
                "features":[{"attributes":{"n":4},"geometry":{"x":8,"y":47}}]}}
                """#)
    }

    private var task: GeoprocessingTask {
        GeoprocessingTask(url: server.url.appending(path: "Spots/GPServer/Find"))
    }

    @Test func `a task says what it does and takes`() async throws {
        let task = task
        #expect(task.info == nil)
        try await task.load()
        let info = try #require(task.info)
        #expect(info.name == "Find" && info.displayName == "Find spots")
        #expect(info.executionType == .asynchronousSubmit)
        #expect(info.helpURL?.absoluteString == "http://h.test/find")
        #expect(info.parameterInfos.keys.sorted() == ["kind", "out", "within"])
        let within = try #require(info.parameterInfos["within"])
        #expect(within.direction == .input && within.isRequired && within.displayName == "Within")
        let length = try #require(within.defaultValue as? GeoprocessingLinearUnit)
        #expect(length.distance == 5 && length.unit == .miles)
        #expect(info.parameterInfos["kind"]?.choiceList == ["hot", "cold"])
        #expect(info.parameterInfos["out"]?.direction == .output)
        let parameters = try await task.makeDefaultParameters()
        #expect(parameters.inputs.keys.sorted() == ["within"])
    }

    @Test func `features go in from a table in memory and come out as a set`() async throws {
        let table = FeatureCollectionTable(
            fields: [Field(type: .text, name: "name", alias: "Name")], geometryType: Point.self,
            spatialReference: .wgs84)
        let feature = table.makeFeature(
            attributes: ["name": "here"], geometry: Point(latitude: 47, longitude: 8))
        try await table.add(feature)
        let parameters = GeoprocessingParameters(executionType: .asynchronousSubmit)
        parameters.setInputValue(GeoprocessingFeatures(features: table), forKey: "at")
        parameters.setInputValue(
            GeoprocessingLinearUnit(distance: 2, unit: .kilometers), forKey: "within")
        parameters.returnsZ = true
        let job = task.makeJob(parameters: parameters)
        job.start()
        let output = try await job.output
        let asked = try #require(server.requests("/Spots/GPServer/Find/submitJob").last).parameters
        let given = try #require(asked["at"])
        #expect(given.contains(#""geometryType":"esriGeometryPoint""#))
        #expect(given.contains(#""name":"here""#) && given.contains(#""wkid":4326"#))
        #expect(asked["within"]?.contains(#""units":"esriKilometers""#) == true)
        #expect(asked["returnZ"] == "true" && asked["returnM"] == nil)
        let found = try #require((output.outputs["out"] as? GeoprocessingFeatures)?.features)
        #expect(found.geometryType == Point.self && found.spatialReference == .wgs84)
        #expect(found.features().map { $0.attributes["n"] as? Int32 } == [4])
    }

    @Test func `a service with a map of results gives a layer of it, also to a job read back`()
        async throws
    {
        let job = task.makeJob(
            parameters: GeoprocessingParameters(executionType: .asynchronousSubmit))
        job.start()
        let place = server.url.appending(path: "Spots/MapServer/jobs/j1")
        #expect(try await job.output.mapImageLayer?.url == place)
        let again = try GeoprocessingJob.fromJSON(job.toJSON())
        again.start()
        #expect(try await again.output.mapImageLayer?.url == place)
        server.on("/Plain/GPServer/Find/submitJob", json: #"{"jobId":"j1"}"#)
        server.on(
            "/Plain/GPServer/Find/jobs/j1",
            json: #"{"jobId":"j1","jobStatus":"esriJobSucceeded","results":{}}"#)
        let plain = GeoprocessingTask(url: server.url.appending(path: "Plain/GPServer/Find"))
            .makeJob(parameters: GeoprocessingParameters(executionType: .asynchronousSubmit))
        plain.start()
        #expect(try await plain.output.mapImageLayer == nil)
    }

    @Test func `a file says whether it is local`() throws {
        let local = GeoprocessingDataFile(fileURL: URL(filePath: "/tmp/a b.csv"))
        #expect(local.filePath == "/tmp/a b.csv" && local.fileURL == local.url)
        let remote = GeoprocessingDataFile(url: server.url)
        #expect(remote.filePath == nil && remote.fileURL == nil)
    }

    @Test func `a status that is not known fails the job after the patience, by its name`()
        async throws
    {
        let answers = [
            StubAnswer.json(#"{"jobId":"j1","jobStatus":"esriJobSleeping"}"#),
            .json(#"{"jobId":"j1","jobStatus":"esriJobSucceeded","results":{}}"#),
        ]
        server.on("/Spots/GPServer/Find/jobs/j1", inTurn: answers)
        let patient = task.makeJob(
            parameters: GeoprocessingParameters(executionType: .asynchronousSubmit))
        patient.start()
        #expect(try await patient.output.outputs.isEmpty)
        server.on("/Spots/GPServer/Find/jobs/j1", answers[0])
        let job = task.makeJob(
            parameters: GeoprocessingParameters(executionType: .asynchronousSubmit))
        let error = await JobPatience.$own.withValue(.zero) {
            job.start()
            return await #expect(throws: CairnError.self) { try await job.output }
        }
        #expect(error?.kind == .jobFailed)
        #expect(error?.description.contains("'esriJobSleeping'") == true)
        #expect(job.status == .failed)
    }

    // MARK: Tables in memory

    @Test func `a table in memory is edited, asked, identified and drawn`() async throws {
        let places = [(8.0, 47.0), (9.0, 48.0)].map {
            Graphic(geometry: Point(latitude: $0.1, longitude: $0.0), attributes: ["n": $0.0])
        }
        let table = FeatureCollectionTable(
            geoElements: places, fields: [Field(type: .float64, name: "n", alias: "n")])
        #expect(table.geometryType == Point.self && table.numberOfFeatures == 2)
        #expect(table.fields.map(\.name) == ["ObjectID", "n"] && table.extent?.width == 1)
        let parameters = QueryParameters()
        parameters.geometry = Envelope(
            xMin: 7, yMin: 46, xMax: 8.5, yMax: 47.5, spatialReference: .wgs84)
        let found = try await table.queryFeatures(using: parameters).features()
        #expect(found.map { $0.attributes["ObjectID"] as? Int64 } == [1])
        found[0].geometry = Point(latitude: 50, longitude: 8)
        try await table.update(found[0])
        #expect(try await table.queryFeatures(using: parameters).features().isEmpty)
        let chosen = QueryParameters()
        chosen.whereClause = "n BETWEEN 8 AND 9 AND NOT n IS NULL"
        chosen.addOrderByField(OrderBy(fieldName: "n", sortOrder: .descending))
        chosen.returnsGeometry = false
        let ordered = try await table.queryFeatures(using: chosen).features()
        #expect(ordered.map { $0.attributes["n"] as? Double } == [9, 8])
        #expect(ordered.allSatisfy { $0.geometry == nil })
        chosen.addObjectIDs([1])
        #expect(try await table.queryFeatures(using: chosen).features().count == 1)
        chosen.whereClause = "n * 2 > 1"
        await #expect(throws: CairnError.self) { try await table.queryFeatures(using: chosen) }
        parameters.spatialRelationship = .touches
        await #expect(throws: CairnError.self) { try await table.queryFeatures(using: parameters) }
        try await table.delete(found[0])
        await #expect(throws: CairnError.self) { try await table.delete(found[0]) }
        let collection = FeatureCollection(featureCollectionTables: [table])
        #expect(collection.tables.map(\.numberOfFeatures) == [1])

        let map = Map(spatialReference: .wgs84)
        map.addOperationalLayer(FeatureLayer(featureTable: table))
        let view = MapViewProxy(map: map, size: CGSize(width: 100, height: 100))
        await view.setViewpoint(
            Viewpoint(center: Point(latitude: 48, longitude: 9), scale: 1_000_000))
        let hits = try await view.identifyLayers(
            screenPoint: CGPoint(x: 50, y: 50), tolerance: 2)
        #expect(hits.first?.geoElements.first?.attributes["n"] as? Double == 9)
        let picture = try await view.exportRaster()
        #expect(picture.pixel(50, 50).alpha == 255 && picture.pixel(5, 5).alpha == 0)
    }
}
