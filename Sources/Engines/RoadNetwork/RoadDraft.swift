// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The roads of a network before they are joined: nodes, ways through them, restrictions of turns.
///
/// The order and numbering of its parts decide the bytes of the file, so a source hands them over
/// sorted: nodes and ways by ascending id, no id twice.
public struct RoadDraft: Sendable {
    /// The modes, at most ``modeLimit``; every list by mode has their order.
    public let modes: [NetworkMode]
    /// Every node of a way, ascending by id.
    public var nodes: [Node] = []
    /// The rules of nodes; the first is that of a plain node.
    public var nodeRules: [NodeRule] = [NodeRule()]
    /// What ways have in common, in any order.
    public var traits: [WayTraits] = []
    /// The ways, ascending by id.
    public var ways: [Way] = []
    /// The nodes of all ways, as indices of ``nodes``, way after way.
    public var wayNodes: [UInt32] = []
    /// Restrictions of turns, ascending by id.
    public var restrictions: [Restriction] = []
    /// The names of the sources and their attributions, sorted.
    public var sources: [String] = []

    /// Most modes of a network.
    public static let modeLimit = 8

    /// Starts without roads.
    public init(modes: [NetworkMode]) { self.modes = modes }

    /// A point where ways may meet.
    public struct Node: Hashable, Sendable {
        /// The source's id.
        public var id: Int64
        /// Longitude in 10⁻⁷ degrees, −180° to 180°.
        public var x: Int32
        /// Latitude in 10⁻⁷ degrees, −90° to 90°.
        public var y: Int32
        /// Index of its rule.
        public var rule: UInt32

        /// Creates a node.
        public init(id: Int64, x: Int32, y: Int32, rule: UInt32 = 0) {
            self.id = id
            self.x = x
            self.y = y
            self.rule = rule
        }
    }

    /// What passing a node takes.
    public struct NodeRule: Hashable, Sendable {
        /// Whether it has traffic signals.
        public var hasSignals: Bool
        /// Milliseconds of passing it by mode, `UInt32.max` where it is closed; empty for no delay.
        public var delays: [UInt32]
        /// Bit m is set where mode m may pass at the start and at the end of a route only: the
        /// stretches of road that lead to the node may be used there alone.
        public var endsOnly: UInt8

        /// Creates a rule.
        public init(hasSignals: Bool = false, delays: [UInt32] = [], endsOnly: UInt8 = 0) {
            self.hasSignals = hasSignals
            self.delays = delays
            self.endsOnly = endsOnly
        }
    }

    /// A mode's use of a way in one direction.
    public struct Passage: Hashable, Sendable {
        /// Whether it may be used.
        public var access: RoadAccess
        /// Kilometres per hour, more than 0 unless closed.
        public var speed: Double

        /// Creates a passage.
        public init(access: RoadAccess, speed: Double) {
            self.access = access
            self.speed = speed
        }

        /// Not to be used.
        public static let closed = Passage(access: .closed, speed: 0)
    }

    /// What ways have in common.
    public struct WayTraits: Hashable, Sendable {
        /// Its class, `primary`; links have that of their road.
        public var roadClass = ""
        /// Its kinds.
        public var flags: RoadFlags = []
        /// Its name; empty for none.
        public var name = ""
        /// Its number, `A 1;E 40`; empty for none.
        public var ref = ""
        /// The destinations on its signs; empty for none.
        public var destination = ""
        /// The numbers of roads on its signs; empty for none.
        public var destinationRef = ""
        /// Tags that hold at times only, `key=value`, joined by line feeds; data for people.
        public var conditions = ""
        /// Along the way, by mode.
        public var forward: [Passage] = []
        /// Against the way, by mode.
        public var backward: [Passage] = []
        /// The times, as ``MapHours`` reads them, at which the passages are others; at most
        /// ``RoadDraft/timeLimit``.
        public var times: [String] = []
        /// The passages while some of ``times`` hold: at place n those of the bits of n + 1.
        public var variants: [Variant] = []

        /// Creates traits.
        public init() {}

        /// Whether a mode may use the way in a direction at some time.
        func isOpen(_ mode: Int, isBackward: Bool) -> Bool {
            let all =
                isBackward
                ? [backward] + variants.map(\.backward)
                : [forward] + variants.map(\.forward)
            return all.contains { $0.indices.contains(mode) && $0[mode].access != .closed }
        }
    }

    /// Most times of a way.
    public static let timeLimit = 4

    /// The use of a way by mode.
    public struct Variant: Hashable, Sendable {
        /// Along the way, by mode.
        public var forward: [Passage]
        /// Against the way, by mode.
        public var backward: [Passage]

        /// States it.
        public init(forward: [Passage], backward: [Passage]) {
            self.forward = forward
            self.backward = backward
        }
    }

    /// A way through nodes.
    public struct Way: Hashable, Sendable {
        /// The source's id; not negative.
        public var id: Int64
        /// Index of its traits.
        public var traits: UInt32
        /// Place of its first node in ``RoadDraft/wayNodes``.
        public var first: Int
        /// Number of its nodes, 2 or more; no two equal ones in a row.
        public var count: Int
        /// Number, in the source's way, of its first segment: above 0 for later pieces of a way
        /// that the source has in part only.
        public var segment: UInt32
        /// Seconds of the whole length, for every mode that may use it; nil where speeds count.
        public var seconds: Double?

        /// Creates a way.
        public init(
            id: Int64, traits: UInt32, first: Int, count: Int, segment: UInt32 = 0,
            seconds: Double? = nil
        ) {
            self.id = id
            self.traits = traits
            self.first = first
            self.count = count
            self.segment = segment
            self.seconds = seconds
        }
    }

    /// A restriction of turns.
    public struct Restriction: Hashable, Sendable {
        /// The source's id.
        public var id: Int64
        /// What it forbids.
        public var kind: Kind
        /// Bit m is set where mode m has to obey.
        public var modes: UInt8
        /// The ids of the ways before the turn.
        public var from: [Int64]
        /// What lies between.
        public var via: Via
        /// The ids of the ways behind the turn.
        public var to: [Int64]
        /// The times at which it holds, as the source has them; empty for always.
        ///
        /// Not part of the costs of turns in the file: a router applies it.
        public var condition: String

        /// What a restriction forbids.
        public enum Kind: UInt8, Hashable, Sendable {
            /// The turn.
            case no = 0
            /// Every other turn.
            case only = 1
            /// The turn back, from a way onto itself.
            case noUTurn = 2
            /// The turns from any of several ways.
            case noEntry = 3
            /// The turns onto any of several ways.
            case noExit = 4
        }

        /// What lies between the ways of a restriction.
        public enum Via: Hashable, Sendable {
            /// A node, by its id.
            case node(Int64)
            /// Ways, by their ids, in the order of travel.
            case ways([Int64])
        }

        /// Creates a restriction.
        public init(
            id: Int64, kind: Kind, modes: UInt8, from: [Int64], via: Via, to: [Int64],
            condition: String = ""
        ) {
            self.id = id
            self.kind = kind
            self.modes = modes
            self.from = from
            self.via = via
            self.to = to
            self.condition = condition
        }
    }
}
