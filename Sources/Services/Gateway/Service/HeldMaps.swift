// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState
internal import Synchronization

/// Descriptions of the maps that this gateway follows, made anew when their map changes: equal ones
/// share their memory, so that comparing them costs next to nothing.
///
/// Callable on any thread.
final class HeldMaps: Sendable {
    private struct Held {
        /// The log that it was read from: another one may count the same changes.
        let follower: MapFollower
        let change: Int64
        let map: MapDescription
    }

    /// Maximum number of maps; beyond it all are made anew.
    private static let bound = 64

    private let client: CairnClient
    private let held = Mutex<[MapName: Held]>([:])

    init(_ client: CairnClient) { self.client = client }

    /// The present map without waiting; nil for an unknown name, and before the log has been read,
    /// at first or up to `minSequence`.
    func map(named name: MapName, minSequence: Int64) throws(Failure) -> MapDescription? {
        guard try client.presentSequenceAtHand() != nil else { return nil }
        let follower = try client.follow()
        let state = follower.current
        guard follower.fault == nil, state.sequence >= minSequence,
            let change = state.lastChange(of: name)
        else { return nil }
        return held.withLock { held in
            if let known = held[name], known.change == change, known.follower === follower {
                var map = known.map
                map.sequence = max(state.sequence, change)
                return map
            }
            guard let map = state.map(named: name) else {
                held[name] = nil
                return nil
            }
            if held.count >= Self.bound, held[name] == nil { held.removeAll() }
            held[name] = Held(follower: follower, change: change, map: map)
            return map
        }
    }
}
