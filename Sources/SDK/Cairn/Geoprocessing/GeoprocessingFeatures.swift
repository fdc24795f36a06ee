// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Features.
public final class GeoprocessingFeatures: GeoprocessingParameter, @unchecked Sendable {
    /// The features; nil where a result has none.
    public let features: (any FeatureSet)?
    /// Their fields; empty where none are stated.
    public var fields: [Field] { features?.fields ?? [] }
    /// Their reference.
    public var spatialReference: SpatialReference? { features?.spatialReference }

    /// Makes a value of a set: a table of a ``FeatureCollection``, or what a query found.
    public init(features: any FeatureSet) { self.features = features }

    /// Makes a value of features.
    public init(features: [Feature], spatialReference: SpatialReference? = nil) {
        self.features = FeatureList(
            elements: features, fields: [],
            spatialReference: spatialReference
                ?? features.lazy.compactMap { $0.geometry?.spatialReference }.first)
    }

    init(_ json: JSON) {
        guard let list = json.member("features") else {
            features = nil
            return
        }
        let fields = Field.list(json["fields"])
        let reference = SpatialReference(json.member("spatialReference"))
        let reader = AttributeReader(fields)
        features = FeatureList(
            elements: list.elements.map { element in
                Feature(
                    geometry: Geometry.make(element.member("geometry"), reference),
                    attributes: reader.attributes(element["attributes"]), featureTable: nil)
            }, fields: fields, spatialReference: reference,
            geometryType: json.text("geometryType").flatMap(Geometry.kind(named:)))
    }

    override var formValue: String {
        let elements = features?.elements ?? []
        let type = elements.lazy.compactMap { $0.geometry?.typeName }.first
        return JSON.object(of: [
            "geometryType": type.map { .string($0) },
            "spatialReference": spatialReference?.json,
            "fields": fields.isEmpty
                ? nil
                : .array(
                    fields.map { field in
                        .object(of: [
                            "name": .string(field.name), "alias": .string(field.alias),
                            "type": field.type.map { .string($0.rawValue) },
                        ])
                    }),
            "features": .array(
                elements.map { feature in
                    .object(of: [
                        "geometry": feature.geometry?.json,
                        "attributes": JSON(attribute: feature.attributes),
                    ])
                }),
        ]).jsonText
    }
}
