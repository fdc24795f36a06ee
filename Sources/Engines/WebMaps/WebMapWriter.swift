// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import EsriForms
public import FoundationEssentials
internal import Geometry
internal import Platform

/// Writes a map as a web map document.
///
/// Every layer is one of the site's own services, wherever its source is: clients need no access to
/// other servers, and the permissions of the map apply.
public struct WebMapWriter: Sendable {
    private let map: MapDescription
    private let layers: [LayerID: LayerDescription]
    /// Base of every URL; empty for URLs without a server.
    private let origin: String
    private let site: UUID
    /// The moment that every layer is requested of; nil for the present.
    private let moment: Int64?
    /// Whether definition expressions are included.
    private let showsInside: Bool

    /// Prepares the document of a map; `origin` is the base of URLs, empty where it is unknown.
    ///
    /// With `moment`, clients request every layer as it was at that sequence number.
    public init(
        _ map: MapDescription, origin: String, site: UUID, moment: Int64? = nil,
        showsInside: Bool
    ) {
        self.map = map
        self.origin = origin
        self.site = site
        self.moment = moment
        self.showsInside = showsInside
        layers = Dictionary(map.layers.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The document, as JSON.
    public func document() -> [UInt8] {
        // A picture at the bottom is what web maps mean by a basemap.
        let bottom = map.rootLayers.first.flatMap { layers[$0] }
        let basemap = bottom.flatMap { $0.kind.source?.isPicture == true ? $0 : nil }
        let operational = map.rootLayers.filter { $0 != basemap?.id }
        var json = JSONWriter()
        json.object { json in
            json.member("operationalLayers", array: operational) { write($1, to: &$0) }
            json.member("baseMap") { json in
                json.member("baseMapLayers", array: basemap.map { [$0.id] } ?? []) {
                    write($1, to: &$0)
                }
                json.member("title", basemap?.name ?? "")
            }
            if let reference = map.spatialReference {
                json.spatialReference(reference)
                if let extent = map.properties?.initialExtent ?? map.initialExtent {
                    json.member("initialState") { json in
                        json.member("viewpoint") { json in
                            json.extent("targetGeometry", extent, in: reference)
                        }
                    }
                }
            }
            let bookmarks = map.spatialReference == nil ? nil : map.properties?.bookmarks
            json.member("bookmarks", array: bookmarks ?? []) { json, bookmark in
                json.object { json in
                    json.member("name", bookmark.name)
                    guard let reference = map.spatialReference else { return }
                    json.extent("extent", bookmark.extent, in: reference)
                }
            }
            json.member("authoringApp", WebMap.application)
            json.member("authoringAppVersion", Release.version)
            json.member("version", WebMap.version)
            json.member("cairn") { json in
                json.member("site", site.uuidString.lowercased())
                json.member("origin", origin)
                json.member("map", map.name.rawValue)
                json.member("sequence", Int(map.sequence))
                if let title = map.properties?.title { json.member("title", title) }
                if let text = map.properties?.description { json.member("description", text) }
                if let text = map.properties?.attribution { json.member("attribution", text) }
            }
        }
        return json.bytes
    }

    private func write(_ id: LayerID, to json: inout JSONWriter) {
        guard let layer = layers[id] else { return json.null() }
        json.object { json in
            json.member("id", WebMap.id(of: id))
            json.member("title", layer.name)
            json.member("visibility", layer.isVisible)
            if layer.kind == .group {
                json.member("layerType", "GroupLayer")
                json.member("visibilityMode", "independent")
                writeScales(of: layer, to: &json)
                json.member("layers", array: layer.children) { write($1, to: &$0) }
                return
            }
            json.member("opacity", 1 - Double(layer.shownDrawing?.transparency ?? 0) / 100)
            let isFeatures = layer.isServedAsFeatures
            json.member("layerType", isFeatures ? "ArcGISFeatureLayer" : "ArcGISMapServiceLayer")
            json.member(
                "url",
                ServiceURL(
                    map: map.name, isFeatureService: isFeatures, layer: isFeatures ? id : nil
                ).text(below: origin))
            if let moment {
                json.member("customParameters") { $0.member("at", "\(moment)") }
            }
            guard isFeatures else {
                writeScales(of: layer, to: &json)
                json.member("visibleLayers", array: [id]) { $0.integer(Int64($1)) }
                json.member("layers", array: [id]) { json, id in
                    json.object { json in
                        json.member("id", id)
                        writeInside(of: layer, to: &json)
                        writePopup(of: layer, to: &json)
                    }
                }
                return
            }
            writePopup(of: layer, to: &json)
            writeInside(of: layer, isWhole: true, to: &json)
        }
    }

    private func writeScales(of layer: LayerDescription, to json: inout JSONWriter) {
        json.member("minScale", layer.scaleRange.minScale)
        json.member("maxScale", layer.scaleRange.maxScale)
    }

    /// `layerDefinition`: what the document may override of the service's layer.
    private func writeInside(
        of layer: LayerDescription, isWhole: Bool = false, to json: inout JSONWriter
    ) {
        let expression = showsInside ? layer.definitionExpression : nil
        guard isWhole || expression != nil else { return }
        json.member("layerDefinition") { json in
            if isWhole { writeScales(of: layer, to: &json) }
            if let expression { json.member("definitionExpression", expression) }
            guard isWhole, let drawing = layer.drawing,
                drawing.renderer != nil || !drawing.labels.isEmpty,
                let text = try? CairnJSON.encode(drawing)
            else { return }
            json.key("drawingInfo")
            json.json(text)
        }
    }

    private func writePopup(of layer: LayerDescription, to json: inout JSONWriter) {
        if !layer.isPopupEnabled { json.member("disablePopup", true) }
        if let popup = layer.info?.popup {
            json.key("popupInfo")
            return json.json(popup.utf8)
        }
        guard layer.isPopupEnabled, let fields = layer.properties?.fields, !fields.isEmpty
        else { return }
        json.member("popupInfo") { json in
            json.member("title", layer.shownField.map { "{\($0)}" } ?? "")
            let named = Array(zip(fields, layer.shownNames(of: fields)))
            json.member("fieldInfos", array: named) { json, field in
                json.object { json in
                    json.member("fieldName", field.0.name)
                    json.member("label", field.1)
                    json.member("visible", true)
                }
            }
            json.member("popupElements", array: ["fields"]) { json, type in
                json.object { $0.member("type", type) }
            }
        }
    }
}

extension LayerSource {
    /// Whether it is drawn as a picture, whatever identify finds in it.
    var isPicture: Bool {
        switch self {
        case .raster, .wms, .mapService, .tiles: true
        case .dataset, .featureService, .graphics: false
        }
    }
}

extension LayerDescription {
    /// Whether clients can read its features; others are shown as pictures of the map service.
    fileprivate var isServedAsFeatures: Bool {
        guard isQueryable else { return false }
        return switch kind {
        case .layer(.dataset): true
        case .layer(.featureService): properties?.service?.queryable.isEmpty != true
        case .layer(.graphics): graphicsType != nil
        case .layer, .group: false
        }
    }
}
