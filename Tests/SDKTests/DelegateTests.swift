// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnAGS
import CairnTesting
import Foundation
import Testing

/// The delegate API, in the spelling of its time.
@Suite(.serialized) struct DelegateTests {
    private let server = StubServer()

    init() {
        CairnAGS.callbackQueue = DispatchQueue(label: "test")
        server.on("/City/MapServer", json: Sample.mapService)
        server.on("/Base/MapServer", json: Sample.tiledService)
    }

    private final class Newer: AGSIdentifyTaskDelegate, @unchecked Sendable {
        let ends: AsyncStream<Result<[AGSIdentifyResult], NSError>>
        private let continuation: AsyncStream<Result<[AGSIdentifyResult], NSError>>.Continuation

        init() { (ends, continuation) = AsyncStream.makeStream() }

        func identifyTask(
            _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
            didExecuteWithIdentifyResults results: [AnyObject]!
        ) {
            continuation.yield(.success(results as? [AGSIdentifyResult] ?? []))
        }

        func identifyTask(
            _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
            didFailWithError error: NSError!
        ) {
            continuation.yield(.failure(error))
        }
    }

    private final class Older: AGSIdentifyTaskDelegate, @unchecked Sendable {
        let names: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init() { (names, continuation) = AsyncStream.makeStream() }

        func identifyTask(
            identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
            didExecuteWithIdentifyResults results: [AnyObject]!
        ) {
            for result in results as? [AGSIdentifyResult] ?? [] {
                continuation.yield(result.layerName + " " + result.value)
            }
        }
    }

    private func url(_ path: String) -> NSURL! {
        NSURL(string: server.url.appending(path: path).absoluteString)
    }

    private var parameters: AGSIdentifyParameters {
        let parameters = AGSIdentifyParameters()
        let reference = AGSSpatialReference(WKID: 102100)
        parameters.layerIds = [0, 2]
        parameters.layerOption = .All
        parameters.tolerance = 3
        parameters.geometry = AGSPoint(x: 5, y: 5, spatialReference: reference)
        parameters.mapEnvelope = AGSEnvelope(
            xmin: 0, ymin: 0, xmax: 10, ymax: 10, spatialReference: reference)
        return parameters
    }

