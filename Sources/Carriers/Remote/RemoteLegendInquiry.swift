// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import EsriForms
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Synchronization

/// The request for a layer's legend, and its decoder.
struct LegendInquiry {
    /// The requests to send, all at once.
    var calls: [RemoteCall]
    /// Decodes the answers, in the order of ``calls``; throws `Failure` with one sentence.
    var read: @Sendable ([WebResponse]) throws(Failure) -> [LegendEntry]
}

/// A cache of legends of other servers; any thread.
final class KnownLegends: Sendable {
    /// Time to live of a cached legend.
    static let lifetime = Duration.seconds(600)
    /// Bounds on legends and on bytes of pictures; beyond either the cache is cleared.
    private static let (countLimit, byteLimit) = (100, 8 << 20)

    private struct Known {
        var legends: [LayerSource: (entries: [LegendEntry], end: ContinuousClock.Instant)] = [:]
        var byteCount = 0
    }
    private let known = Mutex(Known())

    subscript(_ source: LayerSource) -> [LegendEntry]? {
        known.withLock { $0.legends[source] }.flatMap { $0.end > .now ? $0.entries : nil }
    }

    func keep(_ entries: [LegendEntry], of source: LayerSource) {
        let byteCount = entries.reduce(0) { $0 + $1.picture.count }
        guard byteCount <= Self.byteLimit else { return }
        known.withLock { known in
            known.byteCount += byteCount
            if known.legends.count >= Self.countLimit || known.byteCount > Self.byteLimit {
                known = Known(byteCount: byteCount)
            }
            known.legends[source] = (entries, .now + Self.lifetime)
        }
    }
}

