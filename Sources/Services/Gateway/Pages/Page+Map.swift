// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

// The list of services, a map to click, its layers and symbols.
extension Page {
    func services(_ page: inout Markup) {
        guard !isRefused else { return }
        let all = answer["services"]?.elements ?? []
        let kinds = [
            ("MapServer", "Maps", "pictures, identify, the past"),
            ("FeatureServer", "Features", "queries of their layers"),
            ("GeocodeServer", "Locators", "places by name, names by place"),
            ("GPServer", "Jobs", "long work in the background"),
        ]
        let folders = (answer["folders"]?.elements ?? []).compactMap(\.text)
        if !folders.isEmpty {
            page.element("section") { page in
                page.element("h2", text: "Folders")
                page.element("ul", ["class": "cards"]) { page in
                    for folder in folders {
                        page.element("li") { page in
                            page.link(
                                href(Self.services + "/" + Parameters.encode(folder)), folder)
                        }
                    }
                }
            }
        }
        for (type, heading, summary) in kinds {
            let names = all.filter { $0["type"]?.text == type }.compactMap { $0["name"]?.text }
            guard !names.isEmpty else { continue }
            page.element("section") { page in
                page.element("h2", text: heading)
                page.element("p", ["class": "quiet"], text: summary)
                page.element("ul", ["class": "cards"]) { page in
                    for name in names {
                        page.element("li") { $0.link(href(Self.service(name, type)), name) }
                    }
                }
            }
        }
        guard folders.isEmpty else { return }
        if all.isEmpty, offersLogin {
            page.element("p", text: "Nothing may be seen here without logging in.")
        } else if all.isEmpty {
            page.element("p", text: "There is nothing yet: import a file with 'cairn import'.")
        }
    }

    // MARK: A map

    func map(_ name: String, _ page: inout Markup) {
        let path = Self.service(name, "MapServer")
        moment(path, &page)
        guard let extent = box(answer["initialExtent"]) else {
            notice("The map is blank: its basemap is not loaded.", &page)
            return layers(path, &page)
        }
        if answer["layers"]?.elements.isEmpty ?? true {
            notice("The map is blank: it has no layers.", &page)
        }
        if !hasLeaflet {
            notice(
                "Leaflet is not installed on this server, so the map stands still: Debian's package is libjs-leaflet.",
                &page)
        }
        page.element("div", ["class": "columns"]) { page in
            page.element("section", ["aria-label": "Map"]) { page in
                page.element(
                    "div",
                    [
                        "id": "map", "data-service": path, "data-extent": extent,
                        "data-at": parameters["at"],
                        "data-moment": parameters["historicMoment"],
                    ]
                ) { page in
                    page.void(
                        "img",
                        [
                            "alt": "The map as a picture",
                            "src": href(
                                path + "/export",
                                [("bbox", extent), ("size", "800,480"), ("f", "image")]),
                        ])
                }
                page.element(
                    "p", ["class": "quiet", "id": "said", "role": "status"],
                    text: "Click the map: what is there?")
                page.element("div", ["id": "found", "aria-live": "polite"]) { _ in }
            }
            page.element("aside") { layers(path, &$0) }
        }
    }

    /// `xmin,ymin,xmax,ymax` of an envelope.
    private func box(_ extent: JSONTree?) -> String? {
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { extent?[$0]?.number }
        return sides.count == 4 ? sides.map { "\($0)" }.joined(separator: ",") : nil
    }

    /// The field that selects a past moment.
    private func moment(_ path: String, _ page: inout Markup) {
        form(of: route, path, "Show", keepsMoment: false, &page)
        guard let at = parameters["at"] ?? parameters["historicMoment"] else { return }
        page.element("p", ["class": "past"]) { page in
            page.text("This is the past: \(at). ")
            page.link(path, "Back to now")
        }
    }

    private func layers(_ path: String, _ page: inout Markup) {
        page.element("h2", text: "Layers")
        let all = answer["layers"]?.elements ?? []
        tree(all, under: -1, path, depth: 0, &page)
        page.element("p", ["class": "quiet"]) { page in
            for (place, (part, name)) in [
                ("legend", "Legend"), ("layers", "All in full"), ("identify", "Identify"),
            ].enumerated() {
                if place > 0 { page.text(" · ") }
                page.link(href("\(path)/\(part)"), name)
            }
        }
        page.element("details") { page in
            page.element("summary", text: "About this map")
            facts(answer.members.filter { $0.name != "layers" }, &page)
        }
    }

    private func tree(
        _ all: [JSONTree], under parent: Int64, _ path: String, depth: Int, _ page: inout Markup
    ) {
        let here = all.filter { ($0["parentLayerId"]?.whole ?? -1) == parent }
        guard !here.isEmpty, depth < 64 else { return }
        page.element("ul", ["class": "layers"]) { page in
            for layer in here {
                let id = layer["id"]?.whole ?? 0
                let isGroup = !(layer["subLayerIds"]?.elements ?? []).isEmpty
                page.element(
                    "li",
                    [
                        "data-layer": isGroup ? nil : "\(id)",
                        "data-visible": layer["defaultVisibility"]?.isTrue == true ? "yes" : "no",
                    ]
                ) { page in
                    symbol(id, &page)
                    page.link(href("\(path)/\(id)"), layer["name"]?.text ?? "")
                    page.element(
                        "span", ["class": "quiet"],
                        text: " \(Self.kind(of: layer))"
                            + (layer["defaultVisibility"]?.isTrue == true ? "" : ", hidden"))
                    tree(all, under: id, path, depth: depth + 1, &page)
                }
            }
        }
    }

