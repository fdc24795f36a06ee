// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The road networks of a site with the changes that stand on their roads, folded from the log up
/// to one sequence number.
///
/// A value without clock, socket or randomness: the same events give an equal state.
public struct NetworksState: Hashable, Sendable, Codable {
    /// One network.
    public struct Network: Hashable, Sendable, Codable {
        /// Its latest publication.
        public var published: NetworkPublished
        /// The changes that stand, by number.
        public var changes: [StandingRoadChange]
        /// The position of the last event in its stream, which an append expects.
        public var streamPosition: Int64
        /// The global position of its last event.
        public var lastChange: Int64
        /// Whether it was deleted since; absent unless it was.
        var isDeleted: Bool?

        /// The standing change of a number.
        public func change(_ number: Int64) -> StandingRoadChange? {
            changes.first { $0.number == number }
        }

        /// Whether a change that stands follows a layer, so that its roads follow from maps too.
        public var followsLayers: Bool { changes.contains { $0.change.followed != nil } }
    }

    /// The global position up to which the log is folded; 0 for the empty log.
    public private(set) var sequence: Int64 = 0
    private var networks: [String: Network] = [:]

    /// The category of the streams that are folded; events of others change nothing.
    public static let category = "network"

    /// The state before the first event.
    public init() {}

    /// Folds one record; those folded before are skipped, those of other categories only advance
    /// ``sequence``.
    ///
    /// Throws `Failure`: `corrupt` when the record does not follow from the earlier ones,
    /// `newerVersion` for a type this build does not know. The state is then unchanged.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        guard record.globalPosition > sequence else { return }
        if record.stream.isOf(category: Self.category) { try fold(record) }
        sequence = record.globalPosition
    }

    /// Advances to a watermark: the log holds no event of networks up to there.
    public mutating func advance(to position: Int64) { sequence = max(sequence, position) }

    /// The network of that name, ignoring ASCII case; nil for an unknown one.
    public func network(named name: String) -> Network? {
        if let exact = networks[name], exact.isDeleted != true { return exact }
        let wanted = name.lowercased()
        return names.first { $0.lowercased() == wanted }.flatMap { networks[$0] }
    }

    /// The names of all networks, in byte order.
    public var names: [String] {
        networks.filter { $0.value.isDeleted != true }.keys.sorted()
    }

    /// The position of the last event in a network's stream, its deletion included; nil for a
    /// stream without events.
    public func streamPosition(of name: String) -> Int64? { networks[name]?.streamPosition }

    private mutating func fold(_ record: RecordedEvent) throws(Failure) {
        let name = String(record.stream.rawValue.dropFirst(Self.category.utf8.count + 1))
        guard record.streamPosition == (networks[name]?.streamPosition ?? -1) + 1 else {
            throw corrupt(record, "is at position \(record.streamPosition) of its stream")
        }
        switch try NetworkEvent(record.event) {
        case .published(let event):
            guard event.name == name else { throw corrupt(record, "publishes '\(event.name)'") }
            let known = networks[name]
            let stays = known?.isDeleted == true ? [] : known?.changes ?? []
            networks[name] = Network(
                published: event, changes: stays, streamPosition: 0, lastChange: 0)
        case .deleted:
            try requireNetwork(name, record)
            networks[name]?.isDeleted = true
            networks[name]?.changes = []
        case .roadsChanged(let event):
            try requireNetwork(name, record)
            // In place: a copy of all changes for each of many events would cost their square.
            networks[name]?.changes.append(
                StandingRoadChange(
                    number: record.globalPosition, change: event.change,
                    recordedAt: record.recordedAt))
        case .roadsRestored(let event):
            try requireNetwork(name, record)
            let ended = Set(event.changes)
            networks[name]?.changes.removeAll { ended.contains($0.number) }
        case .roadsFollowed(let event):
            try requireNetwork(name, record)
            let place = networks[name]?.changes.firstIndex {
                $0.number == event.change && $0.change.followed != nil
            }
            guard let place else {
                throw corrupt(record, "is about change \(event.change), which follows no layer")
            }
            networks[name]?.changes[place].change.follow(event)
        }
        networks[name]?.streamPosition = record.streamPosition
        networks[name]?.lastChange = record.globalPosition
    }

    private func requireNetwork(_ name: String, _ record: RecordedEvent) throws(Failure) {
        guard let network = networks[name], network.isDeleted != true else {
            throw corrupt(record, "changes a network that is not published")
        }
    }

    private func corrupt(_ record: RecordedEvent, _ what: String) -> Failure {
        Failure(
            .corrupt, "event \(record.globalPosition) of stream \(record.stream) \(what)")
    }
}
