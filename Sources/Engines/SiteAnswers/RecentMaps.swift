// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Identify
internal import Synchronization

/// The maps that were asked last, as they are or were: most requests follow each other on one map
/// that does not change.
///
/// In one site, the name and the sequence number of its last change fix a map; with that of the
/// last change of the map it is seen from, they fix what is seen.
final class RecentMaps: Sendable {
    private struct Entry {
        var lastChange: Int64
        /// The last change of the map that it is seen from; nil for none.
        var seenChange: Int64?
        var map: PreparedMap
    }

    private static let capacity = 8

    /// The one that was made last is the last.
    private let entries = Mutex<[Entry]>([])

    /// The map as it is since its last change, worked out unless it is here; nil where `describe`
    /// has none.
    ///
    /// It names `sequence`, or its last change where that is later: what is known of a site may be
    /// less than what is known of its maps.
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
