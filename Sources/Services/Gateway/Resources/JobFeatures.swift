// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import JobKinds
internal import Platform

/// Features of a request (Esri's GPFeatureRecordSetLayer) as the GeoJSON that jobs read.
enum JobFeatures {
    /// Features that a parameter states.
    struct Given: Sendable {
        let input: JobKindDescription.FeatureInput
        /// Feature sets: one, or the answers of a layer.
        var texts: [String]
    }

    private static let form =
        #"{"features":[{"geometry":{"x":13,"y":51},"attributes":{}}],"#
        + #""spatialReference":{"wkid":4326}}, or {"url":"…/FeatureServer/0/query?…"}"#
    /// Length of a text without features at which it is still noticed.
    private static let emptyLength = 4_096

    /// Whether a text states no features: what clients send for a parameter that is left out.
    static func isEmpty(_ text: String) -> Bool {
        guard text.utf8.count <= emptyLength, let tree = try? RelaxedJSON.parse(text) else {
            return text.isEmpty
        }
        let set = tree["featureSet"] ?? tree
        if case .string(let url)? = set["url"] { return url.isEmpty }
        return set == .object([:]) || set["features"] == .array([])
    }

    /// The URL of the query that `{"url":…}` names, a layer's own as that of all its features.
    ///
    /// Nil for features.
    static func query(_ text: String) -> String? {
        guard text.contains("\"url\""), case .string(let url)? = try? RelaxedJSON.parse(text)["url"]
        else { return nil }
        let path = url.prefix { $0 != "?" }
        guard let last = path.split(separator: "/").last, last.allSatisfy(\.isNumber) else {
            return url
        }
        let asked = url.dropFirst(path.count + 1)
        return path + "/query?where=1%3D1&outFields=*&" + asked
    }

    /// A feature collection with the features of all parameters; throws `Failure`
    /// (`invalidParameter`, `tooLarge`) with the parameter and the feature.
    static func geoJSON(_ all: [Given]) throws(Failure) -> [UInt8] {
        var features = PlaceFeaturesWriter()
        for given in all {
            do throws(Failure) {
                try write(given, to: &features)
            } catch {
                throw Failure(
                    error.code, "parameter '\(given.input.name)': \(error.message)",
                    details: error.details)
            }
        }
        return features.finish()
    }

    private static func write(
        _ given: Given, to written: inout PlaceFeaturesWriter
    ) throws(Failure) {
        var count = 0
        for text in given.texts {
            let set = try featureSet(text)
            let features = set["features"]?.elements ?? []
            guard count + features.count <= given.input.mostFeatures else {
                throw Failure(
                    .tooLarge,
                    "\(count + features.count) features, the most is \(given.input.mostFeatures)")
            }
            let common = try SpatialReference(RelaxedValue(set["spatialReference"] ?? .null))
            var references = PlaceReferences(common)
            let name = set["objectIdFieldName"]?.text ?? "objectid"
            for feature in features {
                count += 1
                do throws(Failure) {
                    let shape = try references.degrees(
                        RelaxedValue(feature["geometry"] ?? .null))
                    try write(feature, shape, count, given.input, named: name, to: &written)
                } catch {
                    throw Failure(error.code, "feature \(count): \(error.message)")
                }
            }
        }
    }

    private static func featureSet(_ text: String) throws(Failure) -> JSONTree {
        let tree: JSONTree
        do throws(JSONFault) {
            let whole = try JSONTree(Array(text.utf8), .relaxed)
            tree = whole["featureSet"] ?? whole
        } catch {
            throw Failure(.invalidParameter, "\(error): expected features, \(form)")
        }
        guard case .array? = tree["features"] else {
            throw Failure(
                .invalidParameter, "'\(text.prefix(80))': expected features, \(form)")
        }
        guard tree["type"]?.text != "FeatureCollection" else {
            throw Failure(
                .invalidParameter,
                "these are GeoJSON: expected features in Esri JSON, or an upload as "
                    + "'\(JobResource.input)'")
        }
        return tree
    }

    private static func write(
        _ feature: JSONTree, _ shape: Shape?, _ number: Int,
        _ input: JobKindDescription.FeatureInput, named name: String,
        to written: inout PlaceFeaturesWriter
    ) throws(Failure) {
        let attributes = feature["attributes"]?.members ?? []
        let own = attributes.first { $0.name.isEqualIgnoringCase(name) }?.value
        try written.write(
            id: own?.whole.map { Int($0) } ?? number, role: input.role, shape,
            allowsAreas: input.geometryType == "Polygon"
        ) { json in
            for attribute in attributes {
                json.key(attribute.name)
                json.json(attribute.value.jsonText.utf8)
            }
        }
    }
}

/// The references of the geometries of one list of features.
struct PlaceReferences {
    private let common: SpatialReference?
    private var references: [SpatialReference: PlaceReference] = [:]

    /// - Parameter common: That of geometries without their own; WGS 84 where it is nil, too.
    init(_ common: SpatialReference?) { self.common = common }

    /// A geometry in longitude and latitude; nil for an empty one.
    ///
    /// Throws `invalidParameter` for what is no geometry, and outside the reference's domain.
    mutating func degrees(_ geometry: RelaxedValue) throws(Failure) -> Shape? {
        if GeometryParameter.isNothing(geometry) { return nil }
        let read = try GeometryParameter(json: geometry)
        let reference = read.spatialReference ?? common ?? .wgs84
        if references[reference] == nil {
            references[reference] = try PlaceReference(reference, name: "spatialReference")
        }
        return try references[reference]?.degrees(read.shape)
    }
}
