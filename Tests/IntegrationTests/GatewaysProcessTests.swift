// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import TestKit
import Testing

/// Two gateways in front of one site.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct GatewaysProcessTests {
    /// Pairs of an edit and the reads after it: 300, or `CAIRN_SEEDS`.
    private static let pairCount =
        ProcessInfo.processInfo.environment["CAIRN_SEEDS"].flatMap(Int.init) ?? 300
    private static let service = "/arcgis/rest/services/Grid"

    private func ask(_ connection: Loopback, _ path: String, _ form: String) async throws -> Data {
        let body: String? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.post(path, form)
                continuation.resume(returning: connection.wholeAnswer()?.body)
            }
        }
        return Data(try #require(body).utf8)
    }

    /// The names of the features at a place.
    private func identify(_ connection: Loopback, _ place: String) async throws -> [String] {
        struct Body: Decodable {
            struct Hit: Decodable { var value: String }
            var results: [Hit]
        }
        let body = try await ask(
            connection, Self.service + "/MapServer/identify",
            "f=json&geometry=\(place)&tolerance=0&layers=all&mapExtent=0,0,100,100"
                + "&imageDisplay=100,100,96")
        return try JSONDecoder().decode(Body.self, from: body).results.map(\.value)
    }

    private func names(_ connection: Loopback, _ id: Int64) async throws -> [String] {
        struct Body: Decodable {
            struct Feature: Decodable { var attributes: [String: String] }
            var features: [Feature]
        }
        let body = try await ask(
            connection, Self.service + "/FeatureServer/0/query",
            "f=json&outFields=name&returnGeometry=false&where=OBJECTID%3D\(id)")
        return try JSONDecoder().decode(Body.self, from: body).features.compactMap {
            $0.attributes["name"]
        }
    }

    private func title(_ connection: Loopback) async throws -> String {
        struct Body: Decodable { var description: String }
        let body = try await ask(connection, Self.service + "/MapServer/0", "f=json")
        return try JSONDecoder().decode(Body.self, from: body).description
    }

    @Test func `an edit through one gateway is seen by the next read through another`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5, workers: 1)
        let other = try Loopback.freePort()
        try site.start("cairn-gateway", ["--port", "\(other)"])
        try await site.waitForGateway(other)
        _ = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        let gateways = [
            try #require(Loopback(port: site.port)), try #require(Loopback(port: other)),
        ]
        struct Added: Decodable {
            struct Result: Decodable { var objectId: Int64, success: Bool }
            var addResults: [Result]
        }
        let feature =
            #"[{"attributes":{"name":"new"},"geometry":{"rings":"#
            + "[[[60,60],[60,61],[61,61],[61,60],[60,60]]]}}]"
        let added = try JSONDecoder().decode(
            Added.self,
            from: try await ask(
                gateways[0], Self.service + "/FeatureServer/0/addFeatures",
                "f=json&features=" + feature))
        let id = try #require(added.addResults.first?.objectId)

        var stale: [String] = []
        for pair in 0..<Self.pairCount {
            let (writer, reader) = (gateways[pair % 2], gateways[1 - pair % 2])
            let name = "name \(pair)"
            let answer = try await ask(
                writer, Self.service + "/FeatureServer/0/updateFeatures",
                #"f=json&features=[{"attributes":{"OBJECTID":\#(id),"name":"\#(name)"}}]"#)
            try #require(String(decoding: answer, as: UTF8.self).contains(#""success":true"#))
            // By turns, as a second read would profit from the time of the first.
            let found =
                pair % 3 == 0
                ? try await names(reader, id) : try await identify(reader, "60.5,60.5")
            if found != [name] { stale.append("pair \(pair): \(found)") }
        }
        #expect(stale.isEmpty, "\(stale.count) of \(Self.pairCount): \(stale.prefix(3))")

        // A change by another client than a gateway, of what only a description shows.
        for turn in 0..<20 {
            _ = try await site.client.command(
                map: site.map, .setLayerInfo(layer: 0, info: LayerInfo(description: "text \(turn)"))
            )
            #expect(try await title(gateways[turn % 2]) == "text \(turn)")
        }
    }
}
