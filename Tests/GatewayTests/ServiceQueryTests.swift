// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Synchronization
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services/City/FeatureServer"

/// `FeatureServer/query`, compared with the queries of the layers.
@Suite struct ServiceQueryTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        site.change { inner in
            inner.answerToQuery = { request in
                request.result == .count && request.layer == 3
                    ? "{}" : #"{"of":\#(request.layer),"where":"\#(request.clause ?? "")"}"#
            }
        }
        service = GatewayService(backend: site)
    }

    private func get(_ url: String) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : []))
    }

    private func json(_ url: String) async throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(await get(url).body))
        return try #require(object as? [String: Any])
    }

    private func refusal(_ query: String) async throws -> String {
        site.change { $0.queries = [] }
        let error = try await json(root + "/query?" + query)["error"] as? [String: Any]
        #expect(site.inner.withLock { $0.queries.isEmpty })
        return try #require(error?["message"] as? String)
    }

    @Test(arguments: [
        "", "&returnCountOnly=true", "&returnIdsOnly=true", "&geometry=1,2&inSR=4326",
    ])
    func `the answer of each layer is that of its own query`(_ more: String) async throws {
        let body = try await json(root + "/query?f=json&layerDefs=0:POP%3E1;3:" + more)
        let layers = try #require(body["layers"] as? [[String: Any]])
        #expect(layers.compactMap { $0["id"] as? Int } == [0, 3])
        for (layer, clause) in zip(layers, ["POP%3E1", ""]) {
            let id = try #require(layer["id"] as? Int)
            var alone = try await json(root + "/\(id)/query?f=json&where=\(clause)" + more)
            alone["id"] = id
            #expect(layer as NSDictionary == alone as NSDictionary)
        }
    }

    @Test(arguments: [
        "0:POP>1;3:NAME='a;b'", #"{"3":"NAME='a;b'","0":"POP>1"}"#,
        #"[{"layerId":3,"where":"NAME='a;b'"},{"layerId":0,"where":"POP>1"}]"#,
    ])
    func `the three forms of layerDefs say the same`(_ text: String) async throws {
        site.change { $0.queries = [] }
        _ = await get(root + "/query?outFields=NAME&layerDefs=" + Parameters.encode(text))
        let asked = site.inner.withLock { $0.queries }
        #expect(asked.map(\.layer) == [0, 3])
        #expect(asked.map(\.clause) == ["POP>1", "NAME='a;b'"])
        #expect(asked.allSatisfy { $0.outFields == ["NAME"] })
        // The second query is as of the sequence number of the first.
        #expect(asked.map(\.at) == [nil, 9])
    }

    @Test func `without layerDefs all layers that may be queried are, with all fields`()
        async throws
    {
        site.change { inner in
            inner.queries = []
            inner.map.layers[2].isQueryable = false
        }
        let answer = await get(root + "/query?f=json")
        let asked = site.inner.withLock { $0.queries }
        #expect(asked.map(\.layer) == [0, 2] && asked.allSatisfy { $0.outFields == ["*"] })
        #expect(answer.sequence == 9 && answer.isStale)
        site.change { $0.queries = [] }
        _ = await get(
            root + "/query?layerDefs=" + Parameters.encode(#"[{"layerId":2,"outFields":"POP"}]"#))
        #expect(site.inner.withLock { $0.queries.map(\.outFields) } == [["POP"]])
    }

    @Test func `a service query that makes no sense is refused by the parameter's name`()
        async throws
    {
        #expect(try await refusal("layerDefs=9:POP%3E1").contains("layerId: 9"))
        #expect(try await refusal("layerDefs=1:POP%3E1").contains("layerId: 1"))
        #expect(try await refusal("layerDefs=0:a&where=1%3D1").contains("'where'"))
        #expect(try await refusal("layerDefs=0:a&outStatistics=[]").contains("'outStatistics'"))
        #expect(try await refusal("layerDefs=[1]").contains("'layerDefs'"))
        #expect(try await refusal("layerDefs=x").contains("'layerDefs'"))
        #expect(
            try await refusal("layerDefs=[{layerId:0},{layerId:0}]").contains("layer 0 twice"))
        #expect(try await refusal("f=geojson").contains("'f'"))
        site.change { inner in
            inner.map.layers += (100..<201).map { id in
                var layer = inner.map.layers[0]
                layer.id = id
                return layer
            }
        }
        #expect(try await refusal("f=json").contains("the most is 100"))
    }
}
