// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// When which map changed: enough to tell which past states are the same.
///
/// It may begin behind a state that was folded elsewhere, and knows then what has changed since. It
/// takes some 24 bytes of memory for each event of a map that it knows.
public struct ChangeIndex: Sendable {
    /// What is known of a map at a sequence number.
    public enum Change: Hashable, Sendable {
        /// The global position of its last change until then.
        case at(Int64)
        /// There was no such map yet.
        case never
        /// It lies before what is known.
        case unknown
    }

    /// The last change of the state that it began behind; 0 where it knows every event of a map
    /// from the log's first on.
    private var start: Int64 = 0
    /// Of every known event of a map, rising.
    private var positions: [Int64] = []
    /// When it was recorded, microseconds; where the log's clock went back, the latest until then.
    private var times: [Int64] = []
    private var byMap: [MapName: [Int64]] = [:]
    /// Times before those, and the changes they mean: what was searched lately, the latest last.
    private var searched: [(moments: ClosedRange<Int64>, position: Int64)] = []
    /// The most of them that are kept.
    private static let searchLimit = 64

    /// Nothing has changed yet.
    public init() {}

    /// Begins with the last change of each map of a state.
    ///
    /// - Parameters:
    ///   - state: Maps folded up to its sequence number.
    ///   - time: When the last change of all its maps was recorded; nil where that is not known.
    public init(behind state: MapsState, changedAt time: Timestamp?) {
        guard let last = state.lastMapChange else { return }
        start = last
        if let time {
            positions = [last]
            times = [time.microseconds]
        }
        for name in state.mapNames { byMap[name] = state.lastChange(of: name).map { [$0] } }
    }

    /// Takes a record into account; those of other categories, and those known already, are passed
    /// over.
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
        // Maps are never removed: one that the state did not have came later.
        guard let changes = byMap[map] else { return .never }
        let count = Self.count(changes, upTo: position)
        if count > 0 { return .at(changes[count - 1]) }
        return changes[0] > start ? .never : .unknown
    }

    /// The last change of any map recorded at or before a moment: 0 when there was none yet, nil
    /// where it lies before what is known and was not searched of late.
    public func position(at time: Timestamp) -> Int64? {
        let count = Self.count(times, upTo: time.microseconds)
        if count > 0 { return positions[count - 1] }
        return start == 0 ? 0 : searched.last { $0.moments.contains(time.microseconds) }?.position
    }

    /// The search of the log for what ``position(at:)`` does not know.
    public func search(at time: Timestamp) -> MomentSearch {
        let end = positions.first == start ? start : start + 1
        return MomentSearch(
            at: time, before: end, recordedAt: times.first.map(Timestamp.init(microseconds:)))
    }

    /// Remembers what a search that has ended found, in place of the oldest where there are many.
    public mutating func note(_ search: MomentSearch) {
        guard position(at: search.time) == nil else { return }
        if searched.count == Self.searchLimit { searched.removeFirst() }
        searched.append((search.sameMoments, search.position))
    }

    /// How many of the rising numbers are at most `limit`.
    private static func count(_ numbers: [Int64], upTo limit: Int64) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Past states of single maps that were asked for lately.
///
/// A state is known by the map's last change before it, so all sequence numbers up to the next
/// change share it. Bounded by states and by the layers in them.
public struct PastMaps: Sendable {
    /// The most states kept.
    public static let limit = 64
    /// The most layers in all of them, one state excepted.
    public static let layerLimit = 20_000

    private struct Key: Hashable {
        var map: MapName
        var change: Int64
    }

    private struct Entry {
        /// Of this map alone.
        var state: MapsState
        var description: MapDescription
        /// The map is known not to have changed again up to there.
        var through: Int64
        var lastUse: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    private var layerCount = 0

    /// Nothing was asked for yet.
    public init() {}

    /// The map after that change, if it is at hand.
    public mutating func description(of map: MapName, after change: Int64) -> MapDescription? {
        let key = Key(map: map, change: change)
        guard let found = entries[key]?.description else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return found
    }

    /// The map at a position whose last change before it is not known, and that change, if they are
    /// at hand.
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

    /// The latest state at hand of that map before a change, to fold on from.
    public func state(of map: MapName, before change: Int64) -> MapsState? {
        entries.filter { $0.key.map == map && $0.key.change < change }
            .max { $0.key.change < $1.key.change }?.value.state
    }

    /// Keeps a state that holds this map alone, after its change at `change`; it has not changed
    /// again up to `through`.
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
