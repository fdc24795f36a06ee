// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Geometry
internal import Platform

/// An ArcGIS map service, `…/MapServer`, requested with `identify`.
struct MapServiceLayer: RemoteLayer {
    let source: ArcGISSource
    var url: String { source.url }
    var credential: String? { source.credential }

    /// The size of the claimed screen, in pixels of the caller's size, with the question's place in
    /// its middle.
    private static let side = 400.0

    // MARK: Loading

    func describe(
        _ fetch: (RemoteCall) throws(Failure) -> WebResponse
    ) throws(Failure) -> LayerProperties {
        let tree = try ArcGIS.tree(
            try fetch(RemoteCall(url: url, parameters: [("f", "json")], isPosted: true)))
        guard let layers = tree["layers"]?.elements, tree["mapName"] != nil else {
            throw Failure(
                .unreadable, "it is not a map service: expected the address of one, …/MapServer")
        }
        let numbers = layers.compactMap { $0["id"]?.whole }.map { Int($0) }
        if let missing = source.layers?.first(where: { !numbers.contains($0) }) {
            throw Failure(
                .notFound,
                "it has no layer \(missing); it has "
                    + numbers.prefix(40).map { "\($0)" }.joined(separator: ", "))
        }
        let extent = tree["fullExtent"] ?? tree["initialExtent"]
        guard
            let reference = ArcGIS.reference(tree["spatialReference"])
                ?? ArcGIS.reference(extent?["spatialReference"])
        else { throw Failure(.unreadable, "it states no spatial reference") }
        let isQueryable =
            tree["capabilities"]?.text?.lowercased().contains("query") ?? true
        return LayerProperties(
            extent: ArcGIS.envelope(extent), spatialReference: reference, geometryType: nil,
            fields: [], featureCount: 0,
            service: ServiceProperties(
                title: tree["mapName"]?.text?.excerpt(100),
                version: tree["currentVersion"]?.number.map { "\($0)" },
                queryable: isQueryable ? (source.layers ?? numbers).map { "\($0)" } : [],
                spatialReferences: reference.latestWkid.map { [$0] } ?? [],
                attribution: ArcGIS.attribution(tree),
                pageSize: tree["maxRecordCount"]?.whole.map { max(1, Int(clamping: $0)) },
                tiling: TilingScheme(tree["tileInfo"])))
    }

    // MARK: Requests

    func call(_ question: RemoteQuestion) throws(Failure) -> RemoteCall? {
        guard question.properties.service?.queryable.isEmpty == false else { return nil }
        let half = question.resolution * Self.side / 2
        let (x, y) = (question.middle.x, question.middle.y)
        let option = question.asksHidden ? "all" : "visible"
        let ids = source.layers.map { ":" + $0.map { "\($0)" }.joined(separator: ",") } ?? ""
        let side = Int(Self.side)
        return RemoteCall(
            url: url.withPath("identify"),
            parameters: ArcGIS.parameters(of: question.shape) + [
                ("f", "json"), ("sr", ArcGIS.text(question.spatialReference)),
                ("layers", option + ids),
                ("tolerance", "\(Int(min(question.tolerancePixels, 1e6).rounded(.up)))"),
                ("mapExtent", "\(x - half),\(y - half),\(x + half),\(y + half)"),
                ("imageDisplay", "\(side),\(side),\(Int(question.dpi.rounded()))"),
                ("returnGeometry", "true"), ("returnFieldName", "true"),
                ("returnUnformattedValues", "true"),
            ] + ArcGIS.parameters(z: question.returnZ, m: question.returnM), isPosted: true)
    }

    func answer(
        _ response: WebResponse, to question: RemoteQuestion
    ) throws(Failure) -> RemoteAnswer {
        let tree = try ArcGIS.tree(response)
        guard case .array(let results)? = tree["results"] else {
            throw Failure(.unreadable, "its answer has no results")
        }
        let features = results.prefix(question.limit).map { result in
            let attributes = result["attributes"]?.members ?? []
            let key = attributes.first {
                ["objectid", "fid", "oid"].contains($0.name.lowercased())
            }
            let geometry = result["geometry"]
            return RemoteAnswer.Feature(
                group: result["layerName"]?.text ?? result["layerId"]?.whole.map { "\($0)" },
                id: key?.value.whole,
                attributes: Attributes(
                    attributes.map { .init(name: $0.name, value: $0.value.attribute) }),
                displayField: result["displayFieldName"]?.text, shape: ArcGIS.shape(geometry),
                // Layers differ: each geometry declares its own ordinates.
                ordinates: ArcGIS.ordinates(
                    geometry,
                    OrdinatesWish(z: question.returnZ, m: question.returnM, isSaid: true)),
                spatialReference: ArcGIS.reference(geometry?["spatialReference"])
                    ?? question.spatialReference)
        }
        // A layer with as many results as the service's page size may have more: it does not say.
        var counts: [Int64: Int] = [:]
        for result in results { counts[result["layerId"]?.whole ?? -1, default: 0] += 1 }
        let most = question.properties.service?.pageSize ?? .max
        return RemoteAnswer(
            features: Array(features),
            isCut: results.count > question.limit || counts.values.contains { $0 >= most }
                || tree["exceededTransferLimit"]?.isTrue ?? false)
    }
}

extension MapServiceLayer {
    /// One `export` for all of its layers that are shown.
    func drawing(
        _ question: RemotePictureQuestion
    ) throws(Failure) -> (any RemoteRounds<RemotePicture>)? {
        guard let box = question.extent else { return nil }
        let reference = ArcGIS.text(question.spatialReference)
        var parameters = [
            ("f", "image"), ("bbox", "\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"),
            ("bboxSR", reference), ("imageSR", reference),
            ("size", "\(question.width),\(question.height)"), ("format", "png32"),
            ("transparent", "true"), ("dpi", "\(Int(question.dpi.rounded()))"),
        ]
        if let layers = source.layers {
            parameters.append(("layers", "show:" + layers.map { "\($0)" }.joined(separator: ",")))
        }
        if let clause = question.clause {
            let numbers = source.layers?.map { "\($0)" } ?? question.properties.service?.queryable
            let text = ArcGIS.quoted(clause)
            parameters.append(
                (
                    "layerDefs",
                    "{" + (numbers ?? []).map { "\"\($0)\":\(text)" }.joined(separator: ",") + "}"
                ))
        }
        if let time = question.time { parameters.append(("time", ArcGIS.text(time))) }
        return OnePicture(
            call: RemoteCall(url: url.withPath("export"), parameters: parameters, isPosted: true),
            question: question, extent: box)
    }
}
