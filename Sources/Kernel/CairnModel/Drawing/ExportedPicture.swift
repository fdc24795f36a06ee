// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
public import Geometry

/// A picture of a map, with its description.
public struct ExportedPicture: Hashable, Sendable {
    /// The description of a picture, without its pixels.
    public struct Head: Hashable, Sendable, Codable {
        /// The extent of the picture, border to border, in `spatialReference`.
        public var extent: Envelope
        /// Spatial reference of `extent` and of the picture.
        public var spatialReference: SpatialReference
        /// Columns.
        public var width: Int
        /// Rows.
        public var height: Int
        /// The denominator of the map's scale; nil where it has none.
        public var scale: Double?
        /// The form of the picture; nil where none was drawn.
        public var format: PictureFormat?
        /// The sequence number of the map that was drawn.
        public var sequence: Int64
        /// Whether the map may be stale: the log was unreachable.
        public var isStale: Bool
        /// Byte count of each piece, row by row, for a picture cut into several.
        public var pieceByteCounts: [Int]?
        /// Layers on other servers with missing content, and why; nil for none.
        public var missing: [LayerFailure]?
        /// Whether layers on other servers are on it, which may change without the map: nil for no.
        public var hasRemote: Bool?

        /// Makes a head.
        public init(
            extent: Envelope, spatialReference: SpatialReference, width: Int, height: Int,
            scale: Double?, format: PictureFormat?, sequence: Int64, isStale: Bool
        ) {
            self.extent = extent
            self.spatialReference = spatialReference
            self.width = width
            self.height = height
            self.scale = scale
            self.format = format
            self.sequence = sequence
            self.isStale = isStale
        }
    }

    /// Description of the picture.
    public var head: Head
    /// The picture, encoded, or several one after the other; empty where none was drawn.
    public var bytes: Data

    /// Features of the site's own layers with a position that has no place in the picture's
    /// reference, which are not on it, or not wholly: object ids by layer.
    ///
    /// Known where it was drawn; not in ``wireForm()``.
    public var unplaceable: [LayerID: Set<Int64>] = [:]

    /// Joins the two.
    public init(head: Head, bytes: Data) {
        self.head = head
        self.bytes = bytes
    }

    /// The pictures of one that was drawn in pieces, row by row; throws `corrupt` for any other.
    public func pieces() throws(Failure) -> [[UInt8]] {
        let counts = head.pieceByteCounts ?? []
        guard !counts.isEmpty, counts.allSatisfy({ 0...bytes.count ~= $0 }),
            counts.reduce(0, +) == bytes.count
        else { throw Failure(.corrupt, "a worker drew a picture that is not cut into tiles") }
        var rest = Array(bytes)[...]
        return counts.map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }

    /// The payload of an answer: how many bytes the head has (four bytes, little-endian), the head
    /// as JSON, the picture.
    ///
    /// Throws `Failure` where the head holds a number that JSON cannot.
    public func wireForm() throws(Failure) -> Data { try HeadedPayload.join(head, bytes) }

    /// Decodes ``wireForm()``; throws `Failure` (`corrupt`) for other bytes.
    public init(wireForm: Data) throws(Failure) {
        (head, bytes) = try HeadedPayload.split(wireForm, "a picture")
    }
}
