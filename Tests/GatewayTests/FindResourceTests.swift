// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Synchronization
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services/City/MapServer"

@Suite struct FindResourceTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func get(_ url: String, after: Int64? = nil) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                lastEventID: after))
    }

    @Test func `a find as clients send it is understood`() async throws {
        // esri-leaflet.
        let answer = await get(
            root + "/find?sr=4326&contains=true&returnGeometry=true&returnZ=true&returnM=false"
                + "&layers=1,%203&searchText=Place%2012&searchFields=NAME,%20POP&f=json")
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"results":[]}"#)
        #expect(answer.sequence == 9 && answer.isStale)
        var request = try #require(site.inner.withLock { $0.lastFind })
        #expect(request.text == "Place 12" && request.contains && request.returnZ)
        #expect(request.layers == [1, 3] && request.fields == ["NAME", "POP"])
        #expect(request.outReference == .wgs84 && !request.returnM && request.returnGeometry)

        _ = await get(
            root + "/find?searchText=null&contains=False&layerDefs=1:POP%3E0&returnGeometry=0"
                + "&maxAllowableOffset=2.5&geometryPrecision=3&returnFieldName=true"
                + "&returnUnformattedValues=true&historicMoment=1600000000000&minSequence=4")
        request = try #require(site.inner.withLock { $0.lastFind })
        #expect(request.text == "null" && !request.contains && !request.returnGeometry)
        #expect(request.layerDefinitions == [1: "POP>0"] && request.layers == nil)
        #expect(request.maxAllowableOffset == 2.5 && request.geometryPrecision == 3)
        #expect(request.returnFieldName && request.returnUnformattedValues)
        #expect(request.atTime?.microseconds == 1_600_000_000_000_000 && request.minSequence == 4)
        _ = await get(root + "/find?searchText=x&at=5")
        #expect(site.inner.withLock { $0.lastFind }?.at == 5)
    }

    @Test(arguments: [
        ("", "searchText"), ("searchText=", "searchText"),
        ("searchText=x&contains=maybe", "contains"),
        ("searchText=x&layers=all", "layers"), ("searchText=x&layers=-1", "layers"),
        ("searchText=x&layerDefs=a", "layerDefs"), ("searchText=x&sr=x", "sr"),
        ("searchText=x&geometryPrecision=99", "geometryPrecision"),
        ("searchText=x&maxAllowableOffset=-1", "maxAllowableOffset"),
        ("searchText=x&dynamicLayers=%5B%5D", "dynamicLayers"),
        ("searchText=x&timeout=0", "timeout"),
    ])
    func `a bad value of a find is refused by a sentence that names it`(
        _ query: String, _ name: String
    ) async throws {
        let body = await get(root + "/find?f=json&" + query).body
        let error = try RelaxedJSON.parse(String(decoding: body, as: UTF8.self))["error"]
        #expect(error?["code"] == .number(400))
        guard case .string(let message)? = error?["message"] else {
            Issue.record("no message")
            return
        }
        #expect(message.contains(name), "\(message)")
    }

    @Test func `identify by the address of a layer that is not there is refused`() async throws {
        let missing = await get(root + "/77/identify?" + AccessTests.identify)
        let error = try RelaxedJSON.parse(String(decoding: missing.body, as: UTF8.self))["error"]
        #expect(error?["code"] == .number(400))
        #expect("\(String(describing: error))".contains("77"))
        let found = await get(root + "/0/identify?" + AccessTests.identify)
        #expect(try RelaxedJSON.parse(String(decoding: found.body, as: UTF8.self))["error"] == nil)
    }

    @Test func `streams go on after the last event that a client got`() async throws {
        let identify = "/identify/changes?" + AccessTests.identify
        for (path, after, known) in [
            ("/changes", nil, -1), ("/changes?after=5", nil, 5), ("/changes?after=5", 8, 8),
            ("/changes", -3, 0), (identify, 8, 8),
        ] as [(String, Int64?, Int64)] {
            let answer = await get(root + path, after: after)
            #expect(answer.changes != nil && answer.contentType == "text/event-stream")
            #expect(site.inner.withLock { $0.lastKnown } == known, "\(path)")
        }
        let body = await get(root + "/changes?after=x").body
        #expect(String(decoding: body, as: UTF8.self).contains("'after'"))
    }
}
