// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

extension RoadChange.Effect {
    /// The effect in a few words.
    package var displayText: String {
        switch self {
        case .closed: "closed"
        case .speed(let speed): "\(Self.number(speed)) km/h"
        case .factor(let factor): "time × \(Self.number(factor))"
        case .delay(let seconds): "\(Self.number(seconds)) s more"
        case .bannedTurn: "turn banned"
        }
    }

    private static func number(_ value: Double) -> String {
        let whole = value.rounded()
        return whole == value && abs(value) < 1e9 ? "\(Int64(whole))" : "\(value)"
    }
}

extension RoadChange {
    /// When the change holds and for which modes, in a few words; empty for always and all.
    package var termsText: String {
        var parts: [String] = []
        if let modes { parts.append("for " + modes.joined(separator: ", ")) }
        if let from { parts.append("from \(from.displayText)") }
        if let until { parts.append("until \(until.displayText)") }
        if let hours { parts.append(hours) }
        return parts.joined(separator: ", ")
    }

    /// The change in a few words.
    package var displayText: String {
        let count = turns?.count ?? edges.count
        let noun = turns == nil ? "edge" : "turn"
        let terms = termsText
        return "\(effect.displayText) on \(count) \(noun)\(count == 1 ? "" : "s")"
            + (followed.map { ", \($0.displayText)" } ?? "")
            + (terms.isEmpty ? "" : ", " + terms) + (reason.map { " (\($0))" } ?? "")
    }
}

extension RecordedEvent {
    /// An event of a network in a few words; nil for other events.
    var networkSummary: String? {
        switch event.type {
        case NetworkPublished.eventType:
            (try? NetworkPublished.decode(event)).map {
                "network '\($0.name)' published, \($0.edgeCount) edges"
            }
        case NetworkDeleted.eventType:
            (try? NetworkDeleted.decode(event)).map { "network '\($0.name)' deleted" }
        case RoadsChanged.eventType:
            (try? RoadsChanged.decode(event)).map {
                "roads of '\($0.name)': \($0.change.displayText)"
            }
        case RoadsRestored.eventType:
            (try? RoadsRestored.decode(event)).map { restored in
                "roads of '\(restored.name)' restored: "
                    + (restored.changes.count == 1
                        ? "change \(restored.changes[0])" : "\(restored.changes.count) changes")
            }
        case RoadsFollowed.eventType:
            (try? RoadsFollowed.decode(event)).map { followed in
                "roads of '\(followed.name)': change \(followed.change) follows layer "
                    + "'\(followed.layer)' at \(followed.sequence), "
                    + "\(followed.added.count) edges more, \(followed.removed.count) fewer"
                    + (followed.problem.map { " (\($0))" } ?? "")
            }
        default: nil
        }
    }
}

extension FollowedLayer {
    /// The layer and its state in a few words.
    package var displayText: String {
        "layer \(layer) '\(name)' of map '\(map)'"
            + (clause.map { " where \($0)" } ?? "") + " at \(sequence)"
    }
}
