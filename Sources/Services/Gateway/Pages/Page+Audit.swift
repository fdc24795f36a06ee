// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// What the gateways of the site were asked.
extension Page {
    func audit(_ page: inout Markup) {
        form(of: .audit, "/audit", "Show", keepsMoment: false, &page)
        guard !isRefused else { return }
        let entries = answer["entries"]?.elements ?? []
        guard !entries.isEmpty else {
            return page.element("p", text: "No question in the audit meets this.")
        }
        table(
            ["time", "user", "address", "operation", "map", "question", "shown", "sequence"],
            entries.map { entry in { column in Self.cell(column, of: entry) } }, &page)
        if answer["exceeded"]?.isTrue == true {
            page.element("p", ["class": "quiet"], text: "Older ones are not listed.")
        }
    }

    /// A value on one line, without what is empty: `a: 1, b: 2`.
    private static func words(_ value: JSONTree) -> String {
        switch value {
        case .null: ""
        case .bool(let flag): flag ? "yes" : ""
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .string(let text): text
        case .array, .positions: value.elements.map(words).joined(separator: ",")
        case .object:
            value.members.map { ($0.name, words($0.value)) }.filter { !$0.1.isEmpty }
                .map { "\($0.0): \($0.1)" }.joined(separator: ", ")
        }
    }

    private static func cell(_ column: String, of entry: JSONTree) -> JSONTree {
        switch column {
        case "time":
            guard case .integer(let microseconds) = entry["at"] else { return .null }
            return .string(CalendarClock(milliseconds: Int64(microseconds) / 1_000).text)
        case "user":
            let isRedacted = entry["isRedacted"]?.isTrue == true
            return entry["user"] ?? .string(isRedacted ? "redacted" : "anonymous")
        case "address": return entry["address"] ?? .null
        case "operation": return entry["operation"] ?? .null
        case "map": return entry["map"] ?? .null
        case "question":
            if let point = entry["point"]?.elements, point.count >= 2 {
                return .string(point.prefix(2).map(words).joined(separator: ", "))
            }
            return .string(entry["request"].map(words) ?? "")
        case "shown":
            let groups = (entry["shown"]?.elements ?? []).map { group in
                words(group["layer"] ?? .null) + "/" + words(group["ids"] ?? .null)
            }
            return .string(groups.joined(separator: " "))
        default: return entry["sequence"] ?? .null
        }
    }
}
