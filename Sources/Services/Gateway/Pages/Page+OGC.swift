// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// OGC API – Features as pages.
extension Page {
    func ogcLanding(_ page: inout Markup) {
        page.element("p", text: answer["description"]?.text ?? "")
        page.element("ul", ["class": "cards"]) { page in
            for (path, name) in [
                ("collections", "Collections"), ("conformance", "What is implemented"),
                ("api", "The API"),
            ] {
                page.element("li") { $0.link(href("/ogc/" + path), name) }
            }
        }
    }

    func ogcCollections(_ page: inout Markup) {
        page.element("ul", ["class": "cards"]) { page in
            for collection in answer["collections"]?.elements ?? [] {
                page.element("li") { page in
                    page.link(
                        href("/ogc/collections/" + (collection["id"]?.text ?? "")),
                        collection["title"]?.text ?? "")
                    page.element(
                        "p", ["class": "quiet"], text: collection["description"]?.text ?? "")
                }
            }
        }
    }

    func ogcCollection(_ page: inout Markup) {
        page.element("p") { $0.link(href(itemsPath), "Features") }
        facts(answer.members.filter { $0.name != "links" }, &page)
    }

    func item(_ page: inout Markup) {
        facts(answer["properties"]?.members ?? [], &page)
        page.element("details") { page in
            page.element("summary", text: "Geometry")
            value(answer["geometry"] ?? .null, &page)
        }
    }

    private var itemsPath: String {
        "/ogc/collections/\(captures.collection.map { "\($0)" } ?? "")/items"
    }

    func items(_ page: inout Markup) {
        let path = itemsPath
        form(of: route, path, "Show", &page)
        let rows = answer["features"]?.elements ?? []
        let offset = parameters["offset"].flatMap { Int($0) } ?? 0
        let matched = answer["numberMatched"]?.whole ?? 0
        page.element(
            "h2",
            text: rows.isEmpty
                ? "No features"
                : "Features \(offset + 1) to \(offset + rows.count) of \(matched)")
        guard let first = rows.first else { return }
        page.element("div", ["class": "wide", "tabindex": "0"]) { page in
            page.element("table") { page in
                let columns = (first["properties"]?.members ?? []).map(\.name)
                page.element("thead") { page in
                    page.element("tr") { page in
                        for name in ["id"] + columns {
                            page.element("th", ["scope": "col"], text: name)
                        }
                    }
                }
                page.element("tbody") { page in
                    for row in rows {
                        page.element("tr") { page in
                            let number = "\(row["id"]?.whole ?? 0)"
                            page.element("td") { $0.link(href("\(path)/\(number)"), number) }
                            for name in columns {
                                page.element("td") {
                                    value(row["properties"]?[name] ?? .null, &$0)
                                }
                            }
                        }
                    }
                }
            }
        }
        let next = offset + rows.count
        steps(
            previous: offset > 0 ? max(0, offset - rows.count) : nil,
            next: next < matched ? next : nil, "offset", &page)
    }
}
