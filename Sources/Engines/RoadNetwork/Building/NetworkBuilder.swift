// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// Builds the file of a road network.
///
/// The bytes depend on the draft alone, so equal sources give equal files.
public enum NetworkBuilder {
    /// The progress of a build.
    public struct Progress: Hashable, Sendable {
        /// The present step, for display.
        public var step: String
        /// The share that is done, 0…1.
        public var share: Double

        /// Creates a progress.
        public init(step: String, share: Double) {
            self.step = step
            self.share = share
        }
    }

    /// A built network.
    public struct Built: Hashable, Sendable {
        /// The SHA-256 of the file.
        public var id: ContentID
        /// Size of the file.
        public var byteCount: Int64
        /// Number of vertices.
        public var vertexCount: Int
        /// Number of edges.
        public var edgeCount: Int
        /// Number of arcs: edges, and copies of them for restricted sequences.
        public var arcCount: Int
        /// Number of turns.
        public var turnCount: Int
        /// Number of restrictions that are in the file.
        public var restrictionCount: Int
        /// Restrictions left out: the source's id with the reason, ascending by id.
        public var unresolved: [Unresolved]
    }

    /// A restriction that is left out.
    public struct Unresolved: Hashable, Sendable {
        /// The source's id.
        public var id: Int64
        /// The reason.
        public var reason: String
    }

    /// Name of the file in the directory named by its SHA-256.
    public static let fileName = "network.bin"

    /// Builds the file and moves it to `<directory>/<sha256>/network.bin`; an existing one of that
    /// name is kept.
    ///
    /// - Parameters:
    ///   - draft: The roads, as ``RoadDraft`` describes them.
    ///   - directory: The directory of all networks; created when missing.
    ///   - progress: Called on the calling thread; throwing stops the build and leaves no file.
    /// - Throws: `invalidParameter` for a draft without roads or out of order, `tooLarge`,
    ///   `noSpace`.
    public static func build(
        _ draft: RoadDraft, into directory: String,
        progress: (Progress) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) -> Built {
        try check(draft)
        try progress(Progress(step: "finding junctions", share: 0))
        let topology = try NetworkTopology(draft)
        guard !topology.edges.isEmpty else {
            throw Failure(.invalidParameter, "the sources hold no road that a mode may use")
        }
        try progress(Progress(step: "finding restricted turns", share: 0.2))
        let resolver = RestrictionResolver(draft, topology)
        var resolved: [RestrictionResolver.Resolved] = []
        var unresolved: [Unresolved] = []
        for number in draft.restrictions.indices {
            do throws(RestrictionResolver.Unresolved) {
                resolved.append(try resolver.resolve(number))
            } catch {
                unresolved.append(
                    Unresolved(id: draft.restrictions[number].id, reason: error.reason))
            }
        }
        let turns = try TurnTable(draft, topology, resolved) { share throws(Failure) in
            try progress(Progress(step: "joining roads", share: 0.3 + 0.3 * share))
        }
        try progress(Progress(step: "finding connected roads", share: 0.6))
        let modes = ModeTables(draft, topology, turns)
        try progress(Progress(step: "writing", share: 0.8))
        let pieces = try NetworkWriter.pieces(draft, topology, turns, resolved, modes)
        let (id, byteCount) = try write(pieces, into: directory)
        try progress(Progress(step: "done", share: 1))
        return Built(
            id: id, byteCount: byteCount, vertexCount: topology.vertexNodes.count,
            edgeCount: topology.edges.count, arcCount: turns.arcEdges.count,
            turnCount: turns.turnTargets.count, restrictionCount: resolved.count,
            unresolved: unresolved)
    }

    /// Throws `invalidParameter` for a draft that is not in order.
    private static func check(_ draft: RoadDraft) throws(Failure) {
        func fault(_ what: String) -> Failure {
            Failure(.invalidParameter, "the roads of the network: \(what)")
        }
        guard 1...RoadDraft.modeLimit ~= draft.modes.count,
            Set(draft.modes.map(\.name)).count == draft.modes.count
        else { throw fault("expected 1 to \(RoadDraft.modeLimit) modes with different names") }
        for mode in draft.modes {
            if let reason = mode.turns.fault { throw fault("mode '\(mode.name)', \(reason)") }
        }
        for (node, next) in zip(draft.nodes, draft.nodes.dropFirst()) where node.id >= next.id {
            throw fault("node \(next.id) is not behind node \(node.id)")
        }
        for node in draft.nodes {
            guard abs(Int(node.x)) <= 1_800_000_000, abs(Int(node.y)) <= 900_000_000,
                Int(node.rule) < draft.nodeRules.count
            else { throw fault("node \(node.id) is outside the world, or its rule is unknown") }
        }
        for rule in draft.nodeRules
        where !rule.delays.isEmpty && rule.delays.count != draft.modes.count {
            throw fault("a rule has \(rule.delays.count) delays for \(draft.modes.count) modes")
        }
        for rule in draft.nodeRules {
            guard rule.delays.allSatisfy({ $0 == .max || $0 <= 86_400_000 }) else {
                throw fault("a rule delays by more than a day")
            }
        }
        for traits in draft.traits {
            guard traits.times.count <= RoadDraft.timeLimit,
                traits.variants.count == 1 << traits.times.count - 1
            else { throw fault("'\(traits.name)': passages at times that do not fit them") }
            let variants = traits.variants.flatMap { [$0.forward, $0.backward] }
            for passages in [traits.forward, traits.backward] + variants {
                guard passages.count == draft.modes.count,
                    passages.allSatisfy({ $0.access == .closed || 0.1...1000 ~= $0.speed })
                else {
                    throw fault(
                        "'\(traits.name)': expected a passage by mode, 0.1 to 1000 km/h fast")
                }
            }
        }
        var last: (id: Int64, segment: UInt32)?
        for way in draft.ways {
            if let last, (way.id, way.segment) <= last {
                throw fault("way \(way.id) is not behind way \(last.id)")
            }
            guard way.id >= 0, way.count >= 2, way.first >= 0,
                way.first <= draft.wayNodes.count - way.count,
                Int(way.traits) < draft.traits.count, way.segment <= 1 << 30,
                way.count <= 1 << 24, way.seconds.map({ 0...1e7 ~= $0 }) ?? true
            else { throw fault("way \(way.id) is damaged") }
            let nodes = draft.wayNodes[way.first..<way.first + way.count]
            guard nodes.allSatisfy({ Int($0) < draft.nodes.count }),
                zip(nodes, nodes.dropFirst()).allSatisfy({ $0 != $1 })
            else { throw fault("way \(way.id) has an unknown node, or the same twice in a row") }
            last = (way.id, way.segment)
        }
        guard draft.wayNodes.count < 1 << 31 else {
            throw Failure(.tooLarge, "the ways have more than 2^31 nodes")
        }
    }

    private static func write(
        _ pieces: [[UInt8]], into directory: String
    ) throws(Failure) -> (ContentID, Int64) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
            var file = try StagedFile(inDirectory: directory)
            for piece in pieces { try file.write(piece) }
            let id = ContentID(file.digest)
            let byteCount = file.byteCount
            let folder = directory + "/" + id.rawValue
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try file.publish(as: folder + "/" + fileName, replacing: false)
            try StagedFile.syncDirectory(directory)
            return (id, byteCount)
        } catch let error as PlatformError {
            throw Failure(error.isNoSpace ? .noSpace : .unreadable, error.description)
        } catch {
            throw Failure(.unreadable, "cannot make a directory in '\(directory)'")
        }
    }
}
