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

    /// Joins the two.
    public init(head: Head, bytes: Data) {
        self.head = head
        self.bytes = bytes
    }

    /// The payload of an answer: how many bytes the head has (four bytes, little-endian), the head
    /// as JSON, the picture.
    ///
    /// Throws `Failure` where the head holds a number that JSON cannot.
    public func wireForm() throws(Failure) -> Data {
        let text = try CairnJSON.encode(head)
        let count = UInt32(text.count)
        var result = Data(capacity: 4 + text.count + bytes.count)
        for shift: UInt32 in [0, 8, 16, 24] {
            result.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        result.append(text)
        result.append(bytes)
        return result
    }

    /// Decodes ``wireForm()``; throws `Failure` (`corrupt`) for other bytes.
    public init(wireForm: Data) throws(Failure) {
        let prefix = Array(wireForm.prefix(4))
        let count = prefix.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard prefix.count == 4, count <= wireForm.count - 4 else {
            throw Failure(
                .corrupt,
                "these \(wireForm.count) bytes are not a picture: expected the length of its head")
        }
        let rest = wireForm.dropFirst(4)
        do throws(Failure) {
            head = try CairnJSON.decode(Head.self, from: Data(rest.prefix(count)))
        } catch {
            throw Failure(.corrupt, "the head of a picture: \(error.message)")
        }
        bytes = Data(rest.dropFirst(count))
    }
}
