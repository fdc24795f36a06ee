// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// The layers of a map in full.
extension Page {
    /// The service of the layers in this page's path.
    private var serviceType: String {
        ownPath.lowercased().contains("/featureserver") ? "FeatureServer" : "MapServer"
    }

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

    /// Every layer in full, one after the other.
    func allLayers(_ name: String, _ page: inout Markup) {
        let layers = answer["layers"]?.elements ?? []
        if layers.isEmpty { page.element("p", text: "The map has no layers.") }
        for layer in layers.prefix(Self.rowLimit) {
            let id = layer["id"]?.whole ?? 0
            page.element("section") { page in
                page.element("h2") { page in
                    page.link(
                        href("\(Self.service(name, serviceType))/\(id)"),
                        layer["name"]?.text ?? "")
                }
                description(of: layer, name, &page)
            }
        }
    }

    func layer(_ name: String, _ page: inout Markup) { description(of: answer, name, &page) }

    private func description(of layer: JSONTree, _ name: String, _ page: inout Markup) {
        let id = layer["id"]?.whole ?? 0
        page.element("p") { page in
            symbol(id, &page)
            page.text(Self.kind(of: layer) + " · ")
            page.link(href(Self.service(name, "MapServer")), "map")
            if layer["supportsAdvancedQueries"]?.isTrue == true {
                page.text(" · ")
                page.link(href("\(Self.service(name, serviceType))/\(id)/query"), "query")
                page.text(" · ")
                page.link(href("/ogc/collections/\(name).\(id)"), "collection")
            }
        }
        if let status = layer["loadStatus"]?.text, status != "loaded" {
            notice("\(status): \(layer["loadError"]?.text ?? "")", &page)
        }
        let fields = layer["fields"]?.elements ?? []
        if !fields.isEmpty {
            page.element("h3", text: "Fields")
            table(
                ["name", "alias", "type", "length"],
                fields.map { field in { Self.cell($0, of: field) } }, &page)
        }
        if let extent = layer["extent"] {
            page.element("h3", text: "Extent")
            facts(extent.members, &page)
        }
        page.element("details") { page in
            page.element("summary", text: "About this layer")
            facts(
                layer.members.filter { !["fields", "extent"].contains($0.name) }, &page)
        }
    }

    /// The cell of a field's description; a length without a limit is blank.
    private static func cell(_ column: String, of field: JSONTree) -> JSONTree {
        let value = field[column] ?? .null
        switch column {
        case "type":
            return .string((value.text ?? "").replacing("esriFieldType", with: ""))
        case "length" where value.whole == nil || value.whole == Int64(Int32.max):
            return .string("")
        default: return value
        }
    }
}
