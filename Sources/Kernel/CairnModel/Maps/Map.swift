// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// The load state of a layer's source.
public enum LoadStatus: String, Hashable, Sendable, Codable {
    /// No load has been tried.
    case notLoaded
    /// The source is being read.
    case loading
    /// The layer's properties are known.
    case loaded
    /// The load failed; the layer's `loadError` says why.
    case failedToLoad
}

/// The properties of a layer that a load determines.
public struct LayerProperties: Hashable, Sendable, Codable {
    /// The rectangle around all features, in `spatialReference`; nil for an empty layer.
    public var extent: Envelope?
    /// The coordinate system of the source.
    public var spatialReference: SpatialReference
    /// Geometry type of the features; nil for a layer without features of one kind.
    public var geometryType: GeometryType?
    /// The columns, the object id first; empty for a layer without fixed ones.
    public var fields: [FieldDescription]
    /// The number of features; 0 where they are not counted.
    public var featureCount: Int
    /// Extent of all features in WGS 84 longitude and latitude; nil when unknown.
    public var geographicExtent: Envelope?

    /// Whether coordinates have a Z.
    public var hasZ: Bool
    /// Whether coordinates have an M.
    public var hasM: Bool
    /// Size and bands of a raster; nil for every other kind of layer.
    public var raster: RasterProperties?
    /// Properties of the layer's server; nil for layers of this site.
    public var service: ServiceProperties?

    /// Makes properties.
    public init(
        extent: Envelope?, spatialReference: SpatialReference, geometryType: GeometryType?,
        fields: [FieldDescription], featureCount: Int, geographicExtent: Envelope? = nil,
        hasZ: Bool = false, hasM: Bool = false, raster: RasterProperties? = nil,
        service: ServiceProperties? = nil
    ) {
        self.service = service
        self.raster = raster
        self.geographicExtent = geographicExtent
        self.hasZ = hasZ
        self.hasM = hasM
        self.extent = extent
        self.spatialReference = spatialReference
        self.geometryType = geometryType
        self.fields = fields
        self.featureCount = featureCount
    }
}

extension LayerProperties {
    private enum CodingKeys: String, CodingKey {
        case extent, spatialReference, geometryType, fields, featureCount, geographicExtent
        case hasZ, hasM, raster, service
    }

    /// Reads every member; `hasZ` and `hasM` are false where they are absent.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            extent: try members.decodeIfPresent(Envelope.self, forKey: .extent),
            spatialReference: try members.decode(
                SpatialReference.self, forKey: .spatialReference),
            geometryType: try members.decodeIfPresent(GeometryType.self, forKey: .geometryType),
            fields: try members.decode([FieldDescription].self, forKey: .fields),
            featureCount: try members.decode(Int.self, forKey: .featureCount),
            geographicExtent: try members.decodeIfPresent(
                Envelope.self, forKey: .geographicExtent),
            hasZ: try members.decodeIfPresent(Bool.self, forKey: .hasZ) ?? false,
            hasM: try members.decodeIfPresent(Bool.self, forKey: .hasM) ?? false,
            raster: try members.decodeIfPresent(RasterProperties.self, forKey: .raster),
            service: try members.decodeIfPresent(ServiceProperties.self, forKey: .service))
    }

    /// Encodes the known members; `hasZ` and `hasM` only if true.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(extent, forKey: .extent)
        try members.encode(spatialReference, forKey: .spatialReference)
        try members.encodeIfPresent(geometryType, forKey: .geometryType)
        try members.encode(fields, forKey: .fields)
        try members.encode(featureCount, forKey: .featureCount)
        try members.encodeIfPresent(geographicExtent, forKey: .geographicExtent)
        if hasZ { try members.encode(true, forKey: .hasZ) }
        if hasM { try members.encode(true, forKey: .hasM) }
        try members.encodeIfPresent(raster, forKey: .raster)
        try members.encodeIfPresent(service, forKey: .service)
    }
}

/// The scales at which a layer is drawn; denominators, 0 = no limit.
public struct ScaleRange: Hashable, Sendable, Codable {
    /// The zoomed-out limit, the larger denominator: visible when scale ≤ `minScale`.
    public var minScale: Double
    /// The zoomed-in limit, the smaller denominator: visible when scale ≥ `maxScale`.
    public var maxScale: Double

    /// Visible at every scale.
    public static let unlimited = ScaleRange(minScale: 0, maxScale: 0)

    /// Makes a range.
    public init(minScale: Double, maxScale: Double) {
        self.minScale = minScale
        self.maxScale = maxScale
    }

    /// Whether a map at `1 : scale` shows the layer.
    public func contains(scale: Double) -> Bool {
        (minScale == 0 || scale <= minScale) && (maxScale == 0 || scale >= maxScale)
    }
}

