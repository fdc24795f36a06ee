// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import TilePackages

/// What the blob of a chunk has of a tile that is not as before: a byte that says what is known of
/// the tile before, its SHA-256 where there was one, then the bytes of the tile as it is.
enum TileChangeRecord {
    private enum Before: UInt8 {
        case unknown, none, state
    }

    private static let stateByteCount = 32

    /// The record; nil where the tile is known to be as before.
    ///
    /// - Parameters:
    ///   - before: The tile's bytes, none for no tile; nil where they are not known.
    ///   - after: The tile's bytes, none for no tile.
    static func record(before: [UInt8]?, after: [UInt8]) -> [UInt8]? {
        guard let before else { return [Before.unknown.rawValue] + after }
        guard before != after else { return nil }
        guard !before.isEmpty else { return [Before.none.rawValue] + after }
        return [Before.state.rawValue] + TileChangeWriter.state(of: before) + after
    }

    /// Reads a record; throws `corrupt`.
    static func read(
        _ record: [UInt8]
    ) throws(Failure) -> (before: TileChangeWriter.Before, after: [UInt8]) {
        switch record.first.flatMap(Before.init) {
        case .unknown: return (.unknown, Array(record.dropFirst()))
        case .none?: return (.bytes([]), Array(record.dropFirst()))
        case .state? where record.count > stateByteCount:
            return (
                .state(Array(record[1...stateByteCount])),
                Array(record.dropFirst(1 + stateByteCount))
            )
        case .state, nil: throw Failure(.corrupt, "a changed tile's record has no known form")
        }
    }
}
