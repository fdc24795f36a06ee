// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A map service, drawn by the server.
public final class ArcGISMapImageLayer: Layer, @unchecked Sendable {
    /// The URL, as `…/World/MapServer`.
    public let url: URL
    private let sublayers = Guarded<[ArcGISSublayer]>([])
    private let moment = Guarded<ServiceMoment?>(nil)
    private let least = Guarded<Int64?>(nil)
    private let token = Guarded<(any ArcGISCredential)?>(nil)
    /// What a web map says of the layers, which are not known before they are loaded.
    private let document = Guarded<JSON?>(nil)

    /// A layer; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    /// Its layers, nested as in the service; empty before it is loaded.
    public var mapImageSublayers: [ArcGISSublayer] { sublayers.current }
    /// Its layers, nested as in the service; empty before it is loaded.
    public override var subLayerContents: [any LayerContent] { sublayers.current }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url, credential)
        guard let layers = json.member("layers") else {
            throw CairnError(
                .invalidDocument,
                "\(url.withoutQuery.absoluteString) is no map service: its description has no "
                    + "layers")
        }
        let extent = Geometry.make(json.member("fullExtent"), nil) as? Envelope
        let name = json.text("mapName") ?? ""
        facts.withLock { facts in
            facts.name = name.isEmpty || name == "Layers" ? url.above.lastPathComponent : name
            facts.fullExtent = extent
            facts.initialExtent =
                Geometry.make(json.member("initialExtent"), nil) as? Envelope ?? extent
            facts.spatialReference =
                SpatialReference(json.member("spatialReference")) ?? extent?.spatialReference
            facts.minScale = json.scale("minScale")
            facts.maxScale = json.scale("maxScale")
            facts.attribution = json.text("copyrightText") ?? ""
        }
        let tree = tree(layers.elements, parent: -1, depth: 0)
        if let document = document.current { Self.apply(document, to: tree) }
        sublayers.current = tree
    }

    /// Sets what a web map says: `visibleLayers`, and definition expressions in `layers`.
    ///
    /// A group is visible where it or a layer in it is listed.
    private static func apply(_ document: JSON, to layers: [ArcGISSublayer]) {
        let listed = document.member("visibleLayers").map { Set($0.elements.compactMap(\.int)) }
        let all = flat(layers)
        for layer in all {
            guard let listed else { break }
            layer.isVisible = flat([layer]).contains { listed.contains($0.id) }
        }
        for part in document["layers"]?.elements ?? [] {
            guard let id = part["id"]?.int,
                let clause = part["layerDefinition"]?.text("definitionExpression")
            else { continue }
            all.first { $0.id == id }?.definitionExpression = clause
        }
    }

    private static func flat(_ layers: [ArcGISSublayer]) -> [ArcGISSublayer] {
        layers.flatMap { [$0] + flat($0.mapImageSublayers) }
    }

    /// The layers below one, by their `parentLayerId`.
    private func tree(_ layers: [JSON], parent: Int, depth: Int) -> [ArcGISSublayer] {
        guard depth < 32 else { return [] }
        let known = Set(layers.compactMap { $0["id"]?.int })
        return layers.compactMap { layer in
            guard let id = layer["id"]?.int, id != parent else { return nil }
            let above = layer.member("parentLayerId")?.int ?? -1
            let isHere = parent < 0 ? above < 0 || !known.contains(above) : above == parent
            guard isHere else { return nil }
            return ArcGISSublayer(
                layer, children: tree(layers, parent: id, depth: depth + 1), of: self)
        }
    }

    /// Visible layers without parts in their range of scales, in the order of the service.
    func shown(_ scale: Double) -> [ArcGISSublayer] {
        func shown(_ layers: [ArcGISSublayer]) -> [ArcGISSublayer] {
            layers.filter { $0.isVisible && $0.isVisible(atScale: scale) }
                .flatMap { $0.mapImageSublayers.isEmpty ? [$0] : shown($0.mapImageSublayers) }
        }
        return shown(sublayers.current)
    }

    private static func numbers(_ layers: [ArcGISSublayer]) -> String {
        layers.map { String($0.id) }.joined(separator: ",")
    }

    private static func definitions(
        _ layers: [ArcGISSublayer]
    ) -> [(layer: Int, clause: String)] {
        layers.filter { !$0.definitionExpression.isEmpty }.map { ($0.id, $0.definitionExpression) }
    }

    /// The past moment of which the service answers; nil for now.
    var asOf: ServiceMoment? {
        get { moment.current }
        set { moment.current = newValue }
    }

    /// An event of the site's log that answers include, as the one that a change is; nil for
    /// whatever the site knows.
    ///
    /// Only Cairn's services wait for it: with others identify and pictures throw ``CairnError``
    /// (`unsupported`).
    public var minSequence: Int64? {
        get { least.current }
        set { least.current = newValue }
    }

    private func addMoment(to question: inout Question) async throws {
        asOf?.add(to: &question)
        guard let minSequence else { return }
        try await CairnService.require("minSequence", of: url)
        question.set("minSequence", String(minSequence))
    }

    // MARK: Identify

    override func identify(_ question: IdentifyQuestion) async throws -> IdentifyLayerResult? {
        let shown = shown(question.frame.scale)
        guard !shown.isEmpty else { return nil }
        let frame = question.frame
        var request = Question.identify(
            url, question, layers: "visible:" + Self.numbers(shown),
            definitions: Self.definitions(shown))
        request.credential = credential
        try await addMoment(to: &request)
        let json = try await Requester.json(request, hasShapes: true)
        guard let list = json.member("results") else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/identify: expected results in the answer")
        }
        var found: [Int: [Feature]] = [:]
        let described = try await layerDescriptions(
            Set(list.elements.compactMap { $0["layerId"]?.int }))
        for result in list.elements {
            guard let id = result["layerId"]?.int else { continue }
            found[id, default: []].append(
                ArcGISFeature(
                    geometry: Geometry.make(result.member("geometry"), frame.spatialReference),
                    attributes: (described[id]?.reader ?? AttributeReader([]))
                        .attributes(result["attributes"]),
                    featureTable: nil))
        }
        let popups = described.compactMapValues(\.popup)
        // A service lists its layers top to bottom.
        let parts = sublayers.current.compactMap {
            part($0, found, popups, question)
        }
        guard !parts.isEmpty else { return nil }
        return IdentifyLayerResult(layerContent: self, sublayerResults: parts)
    }

    private func part(
        _ sublayer: ArcGISSublayer, _ found: [Int: [Feature]], _ popups: [Int: PopupDefinition],
        _ question: IdentifyQuestion
    ) -> IdentifyLayerResult? {
        let parts = sublayer.mapImageSublayers.compactMap {
            part($0, found, popups, question)
        }
        let features = found[sublayer.id] ?? []
        let result = IdentifyLayerResult(
            layerContent: sublayer, features, popups[sublayer.id], parts, question)
        return result.isEmpty ? nil : result
    }

    /// How features of layers that were found are made.
    private func layerDescriptions(
        _ ids: Set<Int>
    ) async throws -> [Int: (reader: AttributeReader, popup: PopupDefinition?)] {
        var described: [Int: (reader: AttributeReader, popup: PopupDefinition?)] = [:]
        for id in ids {
            // A service that describes no layers answers untyped values.
            let description = try? await ServiceDescriptions.shared.read(
                url.below(String(id)), credential)
            described[id] = description?.features
        }
        try Task.checkCancellation()
        return described
    }

    // MARK: Legends

    /// The service's legend of one of its layers; it is asked once for all.
    func legend(of id: Int) async throws -> [LegendInfo] {
        try await MapServiceLegend.infos(of: id, at: url, credential)
    }

    // MARK: Pictures

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        let shown = shown(frame.scale)
        guard !shown.isEmpty else { return nil }
        var request = Question.export(
            url, frame, layers: "show:" + Self.numbers(shown),
            definitions: Self.definitions(shown))
        request.credential = credential
        try await addMoment(to: &request)
        return LayerPicture(
            png: try await Requester.bytes(request).data, extent: frame.pictureExtent)
    }

    override var webMapLayer: JSON? {
        var members = webMapMembers("ArcGISMapServiceLayer", url)
        let all = Self.flat(sublayers.current)
        if all.isEmpty {
            let known = document.current?.members ?? []
            members += known.filter { ["visibleLayers", "layers"].contains($0.name) }
        } else {
            let shown = all.filter(\.isVisible).map { JSON.integer(Int64($0.id)) }
            let defined = all.filter { !$0.definitionExpression.isEmpty }.map { layer in
                JSON.object(of: [
                    "id": .integer(Int64(layer.id)),
                    "layerDefinition": .object(of: [
                        "definitionExpression": .string(layer.definitionExpression)
                    ]),
                ])
            }
            members.append(("visibleLayers", .array(shown)))
            if !defined.isEmpty { members.append(("layers", .array(defined))) }
        }
        return .object(members)
    }

    override func apply(webMap json: JSON) {
        super.apply(webMap: json)
        document.current = json
    }
}
