// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork

/// What the profiles make of a way's tags.
struct WayUse: Hashable {
    /// Class, kinds and conditions; names are added for each way.
    var traits = RoadDraft.WayTraits()
    /// Whether it is a ferry.
    var isFerry = false
    /// The reason why no mode may use it; nil where one may.
    var rejection: String?
}

/// The rules of all profiles for ways.
struct WayRules {
    private let profiles: [RoadProfile]
    /// The keys that any rule reads.
    private let keys: Set<String>
    private var known: [OSMTags: WayUse] = [:]

    private static let conditional = ":conditional"

    /// Most sets of tags that are remembered.
    private static let memoryLimit = 100_000

    init(_ profiles: [RoadProfile]) {
        self.profiles = profiles
        var keys: Set<String> = [
            "highway", "route", "area", "junction", "service", "toll", "tunnel", "bridge", "hazmat",
            "driving_side", "surface", "maxspeed:type", "source:maxspeed", "zone:maxspeed",
        ]
        func add(_ key: String) {
            for ending in ["", ":forward", ":backward"] {
                keys.insert(key + ending)
                keys.insert(key + ending + Self.conditional)
            }
        }
        for profile in profiles {
            profile.access.keys.forEach(add)
            profile.oneway?.keys.forEach(add)
            keys.formUnion(profile.oneway?.impliedBy.keys.map(\.self) ?? [])
            keys.formUnion(profile.oneway?.contraflow?.keys.map(\.self) ?? [])
            profile.limits?.keys.forEach(add)
            keys.formUnion(profile.caps?.keys.map(\.self) ?? [])
            profile.dimensions?.keys.forEach(add)
        }
        self.keys = keys
    }

    /// Whether tags may be those of a road at all.
    static func isRoad(_ tags: OSMTags) -> Bool {
        tags["highway"] != nil || ["ferry", "shuttle_train"].contains(tags["route"] ?? "")
    }

    /// What the profiles make of a road's tags.
    mutating func use(_ tags: OSMTags) -> WayUse {
        let read = OSMTags(
            tags.list.filter { keys.contains($0.key) }.sorted {
                ($0.key, $0.value) < ($1.key, $1.value)
            })
        if let use = known[read] { return use }
        let use = decide(read)
        if known.count >= Self.memoryLimit { known.removeAll() }
        known[read] = use
        return use
    }

