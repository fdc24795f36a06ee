// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import Dataset
internal import Geometry
internal import PROJ

/// Layers of a Web Map Service: GetCapabilities when loaded, GetFeatureInfo for a question.
struct WMSLayer: RemoteLayer {
    let source: WMSSource
    var url: String { source.url }
    var credential: String? { source.credential }

    /// Width and height of the requested picture in pixels of the caller's screen, with the
    /// question's place in its middle pixel.
    private static let side = 101

    // MARK: Loading

    func describe(
        _ fetch: (RemoteCall) throws(Failure) -> WebResponse
    ) throws(Failure) -> LayerProperties {
        let response = try fetch(
            RemoteCall(
                url: url,
                parameters: [
                    ("SERVICE", "WMS"), ("VERSION", source.version ?? "1.3.0"),
                    ("REQUEST", "GetCapabilities"),
                ]))
        let capabilities = try WMSCapabilities(response.body)
        let layers = try source.layers.map { name throws(Failure) in
            guard let layer = capabilities.layers.first(where: { $0.name == name }) else {
                let names = capabilities.layers.prefix(20).map { "'\($0.name.excerpt(60))'" }
                throw Failure(
                    .notFound,
                    "it has no layer '\(name)'; it has \(names.joined(separator: ", "))")
            }
            return layer
        }
        var common = layers[0].spatialReferences
        for layer in layers.dropFirst() {
            common.removeAll { !layer.spatialReferences.contains($0) }
        }
        guard let chosen = [3857, 4326].first(where: { common.contains($0) }) ?? common.first
        else {
            throw Failure(.unreadable, "its layers have no spatial reference with an EPSG number")
        }
        let geographic = layers.compactMap(\.geographicExtent)
            .reduce(Envelope.empty) { $0.union($1) }
        let own = layers.compactMap { $0.extents[chosen] }.reduce(Envelope.empty) { $0.union($1) }
        return LayerProperties(
            extent: own.isEmpty ? Self.projected(geographic, to: chosen) : own,
            spatialReference: SpatialReference(wkid: chosen), geometryType: nil, fields: [],
            featureCount: 0, geographicExtent: geographic.isEmpty ? nil : geographic,
            service: ServiceProperties(
                title: layers.map { $0.title.excerpt(100) }.joined(separator: ", ").excerpt(),
                version: capabilities.version,
                infoFormat: InfoFormat.best(of: capabilities.infoFormats),
                queryable: layers.filter(\.isQueryable).map(\.name),
                spatialReferences: Array(common.prefix(100)),
                attribution: Self.attribution(layers.compactMap(\.attribution)),
                pictureFormat: PictureForm.best(of: capabilities.pictureFormats),
                hasTime: layers.contains(where: \.hasTime) ? true : nil))
    }

    private static func attribution(_ names: [String]) -> String? {
        var seen: Set<String> = []
        let each = names.map { $0.excerpt(200) }.filter { !$0.isEmpty && seen.insert($0).inserted }
        return each.isEmpty ? nil : each.joined(separator: "; ").excerpt(500)
    }

    private static func projected(_ extent: Envelope, to wkid: Int) -> Envelope? {
        guard !extent.isEmpty else { return nil }
        if wkid == 4326 { return extent }
        guard
            let transform = try? CoordinateTransform(
                from: .wgs84, to: SpatialReference(wkid: wkid)),
            case .envelope(let projected)? = try? transform.forward(.envelope(extent)),
            projected.isFinite
        else { return nil }
        return projected
    }

    // MARK: Requests

    func call(_ question: RemoteQuestion) throws(Failure) -> RemoteCall? {
        guard let service = question.properties.service, let format = service.infoFormat,
            !service.queryable.isEmpty, let wkid = question.spatialReference.latestWkid
        else { return nil }
        let isLater = service.version == "1.3.0"
        let half = question.resolution * Double(Self.side) / 2
        let (x, y) = (question.middle.x, question.middle.y)
        var box = Envelope(minX: x - half, minY: y - half, maxX: x + half, maxY: y + half)
        if isLater, AxisOrder.isNorthFirst(wkid) { box = box.swapped }
        let names = service.queryable.joined(separator: ",")
        let middle = "\(Self.side / 2)"
        return RemoteCall(
            url: url,
            parameters: [
                ("SERVICE", "WMS"), ("VERSION", service.version ?? "1.1.1"),
                ("REQUEST", "GetFeatureInfo"), ("LAYERS", names), ("STYLES", ""),
                (isLater ? "CRS" : "SRS", "EPSG:\(wkid)"),
                ("BBOX", "\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"),
                ("WIDTH", "\(Self.side)"), ("HEIGHT", "\(Self.side)"), ("FORMAT", "image/png"),
                ("QUERY_LAYERS", names), ("INFO_FORMAT", format),
                ("FEATURE_COUNT", "\(question.limit + 1)"), (isLater ? "I" : "X", middle),
                (isLater ? "J" : "Y", middle),
                ("EXCEPTIONS", isLater ? "XML" : "application/vnd.ogc.se_xml"),
            ])
    }

