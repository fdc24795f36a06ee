// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension RoadNetwork {
    /// A turn from an arc onto another.
    public struct Turn: Hashable, Sendable {
        /// Its number.
        public var number: Int
        /// The arc that it leads to.
        public var target: Int
        /// What it is.
        public var flags: TurnFlags
        /// Degrees off straight on, −180…180 in steps of 5, positive to the right.
        public var angle: Int
    }

    /// A restriction of turns, with its edges.
    public struct Restriction: Hashable, Sendable {
        /// The source's id.
        public var id: Int64
        /// What the source forbids.
        public var kind: RoadDraft.Restriction.Kind
        /// The modes that have to obey, by index.
        public var modes: [Int]
        /// The times at which it holds, as the source has them; empty for always.
        ///
        /// One with times is not part of the turns' costs.
        public var condition: String
        /// Sequences of edges that are forbidden: the edge before, those between, the one behind.
        public var sequences: [[Int]]
        /// The turns that are forbidden, ascending.
        public var turns: [Int]
    }

    /// The edge of an arc.
    public func edge(ofArc arc: Int) -> Int { mapped.withBytes { file.edge(ofArc: arc, $0) } }

    /// The turns that leave an arc: one onto each edge that leaves its head, in their order.
    public func turns(fromArc arc: Int) -> [Turn] {
        (number(.turnStarts, arc)..<number(.turnStarts, arc + 1)).map(turn)
    }

    /// A turn by its number.
    public func turn(_ number: Int) -> Turn {
        mapped.withBytes { bytes in
            let at = file.classOffset(file.turnClass(number, bytes))
            return Turn(
                number: number, target: file.number(.turnTargets, number, bytes),
                flags: TurnFlags(rawValue: bytes.byte(at: at)),
                angle: 5 * Int(Int8(bitPattern: bytes.byte(at: at + 1))))
        }
    }

    /// Milliseconds of a turn; ``unreachable`` where the mode may not turn.
    public func turnDuration(_ turn: Int, mode: Int) -> UInt32 {
        mapped.withBytes { file.classCost(file.turnClass(turn, $0), mode: mode, $0) }
    }

    /// The turns from an edge onto another, from its copies too; empty where the edges do not meet.
    public func turns(from edge: Int, onto other: Int) -> [Turn] {
        let arcs = [edge] + (edgeCount..<arcCount).filter { self.edge(ofArc: $0) == edge }
        return arcs.flatMap { arc in
            turns(fromArc: arc).filter { self.edge(ofArc: $0.target) == other }
        }
    }

    /// A restriction by its number.
    public func restriction(_ number: Int) -> Restriction {
        mapped.withBytes { bytes in
            let at = file.restrictionOffset(number)
            let next = file.restrictionOffset(number + 1)
            func list(_ section: NetworkLayout.Section, _ field: Int) -> [Int] {
                (Int(bytes.uint32(at: at + field))..<Int(bytes.uint32(at: next + field))).map {
                    file.number(section, $0, bytes)
                }
            }
            let edges = list(.restrictionEdges, 16)
            var sequences: [[Int]] = []
            var place = 0
            while place < edges.count {
                sequences.append(Array(edges[place + 1...place + edges[place]]))
                place += edges[place] + 1
            }
            let modes = bytes.byte(at: at + 9)
            return Restriction(
                id: Int64(bitPattern: bytes.uint64(at: at)),
                kind: RoadDraft.Restriction.Kind(rawValue: bytes.byte(at: at + 8)) ?? .no,
                modes: (0..<8).filter { modes & 1 << UInt8($0) != 0 },
                condition: file.text(Int(bytes.uint32(at: at + 12)), bytes),
                sequences: sequences, turns: list(.restrictionTurns, 20))
        }
    }
}
