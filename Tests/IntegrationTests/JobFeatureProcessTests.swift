// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// Jobs on a network that are given features on the command line, through real processes.
@Suite(.timeLimit(.minutes(4)), .processes) struct JobFeatureProcessTests {
    private static let places = """
        {"type":"FeatureCollection","features":[
        {"type":"Feature","id":1,"properties":{"beds":4,"name":"A"},
        "geometry":{"type":"Point","coordinates":[13.0001,51.0002]}},
        {"type":"Feature","id":2,"properties":{"beds":null,"name":"B"},
        "geometry":{"type":"Point","coordinates":[13.0061,51.0089]}}]}
        """

    @Test func `GeoJSON, a layer and a GeoPackage of the same features give the same product`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        func run(_ arguments: String...) async throws -> Programs.Outcome {
            let outcome = try await Programs.run(arguments, site: site.path)
            try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome
        }
        let town = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/town.osm").standardized.path()
        _ = try await run("network", "build", "Town", town)
        let file = site.folder + "/places.geojson"
        try Self.places.write(toFile: file, atomically: true, encoding: .utf8)
        _ = try await run("import", file, "--map", "Clinics")
        let port = try Loopback.freePort()
        _ = try await run("up", "--detach", "--port", "\(port)")

        func product(_ arguments: [String], _ ending: String) async throws -> String {
            let submitted = try await Programs.run(
                ["job", "submit"] + arguments + ["--json"], site: site.path)
            let id = try #require(
                submitted.objects.first?["id"] as? String, "\(submitted.errors)")
            _ = try await run("job", "watch", id)
            let path = site.folder + "/" + id + ending
            _ = try await run("job", "result", id, "--output", path)
            return path
        }
        let package = try await product(
            ["ExportFeatures", "--param", "map=Clinics", "--param", "layer=0"]
                + ["--param", "format=gpkg"], ".gpkg")
        var products: [String] = []
        for input in [file, "layer:Clinics/0", package] {
            let path = try await product(
                ["ODMatrix", "--input", input, "--param", "network=Town"]
                    + ["--param", "fields=name,beds"], ".csv")
            products.append(try String(contentsOfFile: path, encoding: .utf8))
        }
        let lines = products[0].split(separator: "\n")
        let header =
            ["origin", "destination", "duration", "length"]
            + ["origin_name", "origin_beds", "destination_name", "destination_beds"]
        #expect(lines.first?.split(separator: ",").map(String.init) == header)
        #expect(lines.count == 3 && lines[1].hasPrefix("1,2,") && lines[1].hasSuffix(",A,4,B,"))
        #expect(Set(products).count == 1, "\(products)")
        let missing = try await Programs.run(
            ["job", "submit", "ODMatrix", "--input", "layer:Clinics/9", "--param", "network=Town"],
            site: site.path)
        #expect(missing.status != 0 && missing.errors.contains("9"), "\(missing.errors)")
        _ = try await run("down")
    }
}
