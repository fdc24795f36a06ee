// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork

/// The roads of one or several extracts: first their ways and relations, then the nodes that these
/// need.
///
/// Of objects with one id that of the highest version counts.
struct ExtractRoads {
    private let profiles: [RoadProfile]
    private var rules: WayRules
    private var nodeRules: NodeRules
    private let restrictionRules: RestrictionRules
    /// Whether ways that are no roads are remembered too: a later version may not be one any more.
    private let isMerging: Bool
    private(set) var report = RoadReport()
    private(set) var isReadingNodes = false

    private struct WayRecord {
        var id: Int64
        var version: Int32
        /// Index of its traits; `UInt32.max` where it is no road.
        var traits: UInt32
        var first: Int
        var count: Int
        var isFerry = false
        var seconds: Double?
    }

    private var ways: [WayRecord] = []
    private var wayNodes: [Int64] = []
    private var traits: [RoadDraft.WayTraits] = []
    private var traitNumbers: [RoadDraft.WayTraits: UInt32] = [:]
    private var relations: [Int64: OSMRelation] = [:]
    private var ids: [Int64] = []
    private var nodes: [RoadDraft.Node] = []
    private var versions: [Int32] = []

    private static let noRoad = UInt32.max
    /// Most nodes of all ways.
    private static let nodeLimit = 1 << 31
    /// The memory of a build, by nodes of ways: 160 to 740 were measured on four
    /// extracts with four modes.
    private static let bytesPerNode: Int64 = 800

    init(_ profiles: [RoadProfile], isMerging: Bool) {
        self.profiles = profiles
        self.isMerging = isMerging
        rules = WayRules(profiles)
        nodeRules = NodeRules(profiles)
        restrictionRules = RestrictionRules(profiles: profiles)
    }

    private mutating func number(_ own: RoadDraft.WayTraits) -> UInt32 {
        if let known = traitNumbers[own] { return known }
        let number = UInt32(traits.count)
        traits.append(own)
        traitNumbers[own] = number
        return number
    }

    private mutating func takeWay(_ way: OSMWay) throws(Failure) {
        var record = WayRecord(
            id: way.id, version: way.version, traits: Self.noRoad, first: wayNodes.count, count: 0)
        defer { if isMerging || record.traits != Self.noRoad { ways.append(record) } }
        guard WayRules.isRoad(way.tags) else { return }
        let use = rules.use(way.tags)
        if let reason = use.rejection { return report.reject("way \(way.id)", reason) }
        guard way.id >= 0 else { return report.reject("way \(way.id)", "a negative id") }
        // A way's nodes twice in a row are one.
        var last: Int64?
        for node in way.nodes where node != last {
            wayNodes.append(node)
            last = node
        }
        record.count = wayNodes.count - record.first
        guard record.count >= 2 else {
            return report.reject("way \(way.id)", "fewer than two nodes")
        }
        guard wayNodes.count < Self.nodeLimit else {
            throw Failure(.tooLarge, "the roads have more than 2^31 nodes")
        }
        var own = use.traits
        own.name = way.tags["name"] ?? ""
        own.ref = way.tags["ref"] ?? ""
        own.destination = way.tags["destination"] ?? ""
        own.destinationRef = way.tags["destination:ref"] ?? ""
        record.traits = number(own)
        record.isFerry = use.isFerry
        record.seconds = use.isFerry ? way.tags["duration"].flatMap(TagValues.duration) : nil
    }

    private mutating func takeRelation(_ relation: OSMRelation) {
        let isFerry =
            relation.tags["route"] == "ferry" && relation.tags["duration"] != nil
        guard RestrictionRules.isRestriction(relation.tags) || isFerry else { return }
        if let known = relations[relation.id], !Self.isNewer(relation, known) { return }
        relations[relation.id] = relation
    }

    private static func isNewer(_ relation: OSMRelation, _ other: OSMRelation) -> Bool {
        if relation.version != other.version { return relation.version > other.version }
        // A cut extract has fewer members.
        return relation.members.count > other.members.count
    }

    /// The memory that the nodes and the building take at most, in bytes.
    var memory: Int64 { Int64(wayNodes.count) * Self.bytesPerNode }

    /// Ends the reading of ways: settles which one counts, and which nodes are needed.
    mutating func beginNodes() {
        isReadingNodes = true
        var ordered = ways
        ways = []
        ordered.sort { left, right in
            if left.id != right.id { return left.id < right.id }
            if left.version != right.version { return left.version > right.version }
            if left.count != right.count { return left.count > right.count }
            let a = wayNodes[left.first..<left.first + left.count]
            let b = wayNodes[right.first..<right.first + right.count]
            if a != b { return a.lexicographicallyPrecedes(b) }
            return describe(left) < describe(right)
        }
        var kept: [WayRecord] = []
        var last: Int64?
        for way in ordered where way.id != last {
            last = way.id
            if way.traits != Self.noRoad { kept.append(way) }
        }
        ways = kept
        ids = ways.flatMap { wayNodes[$0.first..<$0.first + $0.count] }
        ids.sort()
        var unique: [Int64] = []
        for id in ids where id != unique.last { unique.append(id) }
        ids = unique
        nodes = ids.map { RoadDraft.Node(id: $0, x: 0, y: 0) }
        versions = [Int32](repeating: -1, count: ids.count)
    }

