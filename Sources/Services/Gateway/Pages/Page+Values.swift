// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import EsriForms
internal import Platform

// Arbitrary JSON as lists and tables.
extension Page {
    /// Maximum number of rows of a table and items of a list; the JSON has the rest.
    static let rowLimit = 2_000
    /// Maximum number of columns.
    private static let columnLimit = 250

    /// Writes a value in its most readable form.
    func value(_ value: JSONTree, _ page: inout Markup) {
        switch value {
        case .null: page.element("span", ["class": "none"], text: "–")
        case .bool(let flag): page.text(flag ? "yes" : "no")
        case .integer(let number): page.text("\(number)")
        case .real(let number): page.text("\(number)")
        case .string(let text): self.text(text, &page)
        case .array, .positions: list(value.elements, &page)
        case .object: facts(value.members, &page)
        }
    }

    private func text(_ text: String, _ page: inout Markup) {
        // Only these schemes become links.
        if text.hasPrefix("https://") || text.hasPrefix("http://") {
            page.element("a", ["href": text, "rel": "noreferrer nofollow"], text: text)
        } else if text.count > 400 {
            page.element("details") { page in
                page.element("summary", text: String(text.prefix(80)) + "…")
                page.text(text)
            }
        } else {
            page.text(text)
        }
    }

    /// Names and values in two columns.
    func facts(_ members: [(name: String, value: JSONTree)], _ page: inout Markup) {
        guard !members.isEmpty else { return value(.null, &page) }
        page.element("dl") { page in
            for member in members.prefix(Self.columnLimit) {
                page.element("dt", text: member.name)
                page.element("dd") { value(member.value, &$0) }
            }
        }
    }

    private func list(_ elements: [JSONTree], _ page: inout Markup) {
        guard !elements.isEmpty else { return value(.null, &page) }
        var names: [String] = []
        var known: Set<String> = []
        for element in elements.prefix(Self.rowLimit) {
            for member in element.members where known.insert(member.name).inserted {
                names.append(member.name)
            }
        }
        if !names.isEmpty {
            table(
                names, elements.map { element in { name in element[name] ?? .null } }, &page)
        } else if elements.contains(where: { !$0.elements.isEmpty }) {
            page.element("details") { page in
                page.element("summary", text: "\(elements.count) of them")
                page.element("ol") { page in
                    for element in elements.prefix(Self.rowLimit) {
                        page.element("li") { value(element, &$0) }
                    }
                }
            }
        } else {
            for (place, element) in elements.prefix(Self.rowLimit).enumerated() {
                if place > 0 { page.text(", ") }
                value(element, &page)
            }
        }
    }

    /// A table with its own scroll bar where it is wide.
    ///
    /// - Parameter link: Target of a column's cell; nil for no link.
    func table(
        _ columns: [String], _ rows: [(String) -> JSONTree], caption: String? = nil,
        link: (_ column: String, _ cell: JSONTree) -> String? = { _, _ in nil },
        _ page: inout Markup
    ) {
        let columns = columns.prefix(Self.columnLimit)
        page.element("div", ["class": "wide", "tabindex": "0"]) { page in
            page.element("table") { page in
                if let caption { page.element("caption", text: caption) }
                page.element("thead") { page in
                    page.element("tr") { page in
                        for name in columns {
                            let kind = rows.first.flatMap { Self.kind(of: $0(name)) }
                            page.element("th", ["scope": "col", "class": kind], text: name)
                        }
                    }
                }
                page.element("tbody") { page in
                    for row in rows.prefix(Self.rowLimit) {
                        page.element("tr") { page in
                            for name in columns {
                                let cell = row(name)
                                page.element("td", ["class": Self.kind(of: cell)]) { page in
                                    guard let href = link(name, cell) else {
                                        return value(cell, &page)
                                    }
                                    page.element("a", ["href": href]) { value(cell, &$0) }
                                }
                            }
                        }
                    }
                }
            }
        }
        if rows.count > Self.rowLimit {
            page.element("p", text: "The JSON has all \(rows.count) rows.")
        }
    }

    /// CSS class of a cell.
    private static func kind(of value: JSONTree) -> String? {
        switch value {
        case .integer, .real: "number"
        default: nil
        }
    }

    // MARK: Forms

    /// A labelled field of a form.
    func field(
        _ name: String, _ label: String, hint: String = "", standard: String = "",
        type: String = "text", list: String? = nil, isRequired: Bool = false,
        _ page: inout Markup
    ) {
        page.element("label") { page in
            page.element("span", text: label)
            page.void(
                "input",
                [
                    "type": type, "name": name,
                    "value": type == "password" ? nil : parameters[name] ?? standard,
                    "placeholder": hint, "list": list, "autocomplete": "off",
                    "required": isRequired ? "required" : nil,
                ])
        }
    }

    /// A form with the fields of a route, which requests a resource of that route by GET.
    func form(
        of route: Route, _ action: String, _ button: String, keepsMoment: Bool = true,
        _ page: inout Markup, _ lists: (inout Markup) -> Void = { _ in }
    ) {
        form(action, button, keepsMoment: keepsMoment, &page) { page in
            for parameter in route.parameters { field(parameter, &page) }
            lists(&page)
        }
    }

    /// A form with the fields of a route, which changes something by POST.
    func changeForm(
        of route: Route, _ action: String, _ button: String, _ page: inout Markup
    ) {
        changeForm(action, &page) { page in
            for parameter in route.parameters { field(parameter, &page) }
            page.element("button", text: button)
        }
    }

    private func field(_ parameter: ParameterDescription, _ page: inout Markup) {
        guard let field = parameter.field else { return }
        guard !field.label.isEmpty else {
            page.void(
                "input", ["type": "hidden", "name": "\(parameter.name)", "value": field.value])
            return
        }
        if field.list == "suggestions" { return searchField(parameter.name, field, &page) }
        self.field(
            parameter.name, field.label, hint: field.hint, standard: field.value,
            list: field.list, isRequired: field.isRequired, &page)
    }

    /// A field with suggestions of a locator.
    private func searchField(
        _ name: String, _ field: ParameterDescription.Field, _ page: inout Markup
    ) {
        page.element("label") { page in
            page.element("span", text: field.label)
            page.void(
                "input",
                [
                    "type": "search", "name": "\(name)", "autocomplete": "off",
                    "value": parameters[name] ?? parameters["text"], "required": "required",
                    "list": field.list,
                    "data-suggest": Self.service(captures.name, "GeocodeServer") + "/suggest",
                ])
        }
    }

    /// A form that requests a resource by GET, as of the same moment.
    func form(
        _ action: String, _ button: String, keepsMoment: Bool = true, _ page: inout Markup,
        _ fields: (inout Markup) -> Void
    ) {
        page.element("form", ["action": action, "method": "get"]) { page in
            fields(&page)
            for name in Self.carried where keepsMoment {
                guard let value = parameters[name] else { continue }
                page.void("input", ["type": "hidden", "name": "\(name)", "value": value])
            }
            page.element("button", text: button)
        }
    }
}
