// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Expression
internal import GDAL
internal import Geometry

/// The formats that `ExportFeatures` writes; raw values are those of its parameter `format`.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A GeoPackage.
    case geoPackage = "gpkg"
    /// RFC 7946.
    case geoJSON = "geojson"
    /// FlatGeobuf with a spatial index.
    case flatGeobuf = "fgb"
    /// A shapefile in a ZIP archive.
    case shapefile = "shp"
    /// CSV with a column `WKT`.
    case csv
    /// OGC KML 2.2.
    case kml

    var writer: VectorWriter.Format {
        switch self {
        case .geoPackage: .geoPackage
        case .geoJSON: .geoJSON
        case .flatGeobuf: .flatGeobuf
        case .shapefile: .zippedShapefile
        case .csv: .csv
        case .kml: .kml
        }
    }

    /// Of the product.
    public var mediaType: MediaType {
        switch self {
        case .geoPackage: .geoPackage
        case .geoJSON: .geoJSON
        case .flatGeobuf: .flatGeobuf
        case .shapefile: .zip
        case .csv: .csv
        case .kml: .kml
        }
    }

    /// The ending by which GDAL knows what to write.
    public var ending: String { self == .shapefile ? ".shp.zip" : mediaType.endings[0] }

    /// Whether the format's specification allows WGS 84 alone.
    var isGeographic: Bool { self == .geoJSON || self == .kml }

    /// Whether moments are written as ISO 8601 text: a shapefile has days without a time, and GDAL
    /// writes those of CSV and KML in a form of its own.
    var writesMomentsAsText: Bool { self == .shapefile || self == .csv || self == .kml }

    /// Whether integers of 64 bits are written as text: KML's driver declares them as real numbers.
    var writesBigIntegersAsText: Bool { self == .kml }
}

/// The parameters of an `ExportFeatures` job.
struct ExportSettings {
    let map: MapName
    private let layer: String
    private let clause: String?
    private let area: QuerySpatialFilter?
    private let fields: [String]
    private let reference: SpatialReference?
    let format: ExportFormat
    let asOf: AsOf
    /// The job's own sequence number; nothing later is read.
    let submitted: Int64

    /// Reads them; throws `Failure` (`invalidParameter`) naming the one at fault.
    init(_ assignment: ChunkAssignment) throws(Failure) {
        try self.init(
            ParameterTexts(assignment.parameters, of: ExportFeatures.description),
            submitted: assignment.submission())
    }

    /// Reads those of a job with that sequence number; throws as ``init(_:)`` does.
    init(_ texts: ParameterTexts, submitted: Int64) throws(Failure) {
        guard let map = texts["map"].flatMap({ MapName(rawValue: $0) }) else {
            throw ParameterTexts.fault("map", "the name of a map")
        }
        guard let format = texts["format"].flatMap({ ExportFormat(rawValue: $0.lowercased()) })
        else {
            let names = ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ParameterTexts.fault("format", "one of \(names)")
        }
        let reference = try texts.whole("sr").map { SpatialReference(wkid: $0) }
        if format.isGeographic, let reference, !reference.isEquivalent(to: .wgs84) {
            throw ParameterTexts.fault("sr", "4326, the only one of format '\(format.rawValue)'")
        }
        self.map = map
        self.format = format
        self.reference = format.isGeographic ? .wgs84 : reference
        layer = texts["layer"] ?? ""
        clause = texts["where"]
        if let clause {
            do throws(Failure) { _ = try WhereClause(parsing: clause) } catch {
                throw Failure(error.code, "parameter 'where': " + error.message)
            }
        }
        area = try Self.area(texts)
        fields = (texts["outFields"] ?? "*").split(separator: ",").map {
            String($0.drop(while: \.isWhitespace)).trimmingSuffix(while: \.isWhitespace)
        }
        asOf = try texts.asOf("at", submitted: submitted)
        self.submitted = submitted
    }

    private static func area(_ texts: ParameterTexts) throws(Failure) -> QuerySpatialFilter? {
        let stated = try texts.whole("areaSR").map { SpatialReference(wkid: $0) }
        guard let text = texts["area"] else {
            if stated != nil {
                throw ParameterTexts.fault("areaSR", "the parameter 'area' with it")
            }
            return nil
        }
        guard !text.contains("{") else {
            let geometry = try GeometryJSON.parse(text)
            return QuerySpatialFilter(
                geometry: geometry.shape, spatialReference: stated ?? geometry.spatialReference)
        }
        guard let sides = try texts.numbers("area", 4...4), sides[0] <= sides[2],
            sides[1] <= sides[3]
        else { throw ParameterTexts.fault("area", "xmin,ymin,xmax,ymax, or a geometry in JSON") }
        let box = Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
        return QuerySpatialFilter(geometry: .envelope(box), spatialReference: stated)
    }

    /// The layer on the map; throws `Failure` (`invalidParameter`) where the name is of none, or of
    /// several.
    func layer(of map: MapDescription) throws(Failure) -> LayerDescription {
        if let id = LayerID(layer), let found = map.layer(id) { return found }
        let named = map.layers.filter { $0.name == layer }
        guard let found = named.first, named.count == 1 else {
            throw ParameterTexts.fault(
                "layer",
                named.isEmpty
                    ? "the number or name of a layer of map '\(map.name)'"
                    : "its number: \(named.count) layers of map '\(map.name)' have that name")
        }
        return found
    }

    /// The features of the layer as of a sequence number.
    func request(_ layer: LayerID, at position: Int64) -> QueryRequest {
        var request = QueryRequest(map: map, layer: layer)
        request.clause = clause
        request.spatialFilter = area
        request.outFields = fields
        request.outReference = reference
        (request.returnZ, request.returnM) = (true, true)
        request.at = position
        return request
    }
}

extension String {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return String(text)
    }
}
