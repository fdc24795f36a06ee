// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What a picture asks of a layer on another server.
public struct RemotePictureQuestion: Hashable, Sendable {
    /// The layer's source.
    public var source: LayerSource
    /// What loading it found out.
    public var properties: LayerProperties
    /// Of `extent`, and of what is wanted.
    public var spatialReference: SpatialReference
    /// What is to be seen, border to border; nil for all that there is, of features only.
    public var extent: Envelope?
    /// Columns of the picture that shows `extent`.
    public var width: Int
    /// Rows.
    public var height: Int
    /// The side of a pixel in units of the spatial reference, above 0.
    public var unitsPerPixel: Double
    /// Dots per inch.
    public var dpi: Double
    /// The fields whose values are wanted of features; nil for all.
    public var fields: [String]?
    /// SQL that holds of every feature that is to be drawn; nil for none.
    ///
    /// A service that draws by itself is given one only where it holds of no others.
    public var clause: String?
    /// Only what is of that time; nil: of any.
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

/// What another server gave for a picture.
public struct RemotePicture: Hashable, RemoteOutcome {
    /// Encoded pictures side by side, none of them read yet.
    public struct Mosaic: Hashable, Sendable {
        /// How many stand side by side.
        public var columns: Int
        /// How many stand one below the other.
        public var rows: Int
        /// Columns of pixels of each, whatever size it has when it is read.
        public var pieceWidth: Int
        /// Rows of pixels of each.
        public var pieceHeight: Int
        /// What all of them show, border to border.
        public var extent: Envelope
        /// Of `extent`, and of the pictures.
        public var spatialReference: SpatialReference
        /// PNG, JPEG or WebP, row by row from the top; nil where there is none.
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

    /// What there is to draw.
    public enum Content: Hashable, Sendable {
        /// Pictures.
        case mosaic(Mosaic)
        /// Features; attributes in the order of the layer's fields.
        case features([RemoteAnswer.Feature])
    }

    /// What there is to draw.
    public var content: Content
    /// Why that is not all of it; nil where it is.
    public var shortfall: Failure?

    /// Makes an answer.
    public init(_ content: Content, shortfall: Failure? = nil) {
        self.content = content
        self.shortfall = shortfall
    }
}

/// Which tiles a service has: rows from the top, columns from the left.
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