    private func decide(_ tags: OSMTags) -> WayUse {
        var use = WayUse()
        let route = tags["route"] ?? ""
        use.isFerry = tags["highway"] == nil && ["ferry", "shuttle_train"].contains(route)
        let roadClass = use.isFerry ? "ferry" : tags["highway"] ?? ""
        use.traits.roadClass = roadClass
        use.traits.flags = Self.flags(tags, roadClass, isFerry: use.isFerry)
        use.traits.conditions = tags.list.filter { $0.key.hasSuffix(":conditional") }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "\n")
        let isFerry = use.isFerry
        let isArea = tags["area"] == "yes" && !isFerry
        func passages(_ tags: OSMTags) -> RoadDraft.Variant {
            var variant = RoadDraft.Variant(forward: [], backward: [])
            for profile in profiles {
                let rules = ModeRules(profile: profile, tags: tags, roadClass: roadClass)
                guard !isArea || profile.usesAreas == true else {
                    variant.forward.append(.closed)
                    variant.backward.append(.closed)
                    continue
                }
                let (forward, backward) =
                    isFerry ? rules.ferryPassages(route) : rules.passages()
                variant.forward.append(forward)
                variant.backward.append(backward)
            }
            return variant
        }
        let usual = passages(tags)
        (use.traits.forward, use.traits.backward) = (usual.forward, usual.backward)
        let times = Self.times(tags)
        let variants = (1..<max(1, 1 << times.count)).map { passages(Self.tags(tags, times, $0)) }
        if variants.contains(where: { $0 != usual }) {
            (use.traits.times, use.traits.variants) = (times, variants)
        }
        let all = ([usual] + variants).flatMap { $0.forward + $0.backward }
        if all.allSatisfy({ $0.access == .closed }) {
            use.rejection =
                isArea
                ? "an area (area=yes), not a line"
                : "no mode may use \(use.isFerry ? "route" : "highway")="
                    + "\(use.isFerry ? route : String(roadClass.prefix(40)))"
        }
        return use
    }

    /// The different times of tags with conditions that are understood, at most
    /// ``RoadDraft/timeLimit``.
    private static func times(_ tags: OSMTags) -> [String] {
        var times: [String] = []
        for tag in tags.list where tag.key.hasSuffix(conditional) {
            for clause in TimedClauses.list(tag.value) where !times.contains(clause.condition) {
                if MapHours(clause.condition) != nil { times.append(clause.condition) }
            }
        }
        return Array(times.prefix(RoadDraft.timeLimit))
    }

    /// The tags while some times hold: of several clauses the last one that holds counts.
    private static func tags(_ tags: OSMTags, _ times: [String], _ holding: Int) -> OSMTags {
        var list = tags.list
        for tag in tags.list where tag.key.hasSuffix(conditional) {
            let key = String(tag.key.dropLast(conditional.count))
            let clause = TimedClauses.list(tag.value).last { clause in
                times.firstIndex(of: clause.condition).map { holding & 1 << $0 != 0 } ?? false
            }
            guard let clause else { continue }
            list.removeAll { $0.key == key }
            list.append(OSMTags.Tag(key: key, value: clause.value))
        }
        return OSMTags(list)
    }

    private static func flags(_ tags: OSMTags, _ roadClass: String, isFerry: Bool) -> RoadFlags {
        func isSet(_ key: String) -> Bool { tags[key].map { $0 != "no" } ?? false }
        var flags: RoadFlags = []
        if ["roundabout", "circular"].contains(tags["junction"] ?? "") {
            flags.insert(.roundabout)
        }
        if roadClass.hasSuffix("_link") { flags.insert(.ramp) }
        if isFerry { flags.insert(.ferry) }
        if isSet("toll") { flags.insert(.toll) }
        if isSet("tunnel") { flags.insert(.tunnel) }
        if isSet("bridge") { flags.insert(.bridge) }
        if unpaved.contains(tags["surface"] ?? "") { flags.insert(.unpaved) }
        if roadClass == "steps" { flags.insert(.steps) }
        if tags["driving_side"] == "left" { flags.insert(.leftHandTraffic) }
        return flags
    }

    private static let unpaved: Set<String> = [
        "unpaved", "gravel", "fine_gravel", "compacted", "dirt", "ground", "earth", "grass", "sand",
        "mud", "pebblestone", "rock",
    ]
}

/// The rules of one profile on the tags of one way.
private struct ModeRules {
    let profile: RoadProfile
    let tags: OSMTags
    let roadClass: String

    private enum Direction: String { case forward, backward }

    typealias Passages = (forward: RoadDraft.Passage, backward: RoadDraft.Passage)
    private static let closed: Passages = (.closed, .closed)

    func passages() -> Passages {
        guard !isTooSmall else { return Self.closed }
        let directions = directions()
        return (passage(.forward, directions), passage(.backward, directions))
    }

    func ferryPassages(_ route: String) -> Passages {
        guard let ferries = profile.ferries, ferries.routes.contains(route), !isTooSmall else {
            return Self.closed
        }
        func passage(_ direction: Direction, isOpen: Bool) -> RoadDraft.Passage {
            let access = decided(direction)?.access ?? ferries.otherwise.access
            return isOpen && access != .closed
                ? RoadDraft.Passage(access: access, speed: FerryTimes.slowest) : .closed
        }
        let directions = directions()
        return (
            passage(.forward, isOpen: directions.forward),
            passage(.backward, isOpen: directions.backward)
        )
    }

    private func passage(
        _ direction: Direction, _ directions: (forward: Bool, backward: Bool)
    ) -> RoadDraft.Passage {
        let decided = decided(direction)
        let access = decided?.access ?? .open
        let isOpenWay =
            (direction == .forward ? directions.forward : directions.backward)
            || decided?.isDirectional == true && access == .open
        guard isOpenWay, access != .closed,
            let speed = speed(direction, isTagged: decided?.isSpecific ?? false)
        else { return .closed }
        return RoadDraft.Passage(access: access, speed: speed)
    }

