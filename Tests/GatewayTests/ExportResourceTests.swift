// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Synchronization
import Testing

@testable import Gateway

@Suite struct ExportResourceTests {
    let site: SimulatedSite
    let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func ask(
        _ query: String, form: String = "", wantsPage: Bool = false, origin: String? = "http://h:1"
    ) async -> GatewayResponse {
        await service.answer(
            GatewayRequest(
                path: Array("/arcgis/rest/services/City/MapServer/export".utf8),
                query: Array(query.utf8), form: Array(form.utf8), wantsPage: wantsPage,
                origin: origin))
    }

    private func lastRequest() throws -> ExportRequest {
        try #require(site.inner.withLock { $0.lastExport })
    }

    @Test func `a picture goes out as it came`() async throws {
        let response = await ask("bbox=0,0,10,20&f=image")

        #expect(response.body == [1, 2, 3])
        #expect(response.contentType == "image/png" && response.sequence == 7)
        let request = try lastRequest()
        #expect(request.width == 400 && request.height == 400 && request.dpi == 96)
        #expect(request.extent == Envelope(minX: 0, minY: 0, maxX: 10, maxY: 20))
        #expect(request.format == .png && !request.isTransparent)
        #expect(request.layers == DrawnLayers())
    }

    @Test
    func `layers of other servers that a picture lacks are named with it and in its description`()
        async throws
    {
        site.change {
            $0.missing = [
                LayerFailure(
                    layerID: 3, layerName: "roads", error: Failure(.timedOut, "no answer")),
                LayerFailure(
                    layerID: 12, layerName: "towns", error: Failure(.unreadable, "no picture")),
            ]
        }
        let picture = await ask("bbox=0,0,10,20&f=image")
        #expect(picture.missing.structuredText == "3;reason=timedOut, 12;reason=unreadable")

        struct Missing: Decodable, Equatable {
            var layerId: Int, layerName: String, message: String
        }
        struct Body: Decodable { var layerFailures: [Missing]? }
        let told = try CairnJSON.decode(Body.self, from: Data(await ask("bbox=0,0,10,20").body))
        #expect(
            told.layerFailures == [
                Missing(layerId: 3, layerName: "roads", message: "no answer"),
                Missing(layerId: 12, layerName: "towns", message: "no picture"),
            ])
        let page = await ask("bbox=0,0,10,20", wantsPage: true)
        #expect(String(decoding: page.body, as: UTF8.self).contains("no picture"))

        site.change { $0.missing = nil }
        let whole = try CairnJSON.decode(Body.self, from: Data(await ask("bbox=0,0,10,20").body))
        #expect(whole.layerFailures == nil)
    }

    @Test func `every parameter of an export is read, in any letter case`() async throws {
        let query =
            "BBOX=10,20,0,0&bboxsr=4326&imageSR=102100&size=800,600&dpi=120&format=JPG&transparent=TRUE"
            + "&layers=show:1,%202&layerdefs=1:POP%3E0&time=5,9&mapScale=5000&at=3&F=image"
        let response = await ask(query)

        #expect(response.contentType == "image/jpeg")
        let request = try lastRequest()
        #expect(request.extent == Envelope(minX: 0, minY: 0, maxX: 10, maxY: 20))
        #expect(request.extentReference == .wgs84)
        #expect(request.imageReference?.latestWkid == 3857)
        #expect(request.width == 800 && request.height == 600 && request.dpi == 120)
        #expect(request.isTransparent && request.mapScale == 5_000 && request.at == 3)
        #expect(request.layers == DrawnLayers(.show, ids: [1, 2]))
        #expect(request.layerDefinitions == [1: "POP>0"])
        #expect(request.time == TimeExtent(from: 5, to: 9))
    }

    @Test func `clients send an empty choice for the layers that are visible`() async throws {
        _ = await ask("bbox=0,0,1,1&layers=show:&f=image")

        #expect(try lastRequest().layers == DrawnLayers())

        // And layer -1 where all are off.
        _ = await ask("bbox=0,0,1,1&layers=show:-1&f=image")
        #expect(try lastRequest().layers == DrawnLayers(.show, ids: [-1]))
    }

    @Test func `the described picture is found where the description says`() async throws {
        let response = await ask(
            "bbox=0,0,1,2&layers=hide:3&f=json", form: "layerDefs=1:A%3D'x%26y'")
        let body = try RelaxedJSON.parse(String(decoding: response.body, as: UTF8.self))
        guard case .string(let href)? = body["href"] else {
            Issue.record("no href")
            return
        }
        let described = try lastRequest()

        #expect(described.format == nil && body["width"]?.number == 400)
        #expect(body["extent"]?["spatialReference"]?["latestWkid"]?.number == 3857)
        #expect(body["scale"]?.number == 1_000)
        let parts = href.split(separator: "?", maxSplits: 1).map(String.init)
        #expect(parts[0] == "http://h:1/arcgis/rest/services/City/MapServer/export")
        // Some clients put their token behind it as if it were the name of a file.
        #expect(await ask(parts[1] + "?token=x").contentType == "image/png")
        #expect(await ask(parts[1]).contentType == "image/png")
        var drawn = try lastRequest()
        #expect(drawn.format == .png && drawn.layerDefinitions == [1: "A='x&y'"])
        drawn.format = nil
        #expect(drawn == described)
    }

    @Test func `a browser that asks for an export gets a page`() async throws {
        let response = await ask("bbox=0,0,1,2", wantsPage: true)

        #expect(response.contentType.hasPrefix("text/html"))
    }

    static let wrong = [
        ("", "bbox"), ("bbox=1,2,3", "bbox"), ("bbox=nan,0,1,1", "bbox"),
        ("bbox=0,0,inf,1", "bbox"), ("bbox=0,0,1,1&size=0,3072", "size"),
        ("bbox=0,0,1,1&size=4097,1", "size"), ("bbox=0,0,1,1&size=1.5,1", "size"),
        ("bbox=0,0,1,1&dpi=x", "dpi"), ("bbox=0,0,1,1&format=svg", "format"),
        ("bbox=0,0,1,1&layers=top:1", "layers"), ("bbox=0,0,1,1&layers=show:a", "layers"),
        ("bbox=0,0,1,1&layers=show:-2", "layers"),
        ("bbox=0,0,1,1&transparent=maybe", "transparent"),
        ("bbox=0,0,1,1&layerDefs=x", "layerDefs"), ("bbox=0,0,1,1&time=x", "time"),
        ("bbox=0,0,1,1&rotation=10", "rotation"),
        ("bbox=0,0,1,1&dynamicLayers=[]", "dynamicLayers"),
        ("bbox=0,0,1,1&imageSR=x", "imageSR"), ("bbox=0,0,1,1&f=kmz", "f"),
    ]

    @Test(arguments: wrong)
    func `an export that cannot be drawn is an error body that names the parameter`(
        query: String, name: String
    ) async throws {
        let response = await ask(query.contains("f=") ? query : query + "&f=image")
        let body = try RelaxedJSON.parse(String(decoding: response.body, as: UTF8.self))

        #expect(response.status == 200 && response.contentType.hasPrefix("application/json"))
        #expect(body["error"]?["code"]?.number == 400)
        guard case .string(let message)? = body["error"]?["message"] else {
            Issue.record("no message")
            return
        }
        #expect(message.contains("'\(name)'"), "\(message)")
    }
}