    private static func kind(of layer: JSONTree) -> String {
        let type = layer["geometryType"]?.text ?? layer["type"]?.text ?? ""
        return type.hasPrefix("esriGeometry")
            ? type.dropFirst("esriGeometry".count).lowercased() : type.lowercased()
    }

    private func symbols(of id: Int64) -> [JSONTree] {
        let entry = related.legend?["layers"]?.elements.first { $0["layerId"]?.whole == id }
        return entry?["legend"]?.elements ?? []
    }

    /// Images of a layer's first symbols, if the legend has any.
    func symbol(_ id: Int64, _ page: inout Markup) {
        for symbol in symbols(of: id).prefix(8) { picture(symbol, 20, 20, &page) }
    }

    private func picture(
        _ symbol: JSONTree, _ width: Int64, _ height: Int64, _ page: inout Markup
    ) {
        guard let data = symbol["imageData"]?.text, let type = symbol["contentType"]?.text else {
            return
        }
        page.void(
            "img",
            [
                "class": "symbol", "alt": symbol["label"]?.text ?? "",
                "src": "data:\(type);base64,\(data)", "width": "\(width)", "height": "\(height)",
            ])
    }

    /// The full legend: every layer with all its symbols and their labels.
    func legend(_ name: String, _ page: inout Markup) {
        page.element("ul", ["class": "layers"]) { page in
            for layer in answer["layers"]?.elements ?? [] {
                let id = layer["layerId"]?.whole ?? 0
                let symbols = symbols(of: id)
                let isPlain = symbols.count == 1 && symbols[0]["label"]?.text?.isEmpty != false
                page.element("li") { page in
                    if isPlain { row(symbols[0], &page) }
                    page.link(
                        href(Self.service(name, "MapServer") + "/\(id)"),
                        layer["layerName"]?.text ?? "")
                    guard !isPlain, !symbols.isEmpty else { return }
                    page.element("ul", ["class": "layers"]) { page in
                        for symbol in symbols {
                            page.element("li") { page in
                                row(symbol, &page)
                                page.text(symbol["label"]?.text ?? "")
                            }
                        }
                    }
                }
            }
        }
    }

    /// A symbol in its own size, up to a limit.
    private func row(_ symbol: JSONTree, _ page: inout Markup) {
        let (width, height) = (symbol["width"]?.whole ?? 20, symbol["height"]?.whole ?? 20)
        picture(symbol, min(max(width, 1), 400), min(max(height, 1), 400), &page)
    }

    // MARK: Features and layers

    func features(_ name: String, _ page: inout Markup) {
        let path = Self.service(name, "FeatureServer")
        page.element("p") { page in
            page.text("The same layers on a ")
            page.link(href(Self.service(name, "MapServer")), "map")
            page.text(".")
        }
        page.element("ul", ["class": "layers"]) { page in
            for layer in answer["layers"]?.elements ?? [] {
                let id = layer["id"]?.whole ?? 0
                page.element("li") { page in
                    symbol(id, &page)
                    page.link(href("\(path)/\(id)"), layer["name"]?.text ?? "")
                    page.text(" ")
                    page.link(href("\(path)/\(id)/query"), "query")
                }
            }
        }
        page.element("details") { page in
            page.element("summary", text: "About this service")
            facts(answer.members.filter { $0.name != "layers" }, &page)
        }
    }

    func layer(_ name: String, _ page: inout Markup) {
        let id = answer["id"]?.whole ?? 0
        page.element("p") { page in
            symbol(id, &page)
            page.text(Self.kind(of: answer) + " · ")
            page.link(href(Self.service(name, "MapServer")), "map")
            if answer["supportsAdvancedQueries"]?.isTrue == true {
                page.text(" · ")
                page.link(href(ownPath + "/query"), "query")
                page.text(" · ")
                page.link(href("/ogc/collections/\(name).\(id)"), "collection")
            }
        }
        if let status = answer["loadStatus"]?.text, status != "loaded" {
            notice("\(status): \(answer["loadError"]?.text ?? "")", &page)
        }
        let fields = answer["fields"]?.elements ?? []
        if !fields.isEmpty {
            page.element("h2", text: "Fields")
            table(
                ["name", "alias", "type", "length"],
                fields.map { field in
                    { name in
                        let value = field[name] ?? .null
                        guard name == "type", let type = value.text else { return value }
                        return .string(type.replacing("esriFieldType", with: ""))
                    }
                }, &page)
        }
        if let extent = answer["extent"] {
            page.element("h2", text: "Extent")
            facts(extent.members, &page)
        }
        page.element("details") { page in
            page.element("summary", text: "About this layer")
            facts(
                answer.members.filter { !["fields", "extent"].contains($0.name) }, &page)
        }
    }
}
