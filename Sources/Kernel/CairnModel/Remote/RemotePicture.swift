// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A question to a layer on another server for a picture.
public struct RemotePictureQuestion: Hashable, Sendable {
    /// The layer's source.
    public var source: LayerSource
    /// The layer's properties from its load.
    public var properties: LayerProperties
    /// Spatial reference of `extent` and of the result.
    public var spatialReference: SpatialReference
    /// The extent, border to border; nil for everything, of features only.
    public var extent: Envelope?
    /// Columns of the picture that shows `extent`.
    public var width: Int
    /// Rows.
    public var height: Int
    /// The side of a pixel in units of the spatial reference, above 0.
    public var unitsPerPixel: Double
    /// Dots per inch.
    public var dpi: Double
    /// The requested fields of features; nil for all.
    public var fields: [String]?
    /// SQL condition that every feature to be drawn satisfies; nil for none.
    ///
    /// A service that draws by itself gets one only if the condition is exact.
    public var clause: String?
    /// Filter by time; nil for any.
    public var time: TimeExtent?

    /// Makes a question.
    public init(
        source: LayerSource, properties: LayerProperties, spatialReference: SpatialReference,
        extent: Envelope?, width: Int, height: Int, unitsPerPixel: Double, dpi: Double,
        fields: [String]? = [], clause: String? = nil, time: TimeExtent? = nil
    ) {
        self.source = source
        self.properties = properties
        self.spatialReference = spatialReference
        self.extent = extent
        self.width = width
        self.height = height
        self.unitsPerPixel = unitsPerPixel
        self.dpi = dpi
        self.fields = fields
        self.clause = clause
        self.time = time
    }
}

/// The part of a picture from another server.
public struct RemotePicture: Hashable, RemoteOutcome {
    /// Encoded pictures side by side, none of them read yet.
    public struct Mosaic: Hashable, Sendable {
        /// Number of columns.
        public var columns: Int
        /// Number of rows.
        public var rows: Int
        /// Columns of pixels of each, whatever size it has when it is read.
        public var pieceWidth: Int
        /// Rows of pixels of each.
        public var pieceHeight: Int
        /// The extent of all pieces, border to border.
        public var extent: Envelope
        /// Spatial reference of `extent` and of the pieces.
        public var spatialReference: SpatialReference
        /// PNG, JPEG or WebP, row by row from the top; nil for a missing piece.
        public var pieces: [[UInt8]?]

        /// Puts them together.
        public init(
            columns: Int, rows: Int, pieceWidth: Int, pieceHeight: Int, extent: Envelope,
            spatialReference: SpatialReference, pieces: [[UInt8]?]
        ) {
            self.columns = columns
            self.rows = rows
            self.pieceWidth = pieceWidth
            self.pieceHeight = pieceHeight
            self.extent = extent
            self.spatialReference = spatialReference
            self.pieces = pieces
        }
    }

    /// The content to draw.
    public enum Content: Hashable, Sendable {
        /// Pictures.
        case mosaic(Mosaic)
        /// Features; attributes in the order of the layer's fields.
        case features([RemoteAnswer.Feature])
    }

    /// The content to draw.
    public var content: Content
    /// The reason for missing content; nil when complete.
    public var shortfall: Failure?

    /// Makes an answer.
    public init(_ content: Content, shortfall: Failure? = nil) {
        self.content = content
        self.shortfall = shortfall
    }
}

/// The tiling scheme of a service: rows from the top, columns from the left.
public struct TilingScheme: Hashable, Sendable, Codable {
    /// A level of tiles.
    public struct Level: Hashable, Sendable, Codable {
        /// Its number in addresses.
        public var number: Int
        /// The side of a pixel, in units of the layer's spatial reference.
        public var unitsPerPixel: Double

        /// Describes a level.
        public init(_ number: Int, unitsPerPixel: Double) {
            self.number = number
            self.unitsPerPixel = unitsPerPixel
        }
    }

    /// The left side of the tiles in column 0, in the layer's spatial reference.
    public var left: Double
    /// The upper side of the tiles in row 0.
    public var top: Double
    /// Columns of pixels of a tile, 16…1,024.
    public var tileWidth: Int
    /// Rows of pixels of a tile, 16…1,024.
    public var tileHeight: Int
    /// The levels, the coarsest first; one at least.
    public var levels: [Level]

    /// Nil for sizes that tiles do not have, and for no levels or more than 64.
    public init?(left: Double, top: Double, tileWidth: Int, tileHeight: Int, levels: [Level]) {
        guard 16...1024 ~= tileWidth, 16...1024 ~= tileHeight, 1...64 ~= levels.count,
            left.isFinite, top.isFinite,
            levels.allSatisfy({ $0.unitsPerPixel.isFinite && $0.unitsPerPixel > 0 })
        else { return nil }
        self.left = left
        self.top = top
        self.tileWidth = tileWidth
        self.tileHeight = tileHeight
        self.levels = levels.sorted { $0.unitsPerPixel > $1.unitsPerPixel }
    }
}
