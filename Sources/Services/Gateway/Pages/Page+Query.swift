// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import JobKinds
internal import Platform

// Forms that query a map, and their results.
extension Page {
    // MARK: Identify

    func identify(_ name: String, _ page: inout Markup) {
        form(of: route, ownPath, "Identify", &page)
        guard !isForm, !isRefused else { return }
        results("Nothing is here", &page)
    }

    func find(_ name: String, _ page: inout Markup) {
        form(of: route, ownPath, "Find", &page)
        guard !isForm, !isRefused else { return }
        results("No feature has this text", &page)
    }

    /// The features of identify and find, each with the attributes that have a value.
    private func results(_ nothing: String, _ page: inout Markup) {
        let results = answer["results"]?.elements ?? []
        page.element("h2", text: results.isEmpty ? nothing : "\(results.count) found")
        for result in results.prefix(Self.rowLimit) {
            page.element("section") { page in
                page.element("h3") { page in
                    value(result["value"] ?? .null, &page)
                    page.element(
                        "span", ["class": "quiet"],
                        text: " \(result["layerName"]?.text ?? "")")
                }
                facts(
                    (result["attributes"]?.members ?? []).filter { !$0.value.isBlank }, &page)
            }
        }
    }

    // MARK: Query

    func query(_ page: inout Markup) {
        let fields = related.layer?["fields"]?.elements ?? []
        form(of: route, ownPath, "Query", &page) { page in
            page.element("datalist", ["id": "fields"]) { page in
                for field in fields.prefix(200) {
                    page.void(
                        "option",
                        ["value": field["name"]?.text ?? "", "label": field["alias"]?.text])
                }
            }
        }
        guard !isForm, !isRefused else { return }
        guard case .array(let rows)? = answer["features"], answer["fields"] != nil else {
            return value(answer, &page)
        }
        let columns = (answer["fields"]?.elements ?? []).compactMap { $0["name"]?.text }
        page.element(
            "h2",
            text: rows.isEmpty
                ? "No rows"
                : "Rows \(offset + 1) to \(offset + rows.count)"
                    + (related.count.map { " of \($0)" } ?? ""))
        guard !rows.isEmpty else { return }
        table(
            columns, rows.map { row in { row["attributes"]?[$0] ?? .null } }, link: featureLink,
            &page)
        let hasMore = answer["exceededTransferLimit"]?.isTrue == true
        steps(
            previous: offset > 0 ? max(0, offset - rows.count) : nil,
            next: hasMore ? offset + rows.count : nil, "resultOffset", &page)
        downloads(&page)
    }

    /// Links to the rows of the query as files, and to the job without their bound.
    private func downloads(_ page: inout Markup) {
        page.element("p", ["class": "steps"]) { page in
            page.text("Download up to \(QueryRequest.recordBound) rows: ")
            for file in QueryFile.formats {
                let query = parameters.query(setting: [
                    ("resultOffset", nil), ("resultRecordCount", nil), ("returnGeometry", "true"),
                    ("f", file.name),
                ])
                page.link("?" + query, file.title)
                page.text(" ")
            }
            page.text("· ")
            page.link(
                href(
                    "\(JobResource.path)/\(JobKind.exportFeatures.rawValue)",
                    [("map", captures.name), ("layer", "\(captures.layer)")]
                        + (parameters["where"].map { [("where", $0)] } ?? [])),
                "All rows, by a job")
        }
    }

    /// The page of the feature with this object id; nil for the cells of other columns.
    private func featureLink(_ column: String, _ cell: JSONTree) -> String? {
        guard column == answer["objectIdFieldName"]?.text, case .integer(let id) = cell else {
            return nil
        }
        let path = ownPath.split(separator: "/").dropLast().joined(separator: "/")
        return href("/\(path)/\(id)")
    }

    /// A feature: its attributes and its geometry.
    func feature(_ page: inout Markup) {
        facts(answer["feature"]?["attributes"]?.members ?? [], &page)
        if seesHistory {
            let layer = Self.service(captures.name, "MapServer") + "/\(captures.layer)"
            page.element("p") { $0.link("\(layer)/\(captures.objectID)/history", "History") }
        }
        guard let geometry = answer["feature"]?["geometry"] else { return }
        page.element("details") { page in
            page.element("summary", text: "Geometry")
            facts(geometry.members, &page)
        }
    }

    /// Links to the previous and the next page.
    func steps(previous: Int?, next: Int?, _ name: String, _ page: inout Markup) {
        page.element("p", ["class": "steps"]) { page in
            for (offset, text) in [(previous, "← Previous"), (next, "Next →")] {
                guard let offset else { continue }
                page.link("?" + parameters.query(setting: name, to: "\(offset)"), text)
                page.text(" ")
            }
        }
    }

    // MARK: Locators

    func locatorForm(_ form: LocatorForm, _ page: inout Markup) {
        let path = Self.service(captures.name, "GeocodeServer")
        switch form {
        case .find:
            self.form(
                of: .findAddressCandidates, path + "/findAddressCandidates", "Find",
                keepsMoment: false, &page
            ) { $0.element("datalist", ["id": "suggestions"]) { _ in } }
        case .reverse:
            self.form(
                of: .reverseGeocode, path + "/reverseGeocode", "Name it", keepsMoment: false, &page)
        }
    }

    func suggestions(_ page: inout Markup) {
        let path = Self.service(captures.name, "GeocodeServer")
        page.element("ul") { page in
            for suggestion in answer["suggestions"]?.elements ?? [] {
                let text = suggestion["text"]?.text ?? ""
                let key = suggestion["magicKey"]?.text ?? ""
                page.element("li") { page in
                    page.link(
                        href(
                            path + "/findAddressCandidates",
                            [("singleLine", text), ("magicKey", key), ("outFields", "*")]),
                        text)
                }
            }
        }
    }

    func candidates(_ page: inout Markup) {
        let found = answer["candidates"]?.elements ?? []
        page.element("h2", text: found.isEmpty ? "No such place" : "\(found.count) found")
        for candidate in found {
            page.element("section") { page in
                page.element("h3") { page in
                    page.text(candidate["address"]?.text ?? "")
                    page.element("span", ["class": "quiet"]) { page in
                        page.text(" score ")
                        value(candidate["score"] ?? .null, &page)
                    }
                }
                let sides = ["x", "y"].compactMap { candidate["location"]?[$0]?.number }
                page.element(
                    "p", text: sides.map { "\($0)" }.joined(separator: ", "))
                page.element("details") { page in
                    page.element("summary", text: "Attributes")
                    facts(candidate["attributes"]?.members ?? [], &page)
                }
            }
        }
    }
}

/// A form of a locator's pages.
enum LocatorForm { case find, reverse }

extension JSONTree {
    /// Whether it is null or text without a letter.
    fileprivate var isBlank: Bool {
        switch self {
        case .null: true
        case .string(let text): text.allSatisfy(\.isWhitespace)
        default: false
        }
    }
}
