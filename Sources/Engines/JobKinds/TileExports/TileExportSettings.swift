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
    /// The sequence number of the package that the product updates; nil for a whole package.
    let since: Int64?
    /// The job's own sequence number; nothing later is read.
    let submitted: Int64
    /// Names and values of what decides the tiles and their file besides the moment, by name.
    let stated: [(name: String, value: String)]

    /// Reads them; throws `Failure` (`invalidParameter`) naming the one at fault; more tiles than
    /// are allowed are a fault of the levels.
    ///
    /// - Parameter rootScale: The scale's denominator of level 0.
    public init(
        _ texts: ParameterTexts, formats: [TilePackageFormat], rootScale: Double, submitted: Int64
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
            levels: try Self.levels(texts, rootScale), area: try Self.area(texts))
        layers = try Self.layers(texts["layers"])
        asOf = try texts.asOf("at", submitted: submitted)
        since = try Self.since(texts, asOf, submitted: submitted)
        self.submitted = submitted
        var stated = texts.texts
        for name in ["at", "since", "scales", "map"] { stated[name] = nil }
        stated["levels"] = Self.text(of: selection.levels)
        self.stated = stated.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func since(
        _ texts: ParameterTexts, _ asOf: AsOf, submitted: Int64
    ) throws(Failure) -> Int64? {
        guard let since = try texts.whole("since") else { return nil }
        let last = if case .sequence(let position) = asOf { position } else { submitted }
        guard 0...last ~= Int64(since) else {
            throw ParameterTexts.fault(
                "since", "a sequence number from 0 to \(last), up to which the update leads")
        }
        return Int64(since)
    }

    /// The parameters of every export of tiles; those of the kind come after the first ones.
    static func parameters(
        formats: [TilePackageFormat], _ own: [JobKindDescription.Parameter] = []
    ) -> [JobKindDescription.Parameter] {
        [
            .text("map", "The map.", isRequired: true),
            .text(
                "levels",
                "Levels of the tiles, 0 for the whole world in one: numbers and ranges, 0-5,8."),
            .text(
                "scales",
                "Denominators of scales with commas, in place of levels: each within 1 % of a "
                    + "level's."),
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
            .text("at", "The sequence number or ISO 8601 time as of which the map is read."),
            .whole(
                "since",
                "The sequence number of a package that is there: the product is the update that "
                    + "makes the newer package of it."),
        ]
    }

    private static func levels(
        _ texts: ParameterTexts, _ rootScale: Double
    ) throws(Failure) -> [Int] {
        guard let scales = texts["scales"] else {
            guard let text = texts["levels"] else {
                throw Failure(
                    .invalidParameter, "parameter 'levels' is missing, or 'scales' in its place")
            }
            return try levels(text)
        }
        guard texts["levels"] == nil else {
            throw Failure(
                .invalidParameter, "parameters 'levels' and 'scales': expected one of the two")
        }
        var levels: Set<Int> = []
        for part in scales.split(separator: ",", omittingEmptySubsequences: false) {
            guard let scale = Double(part.filter { $0 != " " }), scale.isFinite, scale > 0 else {
                throw ParameterTexts.fault("scales", "denominators with commas, as 10000,25000")
            }
            func own(_ level: Int) -> Double { rootScale / Double(1 << level) }
            func error(_ level: Int) -> Double { abs(scale / own(level) - 1) }
            guard let level = TileAddress.levels.min(by: { error($0) < error($1) }),
                error(level) <= 0.01
            else {
                let nearest = TileAddress.levels.min { abs(own($0) - scale) < abs(own($1) - scale) }
                let level = nearest ?? 0
                throw Failure(
                    .invalidParameter,
                    "parameter 'scales': no level is within 1 % of 1:\(part), the nearest is level "
                        + "\(level), 1:\(Int(own(level).rounded()))")
            }
            levels.insert(level)
        }
        return levels.sorted()
    }

    /// Levels as their parameter states them: `0-5,8`.
    private static func text(of levels: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for level in levels {
            if let last = ranges.last, last.upperBound == level - 1 {
                ranges[ranges.count - 1] = last.lowerBound...level
            } else {
                ranges.append(level...level)
            }
        }
        return ranges.map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        .joined(separator: ",")
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
