// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Identify
internal import Synchronization

/// Cache of prepared maps: most consecutive requests concern one map that does not change.
///
/// Within a site, the name and the sequence number of the last change identify a state of a map;
/// with the last change of the map it is seen from, they identify what is seen.
final class RecentMaps: Sendable {
    private struct Entry {
        var lastChange: Int64
        /// The last change of the map it is seen from; nil for none.
        var seenChange: Int64?
        var map: PreparedMap
    }

    private static let capacity = 8

    /// Most recently created last.
    private let entries = Mutex<[Entry]>([])

    /// The map since its last change, from the cache or computed; nil where `describe` returns nil.
    ///
    /// It carries `sequence`, or its last change where that is later: the known sequence number of
    /// the site may be behind that of its maps.
    func map(
        _ name: MapName, since lastChange: Int64, seenSince seenChange: Int64? = nil,
        at sequence: Int64, _ describe: () -> MapDescription?
    ) -> PreparedMap? {
        let known = entries.withLock { entries in
            entries.last {
                $0.lastChange == lastChange && $0.seenChange == seenChange
                    && $0.map.description.name == name
            }
        }
        let sequence = max(sequence, lastChange)
        if let known { return known.map.at(sequence) }
        guard let made = describe().map({ PreparedMap($0).at(sequence) }) else { return nil }
        entries.withLock { entries in
            if entries.count == Self.capacity { entries.removeFirst() }
            entries.append(Entry(lastChange: lastChange, seenChange: seenChange, map: made))
        }
        return made
    }
}
