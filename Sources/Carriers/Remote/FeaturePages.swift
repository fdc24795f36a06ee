// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import FoundationEssentials
internal import Geometry

/// The features of a layer in a rectangle, by `query`, page by page.
struct FeaturePages: RemoteRounds {
    /// Simplification tolerance in pixels: the same as that of drawing.
    private static let detail = 0.25

    private let question: RemotePictureQuestion
    private let url: String
    private var walk: FeatureWalk

    init(_ question: RemotePictureQuestion, url: String) {
        self.question = question
        self.url = url
        walk = FeatureWalk(of: question.properties, limit: RemoteServices.featuresAtOnce)
    }

    var service: String { Breakers.service(url) }
    var byteLimit: Int { RemoteServices.answerBytes }

    var calls: [RemoteCall] {
        let reference = ArcGIS.text(question.spatialReference)
        let key = question.properties.fields.first?.name ?? "OBJECTID"
        var parameters = question.extent.map { ArcGIS.parameters(of: .envelope($0)) } ?? []
        parameters += [
            ("f", "json"), ("where", walk.clause(question.clause) ?? "1=1"),
            ("outFields", fields(besides: key)), ("inSR", reference), ("outSR", reference),
            ("spatialRel", "esriSpatialRelIntersects"), ("returnGeometry", "true"),
            ("maxAllowableOffset", "\(question.unitsPerPixel * Self.detail)"),
        ]
        if let time = question.time { parameters.append(("time", ArcGIS.text(time))) }
        parameters += walk.parameters
        return [RemoteCall(url: url, parameters: parameters, isPosted: true)]
    }

    private func fields(besides key: String) -> String {
        guard let wanted = question.fields else { return "*" }
        let names = Set(wanted.map { $0.lowercased() })
        let others = question.properties.fields.dropFirst().map(\.name)
            .filter { names.contains($0.lowercased()) }
        return ([key] + others).joined(separator: ",")
    }

    mutating func take(_ answers: WebAnswers) throws(Failure) -> RemotePicture? {
        let (page, byteCount): (RemoteAnswer, Int)
        do throws(Failure) {
            let response = try answers.only()
            byteCount = response.body.count
            page = try FeatureServiceLayer.page(
                try ArcGIS.tree(response), question.properties, question.spatialReference)
        } catch {
            if error.code == .tooLarge, walk.asksForFewer() { return nil }
            return try outcome(despite: error)
        }
        guard let isCut = walk.take(page, byteCount: byteCount) else { return nil }
        guard isCut else {
            return RemotePicture(.features(walk.features), shortfall: walk.shortfall)
        }
        let shown = walk.features.prefix(FeatureWalk.featureBound)
        let reason =
            walk.features.count < FeatureWalk.featureBound
            ? "the others cannot be requested" : "the others are not drawn"
        return RemotePicture(
            .features(Array(shown)),
            shortfall: walk.shortfall
                ?? Failure(
                    .tooLarge, "it has more than \(shown.count) features here: \(reason)"))
    }

    /// The pages so far are drawn.
    func outcome(despite failure: Failure) throws(Failure) -> RemotePicture {
        guard !walk.features.isEmpty else { throw failure }
        return RemotePicture(.features(walk.features), shortfall: walk.shortfall ?? failure)
    }
}

/// A layer's `drawingInfo`, as far as it can be read.
struct DescribedDrawing: Decodable {
    private struct Info: Decodable {
        var drawing: LayerDrawing

        private enum CodingKeys: String, CodingKey { case renderer, transparency, labelingInfo }

        /// Never throws for unsupported symbols: they are left out.
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            let transparency = try? members.decodeIfPresent(Double.self, forKey: .transparency)
            drawing = LayerDrawing(
                try? members.decodeIfPresent(FeatureRenderer.self, forKey: .renderer),
                transparency: Int(max(0, min(100, transparency ?? 0))),
                labels: (try? members.decodeIfPresent([LabelClass].self, forKey: .labelingInfo))
                    ?? [])
        }
    }

    private var drawingInfo: Info?

    /// The drawing of the layer with this description; nil for symbols that are not supported.
    static func read(
        _ description: [UInt8], _ fields: [FieldDescription], _ type: GeometryType
    ) -> LayerDrawing? {
        guard
            let described = try? CairnJSON.decode(
                DescribedDrawing.self, from: Data(description)),
            var drawing = described.drawingInfo?.drawing
        else { return nil }
        if (try? drawing.check(fields, type)) == nil { drawing.labels = [] }
        if (try? drawing.check(fields, type)) == nil { drawing.renderer = nil }
        return drawing == LayerDrawing() ? nil : drawing
    }
}
