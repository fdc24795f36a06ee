// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// An index of the changes of maps, which identifies equal past states.
///
/// It may start from a restored state, and then covers the later changes. It takes some 24 bytes of
/// memory for each covered event.
public struct ChangeIndex: Sendable {
    /// The last change of a map before a sequence number.
    public enum Change: Hashable, Sendable {
        /// The global position of the change.
        case at(Int64)
        /// The map did not exist yet.
        case never
        /// The sequence number precedes the index.
        case unknown
    }

    /// The last change of the state that the index starts from; 0 where it covers the whole log.
    private var start: Int64 = 0
    /// Positions of all covered events, rising.
    private var positions: [Int64] = []
    /// Their times, in microseconds; after a clock step backwards, the latest until then.
    private var times: [Int64] = []
    private var byMap: [MapName: [Int64]] = [:]
    /// Ranges of earlier times with the changes they resolve to: a cache of searches, the latest
    /// last.
    private var searched: [(moments: ClosedRange<Int64>, position: Int64)] = []
    /// Capacity of that cache.
    private static let searchLimit = 64

    /// Creates an empty index.
    public init() {}

    /// Starts from the last change of each map of a state.
    ///
    /// - Parameters:
    ///   - state: Maps folded up to its sequence number.
    ///   - time: When the last change of any of its maps was recorded; nil where that is unknown.
    public init(behind state: MapsState, changedAt time: Timestamp?) {
        guard let last = state.lastMapChange else { return }
        start = last
        if let time {
            positions = [last]
            times = [time.microseconds]
        }
        for name in state.allMapNames { byMap[name] = state.lastChange(of: name).map { [$0] } }
    }

    /// Indexes a record; those of other categories, and those already covered, are skipped.
    public mutating func note(_ record: RecordedEvent) {
        guard record.stream.category == "map", record.globalPosition > positions.last ?? start,
            let name = MapName(rawValue: String(record.stream.rawValue.dropFirst(4)))
        else { return }
        positions.append(record.globalPosition)
        times.append(max(times.last ?? .min, record.recordedAt.microseconds))
        byMap[name, default: []].append(record.globalPosition)
    }

    /// The last change of a map up to `position`.
    public func lastChange(of map: MapName, upTo position: Int64) -> Change {
        // The state has deleted maps too: one that it did not have is newer.
        guard let changes = byMap[map] else { return .never }
        let count = Self.count(changes, upTo: position)
        if count > 0 { return .at(changes[count - 1]) }
        return changes[0] > start ? .never : .unknown
    }

    /// The last change of any map recorded at or before a moment: 0 when there was none yet, nil
    /// where it precedes the index and the cache.
    public func position(at time: Timestamp) -> Int64? {
        let count = Self.count(times, upTo: time.microseconds)
        if count > 0 { return positions[count - 1] }
        return start == 0 ? 0 : searched.last { $0.moments.contains(time.microseconds) }?.position
    }

    /// A search of the log for a moment that ``position(at:)`` cannot resolve.
    public func search(at time: Timestamp) -> MomentSearch {
        let end = positions.first == start ? start : start + 1
        return MomentSearch(
            at: time, before: end, recordedAt: times.first.map(Timestamp.init(microseconds:)))
    }

    /// Caches the result of a completed search, evicting the oldest.
    public mutating func note(_ search: MomentSearch) {
        guard position(at: search.time) == nil else { return }
        if searched.count == Self.searchLimit { searched.removeFirst() }
        searched.append((search.sameMoments, search.position))
    }

    /// Number of elements at most `limit` in a rising list.
    private static func count(_ numbers: [Int64], upTo limit: Int64) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Cache of past states of single maps.
///
/// The key is the map's last change, so all sequence numbers up to the next change share an entry.
/// Bounded by states and by the layers in them.
public struct PastMaps: Sendable {
    /// Capacity in states.
    public static let limit = 64
    /// Capacity in layers of all of them, one state excepted.
    public static let layerLimit = 20_000

    private struct Key: Hashable {
        var map: MapName
        var change: Int64
    }

    private struct Entry {
        /// The state of this map alone.
        var state: MapsState
        var description: MapDescription
        /// Up to where the map is known not to change again.
        var through: Int64
        var lastUse: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    private var layerCount = 0

    /// Creates an empty cache.
    public init() {}

    /// The map after that change, if cached.
    public mutating func description(of map: MapName, after change: Int64) -> MapDescription? {
        let key = Key(map: map, change: change)
        guard let found = entries[key]?.description else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return found
    }

    /// The map at a position whose last change is not known, with that change, if cached.
    public mutating func description(
        of map: MapName, covering position: Int64
    ) -> (map: MapDescription, change: Int64)? {
        let found = entries.first {
            $0.key.map == map && $0.key.change <= position && $0.value.through >= position
        }
        guard let key = found?.key, let known = description(of: map, after: key.change) else {
            return nil
        }
        return (known, key.change)
    }

    /// The latest cached state of that map before a change, to resume the fold from.
    public func state(of map: MapName, before change: Int64) -> MapsState? {
        entries.filter { $0.key.map == map && $0.key.change < change }
            .max { $0.key.change < $1.key.change }?.value.state
    }

    /// Caches a state of this map alone, after its change at `change` and up to `through`.
    public mutating func keep(
        _ state: MapsState, _ description: MapDescription, after change: Int64,
        through: Int64? = nil
    ) {
        uses += 1
        let key = Key(map: description.name, change: change)
        let through = max(through ?? change, change)
        if let known = entries[key]?.through {
            entries[key]?.through = max(known, through)
            return
        }
        entries[key] = Entry(
            state: state, description: description, through: through, lastUse: uses)
        layerCount += description.layers.count
        while entries.count > Self.limit || layerCount > Self.layerLimit, entries.count > 1 {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            else { return }
            layerCount -= entries.removeValue(forKey: oldest)?.description.layers.count ?? 0
        }
    }
}