    private let found = #"""
        {"results":[{"layerId":0,"layerName":"Places","displayFieldName":"owner","value":"Ada",
        "attributes":{"owner":"Ada"}}]}
        """#

    @Test func `both spellings of a delegate are called, each with one end`() async throws {
        server.on("/City/MapServer/identify", json: found)
        let task = AGSIdentifyTask(URL: url("City/MapServer/5"))
        let (newer, older) = (Newer(), Older())
        task.delegate = newer
        task.executeWithParameters(parameters)
        var ends = newer.ends.makeAsyncIterator()
        let results = try #require(try await ends.next()?.get())
        #expect(results.map(\.layerId) == [0])
        #expect(results[0].feature.attributeAsStringForKey("owner") == "Ada")
        #expect(results[0].feature.symbol == nil && results[0].feature.geometry == nil)
        let asked = try #require(server.requests.last).parameters
        #expect(asked["layers"] == "all:0,2")
        #expect(asked["returnGeometry"] == "false")
        #expect(server.requests.last?.path == "/City/MapServer/identify")

        let other = AGSIdentifyTask(URL: url("City/MapServer"))
        other.delegate = older
        other.executeWithParameters(parameters)
        var names = older.names.makeAsyncIterator()
        #expect(await names.next() == "Places Ada")
    }

    @Test func `a cancelled operation ends as the user's, also with results on their way`()
        async throws
    {
        let gate = StubGate()
        server.on("/City/MapServer/identify", StubAnswer.json(found).held(by: gate))
        let task = AGSIdentifyTask(URL: url("City/MapServer"))
        let delegate = Newer()
        task.delegate = delegate
        let operation = task.executeWithParameters(parameters)
        await gate.arrived()
        operation?.cancel()
        gate.open()
        var ends = delegate.ends.makeAsyncIterator()
        guard case .failure(let error)? = await ends.next() else {
            Issue.record("expected an error")
            return
        }
        #expect(error.code == CocoaError.userCancelled.rawValue)
        #expect(error.domain == NSCocoaErrorDomain)
    }

    private final class View: AGSMapViewLayerDelegate, @unchecked Sendable {
        let loads: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (loads, continuation) = AsyncStream.makeStream() }

        func mapViewDidLoad(_ mapView: AGSMapView!) { continuation.yield() }
    }

    private final class LayerNews: AGSLayerDelegate, @unchecked Sendable {
        let news: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init() { (news, continuation) = AsyncStream.makeStream() }

        func layerDidLoad(_ layer: AGSLayer!) { continuation.yield("loaded") }
        func layer(_ layer: AGSLayer!, didFailToLoadWithError error: NSError!) {
            continuation.yield("failed: " + error.localizedDescription)
        }
    }

    @Test func `the first layer is the basemap, and names are unique`() async throws {
        let view = AGSMapView(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
        let delegate = View()
        view.layerDelegate = delegate
        #expect(!view.loaded && view.spatialReference == nil)
        let base = AGSTiledMapServiceLayer(URL: url("Base/MapServer"))
        view.addMapLayer(base, withName: "base")
        var loads = delegate.loads.makeAsyncIterator()
        _ = await loads.next()
        #expect(view.loaded)
        #expect(view.spatialReference.wkid == 102100)
        let city = AGSDynamicMapServiceLayer(URL: url("City/MapServer"))
        view.addMapLayer(city, withName: "base")
        #expect(city.name == "base 2")
        let graphics = AGSGraphicsLayer()
        view.insertMapLayer(graphics, atIndex: 0)
        #expect(graphics.name == "layer 1")
        #expect(view.mapLayers.map { $0.name } == ["layer 1", "base", "base 2"])
        #expect(view.baseLayer === graphics)
        view.insertMapLayer(AGSGraphicsLayer(), withName: "top", atIndex: 99)
        #expect(view.mapLayers.last?.name == "top")
        view.removeMapLayerWithName("base")
        #expect(view.mapLayerForName("base") == nil)
        #expect(view.spatialReference.wkid == 102100)
    }

    @Test func `a layer that failed is resubmitted, and keeps its name and place`() async throws {
        server.on("/Late/MapServer", .error(500, "not yet"))
        let view = AGSMapView(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
        let layer = AGSDynamicMapServiceLayer(URL: url("Late/MapServer"))
        let delegate = LayerNews()
        layer.delegate = delegate
        view.addMapLayer(layer, withName: "late")
        var news = delegate.news.makeAsyncIterator()
        #expect(await news.next()?.contains("not yet") == true)
        #expect(layer.error != nil && !layer.loaded)
        server.on("/Late/MapServer", json: Sample.mapService)
        layer.resubmit()
        #expect(await news.next() == "loaded")
        #expect(layer.loaded && layer.error == nil)
        #expect(view.mapLayers.map { $0.name } == ["late"])
        // On a layer that is there it does nothing.
        let count = server.requests.count
        layer.resubmit()
        #expect(server.requests.count == count)
        #expect(layer.visibleLayers == [0, 1, 2, 3])
        layer.visibleLayers = [0]
        #expect(layer.visibleLayers == [0])
    }

    private final class OlderMap: AGSMapViewLayerDelegate, AGSLayerDelegate, @unchecked Sendable {
        let calls: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init() { (calls, continuation) = AsyncStream.makeStream() }

        func mapViewDidLoad(mapView: AGSMapView!) { continuation.yield("map") }
        func layerDidLoad(layer: AGSLayer!) { continuation.yield("loaded " + layer.name) }
        func layer(layer: AGSLayer!, didFailToLoadWithError error: NSError!) {
            continuation.yield("failed " + layer.name)
        }
    }

    @Test func `a basemap that is tried again decides, in the older spelling too`() async throws {
        let delegate = OlderMap()
        var calls = delegate.calls.makeAsyncIterator()
        let view = AGSMapView(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
        view.layerDelegate = delegate
        let base = AGSDynamicMapServiceLayer(URL: url("Missing/MapServer"))
        base.delegate = delegate
        view.addMapLayer(base, withName: "base")
        #expect(await calls.next() == "failed base")
        #expect(!view.loaded && view.spatialReference == nil)
        base.resubmitWithURL(url("City/MapServer"), credential: nil)
        #expect(await calls.next() == "loaded base")
        #expect(await calls.next() == "map")
        #expect(view.loaded && view.maxEnvelope.xmax == 1_000)
    }

    @Test func `without a basemap that fails the layer above it decides`() async throws {
        let delegate = OlderMap()
        var calls = delegate.calls.makeAsyncIterator()
        let view = AGSMapView(frame: CGRect(x: 0, y: 0, width: 100, height: 100))
        view.layerDelegate = delegate
        let layers = ["Missing", "City"].map {
            AGSDynamicMapServiceLayer(URL: url($0 + "/MapServer"))
        }
        for layer in layers {
            layer.delegate = delegate
            view.addMapLayer(layer)
            _ = await calls.next()
        }
        #expect(!view.loaded && layers[1].loaded)
        view.removeMapLayer(layers[0])
        #expect(await calls.next() == "map")
        #expect(view.baseLayer === layers[1] && view.spatialReference != nil)
    }
}
