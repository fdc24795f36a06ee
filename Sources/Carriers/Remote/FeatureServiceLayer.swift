// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Geometry
internal import Platform

/// A layer of an ArcGIS feature service (or map service), `…/FeatureServer/0`, requested with
/// `query`.
struct FeatureServiceLayer: RemoteLayer {
    let source: ArcGISSource
    var url: String { source.url }
    var credential: String? { source.credential }

    // MARK: Loading

    func describe(
        _ fetch: (RemoteCall) throws(Failure) -> WebResponse
    ) throws(Failure) -> LayerProperties {
        let response = try fetch(
            RemoteCall(url: url, parameters: [("f", "json")], isPosted: true))
        let tree = try ArcGIS.tree(response)
        guard let type = tree["geometryType"]?.text,
            let geometryType = GeometryType(rawValue: String(type.dropFirst("esriGeometry".count)))
        else {
            throw Failure(
                .unreadable,
                "it is not a feature layer: expected the address of one, …/FeatureServer/0")
        }
        guard
            let reference = ArcGIS.reference(tree["extent"]?["spatialReference"])
                ?? ArcGIS.reference(tree["sourceSpatialReference"])
        else { throw Failure(.unreadable, "it states no spatial reference") }
        let capabilities = tree["capabilities"]?.text ?? "Query"
        let fields = (tree["fields"]?.elements ?? []).compactMap(Self.field)
        let key = try Self.key(fields, tree)
        let isPaged = tree["advancedQueryCapabilities"]?["supportsPagination"]?.isTrue ?? false
        let pageSize = Int(clamping: tree["maxRecordCount"]?.whole ?? 1_000)
        let columns = [key] + fields.filter { $0.type != .objectID && $0.name != key.name }
        return LayerProperties(
            extent: ArcGIS.envelope(tree["extent"]), spatialReference: reference,
            geometryType: geometryType, fields: columns, featureCount: 0,
            hasZ: tree["hasZ"]?.isTrue ?? false, hasM: tree["hasM"]?.isTrue ?? false,
            service: ServiceProperties(
                title: tree["name"]?.text?.excerpt(100),
                version: tree["currentVersion"]?.number.map { "\($0)" },
                queryable: capabilities.lowercased().contains("query") ? ["0"] : [],
                spatialReferences: reference.latestWkid.map { [$0] } ?? [],
                displayField: tree["displayField"]?.text, attribution: ArcGIS.attribution(tree),
                pageSize: isPaged ? max(1, pageSize) : nil,
                drawing: DescribedDrawing.read(response.body, columns, geometryType)))
    }

    /// The field of the object ids: the one of their type, else the one of whole numbers that is
    /// named so.
    private static func key(
        _ fields: [FieldDescription], _ tree: JSONTree
    ) throws(Failure) -> FieldDescription {
        if let key = fields.first(where: { $0.type == .objectID }) { return key }
        let name = tree["objectIdField"]?.text ?? tree["uniqueIdField"]?["name"]?.text
        guard var key = fields.first(where: { $0.name == name }) else {
            throw Failure(.unreadable, "its layer has no object id")
        }
        guard [.smallInteger, .integer, .bigInteger].contains(key.type) else {
            throw Failure(
                .unreadable,
                "its object ids, the field '\(key.name.excerpt(60))', are of the type "
                    + "\(key.type.rawValue): expected whole numbers")
        }
        key.type = .objectID
        return key
    }

    private static func field(_ tree: JSONTree) -> FieldDescription? {
        guard let name = tree["name"]?.text, let type = tree["type"]?.text else { return nil }
        let short = String(type.dropFirst("esriFieldType".count))
        // Geometry is not a column here; identifiers and unknown types are read as text.
        if short == "Geometry" || short == "Blob" || short == "Raster" { return nil }
        return FieldDescription(
            name: name, type: FieldType(rawValue: short) ?? .string,
            length: tree["length"]?.whole.map { Int($0) },
            alias: tree["alias"]?.text.flatMap { $0 == name ? nil : $0 })
    }

    // MARK: Requests

    func drawing(
        _ question: RemotePictureQuestion
    ) throws(Failure) -> (any RemoteRounds<RemotePicture>)? {
        FeaturePages(question, url: url.withPath("query"))
    }

    func search(_ question: RemoteQuestion) throws(Failure) -> (any RemoteRounds<RemoteAnswer>)? {
        try call(question).map { _ in FeatureSearch(question, of: self) }
    }

    func call(_ question: RemoteQuestion) throws(Failure) -> RemoteCall? {
        guard question.properties.service?.queryable.isEmpty == false else { return nil }
        return call(question, clause: question.clause)
    }

    /// The request for the features in reach, or nearly so, that satisfy a clause.
    func call(_ question: RemoteQuestion, clause: String?) -> RemoteCall {
        // The rectangle around everything in reach; the exact distance is measured here.
        let reach = question.distance > 0 || !question.shape.hasInside
        let shape: Shape =
            reach
            ? .envelope(question.shape.envelope.expanded(by: question.distance).padded)
            : question.shape
        let reference = ArcGIS.text(question.spatialReference)
        return RemoteCall(
            url: url.withPath("query"),
            parameters: ArcGIS.parameters(of: shape) + [
                ("f", "json"), ("where", clause ?? "1=1"), ("outFields", "*"),
                ("inSR", reference), ("outSR", reference),
                ("spatialRel", "esriSpatialRelIntersects"), ("returnGeometry", "true"),
            ] + ArcGIS.parameters(z: question.wantsZ, m: question.wantsM), isPosted: true)
    }

