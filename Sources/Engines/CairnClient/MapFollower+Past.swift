// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState
internal import Synchronization

/// Past states of single maps.
extension MapFollower {
    /// The result of a lookup of a past map in memory.
    public enum Remembered: Sendable {
        /// The map since the event at `lastChange`.
        case map(MapDescription, lastChange: Int64)
        /// No such map existed.
        case absent
        /// The log has to be read, or waited for.
        case unknown
    }

    /// The datasets of the layers with a hit; nil where the map has changed since the answer.
    public func datasets(of answer: IdentifyAnswer, on map: MapName) -> [ContentID]? {
        var layers = answer.layers
        var found: Set<LayerID> = []
        while let layer = layers.popLast() {
            layers += layer.sublayerResults
            found.insert(layer.layerID)
        }
        return datasets(of: found, on: map, at: answer.sequence)
    }

    /// The datasets of layers; nil where the map has changed since that sequence number.
    public func datasets(
        of layers: some Sequence<LayerID>, on map: MapName, at sequence: Int64
    ) -> [ContentID]? {
        let state = current
        guard let change = state.lastChange(of: map), change <= sequence else { return nil }
        let found = Set(layers.compactMap { state.layer($0, in: map)?.kind.dataset })
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    /// Capacity of the cache of past states of single maps.
    public static var pastLimit: Int { PastMaps.limit }

    /// The sequence number of a past moment: for a time, that of the last change of any map
    /// recorded until then (``Timestamp/endOfMillisecond``), as far as the log is known; 0 when
    /// there was none yet.
    ///
    /// Nil where the log has to be read, because the time precedes the folded part.
    public func knownPosition(of moment: AsOf) -> Int64? {
        switch moment {
        case .sequence(let sequence): sequence
        case .time(let time):
            inner.withLock { $0.changes.position(at: time.endOfMillisecond) }
        }
    }

    /// The sequence number of a past moment, with some twenty log reads where memory does not
    /// suffice, once for all moments between two changes; throws what `read` throws.
    public func position(of moment: AsOf, reading read: Reader) async throws(Failure) -> Int64 {
        if let known = knownPosition(of: moment) { return known }
        guard case .time(let time) = moment else { return 0 }
        let end = time.endOfMillisecond
        var search = inner.withLock { $0.changes.search(at: end) }
        while let next = search.next {
            let request = ReadRequest(after: next - 1, limit: 1, category: "map")
            search.take(try await read(request).first)
        }
        inner.withLock { [search] in $0.changes.note(search) }
        return search.position
    }

    /// The sequence number of a past moment, read from the followed log; throws `unavailable`
    /// without one.
    public func position(of moment: AsOf) async throws(Failure) -> Int64 {
        if let known = knownPosition(of: moment) { return known }
        return try await position(of: moment, reading: try ownReader())
    }

    /// The map as it was when the log ended at `position`, from memory: when it has not changed
    /// since, or that state is cached, under whatever sequence number.
    public func remembered(_ name: MapName, at position: Int64) -> Remembered {
        inner.withLock { inner in
            guard position >= 0, position <= inner.state.sequence else { return .unknown }
            switch inner.changes.lastChange(of: name, upTo: position) {
            case .never: return .absent
            case .unknown:
                guard let known = inner.past.description(of: name, covering: position) else {
                    return .unknown
                }
                return .map(known.map.at(position), lastChange: known.change)
            case .at(let change):
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
    }

    /// The map as it was when the log ended at `position`; nil when it did not exist.
    ///
    /// Folds the events of this map from the nearest cached state or snapshot, once for each state
    /// of the map. Throws `Failure`: `invalidParameter` for a position below 0 or ahead of the log
    /// (after a short wait), and what `read` throws.
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
            (
                inner.changes.lastChange(of: name, upTo: position),
                inner.past.state(of: name, before: position + 1)
            )
        }
        let (state, through) = try await fold(name, from: start, to: position, reading: read)
        guard let last = state.lastChange(of: name) else {
            guard change == .unknown else {
                throw Failure(.corrupt, "the log has no event of map '\(name)' up to \(position)")
            }
            return nil
        }
        // Nil for a map that had been deleted.
        guard let map = state.map(named: name) else { return nil }
        inner.withLock { $0.past.keep(state, map, after: last, through: through) }
        return map.at(position)
    }

    /// A past of the map, as it may be seen (``MapDescription/seen(from:)``); nil when it did not
    /// exist.
    ///
    /// Throws as ``map(named:at:reading:)`` and ``position(of:reading:)``.
    public func map(
        named name: MapName, _ past: SeenPast, reading read: Reader
    ) async throws(Failure) -> MapDescription? {
        let position = try await position(of: past.moment, reading: read)
        let map = try await map(named: name, at: position, reading: read)
        guard let map, let seenFrom = past.seenFrom, seenFrom > position else { return map }
        return try await self.map(named: name, at: seenFrom, reading: read).flatMap(map.seen(from:))
    }

    /// The past map, read from the followed log; throws `unavailable` without one.
    public func map(named name: MapName, at position: Int64) async throws(Failure)
        -> MapDescription?
    {
        try await map(named: name, at: position, reading: try ownReader())
    }

    /// Reads the followed log; throws `unavailable` without one.
    public func ownReader() throws(Failure) -> Reader {
        guard let log = followedLog else {
            throw Failure(.unavailable, "this follower has no log to read the past from")
        }
        return { request async throws(Failure) in try await log.events(request) }
    }

    /// Folds one map's events up to a sequence number; returns its state, and up to where it is
    /// known not to change again.
    private func fold(
        _ name: MapName, from start: MapsState?, to position: Int64, reading read: Reader
    ) async throws(Failure) -> (MapsState, through: Int64) {
        var state = start ?? MapsState()
        var after = state.sequence
        var isFirstPage = true
        while after < position {
            let events = try await read(
                ReadRequest(after: after, limit: pageSize, stream: .map(name)))
            for event in events {
                guard event.globalPosition <= position else {
                    return (state, event.globalPosition - 1)
                }
                try state.apply(event)
            }
            guard events.count == pageSize, let end = events.last?.globalPosition else {
                break
            }
            after = end
            // A snapshot holds all maps, so it pays only for a long fold.
            if isFirstPage, let kept = try await restored(through: position),
                kept.sequence > after, let alone = kept.alone(name)
            {
                state = alone
                after = kept.sequence
            }
            isFirstPage = false
        }
        return (state, position)
    }
}

extension MapDescription {
    fileprivate func at(_ position: Int64) -> MapDescription {
        var copy = self
        copy.sequence = position
        return copy
    }
}
