// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// `MapServer/export`: converts Esri's parameters to a request, a picture or its description to
/// Esri's body.
enum ExportResource {
    /// Esri's parameters that would change the answer and are not supported.
    static let refused = ["dynamicLayers", "mapRangeValues", "layerRangeValues"]

    /// Parses all parameters but `f`; throws `Failure` naming the offending one.
    static func request(map: MapName, _ parameters: Parameters) throws(Failure) -> ExportRequest {
        for name in refused where parameters[name] != nil {
            throw Failure(.invalidParameter, "parameter '\(name)' is not supported")
        }
        if let rotation = try parameters.number(Known.rotation), rotation != 0 {
            throw Failure(.invalidParameter, "parameter 'rotation' is not supported, except 0")
        }
        let box = try GeometryParameter(
            try parameters.required(Known.exportBox), kind: .envelope, name: "bbox")
        let (width, height) = try size(parameters)
        let boxReference = try SpatialReference(parameters, Known.bboxSR.name)
        var request = ExportRequest(
            map: map, extent: box.shape.envelope,
            extentReference: box.spatialReference ?? boxReference,
            imageReference: try SpatialReference(parameters, Known.imageSR.name), width: width,
            height: height, dpi: try parameters.number(Known.dpi) ?? 96,
            format: try format(parameters[Known.format]),
            isTransparent: try parameters.flag(Known.transparent),
            layers: try DrawnLayers(parsing: parameters[Known.drawnLayers]))
        request.mapScale = try parameters.number(Known.mapScale).flatMap { $0 == 0 ? nil : $0 }
        request.layerDefinitions = try LayerDefinitions.parse(parameters)
        request.time = try parameters.time()
        request.timeRelation = try parameters.timeRelation()
        request.layerTimeOptions = try parameters.layerTimeOptions()
        request.minSequence = try parameters.minSequence()
        request.past = try parameters.past()
        return request
    }

    private static func size(_ parameters: Parameters) throws(Failure) -> (Int, Int) {
        guard let values = try parameters.numbers(Known.size) else { return (400, 400) }
        let bound = Double(ExportRequest.sizeBound)
        guard values.allSatisfy({ 1...bound ~= $0 && $0 == $0.rounded() }) else {
            throw Parameters.unexpected(
                "size", parameters[Known.size] ?? "",
                "'width,height', whole numbers from 1 to \(ExportRequest.sizeBound)")
        }
        return (Int(values[0]), Int(values[1]))
    }

    private static func format(_ text: String?) throws(Failure) -> PictureFormat {
        switch text?.lowercased() {
        case nil, "png", "png8", "png24", "png32": return .png
        case "jpg", "jpeg": return .jpg
        default:
            throw Parameters.unexpected(
                "format", text ?? "", "png, png8, png24, png32 or jpg")
        }
    }

    /// Writes `{"href":…,"width":…,"height":…,"extent":…,"scale":…}`.
    static func body(_ head: ExportedPicture.Head, href: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("href", href)
            json.member("width", head.width)
            json.member("height", head.height)
            json.extent("extent", head.extent, in: head.spatialReference)
            if let scale = head.scale { json.member("scale", scale) }
            if let missing = head.missing { json.member("layerFailures", missing) }
        }
        return json.bytes
    }
}

extension GatewayService {
    /// The picture, or its URL; throws `Failure` when it cannot be drawn.
    func export(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (parameters, asked) = (call.parameters, call.request)
        var request = try ExportResource.request(
            map: try Self.mapName(call.captures.name), parameters)
        let limit = try parameters.timeout()
        if parameters[Known.f]?.lowercased() == "image" {
            let picture = try await backend.ask(.export, request, within: limit)
            return GatewayResponse(
                contentType: request.format?.mediaType ?? "", body: Array(picture.bytes),
                sequence: picture.head.sequence, isStale: picture.head.isStale,
                missing: (picture.head.missing ?? []).shown(parameters))
        }
        let format = try Format(parameters[Known.f], wantsPage: asked.wantsPage, of: Format.esri)
        request.format = nil
        var head = try await backend.ask(.export, request, within: limit).head
        head.missing = head.missing?.shown(parameters)
        let path = String(decoding: asked.path, as: UTF8.self)
        // Esri's URLs are file names: esri-leaflet appends "?token=…", which then belongs to no
        // parameter. Links of pages have no token.
        let href =
            (asked.origin ?? "") + path + "?"
            + parameters.query(setting: "f", to: "image", keepsSecrets: format != .page)
            + "&_="
        let response = GatewayResponse(
            body: ExportResource.body(head, href: href), sequence: head.sequence,
            isStale: head.isStale, missing: head.missing ?? [])
        return await shaped(response, format, call)
    }
}

extension [LayerFailure] {
    /// A structured list (RFC 8941) of each layer's number with the failure's code,
    /// `3;reason=timedOut`; the first hundred.
    var structuredText: String {
        prefix(100).map { failure in
            // Codes of newer peers may be any text.
            let token = failure.error.code.rawValue.filter {
                $0.isASCII && ($0.isLetter || $0.isNumber)
            }
            return "\(failure.layerID);reason=\(token.isEmpty ? "unknown" : token)"
        }.joined(separator: ", ")
    }
}

extension DrawnLayers {
    /// Parses Esri's `layers`: `show`, `hide`, `include` or `exclude`, then `:` and layer ids with
    /// commas; without ids, or without the parameter, the visible layers.
    init(parsing text: String?) throws(Failure) {
        self.init()
        guard let text else { return }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let word = parts[0].filter { $0 != " " }.lowercased()
        let list = parts.count == 2 ? parts[1].split(separator: ",") : []
        let names = list.map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        // Clients that hide all layers of a map send layer -1.
        let ids = names.compactMap { LayerID($0) }.filter { -1...Int(Int32.max) ~= $0 }
        guard let option = Option(rawValue: word), ids.count == names.count, ids.count <= 10_000
        else {
            throw Parameters.unexpected(
                "layers", text, "show, hide, include or exclude, then ':' and layer ids with commas"
            )
        }
        if !ids.isEmpty { self.init(option, ids: ids) }
    }
}
