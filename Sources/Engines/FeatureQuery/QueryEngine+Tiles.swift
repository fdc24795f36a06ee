// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import Expression
public import Geometry
internal import PROJ
public import VectorTiles

extension QueryEngine {
    /// The most coordinates of the features that are held for tiles, all layers together.
    public static let tileCoordinateBound = 20_000_000

    /// The features of layers whose rectangles meet `area`, ready for vector tiles: by rising
    /// object id, which is their id, with every other field that is not null.
    ///
    /// Moments are ISO 8601 text. Features with a position that has no place in EPSG:3857, and
    /// those whose bytes are damaged, are counted by ``VectorTileLayer/unplaceable``; on WGS 84
    /// latitudes beyond the map's are moved to its border. Throws `tooLarge` beyond
    /// ``tileCoordinateBound``, `cancelled`, and what the
    /// datasets throw.
    ///
    /// - Parameter area: In EPSG:3857.
    public func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(Failure) -> [VectorTileLayer] {
        var left = Self.tileCoordinateBound
        var contents: [VectorTileLayer] = []
        for layer in layers {
            contents.append(try content(of: layer, in: map, area, &left, isCancelled))
        }
        return contents
    }

    private func content(
        of tiles: TileLayer, in map: MapDescription, _ area: Envelope, _ left: inout Int,
        _ isCancelled: @escaping () -> Bool
    ) throws(Failure) -> VectorTileLayer {
        let layer = tiles.layer
        // Of graphics a layer of tiles has those of one kind alone.
        var map = map
        if layer.graphics != nil, let index = map.layers.firstIndex(where: { $0.id == layer.id }) {
            map.layers[index] = layer
        }
        var request = QueryRequest(map: map.name, layer: layer.id)
        request.spatialFilter = QuerySpatialFilter(
            geometry: .envelope(area.meetingWorld), spatialReference: .webMercator,
            relation: .envelopeIntersects)
        let run: QueryRun
        let reader: TileFeatureReader
        var filter: RowFilter
        do throws(Failure) {
            run = try self.run(request, in: map, isCancelled)
            reader = try TileFeatureReader(run.features.base.properties, run.layer.fields)
            filter = try run.filter()
        } catch {
            let name = "layer \(layer.id) '\(layer.name)'"
            throw error.message.contains(name)
                ? error : Failure(error.code, "\(name): \(error.message)")
        }
        var chains = FeatureChains()
        var features: [VectorTileFeature] = []
        try run.forEachRow(&filter) { row throws(Failure) in
            do throws(Failure) {
                features.append(try reader.feature(row, &chains))
            } catch {
                guard error.code == .corrupt else { throw error }
                features.append(try reader.nowhere(row))
                return true
            }
            left -= chains.coordinates.count
            guard left >= 0 else {
                throw Failure(
                    .tooLarge,
                    "layer \(layer.id) '\(layer.name)': a tile would be made of more than "
                        + "\(Self.tileCoordinateBound) coordinates; limit the scales at which the "
                        + "layer is shown")
            }
            return true
        }
        return VectorTileLayer(
            name: layer.name, features: features,
            labels: tiles.labelName.map {
                VectorTileLayer.AreaLabels(
                    name: $0, attributes: Set(tiles.labelFields.map(\.name)))
            })
    }
}

/// Reads features of a dataset for tiles.
private struct TileFeatureReader {
    private let fields: [FieldDescription]
    private let geometryType: GeometryType?
    private let project: (Coordinate) -> Coordinate

    /// Throws where positions of the layer's reference cannot become those of EPSG:3857.
    init(_ properties: LayerProperties, _ fields: [FieldDescription]) throws(Failure) {
        self.fields = fields
        geometryType = properties.geometryType
        let own = properties.spatialReference
        if own.isEquivalent(to: .webMercator) {
            project = { $0 }
        } else if own.isEquivalent(to: .wgs84) {
            project = { Geometry.WebMercator.project($0) }
        } else {
            let transform = try CoordinateTransform(from: own, to: .webMercator)
            project = { (try? transform.forward($0)) ?? Coordinate(x: .nan, y: .nan) }
        }
    }

    /// A feature whose bytes are damaged, as one without coordinates.
    func nowhere(_ row: FeatureReader) throws(Failure) -> VectorTileFeature {
        VectorTileFeature(id: try id(of: row), shape: .multipoint([]))
    }

    private func id(of row: FeatureReader) throws(Failure) -> UInt64? {
        if case .integer(let number) = try row.stored(0) { UInt64(exactly: number) } else { nil }
    }

    func feature(
        _ row: FeatureReader, _ chains: inout FeatureChains
    ) throws(Failure) -> VectorTileFeature {
        let id = try id(of: row)
        var attributes: [(name: String, value: VectorTileValue?)] = []
        attributes.reserveCapacity(fields.count)
        for column in fields.indices.dropFirst() {
            attributes.append(
                (fields[column].name, Self.value(try row.value(column), fields[column])))
        }
        try row.read(into: &chains)
        return VectorTileFeature(id: id, attributes: attributes, shape: shape(of: chains))
    }

    private static func value(
        _ value: AttributeValue, _ field: FieldDescription
    ) -> VectorTileValue? {
        switch value {
        case .null: nil
        case .integer(let number): .int64(number)
        case .real(let number):
            !number.isFinite
                ? nil : field.type == .single ? .float(Float(number)) : .double(number)
        case .string(let text): .string(text)
        case .date(let milliseconds): .string(CalendarClock(milliseconds: milliseconds).text)
        }
    }

    private func shape(of chains: FeatureChains) -> Shape {
        let places = chains.coordinates.map(project)
        func lists() -> [[Coordinate]] {
            chains.ends.indices.map { Array(places[chains.range($0)]) }
        }
        return switch geometryType {
        case .polyline: .polyline(paths: lists())
        case .polygon: .polygon(rings: lists())
        case .point, .multipoint, nil: .multipoint(places)
        }
    }
}

extension Envelope {
    /// The part inside the square of web maps, a little more where it begins at the border: beyond
    /// are no tiles, and positions moved to the border are on it.
    fileprivate var meetingWorld: Envelope {
        let half = TileAddress.halfWorldMeters
        return Envelope(
            minX: minX, minY: minY <= -half ? -4 * half : minY, maxX: maxX,
            maxY: maxY >= half ? 4 * half : maxY)
    }
}
