// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// A layer of a document whose service is on another server.
struct ForeignLayer {
    var source: LayerSource
    /// Its name where the document gives none.
    var name: String?
    /// Members of the document's layer that are read here, or say nothing about the map.
    var members: Set<String> = []
    var notes: [String] = []

    /// Throws `Failure` for a kind of layer that a map cannot have.
    init(_ tree: JSONTree) throws(Failure) {
        let type = tree["layerType"]?.text ?? tree["type"]?.text ?? ""
        switch type.lowercased() {
        case "arcgisfeaturelayer":
            let url = try Self.url(tree)
            guard url.split(separator: "/").last.map({ Int($0) != nil }) == true else {
                throw Self.unfit("expected the URL of one layer, as …/FeatureServer/0")
            }
            source = .featureService(ArcGISSource(url: url))
            members = ["mode", "capabilities", "showLabels"]
        case "arcgismapservicelayer":
            var layers = tree["visibleLayers"]?.elements.compactMap { $0.whole.map(Int.init) }
            if layers?.isEmpty == true { layers = nil }
            source = .mapService(ArcGISSource(url: try Self.url(tree), layers: layers))
            members = ["visibleLayers", "layers", "capabilities"]
            if tree["layers"]?.elements.contains(where: Self.saysMore) == true {
                notes.append("what it states of single layers of the service is not kept")
            }
        case "arcgistiledmapservicelayer":
            source = .tiles(TileSource(url: try Self.url(tree)))
            members = ["capabilities", "layers"]
            if tree["layers"]?.elements.contains(where: Self.saysMore) == true {
                notes.append("what it states of single layers of the service is not kept")
            }
        case "webtiledlayer":
            source = .tiles(TileSource(url: try Self.template(tree, &notes)))
            members = [
                "templateUrl", "subDomains", "copyright", "fullExtent", "tileInfo", "wmtsInfo",
            ]
            if let copyright = tree["copyright"]?.text, !copyright.isEmpty {
                notes.append("the attribution '\(copyright.prefix(80))' is not kept")
            }
            if tree["tileInfo"] != nil || tree["wmtsInfo"] != nil {
                notes.append("tiles are read by the scheme of Web Mercator")
            }
        case "openstreetmap":
            source = .tiles(TileSource(url: "https://tile.openstreetmap.org/{z}/{x}/{y}.png"))
            name = "OpenStreetMap"
        case "wms":
            source = .wms(try Self.wms(tree))
            members = [
                "layers", "visibleLayers", "version", "mapUrl", "featureInfoUrl",
                "featureInfoFormat", "format", "spatialReferences", "extent", "copyright",
                "maxHeight", "maxWidth",
            ]
        case "":
            throw Self.unfit("it has no type")
        default:
            throw Self.unfit("layers of type '\(type.prefix(60))' are not supported")
        }
        if tree["featureCollection"] != nil {
            throw Self.unfit("features inside a document are not supported: import them as a file")
        }
    }

    private static func unfit(_ sentence: String) -> Failure {
        Failure(.invalidParameter, sentence)
    }

    private static func saysMore(_ sublayer: JSONTree) -> Bool {
        sublayer.members.contains { member in
            !["id", "name", "title", "defaultVisibility"].contains(member.name)
                && !member.value.isEmpty
        }
    }

    /// The address without parameters and with a server; `https` where it leaves the scheme open.
    private static func url(_ tree: JSONTree, _ names: [String] = ["url"]) throws(Failure) -> String
    {
        guard let text = names.lazy.compactMap({ tree[$0]?.text }).first(where: { !$0.isEmpty })
        else {
            throw unfit(
                tree["itemId"]?.text == nil
                    ? "it has no URL" : "it has an item of a portal instead of a URL")
        }
        var url = text.hasPrefix("//") ? "https:" + text : text
        while url.last == "/" || url.last == "?" { url.removeLast() }
        let lowered = url.lowercased()
        guard lowered.hasPrefix("http://") || lowered.hasPrefix("https://") else {
            throw unfit("'\(url.prefix(80))' is no http:// or https:// URL")
        }
        let secrets = ["token=", "password=", "apikey=", "api_key=", "access_token="]
        guard !secrets.contains(where: lowered.contains),
            !lowered.dropFirst(8).prefix(while: { !"/?".contains($0) }).contains("@")
        else {
            throw unfit("its URL has a secret: add it with a credential, 'cairn map add-service'")
        }
        guard url.utf8.count <= 2_048, url.utf8.allSatisfy({ 33...126 ~= $0 }), !url.contains("#")
        else {
            throw unfit("its URL has more than 2048 bytes, or others than printable ASCII")
        }
        return url
    }

    private static func template(
        _ tree: JSONTree, _ notes: inout [String]
    ) throws(Failure) -> String {
        var url = try url(tree, ["templateUrl", "url"])
        for (theirs, own) in [
            ("{level}", "{z}"), ("{col}", "{x}"), ("{row}", "{y}"),
        ] {
            url = url.replacing(theirs, with: own)
        }
        let place = ["{subDomain}", "{subdomain}", "{s}"].first { url.contains($0) }
        if let place {
            guard let domain = tree["subDomains"]?.elements.first?.text else {
                throw unfit("its URL has '\(place)', and the document no 'subDomains'")
            }
            url = url.replacing(place, with: domain)
            if tree["subDomains"]?.elements.count ?? 0 > 1 {
                notes.append("of the names of its server '\(domain.prefix(80))' alone is used")
            }
        }
        guard TileSource(url: url).isTemplate else {
            throw unfit("its URL has no places for level, column and row")
        }
        return url
    }

    private static func wms(_ tree: JSONTree) throws(Failure) -> WMSSource {
        let all = (tree["layers"]?.elements ?? []).compactMap { $0["name"]?.text }
        let visible = tree["visibleLayers"]?.elements.compactMap(\.text)
        // The document lists the layers of the service; those visible are requested.
        let names = visible.map { visible in
            all.isEmpty ? visible : all.filter { visible.contains($0) }
        }
        let layers = (names ?? all).filter { !$0.isEmpty && !$0.contains(",") }
        guard 1...100 ~= layers.count else {
            throw unfit("expected 1 to 100 names of layers of the WMS")
        }
        let version = tree["version"]?.text
        return WMSSource(
            url: try url(tree, ["url", "mapUrl"]), layers: layers,
            version: ["1.1.1", "1.3.0"].contains(version) ? version : nil)
    }
}
