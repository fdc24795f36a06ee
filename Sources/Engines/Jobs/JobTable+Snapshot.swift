// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

extension JobTable: Snapshotted {
    /// `jobs`.
    public static var snapshotName: String { "jobs" }
    /// See `Snapshotted`.
    public static var snapshotForm: Int { 3 }
    /// Sequence number of the last folded event, own appends included.
    public var foldedThrough: Int64 {
        jobs.values.reduce(sequence) { max($0, $1.sequence) }
    }
    /// The jobs.
    public var pieceCount: Int { jobs.count }

    /// One text for each job, and one for the rest.
    public func pieces() throws(Failure) -> [Data] {
        var pieces = [try CairnJSON.encode(Piece.rest(sequence: foldedThrough))]
        for job in jobs.values { pieces.append(try CairnJSON.encode(Piece.job(job))) }
        return pieces
    }

    /// Restores the state from its pieces; throws `Failure` for malformed ones.
    public init(pieces: [Data]) throws(Failure) {
        var states: [JobState] = []
        var end: Int64 = 0
        for data in pieces {
            switch try CairnJSON.decode(Piece.self, from: data) {
            case .rest(let sequence): end = sequence
            case .job(let state): states.append(state)
            }
        }
        self.init(states, sequence: end)
    }

    private enum Piece: Codable {
        case rest(sequence: Int64)
        case job(JobState)
    }
}
