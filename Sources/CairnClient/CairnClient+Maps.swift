// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import MapState
internal import Synchronization

/// Reading maps: folded here from the log, so no other service has to answer.
extension CairnClient {
    /// The maps and locators of the site now, or as they were at a sequence number.
    ///
    /// The first call begins to follow the log and waits until it has been read; later ones answer
    /// from memory. With `minSequence`, the result of a command for example, it waits until that
    /// change is known. Throws `Failure`: `timedOut`, `invalidParameter` for a sequence number that
    /// lies ahead, `corrupt` or `newerVersion` for a log that cannot be followed.
    public func maps(
        at position: Int64? = nil, minSequence: Int64? = nil, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapsState {
        let follower = try follow()
        try await follower.catchUp(timeout: timeout)
        if let position { return try await follower.history(at: position) }
        return try await follower.snapshot(minSequence: minSequence ?? 0, timeout: timeout)
    }

    /// The follower behind ``maps(at:minSequence:timeout:)``; starts it when there is none yet.
    public func follow() throws(Failure) -> MapFollower {
        let result = mapFollower.withLock { known -> Result<MapFollower, Failure> in
            if let known { return .success(known) }
            return Result { () throws(Failure) in
                let made = try MapFollower(following: bus)
                known = made
                return made
            }
        }
        return try result.get()
    }
}

/// What most readers want of the maps.
extension CairnClient {
    /// One map now, or as it was at a sequence number; nil when there is none of that name.
    ///
    /// Waits and throws as ``maps(at:minSequence:timeout:)`` does.
    public func map(
        named name: MapName, at position: Int64? = nil, minSequence: Int64? = nil,
        timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapDescription? {
        let state = try await maps(at: position, minSequence: minSequence, timeout: timeout)
        return state.map(named: name)
    }

    /// The names of all maps and of all published locators, each in byte order.
    public func catalog(
        timeout: Duration = .seconds(5)
    ) async throws(Failure) -> (maps: [MapName], locators: [String]) {
        let state = try await maps(timeout: timeout)
        return (state.mapNames, state.locatorNames)
    }

    /// The sequence number up to which the maps are known, and whether the log is out of reach.
    public func knownSequence() throws(Failure) -> (sequence: Int64, isStale: Bool) {
        let follower = try follow()
        return (follower.current.sequence, follower.isStale)
    }
}
