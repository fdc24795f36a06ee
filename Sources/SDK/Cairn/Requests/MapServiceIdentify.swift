// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A question to a map service's `identify`, in the words of the REST.
public struct MapServiceIdentifyQuestion: Sendable {
    /// What is asked at.
    public var geometry: Geometry
    /// What the picture shows.
    public var mapExtent: Envelope
    /// `top`, `visible` or `all`, and after a colon numbers of layers.
    public var layers: String
    /// Pixels around the geometry.
    public var tolerance: Double
    /// The picture's size, pixels.
    public var width: Int, height: Int
    /// Dots per inch of the picture.
    public var dpi: Int
    /// Whether results have geometries.
    public var returnsGeometry: Bool
    /// The reference of the extent and of results; nil for the extent's.
    public var spatialReference: SpatialReference?
    /// An event of the site's log that the answer includes; nil for whatever the site knows.
    ///
    /// Only Cairn's services wait for it; others refuse the question as ``CairnError``
    /// (`unsupported`).
    public var minSequence: Int64?

    /// Makes a question.
    public init(
        geometry: Geometry, mapExtent: Envelope, layers: String = "top", tolerance: Double = 0,
        width: Int = 400, height: Int = 400, dpi: Int = 96, returnsGeometry: Bool = true,
        spatialReference: SpatialReference? = nil
    ) {
        self.geometry = geometry
        self.mapExtent = mapExtent
        self.layers = layers
        self.tolerance = tolerance
        self.width = width
        self.height = height
        self.dpi = dpi
        self.returnsGeometry = returnsGeometry
        self.spatialReference = spatialReference
    }
}

/// A feature that a map service found.
public struct MapServiceIdentifyResult: Sendable {
    /// Number and name of the layer.
    public let layerID: Int, layerName: String
    /// The field that ``value`` is of.
    public let displayFieldName: String
    /// The value of the display field, as text.
    public let value: String
    /// Its geometry; nil where none was asked for.
    public let geometry: Geometry?
    /// Its values by alias, as the service writes them.
    public let attributes: [String: any Sendable]
}

/// Asks a map service what is at a place, without a map.
public enum MapServiceIdentify {
    /// The features, the top one first; throws ``ServiceError`` and others.
    ///
    /// `url` is a map service's; one of its layers is taken as the service's, since servers have no
    /// identify below a layer.
    public static func ask(
        _ question: MapServiceIdentifyQuestion, of url: URL,
        credential: (any ArcGISCredential)? = nil
    ) async throws -> [MapServiceIdentifyResult] {
        let isLayer = Int(url.lastPathComponent) != nil
        let service = isLayer ? url.above : url
        if question.minSequence != nil {
            try await CairnService.require("minSequence", of: service)
        }
        let reference = question.spatialReference ?? question.mapExtent.spatialReference
        var request = Question(service.below("identify"))
        request.parameters = parameters(question)
        request.credential = credential
        let json = try await Requester.json(request, hasShapes: true)
        guard let list = json.member("results") else {
            throw TransportError(
                .invalidAnswer,
                "\(service.withoutQuery.absoluteString)/identify: expected results in the answer")
        }
        return list.elements.map { result in
            MapServiceIdentifyResult(
                layerID: result["layerId"]?.int ?? -1, layerName: result.text("layerName") ?? "",
                displayFieldName: result.text("displayFieldName") ?? "",
                value: result.text("value") ?? "",
                geometry: Geometry.make(result.member("geometry"), reference),
                attributes: AttributeReader([]).attributes(result["attributes"]))
        }
    }

    static func parameters(
        _ question: MapServiceIdentifyQuestion
    ) -> [(name: String, value: String)] {
        let reference = question.spatialReference ?? question.mapExtent.spatialReference
        return [
            ("geometry", question.geometry.json.jsonText),
            ("geometryType", question.geometry.typeName), ("layers", question.layers),
            ("tolerance", question.tolerance.plainText), ("mapExtent", question.mapExtent.sides),
            ("imageDisplay", "\(question.width),\(question.height),\(question.dpi)"),
            ("returnGeometry", String(question.returnsGeometry)),
        ] + (reference.map { [("sr", $0.parameter)] } ?? [])
            + (question.minSequence.map { [("minSequence", String($0))] } ?? [])
    }
}
