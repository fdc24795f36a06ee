// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork

/// The rules of all profiles for nodes: barriers and signals.
struct NodeRules {
    private let profiles: [RoadProfile]
    /// The rules in the order in which they were met; the first is that of a plain node.
    private(set) var list = [RoadDraft.NodeRule()]
    private var numbers: [RoadDraft.NodeRule: UInt32] = [RoadDraft.NodeRule(): 0]

    init(_ profiles: [RoadProfile]) { self.profiles = profiles }

    /// The number of the rule of a node's tags.
    mutating func number(_ tags: OSMTags) -> UInt32 {
        guard !tags.list.isEmpty else { return 0 }
        var rule = RoadDraft.NodeRule()
        // Without a mode that waits, signals make no vertex.
        rule.hasSignals =
            tags["highway"] == "traffic_signals" && profiles.contains { $0.turns.signals > 0 }
        if tags["barrier"] != nil {
            let delays = profiles.map { Self.delay($0, tags) }
            if delays.contains(where: { $0 != 0 }) { rule.delays = delays }
            for (mode, profile) in profiles.enumerated()
            where delays[mode] != .max && Self.ownAccess(profile, tags) == .endsOnly {
                rule.endsOnly |= 1 << UInt8(mode)
            }
        }
        if let known = numbers[rule] { return known }
        let number = UInt32(list.count)
        list.append(rule)
        numbers[rule] = number
        return number
    }

    /// The access that a node's own tags state; nil for none.
    private static func ownAccess(_ profile: RoadProfile, _ tags: OSMTags) -> RoadAccess? {
        guard profile.barriers != nil else { return nil }
        return profile.access.keys.lazy.compactMap { tags[$0] }.first.map(profile.access.access)
    }

    /// Milliseconds of passing a barrier; `UInt32.max` where it is closed.
    private static func delay(_ profile: RoadProfile, _ tags: OSMTags) -> UInt32 {
        guard let barriers = profile.barriers, let barrier = tags["barrier"] else { return 0 }
        let isTooHigh = (profile.dimensions ?? [:]).contains { key, size in
            tags[key].flatMap(TagValues.dimension).map { $0 < size } ?? false
        }
        if isTooHigh { return .max }
        var seconds = barriers.pass[barrier]
        for key in ["bollard", "kerb"] {
            if let value = tags[key], let pass = barriers.pass["\(key)=\(value)"] { seconds = pass }
        }
        let milliseconds = seconds.map { UInt32(($0 * 1000).rounded()) }
        // The node's own tags come before its kind; what they let pass stands open.
        if let own = ownAccess(profile, tags) { return own == .closed ? .max : 0 }
        if let milliseconds { return milliseconds }
        if barriers.closed.contains(barrier) { return .max }
        return barriers.otherwise == .open ? 0 : .max
    }
}