    func answer(
        _ response: WebResponse, to question: RemoteQuestion
    ) throws(Failure) -> RemoteAnswer {
        let features = try FeatureInfo(response, question, source.layers).features
        return RemoteAnswer(
            features: Array(features.prefix(question.limit)),
            isCut: features.count > question.limit)
    }
}

extension WMSLayer {
    /// GetMap (OGC 01-068r3, 7.2; 06-042, 7.3).
    func drawing(
        _ question: RemotePictureQuestion
    ) throws(Failure) -> (any RemoteRounds<RemotePicture>)? {
        guard let service = question.properties.service, let extent = question.extent,
            let wkid = question.spatialReference.latestWkid
        else { return nil }
        let isLater = service.version == "1.3.0"
        let box = isLater && AxisOrder.isNorthFirst(wkid) ? extent.swapped : extent
        var parameters = [
            ("SERVICE", "WMS"), ("VERSION", service.version ?? "1.1.1"), ("REQUEST", "GetMap"),
            ("LAYERS", source.layers.joined(separator: ",")),
            ("STYLES", String(repeating: ",", count: source.layers.count - 1)),
            (isLater ? "CRS" : "SRS", "EPSG:\(wkid)"),
            ("BBOX", "\(box.minX),\(box.minY),\(box.maxX),\(box.maxY)"),
            ("WIDTH", "\(question.width)"), ("HEIGHT", "\(question.height)"),
            ("FORMAT", service.pictureFormat ?? "image/png"), ("TRANSPARENT", "TRUE"),
            ("EXCEPTIONS", isLater ? "XML" : "application/vnd.ogc.se_xml"),
        ]
        if question.dpi != 96 {
            // The names of MapServer, QGIS Server and GeoServer; others ignore them.
            let dots = "\(Int(question.dpi.rounded()))"
            parameters += [
                ("MAP_RESOLUTION", dots), ("DPI", dots), ("FORMAT_OPTIONS", "dpi:" + dots),
            ]
        }
        if service.hasTime == true, let time = question.time.flatMap(Self.text) {
            parameters.append(("TIME", time))
        }
        return OnePicture(
            call: RemoteCall(url: url, parameters: parameters), question: question, extent: extent)
    }

    /// ISO 8601 as in annex D of OGC 06-042; nil for an open end, which it cannot express.
    private static func text(_ time: TimeExtent) -> String? {
        guard let start = time.start, let end = time.end else { return nil }
        func moment(_ milliseconds: Int64) -> String {
            CalendarClock(milliseconds: milliseconds).text
        }
        return start == end ? moment(start) : moment(start) + "/" + moment(end)
    }
}

/// The forms of pictures.
enum PictureForm {
    /// PNG, or else another supported format; nil for plain PNG, and where nothing is known.
    static func best(of offered: [String]) -> String? {
        if offered.contains("image/png") { return nil }
        let kinds = ["image/png", "image/webp", "image/jpeg", "image/jpg"]
        return kinds.lazy.compactMap { kind in
            offered.first { $0.lowercased().hasPrefix(kind) }
        }.first
    }
}

/// The formats of a GetFeatureInfo answer.
enum InfoFormat {
    /// The most expressive of the offered formats; nil for none.
    static func best(of offered: [String]) -> String? {
        let plain = offered.map { (name: $0, kind: rank($0)) }.filter { $0.kind != nil }
        return plain.min { ($0.kind ?? 9) < ($1.kind ?? 9) }?.name
    }

    private static func rank(_ format: String) -> Int? {
        let format = format.lowercased()
        if format.contains("json") { return format.contains("geo") ? 0 : 1 }
        if format.contains("gml") { return 2 }
        if format.contains("xml") && !format.contains("html") { return 3 }
        if format.hasPrefix("text/plain") { return 4 }
        if format.hasPrefix("text/html") { return 5 }
        return nil
    }
}
