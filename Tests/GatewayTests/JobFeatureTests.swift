// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import JobKinds
import Platform
import Site
import Synchronization
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

/// Features as the input of jobs, and products as features.
@Suite struct JobFeatureTests {
    private let jobs: SimulatedJobs
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        site = SimulatedSite(map: try Samples.map(), jobs: jobs)
        service = GatewayService(backend: site)
    }

    private func ask(_ path: String, _ form: [String: String] = [:]) async -> JSONTree? {
        let text = form.map { "\($0.key)=\(Parameters.encode($0.value))" }.joined(separator: "&")
        return JSONTree(
            await service.answer(
                GatewayRequest(path: Array((tasks + path).utf8), form: Array(text.utf8))
            ).body)
    }

    private func submit(_ task: String, _ form: [String: String]) async -> JSONTree? {
        await ask("\(task)/submitJob", form.merging(["network": "Roads"]) { $1 })
    }

    /// The features of the input of the newest job.
    private func input() throws -> [JSONTree] {
        let blob = try #require(jobs.known.last?.input)
        let tree = JSONTree(Array(try jobs.blobs.read(blob)))
        return tree?["features"]?.elements ?? []
    }

    private static let origins =
        #"{"geometryType":"esriGeometryPoint","spatialReference":{"wkid":102100},"features":["#
        + #"{"geometry":{"x":111319.490793,"y":0},"attributes":{"OBJECTID":7,"Name":"A, \"1\"","#
        + #""n":2.5,"none":null}},"#
        + #"{"geometry":{"x":2,"y":1,"spatialReference":{"wkid":4326}},"attributes":{}}]}"#
    private static let destinations =
        #"{features:[{geometry:{x:3,y:4}}],spatialReference:{wkid:4326}}"#

    @Test func `a task says which features it takes and gives`() async throws {
        let task = await ask("ODMatrix")
        let parameters = task?["parameters"]?.elements ?? []
        func parameter(_ name: String) -> JSONTree? {
            parameters.first { $0["name"]?.text == name }
        }
        for name in ["origins", "destinations"] {
            let found = parameter(name)
            #expect(found?["dataType"]?.text == "GPFeatureRecordSetLayer")
            #expect(found?["direction"]?.text == "esriGPParameterDirectionInput")
            #expect(found?["defaultValue"]?["geometryType"]?.text == "esriGeometryPoint")
            #expect(found?["defaultValue"]?["features"]?.jsonText == "[]")
        }
        #expect(parameter("input")?["parameterType"]?.text == "esriGPParameterTypeOptional")
        #expect(parameter("outputFeatures")?["dataType"]?.text == "GPRecordSet")
        let stops = await ask("BatchRoute")?["parameters"]?.elements.first {
            $0["name"]?.text == "stops"
        }
        #expect(
            stops?["defaultValue"]?["fields"]?.elements.map { $0["type"]?.text } == [
                "esriFieldTypeString", "esriFieldTypeInteger",
            ])
        let geocode = await ask("BatchGeocode")?["parameters"]?.elements ?? []
        #expect(geocode.first?["parameterType"]?.text == "esriGPParameterTypeRequired")
        #expect(!geocode.contains { $0["dataType"]?.text == "GPFeatureRecordSetLayer" })
    }

    @Test func `features are the input of the job, in degrees, with ids, roles and attributes`()
        async throws
    {
        let answer = await submit(
            "ODMatrix",
            [
                "origins": Self.origins, "destinations": Self.destinations,
                // What a client sends for a file that is left out.
                "input": #"{"url":""}"#,
            ])
        #expect(answer?["jobId"] != nil, "\(answer?.jsonText ?? "")")
        let features = try input()
        #expect(features.map { $0["id"]?.whole } == [7, 2, 1])
        #expect(features.map { $0["role"]?.text } == ["origin", "origin", "destination"])
        let places = features.map { $0["geometry"]?["coordinates"]?.elements.map(\.number) ?? [] }
        #expect(abs((places[0][0] ?? 0) - 1) < 1e-9 && abs(places[0][1] ?? 1) < 1e-9)
        #expect(places.dropFirst() == [[2, 1], [3, 4]])
        #expect(
            features[0]["properties"]?.jsonText
                == #"{"OBJECTID":7,"Name":"A, \"1\"","n":2.5,"none":null}"#)
        // The same features are the same file, and its submitter's upload.
        let first = jobs.known.last?.input
        _ = await submit(
            "ODMatrix", ["origins": Self.origins, "destinations": Self.destinations])
        #expect(jobs.known.count == 2 && jobs.known.last?.input == first)
        #expect(jobs.uploads.find(try #require(first).id, of: .everybody) != nil)
    }

    @Test(arguments: ["", "/query?where=1%3D1", "/query"])
    func `features of a layer are asked of this site`(_ query: String) async throws {
        site.change {
            $0.answerToQuery = { _ in
                """
                {"geometryType":"esriGeometryPoint","spatialReference":{"wkid":4326},"features":[\
                {"attributes":{"OBJECTID":9,"Name":"First"},"geometry":{"x":1,"y":2}}]}
                """
            }
        }
        let url = #"{"url":"/arcgis/rest/services/City/FeatureServer/0\#(query)"}"#
        let id = "order-" + String(repeating: "a", count: 32)
        let form = ["facilities": url, "breaks": "60", "clientId": id]
        let answer = await submit("ServiceAreas", form)
        #expect(answer?["jobId"] != nil, "\(answer?.jsonText ?? "")")
        #expect(try input().map { $0["id"]?.whole } == [9])
        // Repeated, the order is the same job, although the layer has other features since.
        site.change {
            $0.answerToQuery = { _ in
                #"{"spatialReference":{"wkid":4326},"features":[]}"#
            }
        }
        let again = await submit("ServiceAreas", form)
        #expect(again?["jobId"]?.text == answer?["jobId"]?.text && jobs.known.count == 1)
    }

    @Test(arguments: [
        ("ODMatrix", ["origins": origins], "'destinations' is missing"),
        ("ODMatrix", ["origins": "[1]", "destinations": destinations], "'origins'"),
        ("ODMatrix", [:], "'input' is missing"),
        (
            "ODMatrix", ["origins": origins, "destinations": destinations, "role": "n"], "'role'"
        ),
        (
            "ServiceAreas",
            ["breaks": "1", "facilities": #"{"features":[{"geometry":{"x":1,"y":"a"}}]}"#],
            "'facilities': feature 1"
        ),
        (
            "ServiceAreas",
            [
                "breaks": "1",
                "facilities": #"{"features":[{"geometry":{"x":1,"y":1}}],"#
                    + #""spatialReference":{"wkid":999999}}"#,
            ], "'facilities'"
        ),
        (
            "ServiceAreas",
            [
                "breaks": "1",
                "facilities": #"{"features":[{"geometry":{"rings":[[[0,0],[0,1],[1,1],[0,0]]]}}]}"#,
            ], "'facilities': feature 1: an area"
        ),
        (
            "ServiceAreas",
            ["breaks": "1", "facilities": #"{"type":"FeatureCollection","features":[{}]}"#],
            "GeoJSON"
        ),
        (
            "ServiceAreas", ["breaks": "1", "facilities": #"{"url":"http://a.example/0"}"#],
            "a layer of this site"
        ),
        (
            "ServiceAreas", ["breaks": "1", "facilities": destinations, "input": "abc"],
            "a job has one input"
        ),
    ])
    func `features that are no input are refused by name`(
        _ task: String, _ form: [String: String], _ part: String
    ) async {
        let answer = await submit(task, form)
        let message = answer?["error"]?["message"]?.text ?? ""
        #expect(message.contains(part), "\(answer?.jsonText ?? "")")
        #expect(jobs.known.isEmpty)
    }

    @Test func `a layer with more features than an answer is read to its end`()
        async throws
    {
        site.change {
            $0.answerToQuery = { request in
                let first = request.offset
                let ids = first..<min(first + 1_000, 2_500)
                let features = ids.map {
                    #"{"attributes":{"OBJECTID":\#($0)},"geometry":{"x":1,"y":2}}"#
                }.joined(separator: ",")
                return #"{"spatialReference":{"wkid":4326},"features":[\#(features)],"#
                    + #""exceededTransferLimit":\#(ids.upperBound < 2_500)}"#
            }
        }
        let url = #"{"url":"/arcgis/rest/services/City/FeatureServer/0"}"#
        let answer = await submit("ServiceAreas", ["facilities": url, "breaks": "60"])
        #expect(answer?["jobId"] != nil, "\(answer?.jsonText ?? "")")
        #expect(try input().map { $0["id"]?.whole } == (0..<2_500).map { Int64($0) })
    }

    @Test func `features of a layer that the caller may not query are no input`() async throws {
        let ruled = try RuledSite(
            ["anna": [.init(.jobs), .init(.query, on: "Roads")]])
        let own = GatewayService(backend: site, access: try ruled.control())
        var login = GatewayRequest(
            path: Array("/arcgis/sharing/rest/generateToken".utf8),
            client: RequestClient(isPrivate: true))
        (login.form, login.isPost) = (Array("username=anna&password=password&f=json".utf8), true)
        let token = try #require(JSONTree(await own.answer(login).body)?["token"]?.text)
        let url = Parameters.encode(#"{"url":"/arcgis/rest/services/City/FeatureServer/0"}"#)
        let answer = await own.answer(
            GatewayRequest(
                path: Array((tasks + "ServiceAreas/submitJob").utf8),
                form: Array(
                    "f=json&network=Roads&breaks=1&facilities=\(url)&token=\(token)".utf8),
                client: RequestClient(isPrivate: true)))
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(body.contains("'facilities'") && body.contains("permission"), "\(body)")
        #expect(site.inner.withLock { $0.queries.isEmpty } && jobs.known.isEmpty)
    }

    private func result(
        _ kind: JobKind, _ product: String, _ type: MediaType, _ query: String = ""
    ) async throws -> JSONTree? {
        let blob = try jobs.blobs.put(Data(product.utf8), mediaType: type.rawValue)
        let job = try await jobs.submit(
            JobSubmission(id: JobID(rawValue: .unguessable()), kind: kind, parameters: [:]))
        jobs.change(job.id) { $0.result = blob }
        let status = await ask("\(kind.rawValue)/jobs/\(job.id)")
        #expect(
            status?["results"]?["outputFeatures"]?["paramUrl"]?.text == "results/outputFeatures")
        let path = "\(kind.rawValue)/jobs/\(job.id)/results/outputFeatures"
        return JSONTree(
            await service.answer(
                GatewayRequest(path: Array((tasks + path).utf8), query: Array(query.utf8))
            ).body)
    }

    @Test func `areas are polygons with typed fields, in the reference that is asked for`()
        async throws
    {
        let product = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"facility":"a","from":0,"to":60,"status":"ok","n":1},\
            "geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}},
            {"type":"Feature","properties":{"facility":"b","from":null,"to":null,\
            "status":"invalid","n":2.5},"geometry":null}
            ]}

            """
        let answer = try await result(.serviceAreas, product, .geoJSON, "outSR=3857")
        #expect(answer?["dataType"]?.text == "GPFeatureRecordSetLayer")
        let value = answer?["value"]
        #expect(value?["geometryType"]?.text == "esriGeometryPolygon")
        #expect(value?["spatialReference"]?["latestWkid"]?.whole == 3857)
        let fields = value?["fields"]?.elements.map {
            "\($0["name"]?.text ?? ""):\($0["type"]?.text?.dropFirst(13) ?? "")"
        }
        #expect(
            fields == [
                "ObjectID:OID", "facility:String", "from:Double", "to:Double", "status:String",
                "n:Double",
            ])
        let features = value?["features"]?.elements ?? []
        #expect(features.map { $0["attributes"]?["ObjectID"]?.whole } == [1, 2])
        let ring = features.first?["geometry"]?["rings"]?.elements.first?.elements ?? []
        let easts = ring.map { $0.elements[0].number ?? 0 }
        #expect(ring.count == 4 && easts.contains { abs($0 - 111_319) < 1 })
        #expect(features.last?["geometry"] == nil)
        #expect(value?["exceededTransferLimit"]?.isTrue == false)
        let refused = try await result(.serviceAreas, product, .geoJSON, "outSR=999999")
        #expect(refused?["error"]?["message"]?.text?.contains("outSR") == true)
    }

    @Test func `a table is records, and one that is longer than an answer says so`() async throws {
        let head = "origin,destination,duration,length,origin_n\n"
        let short = try await result(.odMatrix, head + "a,b,1.5,,7\n", .csv)
        #expect(short?["dataType"]?.text == "GPRecordSet")
        #expect(
            short?["value"]?["features"]?.elements.first?["attributes"]?.jsonText
                == #"{"ObjectID":1,"origin":"a","destination":"b","duration":1.5,"length":null,"#
                + #""origin_n":"7"}"#)
        let count = ProductFeatures.countLimit
        let rows = String(repeating: "a,b,1.5,2,7\n", count: count + 1)
        let long = try await result(.odMatrix, head + rows, .csv)
        #expect(long?["value"]?["features"]?.elements.count == count)
        #expect(long?["value"]?["exceededTransferLimit"]?.isTrue == true)
    }
}
