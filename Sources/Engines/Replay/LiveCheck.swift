// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Compares what a running service holds with the log folded anew: each part at the event that it
/// says changed it last, so that it may be asked while the log grows.
public struct LiveCheck: Sendable {
    /// A part that is not what the log says.
    public struct Difference: Hashable, Sendable, Codable {
        /// The part.
        public var part: String
        /// The event after which it was compared.
        public var sequence: Int64
        /// Its hash in the service; nil where the service does not have it.
        public var live: ContentID?
        /// Its hash in the log; nil where the log has no such part then.
        public var folded: ContentID?
    }

    /// What was found so far.
    public private(set) var differences: [Difference] = []
    /// Parts compared so far.
    public private(set) var comparedCount = 0
    /// The sequence number up to which records are needed.
    public let end: Int64
    private let live: StateHash
    private let kinds: Set<String>
    private var wanted: [Int64: [StateHash.Part]] = [:]

    /// - Parameters:
    ///   - live: What the service said.
    ///   - kinds: The kinds of parts it holds.
    public init(_ live: StateHash, kinds: Set<String>) {
        self.live = live
        self.kinds = kinds
        wanted = Dictionary(grouping: live.parts) { $0.sequence }
        end = max(live.sequence, wanted.keys.max() ?? 0)
    }

    /// Call it after every record up to ``end``, with the state that it left.
    public mutating func note(_ state: SiteState) throws(Failure) {
        guard let parts = wanted.removeValue(forKey: state.sequence) else { return }
        for part in parts {
            comparedCount += 1
            let folded = try state.part(named: part.name).map { StateHash([$0], sequence: 0) }
            let hash = folded?.parts.first?.hash
            if hash != part.hash {
                differences.append(
                    Difference(
                        part: part.name, sequence: part.sequence, live: part.hash, folded: hash))
            }
        }
    }

    /// What the service lacks of the state at ``end``; nothing where it sent no parts.
    public mutating func finish(_ state: SiteState) throws(Failure) {
        guard live.parts.count == live.partCount else { return }
        let known = Set(live.parts.map(\.name))
        for part in try state.hash().limited(to: kinds).parts
        where part.sequence <= live.sequence && !known.contains(part.name) {
            differences.append(
                Difference(
                    part: part.name, sequence: part.sequence, live: nil, folded: part.hash))
        }
    }
}
