// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
public import Geometry

/// "Give me this vector tile" of a map.
public struct VectorTileRequest: PastRequest, Hashable, Sendable, Codable {
    /// The map.
    public var map: MapName
    /// Level of the tile.
    public var level: Int
    /// Row from the top.
    public var row: Int
    /// Column from the left.
    public var column: Int
    /// The layers.
    public var layers: DrawnLayers
    /// Reads the map as it was at this sequence number; nil: now.
    public var at: Int64?
    /// Reads the map as it was at this moment; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes features removed, hidden or deleted by this sequence number;
    /// nil for none.
    public var seenFrom: Int64?
    /// Least sequence number the tile must include (read your own writes).
    public var minSequence: Int64?

    /// Asks for a tile of the layers that are visible.
    public init(map: MapName, _ tile: TileAddress, layers: DrawnLayers = DrawnLayers()) {
        self.map = map
        (level, row, column) = (tile.level, tile.row, tile.column)
        self.layers = layers
    }

    /// Throws `invalidParameter` outside the scheme.
    public func tile() throws(Failure) -> TileAddress {
        guard let tile = TileAddress(level: level, row: row, column: column) else {
            throw Failure(
                .invalidParameter, "tile \(level)/\(row)/\(column): expected one of the scheme")
        }
        return tile
    }
}

/// A vector tile, or a file that their style refers to, with the state of the map that it is of.
public struct VectorTileAnswer: Hashable, Sendable {
    /// What is said of the tile.
    public struct Head: Hashable, Sendable, Codable {
        /// The sequence number of the map.
        public var sequence: Int64
        /// Whether the map may be stale: the log was unreachable.
        public var isStale: Bool
    }

    /// What is said of it.
    public var head: Head
    /// Mapbox Vector Tile 2.1, not compressed, empty where no feature touches it; of a file its
    /// content.
    public var bytes: Data

    /// Joins the two.
    public init(sequence: Int64, isStale: Bool, bytes: [UInt8]) {
        head = Head(sequence: sequence, isStale: isStale)
        self.bytes = Data(bytes)
    }

    /// The payload of an answer, as that of a picture; throws `Failure`.
    func wireForm() throws(Failure) -> Data { try HeadedPayload.join(head, bytes) }

    /// Decodes ``wireForm()``; throws `Failure` (`corrupt`) for other bytes.
    init(wireForm: Data) throws(Failure) {
        (head, bytes) = try HeadedPayload.split(wireForm, "a vector tile")
    }
}