    private func describe(_ way: WayRecord) -> String {
        way.traits == Self.noRoad ? "" : "\(traits[Int(way.traits)])"
    }

    private func index(_ id: Int64) -> Int? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }

    private mutating func takeNode(_ node: OSMNode) {
        guard let index = index(node.id) else { return }
        let version = max(0, node.version)
        let isFirst = versions[index] < 0
        let known = nodes[index]
        guard
            isFirst || version > versions[index]
                || version == versions[index] && (node.x, node.y) < (known.x, known.y)
        else { return }
        versions[index] = version
        nodes[index] = RoadDraft.Node(
            id: node.id, x: node.x, y: node.y, rule: nodeRules.number(node.tags))
    }

    /// The roads; frees what was read.
    mutating func draft() -> RoadDraft {
        var draft = RoadDraft(modes: profiles.map(\.mode))
        draft.traits = traits
        draft.nodeRules = nodeRules.list
        let seconds = ferrySeconds()
        for way in ways { addPieces(of: way, seconds[way.id], to: &draft) }
        for (id, relation) in relations.sorted(by: { $0.key < $1.key })
        where RestrictionRules.isRestriction(relation.tags) {
            do throws(RestrictionRules.Rejection) {
                draft.restrictions += try restrictionRules.restrictions(relation)
            } catch {
                report.reject("relation \(id)", error.reason)
            }
        }
        draft.nodes = nodes
        (ways, wayNodes, relations, ids) = ([], [], [:], [])
        report.wayCount = draft.ways.count
        report.nodeCount = draft.nodes.count
        report.restrictionCount = draft.restrictions.count
        return draft
    }

    /// Adds the pieces of a way between nodes that are missing.
    private mutating func addPieces(
        of way: WayRecord, _ seconds: Double?, to draft: inout RoadDraft
    ) {
        var piece: [UInt32] = []
        var (missing, added) = (0, 0)
        func finish(_ end: Int, _ draft: inout RoadDraft) {
            if piece.count >= 2 {
                draft.ways.append(
                    RoadDraft.Way(
                        id: way.id, traits: way.traits, first: draft.wayNodes.count,
                        count: piece.count, segment: UInt32(end - piece.count),
                        seconds: seconds))
                draft.wayNodes += piece
                added += 1
            }
            piece = []
        }
        for place in 0..<way.count {
            guard let index = index(wayNodes[way.first + place]), versions[index] >= 0 else {
                missing += 1
                finish(place, &draft)
                continue
            }
            piece.append(UInt32(index))
        }
        finish(way.count, &draft)
        if added == 0 {
            report.reject("way \(way.id)", "its nodes are not in the extract")
        } else if missing > 0 {
            report.reject("way \(way.id)", "kept in part: some nodes are not in the extract")
        }
    }

    /// Metres between the nodes of a way that are there.
    private func length(_ way: WayRecord) -> Double {
        var (length, last): (Double, RoadDraft.Node?) = (0, nil)
        for id in wayNodes[way.first..<way.first + way.count] {
            guard let index = index(id), versions[index] >= 0 else { continue }
            let node = nodes[index]
            if let last { length += Sphere.distance(last.x, last.y, node.x, node.y) }
            last = node
        }
        return length
    }

    /// Seconds of each ferry: its own, its share of its route's by length, or assumed.
    private mutating func ferrySeconds() -> [Int64: Double] {
        let ferries = ways.filter(\.isFerry)
        guard !ferries.isEmpty else { return [:] }
        var lengths: [Int64: Double] = [:]
        for way in ferries { lengths[way.id] = length(way) }
        var shares: [Int64: Double] = [:]
        for (_, relation) in relations.sorted(by: { $0.key < $1.key })
        where relation.tags["route"] == "ferry" {
            guard let whole = relation.tags["duration"].flatMap(TagValues.duration) else {
                continue
            }
            let members = Set(relation.members.filter { $0.kind == .way }.map(\.id))
                .filter { lengths[$0] != nil }
            let total = members.sorted().reduce(0) { $0 + (lengths[$1] ?? 0) }
            guard total > 0 else { continue }
            for id in members where shares[id] == nil {
                shares[id] = whole * (lengths[id] ?? 0) / total
            }
        }
        var result: [Int64: Double] = [:]
        for way in ferries {
            if let seconds = way.seconds ?? shares[way.id] {
                result[way.id] = min(seconds, 1e7)
            } else {
                report.assumedFerryCount += 1
                result[way.id] = FerryTimes.seconds(length: lengths[way.id] ?? 0)
            }
        }
        return result
    }
}

extension ExtractRoads: OSMVisitor {
    var wantsNodes: Bool { isReadingNodes }
    var wantsWays: Bool { !isReadingNodes }

    mutating func take(_ node: OSMNode) throws(Failure) { takeNode(node) }
    mutating func take(_ way: OSMWay) throws(Failure) { try takeWay(way) }
    mutating func take(_ relation: OSMRelation) throws(Failure) { takeRelation(relation) }
}
