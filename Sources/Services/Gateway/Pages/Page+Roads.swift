// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import EsriForms
internal import Platform

// The changes of a network's roads, and the forms that make and end them.
extension Page {
    private static func roadsPath(_ name: String) -> String {
        service(name, "NAServer") + "/roads"
    }

    /// Whether the page may offer forms: the past is as it was.
    private var offersRoadForms: Bool { mayChangeRoads && parameters[Known.at] == nil }

    func roads(_ name: String, _ page: inout Markup) {
        let path = Self.roadsPath(name)
        let changes = answer["changes"]?.elements ?? []
        if changes.isEmpty {
            page.element("p", text: "No change of roads stands.")
        } else {
            let columns = [
                "number", "effect", "streets", "edges", "layer", "modes", "from", "until", "hours",
                "reason", "recorded",
            ]
            table(
                columns, changes.map { change in { Self.cell($0, of: change) } },
                link: { column, cell in
                    guard column == "number", let number = cell.whole else { return nil }
                    return href("\(path)/\(number)")
                }, &page)
        }
        let last = changes.last?["number"]?.whole
        if answer["exceededTransferLimit"]?.isTrue == true, let last {
            page.element("p", ["class": "steps"]) { page in
                page.link(
                    "?" + parameters.query(setting: Known.afterChange.name, to: "\(last)"),
                    "Further changes")
            }
        }
        guard offersRoadForms else { return }
        for (action, route) in Route.roadChangers {
            guard action != "undo" || !changes.isEmpty else { continue }
            page.element("details") { page in
                page.element("summary", text: Self.titles[action] ?? action)
                changeForm(of: route, "\(path)/\(action)", Self.titles[action] ?? action, &page)
            }
        }
    }

    private static let titles = [
        "close": "Close roads", "slow": "Slow roads", "delay": "Delay on roads",
        "ban": "Ban turns", "follow": "Follow a layer", "undo": "End changes",
    ]

    private static func cell(_ column: String, of change: JSONTree) -> JSONTree {
        switch column {
        case "effect": .string(effect(of: change))
        case "streets":
            .string((change["streets"]?.elements ?? []).compactMap(\.text).joined(separator: ", "))
        case "edges": change["edgeCount"] ?? .null
        case "layer": .string(layer(of: change))
        case "modes":
            .string((change["modes"]?.elements ?? []).compactMap(\.text).joined(separator: ", "))
        case "recorded": change["recordedAt"] ?? .null
        default: change[column] ?? .null
        }
    }

    /// The layer that a change follows, and what is wrong with it; empty for none.
    private static func layer(of change: JSONTree) -> String {
        guard let follows = change["follows"] else { return "" }
        let at = "at \(follows["sequence"]?.whole ?? 0)"
        guard let map = follows["map"]?.text, let name = follows["layerName"]?.text else {
            return at
        }
        return "\(name) (\(map)/\(follows["layer"]?.whole ?? 0)) \(at)"
            + (follows["problem"]?.text.map { ": " + $0 } ?? "")
    }

    /// The effect in a few words.
    private static func effect(of change: JSONTree) -> String {
        switch change["effect"]?.text {
        case "closed": "closed"
        case "speed": "\(change["speed"]?.number ?? 0) km/h"
        case "factor": "time × \(change["factor"]?.number ?? 0)"
        case "delay": "\(change["seconds"]?.number ?? 0) s more"
        case "bannedTurn": "turn banned"
        default: ""
        }
    }

    func road(_ name: String, _ page: inout Markup) {
        facts(answer.members.filter { $0.name != "geometry" }, &page)
        if offersRoadForms { undoForm(name, answer["number"]?.whole, &page) }
        page.element("p") { $0.link(href(Self.roadsPath(name)), "All changes of roads") }
    }

    private func undoForm(_ name: String, _ number: Int64?, _ page: inout Markup) {
        guard let number else { return }
        changeForm(Self.roadsPath(name) + "/undo", &page) { page in
            page.void(
                "input",
                [
                    "type": "hidden", "name": "\(Known.endedChanges.name)", "value": "\(number)",
                ])
            page.element("button", text: "End this change")
        }
    }

    /// What a command did.
    func roadsChanged(_ name: String, _ page: inout Markup) {
        if let restored = answer["restored"]?.elements {
            page.element(
                "p",
                text: restored.count == 1
                    ? "Change \(restored[0].whole ?? 0) has ended."
                    : "\(restored.count) changes have ended.")
        } else {
            page.element(
                "p", text: "Change \(answer["number"]?.whole ?? 0): \(Self.effect(of: answer)).")
            facts(answer.members, &page)
            undoForm(name, answer["number"]?.whole, &page)
        }
        page.element("p") { $0.link(Self.roadsPath(name), "All changes of roads") }
    }
}
