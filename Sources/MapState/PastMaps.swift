// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// When which map changed: enough to tell which past states are the same.
///
/// It takes some 24 bytes of memory for each event of a map.
public struct ChangeIndex: Sendable {
    /// Of every event of a map, rising.
    private var positions: [Int64] = []
    /// When it was recorded, microseconds; where the log's clock went back, the latest until then.
    private var times: [Int64] = []
    private var byMap: [MapName: [Int64]] = [:]

    /// Nothing has changed yet.
    public init() {}

    /// Takes a record into account; those of other categories, and those known already, are passed
    /// over.
    public mutating func note(_ record: RecordedEvent) {
        guard record.stream.category == "map", record.globalPosition > positions.last ?? 0,
            let name = MapName(rawValue: String(record.stream.rawValue.dropFirst(4)))
        else { return }
        positions.append(record.globalPosition)
        times.append(max(times.last ?? .min, record.recordedAt.microseconds))
        byMap[name, default: []].append(record.globalPosition)
    }

    /// The last change of a map up to `position`; nil when there was no such map yet.
    public func lastChange(of map: MapName, upTo position: Int64) -> Int64? {
        guard let changes = byMap[map] else { return nil }
        let count = Self.count(changes, upTo: position)
        return count == 0 ? nil : changes[count - 1]
    }

    /// The last change of any map recorded at or before a moment; 0 when there was none yet.
    public func position(at time: Timestamp) -> Int64 {
        let count = Self.count(times, upTo: time.microseconds)
        return count == 0 ? 0 : positions[count - 1]
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
/// A state is known by the map's last change before it, so all sequence numbers up to the next change
/// share it. Bounded by states and by the layers in them.
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

    /// The latest state at hand of that map before a change, to fold on from.
    public func state(of map: MapName, before change: Int64) -> MapsState? {
        entries.filter { $0.key.map == map && $0.key.change < change }
            .max { $0.key.change < $1.key.change }?.value.state
    }

    /// Keeps a state that holds this map alone.
    public mutating func keep(
        _ state: MapsState, _ description: MapDescription, after change: Int64
    ) {
        uses += 1
        let key = Key(map: description.name, change: change)
        guard entries[key] == nil else { return }
        entries[key] = Entry(state: state, description: description, lastUse: uses)
        layerCount += description.layers.count
        while entries.count > Self.limit || layerCount > Self.layerLimit, entries.count > 1 {
            guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            else { return }
            layerCount -= entries.removeValue(forKey: oldest)?.description.layers.count ?? 0
        }
    }
}
