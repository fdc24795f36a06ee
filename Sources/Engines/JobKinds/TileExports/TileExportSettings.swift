// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
public import TilePackages

/// The parameters that the exports of tiles have in common.
public struct TileExportSettings: Sendable {
    /// The map.
    public let map: MapName
    /// Which tiles.
    public let selection: TileSelection
    /// The layers.
    public let layers: DrawnLayers
    /// The format of the package.
    public let format: TilePackageFormat
    /// The moment as of which the map is read.
    let asOf: AsOf
    /// The job's own sequence number; nothing later is read.
    let submitted: Int64

    /// Reads them; throws `Failure` (`invalidParameter`) naming the one at fault; more tiles than
    /// are allowed are a fault of the levels.
    public init(
        _ texts: ParameterTexts, formats: [TilePackageFormat], submitted: Int64
    ) throws(Failure) {
        guard let map = texts["map"].flatMap({ MapName(rawValue: $0) }) else {
            throw ParameterTexts.fault("map", "the name of a map")
        }
        guard let format = formats.first(where: { $0.rawValue == texts["format"]?.lowercased() })
        else {
            throw ParameterTexts.fault(
                "format", "one of \(formats.map(\.rawValue).joined(separator: ", "))")
        }
        self.map = map
        self.format = format
        selection = try TileSelection(
            levels: try Self.levels(texts["levels"] ?? ""), area: try Self.area(texts))
        layers = try Self.layers(texts["layers"])
        asOf = try texts.asOf("at", submitted: submitted)
        self.submitted = submitted
    }

    /// The parameters of every export of tiles; those of the kind come after the first ones.
    static func parameters(
        formats: [TilePackageFormat], _ own: [JobKindDescription.Parameter] = []
    ) -> [JobKindDescription.Parameter] {
        [
            .text("map", "The map.", isRequired: true),
            .text(
                "levels",
                "Levels of the tiles, 0 for the whole world in one: numbers and ranges, 0-5,8.",
                isRequired: true),
            .text(
                "area",
                "Tiles that touch it: xmin,ymin,xmax,ymax, or an area in GeoJSON or Esri's JSON; "
                    + "the whole world unless set."),
            .whole(
                "areaSR", "The well-known id of the area's coordinates: 4326 or 3857.", "4326"),
            .text("layers", "The layers, numbers with commas; those that are visible unless set."),
            .text(
                "format", "The format of the package.", formats[0].rawValue,
                of: formats.map(\.rawValue)),
        ] + own + [
            .text("at", "The sequence number or ISO 8601 time as of which the map is read.")
        ]
    }

    private static func levels(_ text: String) throws(Failure) -> [Int] {
        let known = TileAddress.levels
        var levels: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
                .map { Int($0.filter { $0 != " " }) }
            guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1],
                known ~= first, known ~= last, first <= last
            else {
                throw ParameterTexts.fault(
                    "levels", "numbers and ranges from 0 to \(known.upperBound), as 0-5,8")
            }
            levels.formUnion(first...last)
        }
        return levels.sorted()
    }

    private static func layers(_ text: String?) throws(Failure) -> DrawnLayers {
        guard let text else { return DrawnLayers() }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let ids = parts.compactMap { LayerID(String($0.filter { $0 != " " })) }
        guard ids.count == parts.count else {
            throw ParameterTexts.fault("layers", "numbers of layers with commas")
        }
        return DrawnLayers(.show, ids: ids)
    }

    private static func area(_ texts: ParameterTexts) throws(Failure) -> Shape? {
        let stated = try texts.whole("areaSR").map { SpatialReference(wkid: $0) } ?? .wgs84
        guard let text = texts["area"] else { return nil }
        guard text.contains("{") else {
            guard let sides = try texts.numbers("area", 4...4), sides[0] <= sides[2],
                sides[1] <= sides[3]
            else { throw areaFault }
            let box = Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
            return try projected(.envelope(box), stated)
        }
        let geometry = try GeometryJSON.parse(text)
        switch geometry.shape {
        case .polygon, .envelope:
            return try projected(geometry.shape, geometry.spatialReference ?? stated)
        case .point, .multipoint, .polyline: throw areaFault
        }
    }

    private static func projected(
        _ shape: Shape, _ reference: SpatialReference
    ) throws(Failure) -> Shape {
        if reference.isEquivalent(to: .webMercator) { return shape }
        guard reference.isEquivalent(to: .wgs84) else {
            throw ParameterTexts.fault("areaSR", "4326 or 3857")
        }
        return shape.mapCoordinates { WebMercator.project($0) }
    }

    private static let areaFault = ParameterTexts.fault(
        "area", "xmin,ymin,xmax,ymax, or an area in GeoJSON or Esri's JSON")

    /// Throws `invalidParameter` unless the map has every layer that is asked for.
    func check(_ map: MapDescription) throws(Failure) {
        if let unknown = layers.ids.first(where: { map.layer($0) == nil }) {
            throw Failure.unknownLayer(unknown)
        }
    }
}
