// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState
internal import Synchronization

/// One map as it was.
extension MapFollower {
    /// What memory can say of a past map.
    public enum Remembered: Sendable {
        /// The map as it was since the event at `lastChange`.
        case map(MapDescription, lastChange: Int64)
        /// There was no such map.
        case absent
        /// The log has to be read, or waited for.
        case unknown
    }

    /// The datasets of the layers with a hit, where the map has not changed since the answer; nil where it
    /// has.
    public func datasets(of answer: IdentifyAnswer, on map: MapName) -> [ContentID]? {
        let state = current
        guard let change = state.lastChange(of: map), change <= answer.sequence else { return nil }
        var layers = answer.layers
        var found: Set<ContentID> = []
        while let layer = layers.popLast() {
            layers += layer.sublayerResults
            if let dataset = state.layer(layer.layerID, in: map)?.kind.dataset {
                found.insert(dataset)
            }
        }
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    /// How many past states of single maps are kept at most.
    public static var pastLimit: Int { PastMaps.limit }

    /// The sequence number of the last change of any map recorded at or before a moment, as far as
    /// the log is known; 0 when there was none yet.
    public func position(at time: Timestamp) -> Int64 {
        inner.withLock { $0.changes.position(at: time) }
    }

    /// The sequence number that a past moment means.
    public func position(of moment: AsOf) -> Int64 {
        switch moment {
        case .sequence(let sequence): sequence
        case .time(let time): position(at: time)
        }
    }

    /// The map as it was when the log ended at `position`, where that takes no reading: when it has not
    /// changed since, or that state of it was asked for lately, at whatever sequence number.
    public func remembered(_ name: MapName, at position: Int64) -> Remembered {
        inner.withLock { inner in
            guard position >= 0, position <= inner.state.sequence else { return .unknown }
            guard let change = inner.changes.lastChange(of: name, upTo: position) else {
                return .absent
            }
            if let known = inner.past.description(of: name, after: change) {
                return .map(known.at(position), lastChange: change)
            }
            guard inner.state.lastChange(of: name) == change,
                let alone = inner.state.alone(name), let now = alone.map(named: name)
            else { return .unknown }
            inner.past.keep(alone, now, after: change)
            return .map(now.at(position), lastChange: change)
        }
    }

    /// The map as it was when the log ended at `position`; nil when there was no such map.
    ///
    /// Reads the events of maps from the nearest past state of this map that is at hand, once for each
    /// state of the map. Throws `Failure`: `invalidParameter` for a position below 0 or one the log
    /// has not reached (after a short wait), and what `read` throws.
    public func map(
        named name: MapName, at position: Int64, reading read: Reader
    ) async throws(Failure) -> MapDescription? {
        try await reach(position)
        switch remembered(name, at: position) {
        case .map(let map, _): return map
        case .absent: return nil
        case .unknown: break
        }
        let (change, start) = inner.withLock { inner in
            let change = inner.changes.lastChange(of: name, upTo: position)
            return (change, change.flatMap { inner.past.state(of: name, before: $0) })
        }
        guard let change else { return nil }
        let state = try await Self.fold(name, from: start ?? MapsState(), to: change, reading: read)
        guard let map = state.map(named: name) else {
            throw Failure(.corrupt, "the log has no event \(change) of map '\(name)'")
        }
        inner.withLock { $0.past.keep(state, map, after: change) }
        return map.at(position)
    }

    /// The same, reading the log that the follower follows; throws `unavailable` when it follows none.
    public func map(named name: MapName, at position: Int64) async throws(Failure)
        -> MapDescription?
    {
        guard let log = followedLog else {
            throw Failure(.unavailable, "this follower has no log to read the past from")
        }
        return try await map(named: name, at: position) {
            category, after, limit async throws(Failure) in
            try await log.events(category: category, after: after, limit: limit)
        }
    }

    /// Folds one map's events up to its change at `last`.
    private static func fold(
        _ name: MapName, from start: MapsState, to last: Int64, reading read: Reader
    ) async throws(Failure) -> MapsState {
        var state = start
        var after = start.sequence
        while after < last {
            let events = try await read("map", after, pageSize)
            for event in events where event.globalPosition <= last {
                if event.stream == .map(name) { try state.apply(event) }
            }
            guard let end = events.last?.globalPosition, events.count == pageSize else { break }
            after = end
        }
        state.advance(to: last)
        return state
    }

    private static let pageSize = 1000
}

extension MapDescription {
    fileprivate func at(_ position: Int64) -> MapDescription {
        var copy = self
        copy.sequence = position
        return copy
    }
}