    // MARK: Access

    private struct Decision {
        var access: RoadAccess
        /// Whether the tag is of one direction.
        var isDirectional = false
        /// Whether the tag opens the road, and is not the most general one.
        var isSpecific = false
    }

    /// What the tags of access say; nil where none does.
    private func decided(_ direction: Direction) -> Decision? {
        let rules = profile.access
        if rules.rule == .any {
            let isClosed = rules.keys.contains { key in
                tags[key].map { rules.closed.contains($0) } ?? false
            }
            return isClosed ? Decision(access: .closed) : nil
        }
        for key in rules.keys {
            let directional = tags["\(key):\(direction.rawValue)"]
            guard let value = directional ?? tags[key] else { continue }
            let access = rules.access(value)
            return Decision(
                access: access, isDirectional: directional != nil,
                isSpecific: access == .open && key != rules.keys.last
                    && rules.open.contains(where: TagValues.list(value).contains))
        }
        return nil
    }

    // MARK: Directions

    private func directions() -> (forward: Bool, backward: Bool) {
        guard let oneway = profile.oneway else { return (true, true) }
        var result = implied(oneway)
        if let value = oneway.keys.lazy.compactMap({ tags[$0] }).first {
            switch value {
            case "yes", "true", "1": result = (true, false)
            case "-1", "reverse": result = (false, true)
            case "no", "false", "0": result = (true, true)
            case "reversible", "alternating": result = (false, false)
            default: break
            }
        }
        for (key, values) in oneway.contraflow ?? [:] {
            if let value = tags[key], values.contains(value), result.forward != result.backward {
                result = (true, true)
            }
        }
        return result
    }

    private func implied(_ oneway: RoadProfile.Oneway) -> (forward: Bool, backward: Bool) {
        let isImplied = oneway.impliedBy.contains { key, values in
            tags[key].map { values.contains($0) } ?? false
        }
        return (true, !isImplied)
    }

    // MARK: Speed

    /// Kilometres per hour; nil where the road is closed.
    private func speed(_ direction: Direction, isTagged: Bool) -> Double? {
        let tagged = isTagged ? profile.taggedSpeeds?[roadClass] : nil
        guard var speed = tagged ?? profile.speeds[roadClass] else { return nil }
        if let limits = profile.limits {
            if let limit = limit(limits, direction) {
                let driven = min(limit, limits.most) * limits.factor
                speed = limits.use == .replace ? driven : min(speed, driven)
            }
            speed = min(speed, limits.most)
        }
        for (key, caps) in profile.caps ?? [:] {
            if let value = tags[key], let cap = caps[value] { speed = min(speed, cap) }
        }
        if roadClass == "service", let factor = profile.services?[tags["service"] ?? ""] {
            speed *= factor
        }
        return speed > 0 ? max(speed, 0.1) : nil
    }

    private func limit(_ limits: RoadProfile.Limits, _ direction: Direction) -> Double? {
        for key in limits.keys {
            for text in [tags["\(key):\(direction.rawValue)"], tags[key]] {
                if let text, let limit = TagValues.speed(text) { return limit }
            }
        }
        for key in ["maxspeed:type", "source:maxspeed", "zone:maxspeed"] {
            if let text = tags[key], let limit = TagValues.speed(text) { return limit }
        }
        return nil
    }

    /// Whether the vehicle is larger than the road allows, or its load is forbidden.
    private var isTooSmall: Bool {
        if profile.carriesHazardousGoods == true, tags["hazmat"] == "no" { return true }
        return (profile.dimensions ?? [:]).contains { key, size in
            tags[key].flatMap(TagValues.dimension).map { $0 < size } ?? false
        }
    }
}

extension RoadProfile.Access {
    /// What a value means; of several values the most open one counts.
    func access(_ text: String) -> RoadAccess {
        let values = TagValues.list(text).map { value -> RoadAccess in
            if open.contains(value) { return .open }
            if endsOnly.contains(value) { return .endsOnly }
            if closed.contains(value) { return .closed }
            return otherwise.access
        }
        return values.max { $0.rawValue < $1.rawValue } ?? .open
    }
}
