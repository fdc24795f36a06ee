// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Jobs
public import MapState

/// The complete state of a site: its maps, locators and jobs, folded from its log up to one
/// sequence number.
///
/// A value without clock or I/O: the same events give an equal state and an equal hash, on every
/// run.
public struct SiteState: Sendable {
    /// The maps and locators.
    public private(set) var maps = MapsState()
    /// The jobs.
    public private(set) var jobs = JobTable()
    /// The road networks, which ``hash()`` does not cover; empty in a join of separate folds.
    public private(set) var networks = NetworksState()
    /// Sequence number of the last folded event; 0 for the empty log.
    public private(set) var sequence: Int64 = 0

    /// The state before the first event.
    public init() {}

    /// Joins separate folds of maps and jobs: a complete state once it has reached the later of the
    /// two.
    public init(maps: MapsState, jobs: JobTable) {
        self.maps = maps
        self.jobs = jobs
        sequence = min(maps.sequence, jobs.sequence)
    }

    /// The kinds of parts a site has: what ``StateHash/limited(to:)`` takes.
    public static let kinds: Set<String> = ["commands", "job", "locator", "map"]

    /// Folds the next record, of any category; a record that was folded already is skipped.
    ///
    /// Throws `Failure` (`corrupt`, `newerVersion`) for an invalid one; the state is then
    /// unchanged.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        guard record.globalPosition > sequence else { return }
        try maps.apply(record)
        try jobs.apply(record)
        try networks.apply(record)
        sequence = record.globalPosition
    }

    /// Every map, locator and job, and the outcomes of the last map commands.
    public func parts() throws(Failure) -> [StatePart] { try maps.parts() + jobs.parts() }

    /// The hash of ``parts()``.
    public func hash() throws(Failure) -> StateHash {
        StateHash(try parts(), sequence: sequence)
    }

    /// The part of that name; nil when it does not exist.
    public func part(named name: String) throws(Failure) -> StatePart? {
        if name.hasPrefix("map/") {
            guard let map = MapName(rawValue: String(name.dropFirst(4))) else { return nil }
            return try maps.part(of: map)
        }
        if name.hasPrefix("job/") {
            guard let job = JobID(String(name.dropFirst(4))) else { return nil }
            return try jobs[job]?.part()
        }
        return try maps.parts().first { $0.name == name }
    }
}
