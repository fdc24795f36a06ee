// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The retention policy for the snapshots of one log.
///
/// The last ones are kept, and of the earlier ones so many that a request for a past moment folds
/// few events more than lie between the moment and now. The gaps between neighbours grow
/// geometrically with their age, so that few files serve a log of any length.
public struct SnapshotLadder: Hashable, Sendable {
    /// The most files.
    public var fileCount: Int
    /// The most bytes in all of them; the last ``newestCount`` are kept whatever they take.
    public var byteCount: Int64
    /// Number of newest snapshots always kept: a start needs the last, or the one before if that is
    /// damaged.
    public static let newestCount = 3

    /// 24 files with one gibibyte: in a log of ten million events a question about the past folds
    /// at most some six tenths of as many events as were appended since, and in a shorter one less.
    public static let usual = SnapshotLadder(fileCount: 24, byteCount: 1 << 30)

    /// Makes a ladder.
    public init(fileCount: Int, byteCount: Int64) {
        self.fileCount = fileCount
        self.byteCount = byteCount
    }

    /// A snapshot.
    public struct Rung: Hashable, Sendable {
        /// The last event folded in.
        public var sequence: Int64
        /// Size of its file.
        public var byteCount: Int64

        /// Names a snapshot.
        public init(sequence: Int64, byteCount: Int64) {
            self.sequence = sequence
            self.byteCount = byteCount
        }
    }

    /// The sequence numbers to remove.
    ///
    /// Removes one after the other where it leaves the smallest gap for the age of the moments in
    /// it. The log's beginning counts as a snapshot that is always there.
    public func removed(of rungs: [Rung]) -> [Int64] {
        var kept = rungs.sorted { $0.sequence < $1.sequence }
        var removed: [Int64] = []
        var size = kept.reduce(0) { $0 + $1.byteCount }
        while kept.count > Self.newestCount, kept.count > fileCount || size > byteCount {
            let last = kept[kept.count - 1].sequence
            let leftGaps = (0..<(kept.count - Self.newestCount)).map { place in
                let before = place == 0 ? 0 : kept[place - 1].sequence
                return Double(kept[place + 1].sequence - before) / Double(last - before)
            }
            let place = leftGaps.indices.min { leftGaps[$0] < leftGaps[$1] } ?? 0
            let rung = kept.remove(at: place)
            size -= rung.byteCount
            removed.append(rung.sequence)
        }
        return removed
    }
}