extension RemoteServices {
    /// Requests the legends of a map's layers on other servers, all at once, and waits for all,
    /// inside `waiting`.
    ///
    /// Legends are cached for ten minutes, those of rasters too. Layers that are not loaded have
    /// none.
    ///
    /// - Parameters:
    ///   - rasters: Reads the legend of a raster of the site, on the calling thread, while requests
    ///     are in flight; without it rasters have none.
    ///   - deadline: The caller's deadline; nil for the timeout of each request alone.
    ///   - isCancelled: Whether the legends are no longer needed; called on another thread.
    public func legends(
        of layers: [LayerDescription],
        rasters: ((ContentID) throws(Failure) -> [LegendEntry])? = nil,
        until deadline: ContinuousClock.Instant? = nil,
        waiting: (() -> Void) -> Void = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> LayerLegends {
        var legends = LayerLegends(entries: [:], missing: [])
        var pending:
            [(LayerDescription, LayerSource, String, LegendInquiry, BlockingQueue<WebAnswers>)] = []
        func fail(_ layer: LayerDescription, _ error: Failure) {
            legends.missing.append(
                LayerFailure(layerID: layer.id, layerName: layer.name, error: error))
        }
        var byteCount = 0
        func take(_ entries: [LegendEntry], _ layer: LayerDescription) {
            byteCount += entries.reduce(0) { $0 + $1.picture.count }
            guard byteCount <= LayerLegends.byteBound else {
                return fail(
                    layer,
                    Failure(
                        .tooLarge,
                        "the legends of the map's rasters and layers on other servers together "
                            + "have "
                            + "more than \(LayerLegends.byteBound >> 20) MiB"))
            }
            legends.entries[layer.id] = entries
        }
        var passages: [String: CircuitBreaker.Passage] = [:]
        for layer in layers {
            guard layer.loadStatus == .loaded, let source = layer.kind.source,
                let remote = Self.layer(source), let properties = layer.properties
            else { continue }
            if let entries = knownLegends[source] {
                take(entries, layer)
                continue
            }
            do throws(Failure) {
                guard let inquiry = remote.legend(properties) else { continue }
                pending.append(
                    (
                        layer, source, remote.url, inquiry,
                        try send(inquiry, remote, until: deadline, &passages, isCancelled)
                    ))
            } catch {
                fail(layer, Self.named(error, remote.url))
            }
        }
        for layer in layers where layer.loadStatus == .loaded {
            guard let rasters, let source = layer.kind.source, case .raster(let id) = source else {
                continue
            }
            do throws(Failure) {
                if let known = knownLegends[source] {
                    take(known, layer)
                    continue
                }
                let entries = try rasters(id)
                knownLegends.keep(entries, of: source)
                take(entries, layer)
            } catch {
                fail(layer, error)
            }
        }
        for (layer, source, url, inquiry, mailbox) in pending {
            var answers: WebAnswers?
            waiting { answers = mailbox.pop() }
            do throws(Failure) {
                var responses: [WebResponse] = []
                for answer in answers ?? [] { responses.append(try [answer].only()) }
                let entries = try inquiry.read(responses)
                knownLegends.keep(entries, of: source)
                take(entries, layer)
            } catch {
                fail(layer, Self.named(error, url))
            }
        }
        return legends
    }

    private func send(
        _ inquiry: LegendInquiry, _ layer: any RemoteLayer,
        until end: ContinuousClock.Instant?, _ passages: inout [String: CircuitBreaker.Passage],
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> BlockingQueue<WebAnswers> {
        let credential = try layer.credential.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
        let service = Breakers.service(layer.url)
        let passage = passages[service] ?? breakers.passage(service, patience: timeout)
        passages[service] = passage
        if case .refused(let refusal) = passage { throw Self.failure(refusal) }
        let mailbox = BlockingQueue<WebAnswers>(capacity: 1)
        let start = ContinuousClock.now
        let requests = inquiry.calls.map {
            $0.request(credential, timeout: timeout, byteLimit: Self.legendBytes)
        }
        client.start(requests, until: end, isCancelled: isCancelled) {
            [breakers, timeout] results in
            breakers.note(service, passage, results, timeout, after: .now - start)
            _ = mailbox.tryPush(results)
        }
        return mailbox
    }

    /// Most bytes of a legend that are read.
    private static let legendBytes = 2 << 20
}

extension WMSLayer {
    /// GetLegendGraphic of each of its layers (OGC 05-078r4, 12.2).
    func legend(_ properties: LayerProperties) -> LegendInquiry? {
        let version = properties.service?.version ?? "1.1.1"
        let names = source.layers.prefix(LegendEntry.countBound)
        return LegendInquiry(
            calls: names.map { name in
                RemoteCall(
                    url: url,
                    parameters: [
                        ("SERVICE", "WMS"), ("VERSION", version), ("REQUEST", "GetLegendGraphic"),
                        ("SLD_VERSION", "1.1.0"), ("LAYER", name), ("STYLE", ""),
                        ("FORMAT", "image/png"),
                    ])
            }
        ) { responses throws(Failure) in
            var entries: [LegendEntry] = []
            for (name, response) in zip(names, responses) {
                try response.checkPicture()
                // One picture shows all; of several layers each has its name.
                let label = names.count > 1 ? name.excerpt(100) : ""
                guard let entry = LegendEntry(label: label, png: response.body) else {
                    throw Failure(
                        .unreadable,
                        "its legend of '\(name.excerpt(60))' is not a PNG of at most "
                            + "\(LegendEntry.byteBound >> 10) KiB")
                }
                entries.append(entry)
            }
            return entries
        }
    }
}

extension MapServiceLayer {
    /// Its own `legend`, of the layers that are shown.
    func legend(_ properties: LayerProperties) -> LegendInquiry? {
        let shown = source.layers
        return LegendInquiry(
            calls: [
                RemoteCall(
                    url: url.withPath("legend"), parameters: [("f", "json")], isPosted: true)
            ]
        ) { responses throws(Failure) in
            guard let response = responses.first,
                let layers = try ArcGIS.tree(response)["layers"]?.elements
            else { throw Failure(.unreadable, "its legend has no layers") }
            let told = layers.filter { layer in
                shown.map { $0.contains(Int(layer["layerId"]?.whole ?? -1)) } ?? true
            }
            var entries: [LegendEntry] = []
            for layer in told {
                let name = layer["layerName"]?.text?.excerpt(100) ?? ""
                let symbols = layer["legend"]?.elements ?? []
                for symbol in symbols where entries.count < LegendEntry.countBound {
                    let own = symbol["label"]?.text?.excerpt(200) ?? ""
                    let label =
                        own.isEmpty
                        ? name : told.count > 1 && !name.isEmpty ? "\(name): \(own)" : own
                    guard
                        let picture = symbol["imageData"]?.text.flatMap({ Data(base64Encoded: $0) }
                        ),
                        let entry = LegendEntry(label: label, png: Array(picture))
                    else {
                        throw Failure(
                            .unreadable,
                            "its legend of layer '\(name)' has a picture that is not a PNG of at "
                                + "most "
                                + "\(LegendEntry.byteBound >> 10) KiB")
                    }
                    entries.append(entry)
                }
            }
            return entries
        }
    }
}

extension TileLayer {
    /// The map service's legend; templates have none.
    func legend(_ properties: LayerProperties) -> LegendInquiry? {
        source.isTemplate ? nil : mapService.legend(properties)
    }
}

extension RemoteLayer {
    /// No legend: the layer is drawn here, or its drawing is unknown.
    func legend(_ properties: LayerProperties) -> LegendInquiry? { nil }
}
