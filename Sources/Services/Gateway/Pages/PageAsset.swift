// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// A stylesheet, script or image of pages, below `/pages`.
enum PageAsset: String, CaseIterable {
    case stylesheet = "cairn.css"
    case page = "page.js"
    case map = "map.js"
    case tiles = "tiles.js"
    case routes = "routes.js"
    case query = "query.js"
    case suggest = "suggest.js"
    case job = "job.js"

    /// Its URL.
    var url: String { "/pages/" + rawValue }

    static let leafletScript = "/pages/leaflet/leaflet.js"
    static let leafletStyle = "/pages/leaflet/leaflet.css"

    /// Install path of Debian's libjs-leaflet.
    static let leafletFolder = "/usr/share/javascript/leaflet/"

    /// The files served from it, by their names in the URL.
    private static let leafletFiles: [String: (file: String, type: String)] = [
        "leaflet.js": ("leaflet.min.js", "text/javascript;charset=UTF-8"),
        "leaflet.css": ("leaflet.css", "text/css;charset=UTF-8"),
        "images/layers.png": ("images/layers.png", "image/png"),
        "images/layers-2x.png": ("images/layers-2x.png", "image/png"),
        "images/marker-icon.png": ("images/marker-icon.png", "image/png"),
        "images/marker-icon-2x.png": ("images/marker-icon-2x.png", "image/png"),
        "images/marker-shadow.png": ("images/marker-shadow.png", "image/png"),
    ]

    /// Whether a folder contains Leaflet.
    static func isLeaflet(in leafletFolder: String) -> Bool {
        (try? MappedFile(path: leafletFolder + "leaflet.min.js")) != nil
    }

    private var bytes: [UInt8] {
        switch self {
        case .stylesheet: PackageResources.cairn_css
        case .page: PackageResources.page_js
        case .map: PackageResources.map_js
        case .tiles: PackageResources.tiles_js
        case .routes: PackageResources.routes_js
        case .query: PackageResources.query_js
        case .suggest: PackageResources.suggest_js
        case .job: PackageResources.job_js
        }
    }

    /// The answer to a path below `/pages`; throws `notFound`.
    static func response(
        _ name: String, leaflet folder: String
    ) throws(Failure) -> GatewayResponse {
        let (body, type) = try content(name, folder)
        return GatewayResponse(
            contentType: type, body: body,
            headers: ["Cache-Control": "max-age=300"])
    }

    private static func content(
        _ name: String, _ leafletFolder: String
    ) throws(Failure) -> ([UInt8], String) {
        if let asset = PageAsset(rawValue: name) {
            let type = asset == .stylesheet ? "text/css" : "text/javascript"
            return (asset.bytes, type + ";charset=UTF-8")
        }
        let missing = Failure(.notFound, "there is no /pages/\(name.prefix(80))")
        guard name.hasPrefix("leaflet/"),
            let (file, type) = leafletFiles[String(name.dropFirst("leaflet/".count))]
        else { throw missing }
        do {
            let mapped = try MappedFile(path: leafletFolder + file)
            return (Array(mapped.copy(0..<mapped.byteCount)), type)
        } catch {
            throw Failure(
                .notFound, "Leaflet is not installed here: Debian's package is libjs-leaflet")
        }
    }
}
