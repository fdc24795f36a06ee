// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What became of the features that touch a tile's buffered square, layer by layer.
public struct VectorTileReport: Hashable, Sendable {
    /// One layer's features.
    public struct Layer: Hashable, Sendable {
        /// The layer's name.
        public internal(set) var name: String
        /// Number in the tile with their own geometry.
        public internal(set) var kept = 0
        /// Number in the tile as a square or stroke of one step, being smaller than that.
        public internal(set) var replaced = 0
        /// Number not in the tile because nothing of them is left in the grid.
        public internal(set) var vanished = 0
        /// Number not in the tile because it would have more bytes than allowed.
        public internal(set) var dropped = 0

        /// Number of features that touch the square.
        public var touching: Int { kept + replaced + vanished + dropped }
    }

    /// In the order of the layers that were given.
    public internal(set) var layers: [Layer] = []
}

/// A tile and what is to be said of it.
public struct VectorTile: Hashable, Sendable {
    /// The tile as the specification has it, not compressed; nil without a feature.
    public let bytes: [UInt8]?
    /// What became of the features.
    public let report: VectorTileReport
}
