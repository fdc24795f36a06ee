// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import FoundationEssentials
internal import Geometry

/// The features of a layer in a rectangle, by `query`, page by page by rising object id.
struct FeaturePages: RemoteRounds {
    /// The most features of a layer on a picture.
    static let featureBound = 20_000
    /// How much simpler shapes may be, in pixels: as much as pictures leave out themselves.
    private static let detail = 0.25

    private let question: RemotePictureQuestion
    private let url: String
    private var features: [RemoteAnswer.Feature] = []
    private var shortfall: Failure?

    init(_ question: RemotePictureQuestion, url: String) {
        self.question = question
        self.url = url
    }

    var service: String { Breakers.service(url) }
    var byteLimit: Int { RemoteServices.answerBytes }

    private var pageSize: Int? {
        question.properties.service?.pageSize.map { min($0, RemoteServices.featuresAtOnce) }
    }

    var calls: [RemoteCall] {
        let reference = ArcGIS.text(question.spatialReference)
        let key = question.properties.fields.first?.name ?? "OBJECTID"
        var parameters = question.extent.map { ArcGIS.parameters(of: .envelope($0)) } ?? []
        parameters += [
            ("f", "json"), ("where", question.clause ?? "1=1"),
            ("outFields", fields(besides: key)), ("inSR", reference), ("outSR", reference),
            ("spatialRel", "esriSpatialRelIntersects"), ("returnGeometry", "true"),
            ("maxAllowableOffset", "\(question.unitsPerPixel * Self.detail)"),
        ]
        if let time = question.time { parameters.append(("time", ArcGIS.text(time))) }
        if let pageSize {
            parameters += [
                ("orderByFields", key), ("resultOffset", "\(features.count)"),
                ("resultRecordCount", "\(pageSize)"),
            ]
        }
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
        let page: RemoteAnswer
        do throws(Failure) {
            page = try FeatureServiceLayer.page(
                try ArcGIS.tree(try answers.only()), question.properties,
                question.spatialReference)
        } catch {
            return try outcome(despite: error)
        }
        features += page.features
        shortfall = shortfall ?? page.shortfall
        guard page.isCut else { return RemotePicture(.features(features), shortfall: shortfall) }
        if pageSize != nil, !page.features.isEmpty, features.count < Self.featureBound {
            return nil
        }
        let reason =
            pageSize == nil ? "it gives no more at once, and no pages" : "more are not drawn"
        return RemotePicture(
            .features(Array(features.prefix(Self.featureBound))),
            shortfall: shortfall
                ?? Failure(
                    .tooLarge,
                    "it has more than \(min(features.count, Self.featureBound)) features here: \(reason)"
                ))
    }

    /// What came before is drawn.
    func outcome(despite failure: Failure) throws(Failure) -> RemotePicture {
        guard !features.isEmpty else { throw failure }
        return RemotePicture(.features(features), shortfall: shortfall ?? failure)
    }
}

/// A layer's `drawingInfo`, as far as it can be read.
struct DescribedDrawing: Decodable {
    private struct Info: Decodable {
        var drawing: LayerDrawing

        private enum CodingKeys: String, CodingKey { case renderer, transparency, labelingInfo }

        /// Never throws for what cannot be drawn here: that is left out.
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

    /// How the layer whose description these bytes are is drawn; nil where that says nothing that can be drawn
    /// here.
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