/// The public state of one layer or group.
public struct LayerDescription: Hashable, Sendable, Codable {
    /// The number inside the map, never reused.
    public var id: LayerID
    /// The name, unique in the map.
    public var name: String
    /// The containing group; nil at the top level.
    public var parent: LayerID?
    /// Its children in drawing order, bottom first; empty for a layer.
    public var children: [LayerID]
    /// Group or layer, with its source.
    public var kind: LayerKind
    /// Its own visibility; it is drawn when every ancestor is visible too.
    public var isVisible: Bool
    /// The scales at which it is drawn.
    public var scaleRange: ScaleRange
    /// A WHERE clause that limits its features; nil for all.
    public var definitionExpression: String?
    /// The field shown for a feature; nil means the field chosen from the properties.
    public var displayField: String?
    /// The time fields of its features; nil for a layer without time.
    public var timeInfo: LayerTimeInfo?
    /// The drawing of its features; nil for the symbol of its number.
    public var drawing: LayerDrawing?
    /// Aliases of its fields in this map, by field name; they override those of the source.
    public var fieldAliases: [String: String]
    /// Whether its features can be queried: Esri's capability Query.
    public var isQueryable: Bool
    /// Whether its features show popups: identify can be limited to such layers.
    public var isPopupEnabled: Bool
    /// Load state of the source; groups are always `loaded`.
    public var loadStatus: LoadStatus
    /// The error of the last load, while `failedToLoad`.
    public var loadError: Failure?
    /// Properties while `loaded`; nil for groups.
    public var properties: LayerProperties?
    /// Its graphics, by rising number; nil for all but graphics layers.
    public var graphics: [Graphic]?
    /// The edits of its features; nil for a layer that was never editable.
    public var edits: LayerEdits?
    /// Its description, attribution and popup definition; nil where none is set.
    public var info: LayerInfo?
    /// The visible features of a map as seen from later (``MapDescription/seen(from:)``); nil for
    /// all, and in any other map.
    public var sight: LayerSight?

    /// Makes a description.
    public init(
        id: LayerID, name: String, parent: LayerID?, children: [LayerID], kind: LayerKind,
        isVisible: Bool, scaleRange: ScaleRange, definitionExpression: String?,
        displayField: String?, timeInfo: LayerTimeInfo? = nil, drawing: LayerDrawing? = nil,
        fieldAliases: [String: String] = [:], isQueryable: Bool = true,
        isPopupEnabled: Bool = true, loadStatus: LoadStatus, loadError: Failure?,
        properties: LayerProperties?, graphics: [Graphic]? = nil
    ) {
        self.graphics = graphics
        self.id = id
        self.name = name
        self.parent = parent
        self.children = children
        self.kind = kind
        self.isVisible = isVisible
        self.scaleRange = scaleRange
        self.definitionExpression = definitionExpression
        self.displayField = displayField
        self.timeInfo = timeInfo
        self.drawing = drawing
        self.fieldAliases = fieldAliases
        self.isQueryable = isQueryable
        self.isPopupEnabled = isPopupEnabled
        self.loadStatus = loadStatus
        self.loadError = loadError
        self.properties = properties
    }
}

extension LayerDescription {
    /// The effective drawing of its features: ``drawing``, else that of their server; nil for the
    /// symbol of its number.
    public var shownDrawing: LayerDrawing? {
        guard let drawing else { return properties?.service?.drawing }
        guard drawing.renderer == nil, let theirs = properties?.service?.drawing else {
            return drawing
        }
        return LayerDrawing(
            theirs.renderer, transparency: drawing.transparency,
            labels: drawing.labels.isEmpty ? theirs.labels : drawing.labels)
    }

    /// The field shown for a feature: ``displayField`` where the layer has it, or one chosen from
    /// the properties.
    ///
    /// Chosen are, in this order: a text field called `name`, `title` or `label` (any letter case),
    /// the first text field with one of these words in its name, the first text field, the object
    /// id. Nil for groups and layers that are not loaded.
    public var shownField: String? { properties.flatMap { shownField(among: $0.fields) } }

    /// The display field among columns that are not the layer's.
    public func shownField(among fields: [FieldDescription]) -> String? {
        if let wanted = displayField?.lowercased(),
            let field = fields.first(where: { $0.name.lowercased() == wanted })
        {
            return field.name
        }
        let texts = fields.filter { $0.type == .string }
        let words = ["name", "title", "label"]
        let chosen =
            words.lazy.compactMap { word in texts.first { $0.name.lowercased() == word } }.first
            ?? words.lazy.compactMap { word in
                texts.first { $0.name.lowercased().contains(word) }
            }.first ?? texts.first ?? fields.first
        return chosen?.name
    }
}

/// The public state of a map at one sequence number.
public struct MapDescription: Hashable, Sendable, Codable {
    /// The name.
    public var name: MapName
    /// The last event folded into it: the sequence number of this answer.
    public var sequence: Int64
    /// Top-level layers in drawing order, bottom first; `layers` has the rest.
    public var rootLayers: [LayerID]
    /// Every layer and group, in drawing order, bottom first, a group before its children.
    public var layers: [LayerDescription]
    /// The bottom-most layer; nil for a map without one.
    public var basemap: LayerID?
    /// That of its properties, else the basemap's once it is loaded; nil for a blank map.
    public var spatialReference: SpatialReference?
    /// That of its properties, else the basemap's extent once it is loaded.
    public var initialExtent: Envelope?
    /// The position of the last source change of each layer that had one.
    ///
    /// Earlier object ids mean other features. Nil without such layers.
    public var sourceChanges: [LayerID: Int64]?
    /// Its title, description and the like; nil where none is set.
    public var properties: MapProperties?

    /// Makes a description.
    public init(
        name: MapName, sequence: Int64, rootLayers: [LayerID], layers: [LayerDescription],
        basemap: LayerID?, spatialReference: SpatialReference?, initialExtent: Envelope?
    ) {
        self.name = name
        self.sequence = sequence
        self.rootLayers = rootLayers
        self.layers = layers
        self.basemap = basemap
        self.spatialReference = spatialReference
        self.initialExtent = initialExtent
    }

    /// The layer of that number, or nil.
    public func layer(_ id: LayerID) -> LayerDescription? { layers.first { $0.id == id } }
}

extension Failure {
    /// The refusal of a layer that the map does not have: `invalidParameter`, as ArcGIS servers
    /// number it, in their words.
    public static func unknownLayer(_ id: LayerID) -> Failure {
        Failure(.invalidParameter, "The requested layer (layerId: \(id)) was not found.")
    }
}
