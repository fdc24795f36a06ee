// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// The past of maps and features, and its undo.
extension Page {
    // MARK: Feature

    /// Every change of a feature, the last one first.
    func featureHistory(_ page: inout Markup) {
        for change in (answer["changes"]?.elements ?? []).prefix(Self.rowLimit).reversed() {
            page.element("section") { page in
                page.element("h3", text: change["change"]?.text ?? "")
                if let event = change["event"] { self.event(event, &page) }
                fields(change["fields"]?.elements ?? [], &page)
            }
        }
    }

    private func event(_ event: JSONTree, _ page: inout Markup) {
        let parts = [
            event["sequence"]?.whole.map { "sequence \($0)" }, event["recordedAt"]?.text,
            event["type"]?.text, event["actor"]?.text.map { "by \($0)" },
        ]
        page.element(
            "p", ["class": "quiet"], text: parts.compactMap(\.self).joined(separator: " · "))
    }

    private func fields(_ fields: [JSONTree], _ page: inout Markup) {
        guard !fields.isEmpty else { return }
        table(
            ["field", "before", "after"],
            fields.map { field in
                { name in
                    guard name == "field" else { return field[name] ?? .null }
                    let path = (field["path"]?.elements ?? []).compactMap(\.text)
                    return .string(path.joined(separator: "/"))
                }
            }, &page)
    }

    // MARK: Comparison

    /// The differences between two answers, and the events that made them.
    func comparison(_ page: inout Markup) {
        form(of: route, ownPath, "Compare", keepsMoment: false, &page)
        guard !isForm, !isRefused else { return }
        let differences = answer["differences"]?.elements ?? []
        page.element(
            "h2",
            text: differences.isEmpty ? "The same answer" : "\(differences.count) differences")
        let layers = Self.service(captures.name, "MapServer")
        for difference in differences.prefix(Self.rowLimit) {
            let (layer, feature) = (
                difference["layer"]?.whole ?? 0, difference["feature"]?.whole ?? 0
            )
            page.element("section") { page in
                page.element("h3") { page in
                    page.text("\(difference["layerName"]?.text ?? "") ")
                    page.link("\(layers)/\(layer)/\(feature)/history", "\(feature)")
                    page.element(
                        "span", ["class": "quiet"], text: " \(difference["change"]?.text ?? "")")
                }
                fields(difference["fields"]?.elements ?? [], &page)
                let events = (difference["events"]?.elements ?? []).compactMap(\.whole)
                if !events.isEmpty {
                    page.element(
                        "p", ["class": "quiet"],
                        text: "by " + events.map { "\($0)" }.joined(separator: ", "))
                }
            }
        }
        let events = answer["events"]?.elements ?? []
        guard !events.isEmpty else { return }
        page.element("h2", text: "Events")
        for each in events.prefix(Self.rowLimit) { event(each, &page) }
    }

    // MARK: Undo

    /// The last changes of a map; edits of features can be chosen for an undo.
    func mapHistory(_ name: String, _ page: inout Markup) {
        let changes = answer["changes"]?.elements ?? []
        guard !changes.isEmpty else {
            return page.element("p", text: "There are no changes.")
        }
        changeForm(Self.service(name, "FeatureServer") + "/undo", &page) { page in
            page.void("input", ["type": "hidden", "name": Known.undoDryRun.name, "value": "true"])
            page.element("div", ["class": "wide", "tabindex": "0"]) { page in
                page.element("table") { page in
                    page.element("thead") { page in
                        page.element("tr") { page in
                            for name in [
                                "from", "through", "sequence", "recorded", "change", "features",
                                "user",
                            ] {
                                page.element("th", ["scope": "col"], text: name)
                            }
                        }
                    }
                    page.element("tbody") { page in
                        for change in changes { row(change, &page) }
                    }
                }
            }
            page.element(
                "p",
                text: "An undo puts back what the edits from the first to the last chosen change "
                    + "did. Nothing happens before it is confirmed.")
            page.element("button", text: "Show what an undo would do")
        }
        if let before = answer["before"]?.whole {
            page.element("p", ["class": "steps"]) { page in
                page.link(
                    "?" + parameters.query(setting: Known.before.name, to: "\(before)"),
                    "Earlier changes")
            }
        }
    }

    private func row(_ change: JSONTree, _ page: inout Markup) {
        let event = change["event"]
        let sequence = event?["sequence"]?.whole ?? 0
        let features = change["featureCount"]?.whole
        page.element("tr") { page in
            for name in [Known.undoFrom.name, Known.undoThrough.name] {
                page.element("td") { page in
                    guard features != nil else { return }
                    page.void(
                        "input",
                        [
                            "type": "radio", "name": "\(name)", "value": "\(sequence)",
                            "aria-label": "\(name) \(sequence)",
                            "required": name == Known.undoFrom.name ? "required" : nil,
                        ])
                }
            }
            page.element("td", ["class": "number"], text: "\(sequence)")
            page.element("td", text: event?["recordedAt"]?.text ?? "")
            page.element("td", text: event?["type"]?.text ?? "")
            page.element("td", ["class": "number"], text: features.map { "\($0)" } ?? "")
            page.element("td", text: event?["actor"]?.text ?? "")
        }
    }

    /// What an undo did, or would do; then a form that confirms it.
    func undo(_ name: String, _ page: inout Markup) {
        let isDone = answer["success"]?.isTrue == true
        let dependents = answer["dependents"]?.elements ?? []
        let restored = answer["restored"]?.elements ?? []
        changes(answer["undone"]?.elements ?? [], isDone ? "Undone" : "Would be undone", &page)
        changes(dependents, "Later changes that build on these", &page)
        page.element("h2", text: isDone ? "Restored" : "Would be restored")
        if restored.isEmpty {
            page.element("p", text: "Nothing: all is as it was before.")
        } else {
            page.element("ul") { page in
                for text in restored.prefix(Self.rowLimit) {
                    page.element("li", text: text.text ?? "")
                }
            }
        }
        if !isDone {
            let ways =
                dependents.isEmpty
                ? [("refuse", "Undo")]
                : [("also", "Undo the later changes too"), ("merge", "Keep the later changes")]
            for (policy, text) in ways { confirmation(policy, text, &page) }
        }
        page.element("p") {
            $0.link(Self.service(name, "MapServer") + "/history", "Changes of the map")
        }
    }

    private func confirmation(_ policy: String, _ text: String, _ page: inout Markup) {
        changeForm(ownPath, &page) { page in
            let values: [(String, String?)] = [
                (Known.undoFrom.name, parameters[Known.undoFrom.name]),
                (Known.undoThrough.name, parameters[Known.undoThrough.name]),
                (Known.undoActor.name, parameters[Known.undoActor.name]),
                (Known.undoPolicy.name, policy),
            ]
            for (name, value) in values where value != nil {
                page.void("input", ["type": "hidden", "name": "\(name)", "value": value])
            }
            page.element("button", text: text)
        }
    }

    private func changes(_ changes: [JSONTree], _ title: String, _ page: inout Markup) {
        guard !changes.isEmpty else { return }
        page.element("h2", text: title)
        page.element("ul") { page in
            for change in changes.prefix(Self.rowLimit) {
                let parts = [
                    change["sequence"]?.whole.map { "\($0)" }, change["type"]?.text,
                    change["actor"]?.text.map { "by \($0)" }, change["subject"]?.text,
                    change["dependsOn"]?.whole.map { "builds on \($0)" },
                ]
                page.element("li", text: parts.compactMap(\.self).joined(separator: " · "))
            }
        }
    }
}
