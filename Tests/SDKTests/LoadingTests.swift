// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Loading, in the shape of app code: no member that an app could not see.
@Suite struct LoadingTests {
    private let server = StubServer()

    private var layer: ArcGISMapImageLayer {
        ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer"))
    }

    @Test func `a layer loads once, however many wait`() async throws {
        let gate = StubGate()
        server.on("/City/MapServer", StubAnswer.json(Sample.mapService).held(by: gate))
        let layer = layer
        let waiting = (0..<50).map { _ in Task { try await layer.load() } }
        await gate.arrived()
        #expect(layer.loadStatus == .loading)
        #expect(layer.fullExtent == nil)
        gate.open()
        for each in waiting { try await each.value }
        try await layer.load()
        #expect(layer.loadStatus == .loaded)
        #expect(layer.fullExtent != nil)
        #expect(server.requests("/City/MapServer").count == 1)
    }

    @Test func `a failed load throws the same error until it is tried again`() async throws {
        server.on(
            "/City/MapServer",
            inTurn: [.error(500, "the disk is full"), .json(Sample.mapService)])
        let layer = layer
        for _ in 0..<3 {
            let error = await #expect(throws: ServiceError.self) { try await layer.load() }
            #expect(error?.message == "the disk is full")
        }
        #expect(layer.loadStatus == .failed)
        #expect(server.requests.count == 1)
        try await layer.retryLoad()
        #expect(layer.loadStatus == .loaded)
        #expect(layer.loadError == nil)
        try await layer.retryLoad()
        #expect(server.requests.count == 2)
    }

    @Test func `a cancelled load fails for all that wait`() async throws {
        let gate = StubGate()
        server.on("/City/MapServer", StubAnswer.json(Sample.mapService).held(by: gate))
        let layer = layer
        let waiting = (0..<3).map { _ in Task { try await layer.load() } }
        await gate.arrived()
        layer.cancelLoad()
        for each in waiting {
            await #expect(throws: CancellationError.self) { try await each.value }
        }
        #expect(layer.loadStatus == .failed)
        gate.open()
        await #expect(throws: CancellationError.self) { try await layer.load() }
    }

    @Test func `a cancelled task stops waiting, and the load goes on for others`() async throws {
        let gate = StubGate()
        server.on("/City/MapServer", StubAnswer.json(Sample.mapService).held(by: gate))
        let layer = layer
        let other = Task { try await layer.load() }
        await gate.arrived()
        let cancelled = Task { try await layer.load() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(layer.loadStatus == .loading)
        gate.open()
        try await other.value
        #expect(layer.loadStatus == .loaded)
    }

    @Test func `the load status is followed to its end`() async throws {
        server.on("/City/MapServer", json: Sample.mapService)
        let layer = layer
        let seen = Task {
            var seen: [LoadStatus] = []
            for await status in layer.$loadStatus {
                seen.append(status)
                if status == .loaded { break }
            }
            return seen
        }
        try await layer.load()
        let statuses = await seen.value
        #expect(statuses.last == .loaded)
        #expect(statuses == statuses.sorted { $0.rawValue < $1.rawValue })
    }

    @Test func `several load side by side, each with its own error`() async throws {
        server.on("/City/MapServer", json: Sample.mapService)
        let good = layer
        let bad = ArcGISMapImageLayer(url: server.url.appending(path: "Missing/MapServer"))
        await [good, bad].load()
        #expect(good.loadStatus == .loaded)
        #expect((bad.loadError as? ServiceError)?.code == 404)
    }

    @Test func `for a reader that is slow 1,024 values wait, then the oldest go`() async {
        let status = Streamed(wrappedValue: 0)
        var values = status.projectedValue.makeAsyncIterator()
        for number in 1...2_000 { status.wrappedValue = number }
        var read: [Int?] = []
        for _ in 0..<1_024 { read.append(await values.next()) }
        #expect(read == Array(977...2_000))
    }

    @Test func `what was set before loading is kept`() async throws {
        server.on("/City/MapServer", json: Sample.mapService)
        let layer = layer
        layer.name = "mine"
        layer.minScale = 5_000
        try await layer.load()
        #expect(layer.name == "mine")
        #expect(layer.minScale == 5_000)
    }
}

/// Answers of a map service of three layers, one of them in a group.
enum Sample {
    static let mapService = #"""
        {"currentVersion":10.91,"mapName":"City","layers":[
        {"id":0,"name":"Places","parentLayerId":-1,"defaultVisibility":true,"subLayerIds":null,
        "minScale":0,"maxScale":0,"geometryType":"esriGeometryPoint"},
        {"id":1,"name":"Ground","parentLayerId":-1,"defaultVisibility":true,"subLayerIds":[2,3],
        "minScale":0,"maxScale":0},
        {"id":2,"name":"Roads","parentLayerId":1,"defaultVisibility":true,"subLayerIds":null,
        "minScale":0,"maxScale":0,"geometryType":"esriGeometryPolyline"},
        {"id":3,"name":"Parcels","parentLayerId":1,"defaultVisibility":true,"subLayerIds":null,
        "minScale":50000,"maxScale":0,"geometryType":"esriGeometryPolygon"}],
        "spatialReference":{"wkid":102100,"latestWkid":3857},
        "fullExtent":{"xmin":0,"ymin":0,"xmax":1000,"ymax":1000,"spatialReference":{"wkid":102100}},
        "initialExtent":{"xmin":0,"ymin":0,"xmax":1000,"ymax":1000,
        "spatialReference":{"wkid":102100}},"capabilities":"Map,Query"}
        """#

    static let tiledService = #"""
        {"mapName":"Base","layers":[],"singleFusedMapCache":true,
        "tileInfo":{"rows":256,"cols":256,"dpi":96,"origin":{"x":-20037508.342787,
        "y":20037508.342787},"spatialReference":{"wkid":102100},
        "lods":[{"level":0,"resolution":156543.03392800014,"scale":591657527.591555},
        {"level":1,"resolution":78271.51696399994,"scale":295828763.795777}]},
        "fullExtent":{"xmin":-20037508,"ymin":-20037508,"xmax":20037508,"ymax":20037508,
        "spatialReference":{"wkid":102100}}}
        """#

    static func layer(_ id: Int, _ name: String, _ type: String = "esriGeometryPolygon") -> String {
        #"""
        {"id":\#(id),"name":"\#(name)","type":"Feature Layer","geometryType":"\#(type)",
        "objectIdField":"OBJECTID","displayField":"owner","maxRecordCount":2,
        "capabilities":"Query,Editing","extent":{"xmin":0,"ymin":0,"xmax":1000,"ymax":1000,
        "spatialReference":{"wkid":102100}},"advancedQueryCapabilities":{"supportsPagination":true},
        "fields":[{"name":"OBJECTID","type":"esriFieldTypeOID","alias":"OBJECTID"},
        {"name":"owner","type":"esriFieldTypeString","alias":"Owner","length":50},
        {"name":"floors","type":"esriFieldTypeSmallInteger","alias":"Floors"},
        {"name":"built","type":"esriFieldTypeDate","alias":"Built"},
        {"name":"key","type":"esriFieldTypeGUID","alias":"Key"}]}
        """#
    }
}
