// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Compares the state of a running service with a new fold of the log: each part at its last change
/// as stated by the service, so that the check works while the log grows.
public struct LiveCheck: Sendable {
    /// A part that differs from the log's.
    public struct Difference: Hashable, Sendable, Codable {
        /// The part.
        public var part: String
        /// The event after which it was compared.
        public var sequence: Int64
        /// Its hash in the service; nil where it is missing there.
        public var live: ContentID?
        /// Its hash in the fold; nil where it is missing there.
        public var folded: ContentID?
    }

    /// Differences so far.
    public private(set) var differences: [Difference] = []
    /// Parts compared so far.
    public private(set) var comparedCount = 0
    /// The sequence number up to which records are needed.
    public let end: Int64
    private let live: StateHash
    private let kinds: Set<String>
    private var wanted: [Int64: [StateHash.Part]] = [:]

    /// - Parameters:
    ///   - live: The service's hashes.
    ///   - kinds: The kinds of parts that it holds.
    public init(_ live: StateHash, kinds: Set<String>) {
        self.live = live
        self.kinds = kinds
        wanted = Dictionary(grouping: live.parts) { $0.sequence }
        end = max(live.sequence, wanted.keys.max() ?? 0)
    }

    /// Compares the parts due at a state; to be called after every record up to ``end``.
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

    /// Adds the parts of the state at ``end`` that the service lacks; none where it sent no parts.
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
