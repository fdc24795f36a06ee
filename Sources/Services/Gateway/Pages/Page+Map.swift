// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// The list of services, a map to click, its layers and symbols.
extension Page {
    func services(_ page: inout Markup) {
        guard !isRefused else { return }
        let all = answer["services"]?.elements ?? []
        let kinds = [
            ("MapServer", "Maps", "pictures, identify, the past"),
            ("FeatureServer", "Features", "queries of their layers"),
            ("GeocodeServer", "Locators", "places by name, names by place"),
            ("NAServer", "Networks", "routes, tables of costs, service areas"),
            ("GPServer", "Jobs", "long work in the background"),
        ]
        let folders = (answer["folders"]?.elements ?? []).compactMap(\.text)
        let isEmpty = folders.isEmpty && all.allSatisfy { $0["type"]?.text == "GPServer" }
        if isEmpty { firstStep(&page) }
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
    }

    /// What to do where no map and no locator is visible.
    private func firstStep(_ page: inout Markup) {
        if offersLogin {
            return page.element("p", text: "Nothing is visible here without logging in.")
        }
        if let user {
            page.element("p", text: "No map and no locator is visible to \(user).")
        }
        page.element("section") { page in
            page.element("h2", text: "First step")
            page.element(
                "p",
                text: "A site without maps is empty. On the machine of this site, import a file "
                    + "into a map, and build a locator of places or addresses:")
            page.element("pre") { page in
                page.element(
                    "code",
                    text: "cairn import parcels.gpkg --map City\n"
                        + "cairn locator build World addresses.csv")
            }
            page.element("p") { page in
                page.text("'cairn import --help' lists the options. Documentation: ")
                page.link("/arcgis/rest/openapi.json", "the interface for programs")
                page.text("; formats and imports are in Docs/maps.md of Cairn's sources.")
            }
        }
    }

    // MARK: A map

    func map(_ name: String, _ page: inout Markup) {
        let path = Self.service(name, "MapServer")
        past(path, &page)
        guard let extent = box(answer["initialExtent"]) else {
            notice("The map is blank: its basemap is not loaded.", &page)
            layers(path, &page)
            return about(path, &page)
        }
        if answer["layers"]?.elements.isEmpty ?? true {
            notice("The map is blank: it has no layers.", &page)
        }
        if !hasLeaflet {
            notice(
                "Leaflet is not installed on this server, so the map stands still: Debian's "
                    + "package is libjs-leaflet.",
                &page)
        }
        page.element("div", ["class": "map-view"]) { page in
            page.element("section", ["class": "map-frame", "aria-label": "Map"]) { page in
                search(&page)
                page.element(
                    "div",
                    [
                        "id": "map", "role": "region",
                        "aria-label":
                            "Map: arrow keys move it, plus and minus zoom, Enter asks what is in "
                            + "the middle",
                        "data-service": path, "data-extent": extent,
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
            }
            page.element("aside", ["class": "panel", "aria-label": "Layers and answers"]) { page in
                page.element("section", ["class": "layer-panel", "aria-label": "Layers"]) {
                    layers(path, &$0)
                }
                routes(&page)
                page.element("section", ["class": "answers", "aria-label": "Answers"]) { page in
                    page.element("h2", text: "Answers")
                    page.element(
                        "p", ["class": "quiet", "id": "said", "role": "status"], text: "")
                    page.element("div", ["id": "found"]) { _ in }
                }
            }
        }
        about(path, &page)
    }

    /// The search box over the map; without a locator there is no box, and without scripts it leads
    /// to the first locator's page.
    private func search(_ page: inout Markup) {
        guard let first = related.locators.first else { return }
        let paths = related.locators.map { Self.service($0, "GeocodeServer") }
        page.element(
            "form",
            [
                "id": "search", "class": "search", "role": "search", "method": "get",
                "action": Self.service(first, "GeocodeServer") + "/findAddressCandidates",
                "data-locators": paths.joined(separator: " "),
            ]
        ) { page in
            page.void(
                "input",
                [
                    "type": "search", "name": "singleLine", "required": "required",
                    "autocomplete": "off", "list": "suggestions", "placeholder": "Search a place",
                    "aria-label": "Search a place",
                ])
            page.void("input", ["type": "hidden", "name": "outFields", "value": "*"])
            page.element("button", text: "Search")
            page.element("datalist", ["id": "suggestions"]) { _ in }
        }
    }

    /// The place of the route's controls, which the script makes; none without a network.
    private func routes(_ page: inout Markup) {
        guard !related.networks.isEmpty else { return }
        page.element("section", ["class": "route-panel", "aria-label": "Routes"]) { page in
            page.element("details", ["id": "routes", "data-proof": session?.proof]) { page in
                page.element("summary", text: "Routes")
                page.element("ul", ["hidden": "hidden"]) { page in
                    for network in related.networks {
                        page.element(
                            "li",
                            [
                                "data-network": network.name,
                                "data-service": Self.service(network.name, "NAServer"),
                                "data-change": network.mayChange ? "yes" : "no",
                            ], text: network.name)
                    }
                }
            }
        }
    }

    /// `xmin,ymin,xmax,ymax` of an envelope.
    func box(_ extent: JSONTree?) -> String? {
        let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { extent?[$0]?.number }
        return sides.count == 4 ? sides.map { "\($0)" }.joined(separator: ",") : nil
    }

    private func past(_ path: String, _ page: inout Markup) {
        guard let at = parameters["at"] ?? parameters["historicMoment"] else { return }
        page.element("p", ["class": "past"]) { page in
            page.text("This is the past: \(at). ")
            page.link(path, "Back to now")
        }
    }

    private func layers(_ path: String, _ page: inout Markup) {
        page.element("h2", text: "Layers")
        tree(answer["layers"]?.elements ?? [], under: -1, path, depth: 0, &page)
    }

    /// The field that selects a past moment, the other resources of the map, its description.
    private func about(_ path: String, _ page: inout Markup) {
        page.element("p", ["class": "quiet"]) { page in
            let past = [("history", "Changes"), ("identify/compare", "Compare two moments")]
            let parts =
                [
                    ("legend", "Legend"), ("layers", "All in full"), ("identify", "Identify"),
                    ("find", "Find"),
                ] + (seesHistory ? past : [])
            for (place, (part, name)) in parts.enumerated() {
                if place > 0 { page.text(" · ") }
                page.link(href("\(path)/\(part)"), name)
            }
            page.text(" · ")
            page.link(href(Self.service(captures.name, "VectorTileServer")), "Vector tiles")
        }
        form(of: route, path, "Show", keepsMoment: false, &page)
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

    static func kind(of layer: JSONTree) -> String {
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
}
