// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import JobKinds
import Platform
import Site
import Testing

@testable import Gateway

/// The tasks that a network has, `{network}/GPServer`.
@Suite struct NetworkTaskServiceTests {
    private let jobs: SimulatedJobs
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        service = GatewayService(backend: SimulatedSite(map: try Samples.map(), jobs: jobs))
    }

    private func ask(_ path: String, _ form: [String: String] = [:]) async -> JSONTree? {
        let text = form.map { "\($0.key)=\(Parameters.encode($0.value))" }.joined(separator: "&")
        return JSONTree(
            await service.answer(
                GatewayRequest(
                    path: Array("/arcgis/rest/services/\(path)".utf8), form: Array(text.utf8))
            ).body)
    }

    private static let stops =
        #"{"features":[{"geometry":{"x":1,"y":1}},{"geometry":{"x":2,"y":2}}],"#
        + #""spatialReference":{"wkid":4326}}"#
    private static let area =
        #"{"features":[{"geometry":{"rings":[[[0,0],[0,1],[1,1],[0,0]]]}}]}"#

    private func sentence(_ answer: JSONTree?) -> String {
        let details = answer?["error"]?["details"]?.elements.compactMap(\.text) ?? []
        return ([answer?["error"]?["message"]?.text ?? ""] + details).joined(separator: " ")
    }

    @Test func `a network has Esri's tasks, whose parameters lack the network`() async throws {
        let root = await ask("Roads/GPServer")
        #expect(
            root?["tasks"]?.elements.compactMap(\.text) == [
                "FindClosestFacilities", "FindRoutes", "GenerateOriginDestinationCostMatrix",
                "GenerateServiceAreas",
            ])
        let task = await ask("roads/gpserver/findroutes")
        let parameters = task?["parameters"]?.elements ?? []
        let names = parameters.compactMap { $0["name"]?.text }
        #expect(names.prefix(3) == ["stops", "measurement_units", "analysis_region"])
        #expect(Set(names).isDisjoint(with: ["network", "env:outSR", "input", "output"]))
        let outputs = parameters.filter { $0["direction"]?.text?.hasSuffix("Output") == true }
        #expect(outputs.first?["name"]?.text == "Solve_Succeeded" && outputs.count == 12)
        #expect(parameters.first?["parameterType"]?.text == "esriGPParameterTypeRequired")
        let among = (await ask("Jobs/GPServer/FindRoutes"))?["parameters"]?.elements ?? []
        let published = among.compactMap { $0["name"]?.text }
        #expect(published.contains("network") && !published.contains { $0.contains(":") })
        #expect(sentence(await ask("Roads/GPServer/BatchRoute")).contains("not found"))
        #expect(sentence(await ask("Nowhere/GPServer")).contains("not found"))
    }

    @Test func `a job has the features of its parameters, areas among them`() async throws {
        let answer = await ask(
            "Roads/GPServer/FindRoutes/submitJob",
            [
                "STOPS": Self.stops, "polygon_barriers": Self.area, "Populate_Directions": "False",
                "network": "Others",
            ])
        let job = try #require(jobs.known.last)
        #expect(answer?["jobId"]?.text == "\(job.id)")
        #expect(job.parameters["network"] == "Roads")
        #expect(job.parameters["populate_directions"] == "false")
        let input = JSONTree(Array(try jobs.blobs.read(try #require(job.input))))
        let features = input?["features"]?.elements ?? []
        #expect(features.map { $0["role"]?.text } == ["stops", "stops", "polygon_barriers"])
        #expect(features.last?["geometry"]?["type"]?.text == "MultiPolygon")
        #expect(
            sentence(await ask("Roads/GPServer/FindRoutes/submitJob", ["stops": "{}"]))
                .contains("'stops' is missing"))
        let refused = await ask(
            "Roads/GPServer/FindRoutes/submitJob",
            ["stops": Self.stops, "env:outSR": "999999"])
        #expect(sentence(refused).contains("'env:outSR'"))
        #expect(jobs.known.count == 1)
    }

    @Test func `results are the members of the product, in any reference`() async throws {
        _ = await ask("Roads/GPServer/FindRoutes/submitJob", ["stops": Self.stops])
        let job = try #require(jobs.known.last)
        let path = "Roads/GPServer/FindRoutes/jobs/\(job.id)"
        #expect(sentence(await ask(path + "/results/Output_Routes")).contains("has no result"))
        let product =
            "{\n\"Solve_Succeeded\":true,\n\"Output_Routes\":{"
            + "\"geometryType\":\"esriGeometryPolyline\","
            + "\"spatialReference\":{\"wkid\":4326},\"features\":[{\"attributes\":{\"n\":1},"
            + "\"geometry\":{\"paths\":[[[1,0],[2,0]]]}}]}\n}\n"
        let blob = try jobs.blobs.put(Data(product.utf8), mediaType: "application/json")
        jobs.change(job.id) { $0.result = blob }

        #expect(await ask(path + "/results/solve_succeeded")?["value"]?.isTrue == true)
        let routes = await ask(path + "/results/Output_Routes")
        #expect(routes?["dataType"]?.text == "GPFeatureRecordSetLayer")
        let line = await ask(path + "/results/Output_Routes", ["outSR": "3857"])
        let paths = line?["value"]?["features"]?.elements.first?["geometry"]?["paths"]
        let x = try #require(paths?.elements.first?.elements.first?.elements.first?.number)
        #expect(abs(x - 111_319.490793) < 1e-5)
        #expect(line?["value"]?["features"]?.elements.first?["attributes"]?["n"]?.whole == 1)
        let names = (await ask(path))?["results"]?.members.map(\.name) ?? []
        #expect(names.first == "Solve_Succeeded" && names.count == 12)
        // Another network's address is not this job's.
        let other = await ask("Others/GPServer/FindRoutes/jobs/\(job.id)")
        #expect(sentence(other).contains("has no job"))
    }

    @Test func `a network and a travel mode that there are not are refused by name`() async throws {
        let form = ["stops": Self.stops, "network": "Nowhere"]
        let network = sentence(await ask("Jobs/GPServer/BatchRoute/submitJob", form))
        #expect(network.contains("parameter 'network'") && network.contains("'Roads'"))
        let mode = sentence(
            await ask(
                "Jobs/GPServer/BatchRoute/submitJob",
                form.merging(["network": "Roads", "travelMode": "Flying"]) { $1 }))
        #expect(mode.contains("parameter 'travelMode'"), "\(mode)")
        #expect(jobs.known.isEmpty)
    }
}