    func answer(
        _ response: WebResponse, to question: RemoteQuestion
    ) throws(Failure) -> RemoteAnswer {
        let tree = try ArcGIS.tree(response)
        return try Self.page(
            tree, question.properties, question.spatialReference,
            OrdinatesWish(tree, z: question.wantsZ, m: question.wantsM))
    }

    /// The features of an answer; attributes in the order of the layer's fields, null where
    /// missing.
    ///
    /// A feature with an unreadable geometry is kept without a shape, and the shortfall names the
    /// first.
    ///
    /// Throws `unreadable` for an answer without a list of them.
    static func page(
        _ tree: JSONTree, _ properties: LayerProperties, _ asked: SpatialReference,
        _ wish: OrdinatesWish = .none
    ) throws(Failure) -> RemoteAnswer {
        guard case .array(let elements)? = tree["features"] else {
            throw Failure(.unreadable, "its answer has no features")
        }
        let fields = properties.fields
        let reference = ArcGIS.reference(tree["spatialReference"]) ?? asked
        let hasMore = saysMore(tree)
        var answer = RemoteAnswer(features: [], isCut: hasMore == true, isSuperset: true)
        answer.isSaidWhole = hasMore == false
        answer.features.reserveCapacity(elements.count)
        for (index, feature) in elements.enumerated() {
            let given = feature["attributes"]
            let attributes = Attributes(
                fields.map { field in
                    .init(name: field.name, value: Self.value(given?[field.name], field.type))
                })
            var id: Int64?
            if let key = fields.first { id = given?[key.name]?.whole }
            let geometry = feature["geometry"]
            var shape: Shape?
            do throws(Failure) {
                let owner = id.map { "feature \($0)" } ?? "answer's feature \(index + 1)"
                shape = try geometry.flatMap { tree throws(Failure) in
                    try readShape(tree, of: owner)
                }
            } catch {
                answer.shortfall = answer.shortfall ?? error
            }
            answer.features.append(
                RemoteAnswer.Feature(
                    id: id, attributes: attributes,
                    displayField: properties.service?.displayField, shape: shape,
                    ordinates: ArcGIS.ordinates(geometry, wish), spatialReference: reference))
        }
        return answer
    }

    /// The shape of a geometry; nil for a missing or empty one, and for one without finite
    /// coordinates.
    ///
    /// Throws `unreadable`, naming the owner, for any other geometry without a readable shape: it
    /// would be missing from the results.
    static func readShape(_ tree: JSONTree, of owner: String) throws(Failure) -> Shape? {
        guard case .object(let members) = tree else { return nil }
        if members.contains(where: { $0.name.hasPrefix("curve") }) {
            throw Failure(.unreadable, "its \(owner) has curves, which are not read")
        }
        if let shape = ArcGIS.shape(tree) { return shape }
        let parts = ["points", "paths", "rings"].compactMap { tree[$0] }
        let isNowhere = [tree["x"], tree["y"]].allSatisfy { ordinate in
            switch ordinate ?? .null {
            case .null, .string("NaN"): true
            default: false
            }
        }
        if isNowhere, parts.allSatisfy({ $0.elements.allSatisfy(\.elements.isEmpty) }) {
            return nil
        }
        throw Failure(
            .unreadable,
            "its \(owner) has a geometry that cannot be read: expected numbers of at most "
                + "\(Coordinate.bound)")
    }

    private static func value(_ tree: JSONTree?, _ type: FieldType) -> AttributeValue {
        guard let tree else { return .null }
        if case .null = tree { return .null }
        switch type {
        case .date: return tree.whole.map { .date($0) } ?? tree.attribute
        case .double, .single: return tree.number.map { .real($0) } ?? tree.attribute
        // As text, or with a decimal point.
        case .objectID: return tree.whole.map { .integer($0) } ?? tree.attribute
        default: return tree.attribute
        }
    }
}

extension RemoteQuestion {
    /// Whether Z values are requested and the layer has them.
    fileprivate var wantsZ: Bool { returnZ && properties.hasZ }
    /// Whether M values are requested and the layer has them.
    fileprivate var wantsM: Bool { returnM && properties.hasM }
}

extension Shape {
    /// Whether it has an area.
    fileprivate var hasInside: Bool {
        switch self {
        case .polygon, .envelope: true
        case .point, .multipoint, .polyline: false
        }
    }
}

extension Envelope {
    /// Grown by far more than a server's rounding of the request may cost.
    fileprivate var padded: Envelope {
        expanded(by: max(abs(minX), abs(minY), abs(maxX), abs(maxY), 1e-6) * 1e-12)
    }
}

extension String {
    /// The address of a subresource, with the parameters kept at the end.
    func withPath(_ name: String) -> String {
        let path = prefix { $0 != "?" }
        let slash = path.hasSuffix("/") ? "" : "/"
        return path + slash + name + dropFirst(path.count)
    }
}
