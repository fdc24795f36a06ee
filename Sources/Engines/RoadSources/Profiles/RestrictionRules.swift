// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork

/// The rules of all profiles for restrictions of turns
/// (wiki.openstreetmap.org/wiki/Relation:restriction).
struct RestrictionRules {
    let profiles: [RoadProfile]

    /// Whether a relation restricts turns.
    static func isRestriction(_ tags: OSMTags) -> Bool {
        let type = tags["type"] ?? ""
        return type == "restriction" || type.hasPrefix("restriction:")
    }

    /// The reason why a relation is left out.
    struct Rejection: Error {
        var reason: String
        init(_ reason: String) { self.reason = reason }
    }

    /// A value with the times at which it holds, empty for always.
    private struct Clause: Hashable {
        var value: String
        var condition: String
    }

    /// The restrictions that a relation is for the modes; empty where none has to obey.
    func restrictions(_ relation: OSMRelation) throws(Rejection) -> [RoadDraft.Restriction] {
        var modes: [Clause: UInt8] = [:]
        var hasValue = false
        for (number, profile) in profiles.enumerated() {
            let found = clauses(profile, relation.tags)
            hasValue = hasValue || !found.isEmpty
            guard let rules = profile.restrictions else { continue }
            let excepted = TagValues.list(relation.tags["except"] ?? "")
            if excepted.contains(where: rules.exceptions.contains) { continue }
            for clause in found { modes[clause, default: 0] |= 1 << UInt8(number) }
        }
        if modes.isEmpty {
            let isOfOthers = relation.tags.list.contains { $0.key.hasPrefix("restriction:") }
            guard hasValue || isOfOthers || relation.tags["restriction"] != nil else {
                throw Rejection("no value of 'restriction'")
            }
            return []
        }
        let (from, via, to) = try members(relation)
        var result: [RoadDraft.Restriction] = []
        for (clause, modes) in modes.sorted(by: {
            ($0.key.value, $0.key.condition) < ($1.key.value, $1.key.condition)
        }) {
            let kind = try Self.kind(clause.value)
            guard from.count == 1 || kind == .noEntry else {
                throw Rejection("\(from.count) members 'from'; expected one")
            }
            guard to.count == 1 || kind == .noExit else {
                throw Rejection("\(to.count) members 'to'; expected one")
            }
            result.append(
                RoadDraft.Restriction(
                    id: relation.id, kind: kind, modes: modes, from: from, via: via, to: to,
                    condition: clause.condition))
        }
        return result
    }

    private func clauses(_ profile: RoadProfile, _ tags: OSMTags) -> [Clause] {
        let keys = profile.restrictions?.keys ?? ["restriction"]
        var clauses: [Clause] = []
        if let value = keys.lazy.compactMap({ tags[$0] }).first {
            // The old way of giving hours.
            let hours = ["day_on", "day_off", "hour_on", "hour_off"].compactMap { key in
                tags[key].map { "\(key)=\($0)" }
            }
            clauses.append(Clause(value: value, condition: hours.joined(separator: " ")))
        }
        if let text = keys.lazy.compactMap({ tags[$0 + ":conditional"] }).first {
            clauses += TimedClauses.list(text).map {
                Clause(value: $0.value, condition: $0.condition)
            }
        }
        return clauses
    }

    private static func kind(_ value: String) throws(Rejection) -> RoadDraft.Restriction.Kind {
        switch value {
        case "no_entry": return .noEntry
        case "no_exit": return .noExit
        case "no_u_turn": return .noUTurn
        case _ where value.hasPrefix("no_"): return .no
        case _ where value.hasPrefix("only_"): return .only
        default: throw Rejection("the restriction '\(value.prefix(40))' is not known")
        }
    }

    private func members(
        _ relation: OSMRelation
    ) throws(Rejection) -> ([Int64], RoadDraft.Restriction.Via, [Int64]) {
        var (from, to, viaWays, viaNodes): ([Int64], [Int64], [Int64], [Int64]) = ([], [], [], [])
        for member in relation.members {
            switch (member.role, member.kind) {
            case ("from", .way): from.append(member.id)
            case ("to", .way): to.append(member.id)
            case ("via", .way): viaWays.append(member.id)
            case ("via", .node): viaNodes.append(member.id)
            case ("from", _), ("to", _), ("via", _):
                throw Rejection("a member '\(member.role)' is of the wrong kind")
            default: continue
            }
        }
        guard !from.isEmpty else { throw Rejection("no member 'from'") }
        guard !to.isEmpty else { throw Rejection("no member 'to'") }
        guard from.count + to.count + viaWays.count <= 64 else {
            throw Rejection("more than 64 members")
        }
        switch (viaNodes.count, viaWays.count) {
        case (1, 0): return (from, .node(viaNodes[0]), to)
        case (0, 1...): return (from, .ways(viaWays), to)
        case (0, 0): throw Rejection("no member 'via'")
        default: throw Rejection("several members 'via' that are not all ways")
        }
    }
}
