// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// "Draw this", with the parameters of Esri's export operation.
public struct ExportRequest: PastRequest, Hashable, Sendable, Codable {
    /// The greatest width and height of a picture, in pixels.
    public static let sizeBound = 4_096
    /// Largest encoded picture in bytes: one message of the bus without the head.
    public static let byteBound = 8 << 20 - 1 << 16

    /// The map that is drawn.
    public var map: MapName
    /// The extent to show, in `extentReference`.
    ///
    /// It is grown on two sides to the proportions of the picture.
    public var extent: Envelope
    /// Esri's `bboxSR`; nil: the map's.
    public var extentReference: SpatialReference?
    /// Esri's `imageSR`, of the picture; nil: the map's.
    public var imageReference: SpatialReference?
    /// Columns, 1…``sizeBound``.
    public var width: Int
    /// Rows, 1…``sizeBound``.
    public var height: Int
    /// Dots per inch: how large symbols are, and which scale the picture has.
    public var dpi: Double
    /// Draws around the middle of `extent` at this scale instead; a denominator.
    public var mapScale: Double?
    /// The format of the picture; nil for the description of the picture alone.
    public var format: PictureFormat?
    /// Quality of JPEG, 1…100; nil for ``standardQuality``.
    public var quality: Int?
    /// The quality of JPEG unless one is asked for.
    public static let standardQuality = 85
    /// Whether the background is transparent; else white.
    ///
    /// JPEG has no transparency.
    public var isTransparent: Bool
    /// Number of columns and of rows into which the picture is cut, as equal pictures; nil for one
    /// picture.
    ///
    /// It divides `width` and `height`.
    public var division: Int?
    /// The layers to draw.
    public var layers: DrawnLayers
    /// Further WHERE clauses by layer, each ANDed with the layer's own definition expression.
    public var layerDefinitions: [LayerID: String]
    /// Filter by time; nil for any.
    public var time: TimeExtent?
    /// Whether the ends of `time` belong to it.
    public var timeRelation: TimeRelation
    /// Time options of single layers.
    public var layerTimeOptions: [LayerID: LayerTimeOptions]
    /// Draws the map as it was at this sequence number; nil: now.
    public var at: Int64?
    /// Draws the map as it was at this moment; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes features removed, hidden or deleted by this sequence number;
    /// nil for none.
    public var seenFrom: Int64?
    /// Least sequence number the picture must include (read your own writes).
    public var minSequence: Int64?

    /// Creates a request; the defaults are those of Esri's REST API.
    public init(
        map: MapName, extent: Envelope, extentReference: SpatialReference? = nil,
        imageReference: SpatialReference? = nil, width: Int = 400, height: Int = 400,
        dpi: Double = 96, format: PictureFormat? = .png, isTransparent: Bool = false,
        layers: DrawnLayers = DrawnLayers()
    ) {
        self.map = map
        self.extent = extent
        self.extentReference = extentReference
        self.imageReference = imageReference
        self.width = width
        self.height = height
        self.dpi = dpi
        self.format = format
        self.isTransparent = isTransparent
        self.layers = layers
        layerDefinitions = [:]
        timeRelation = .overlaps
        layerTimeOptions = [:]
    }
}

/// The form of a picture.
public enum PictureFormat: String, Hashable, Sendable, Codable {
    /// PNG of 8 bits a channel, with an alpha channel where anything in the picture is translucent.
    case png
    /// JPEG.
    case jpg

    /// The media type.
    public var mediaType: String { self == .jpg ? "image/jpeg" : "image/png" }
}

/// The layers of a picture: Esri's `layers` parameter of export.
///
/// A group stands for all it holds. In any case a layer is drawn only at scales inside its range
/// and those of its groups.
public struct DrawnLayers: Hashable, Sendable, Codable {
    /// The meaning of the ids.
    public enum Option: String, Hashable, Sendable, Codable, CaseIterable {
        /// These layers and no others, visible or not.
        case show
        /// Every other layer, visible or not.
        case hide
        /// These layers, and those that are visible.
        case include
        /// Those that are visible, but not these.
        case exclude
    }

    /// Meaning of the ids.
    public var option: Option
    /// Layers and groups; unknown ids are ignored.
    public var ids: [LayerID]

    /// A choice; without any, the layers that are visible.
    public init(_ option: Option = .include, ids: [LayerID] = []) {
        self.option = option
        self.ids = ids
    }
}
