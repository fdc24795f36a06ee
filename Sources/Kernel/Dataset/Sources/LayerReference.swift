// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry
import PROJ
import Platform

/// The spatial reference of a source's layer, from its definition, not from its name or number.
struct LayerReference {
    /// The reference stated by the source; nil for none.
    private let stated: SourceSpatialReference?
    /// The definition as the source has it; nil where it has a number only, or GDAL has read it
    /// well.
    private let definition: String?
    /// The reason for a missing statement; for a note.
    private let silence: String
    /// A sentence on a statement of the source that does not count; nil for none.
    private let overruled: String?
    /// The part of the source that states it: `.prj`; `assumed` for none.
    let basis: String

    /// Throws `unreadable` for a system that is unknown, or has no place on a map.
    init(
        _ layer: SourceLayer, of source: VectorSource, at path: String, _ outline: GeoJSONOutline?
    ) throws(Failure) {
        var stated = layer.spatialReference
        var basis = "the source"
        var definition: String?
        var silence = "the source states no spatial reference"
        switch source.driver {
        case "ESRI Shapefile":
            definition = Self.projection(of: layer.name, at: path)
            basis = "its .prj"
            if stated == nil, let text = definition, !text.isEmpty {
                throw Self.refusal("its .prj is not understood: '\(text.prefix(60))'")
            }
        case "GPKG":
            if let row = SourceExamination.spatialReference(ofTable: layer.name, at: path) {
                if row.number == 0 {
                    stated = nil
                    silence =
                        "the GeoPackage states an undefined spatial reference (srs_id 0)"
                }
                definition = row.definition
                basis = "gpkg_spatial_ref_sys"
            }
        case "GeoJSON":
            switch outline?.reference {
            case .null?:
                stated = nil
                silence = "the member 'crs' is null"
            case .name(let text)?:
                guard let meant = Self.meaning(of: text) else {
                    throw Self.refusal(
                        "its member 'crs' names '\(text.prefix(60))', which is not a known system")
                }
                stated = meant
                basis = "its member 'crs'"
            case .other(let text)?:
                stated = nil
                silence = "the member 'crs', '\(text)', is not the name of a system"
            case .absent?, nil: basis = "the format"
            }
        case "KML", "LIBKML", "GPX", "GeoJSONSeq", "OSM", "GeoRSS": basis = "the format"
        default: break
        }
        if let text = definition,
            !text.contains("[")
                || !SystemExamination.isKnown(.wkt(SystemExamination.nameless(text)))
        {
            definition = nil
        }
        if let known = stated, known.isUndefined { stated = nil }
        if var known = stated {
            // A number that neither EPSG nor ESRI has does not count.
            if let number = known.wkid, !SystemExamination.isKnown(.wkid(number)) {
                known.wkid = nil
                known.wkt = SystemExamination.unnumbered(known.wkt)
                stated = known
            }
            let system = definition.map { .wkt(SystemExamination.nameless($0)) } ?? known.system
            try Self.checkPlace(of: known, system)
        }
        self.stated = stated
        self.definition = stated == nil ? nil : definition
        self.silence = silence
        self.basis = stated == nil ? "assumed" : basis
        overruled = nil
    }

    /// The reference that the caller of the import chose; throws `unreadable` for one that has no
    /// place on a map.
    init(
        chosen: SourceSpatialReference, instead stated: SourceSpatialReference?
    ) throws(Failure) {
        try Self.checkPlace(of: chosen, chosen.system)
        self.stated = chosen
        definition = nil
        silence = ""
        basis = "the import"
        overruled = stated.flatMap { stated in
            stated.isUndefined || stated.system == chosen.system
                ? nil
                : "the source states the spatial reference \(stated.label); \(chosen.label) was "
                    + "chosen by the import"
        }
    }

    private static func checkPlace(
        of reference: SourceSpatialReference, _ system: CoordinateSystem
    ) throws(Failure) {
        guard let obstacle = SystemExamination.obstacle(of: system) else { return }
        throw refusal(
            "its spatial reference \(reference.label) is \(obstacle): expected a geographic or "
                + "projected system of the earth")
    }

    /// The name of the reference, for people.
    var label: String { stated?.label ?? "4326" }

    private static func refusal(_ reason: String, details: [String] = []) -> Failure {
        Failure(.unreadable, reason, details: details)
    }

    // MARK: Statements of sources

    private static let definitionByteCount = 1 << 16

    private static func projection(of layer: String, at path: String) -> String? {
        let directory = FileSystem.kind(of: path) == .directory
        let stem = directory ? path + "/" + layer : String(path.dropLast(4))
        for ending in [".prj", ".PRJ"] {
            guard let file = try? MappedFile(path: stem + ending) else { continue }
            let bytes = file.copy(0..<min(file.byteCount, definitionByteCount))
            return String(decoding: bytes, as: UTF8.self)
                .trimming { $0.isWhitespace || $0 == "\0" || $0 == "\u{FEFF}" }
        }
        return nil
    }

    private static func meaning(of name: String) -> SourceSpatialReference? {
        SourceSpatialReference(meaning: Int(name) == nil ? name : "EPSG:" + name)
    }

    // MARK: Bounds of coordinates

    /// The valid coordinates of features, in a system of angles: a turn to both sides, and no
    /// further than the poles; nil for other systems, and for none.
    var bounds: Envelope? {
        guard let stated, let unit = try? stated.system.unit(), unit.isAngular, unit.factor > 0
        else { return nil }
        let quarter = Double.pi / 2 / unit.factor
        // Coordinates rounded to a pole, or slightly beyond, count as at it.
        let slack = 1 + 1e-4
        return Envelope(
            minX: -4 * quarter * slack, minY: -quarter * slack, maxX: 4 * quarter * slack,
            maxY: quarter * slack)
    }

    /// The failure of a layer most of whose features are beyond ``bounds``.
    func refusal(of survey: LayerSurvey) -> Failure {
        let extent = survey.strayExtent
        let exchanged =
            extent.minX >= -90 && extent.maxX <= 90 && extent.maxY <= 180
            && extent.minY >= -180
        return Self.refusal(
            "it is in longitude and latitude (\(stated?.label ?? "")), and the coordinates of "
                + "\(survey.strayCount) of its \(survey.featureCount) features (x \(extent.minX) "
                + "to "
                + "\(extent.maxX), y \(extent.minY) to \(extent.maxY)) are not within "
                + "±180, ±90",
            details: [
                exchanged
                    ? "latitude and longitude may be exchanged"
                    : "the source should state the system that they are in"
            ])
    }

    // MARK: The reference

    private static let degrees = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)

    /// The spatial reference of the features read, with notes.
    ///
    /// Throws `unreadable` for a missing one that cannot be longitude and latitude, and when no
    /// coordinate has a place in it.
    func resolved(in extent: Envelope) throws(Failure) -> (SpatialReference, notes: [String]) {
        guard let stated else {
            guard extent.isEmpty || extent.union(Self.degrees) == Self.degrees else {
                throw Self.refusal(
                    "\(silence), and its coordinates (x \(extent.minX) to \(extent.maxX), y "
                        + "\(extent.minY) to \(extent.maxY)) are not longitude and latitude")
            }
            return (.wgs84, [silence + "; 4326 was assumed"])
        }
        let places = Self.places(in: extent)
        var (reference, notes) = chosen(stated, places)
        guard let toDegrees = try? CoordinateTransform(from: reference, to: .wgs84) else {
            throw Self.refusal(
                "no transformation leads from its spatial reference \(stated.label) to longitude "
                    + "and "
                    + "latitude")
        }
        if let overruled { notes.insert(overruled, at: 0) }
        if !extent.isEmpty { notes += try remarks(reference, toDegrees, extent, places) }
        return (reference, notes)
    }

    /// The number, if it stands for the definition, else the definition.
    private func chosen(
        _ stated: SourceSpatialReference, _ places: [(x: Double, y: Double)]
    ) -> (SpatialReference, [String]) {
        let text = SystemExamination.nameless(definition ?? stated.wkt)
        let own = CoordinateSystem.wkt(text)
        if SystemExamination.isSphericalMercator(own, at: places) {
            return (SpatialReference(wkid: 3857), [])
        }
        if SystemExamination.isSame(own, stated.system, at: places) != false {
            return (stated.reference, [])
        }
        let note =
            "the definition of the spatial reference differs from what it is called "
            + "(\(stated.label)): the definition counts"
        guard let meant = SourceSpatialReference(meaning: text) else {
            return (SpatialReference(wkt: text), [note])
        }
        if let number = meant.wkid,
            SystemExamination.isSame(own, .wkid(number), at: places) == true
        {
            return (SpatialReference(wkid: number), [note + ", it is that of \(number)"])
        }
        return (SpatialReference(wkt: meant.wkt), [note])
    }

    /// Places all over a rectangle.
    private static func places(in extent: Envelope) -> [(x: Double, y: Double)] {
        guard !extent.isEmpty else {
            return [(1, 1), (500_000, 500_000), (500_000, 5_000_000), (2_600_000, 1_200_000)]
        }
        let steps = [0, 0.5, 1]
        return steps.flatMap { row in
            steps.map { column in
                (extent.minX + extent.width * column, extent.minY + extent.height * row)
            }
        }
    }

    private func remarks(
        _ reference: SpatialReference, _ toDegrees: CoordinateTransform, _ extent: Envelope,
        _ places: [(x: Double, y: Double)]
    ) throws(Failure) -> [String] {
        let range =
            "x \(extent.minX) to \(extent.maxX), y \(extent.minY) to \(extent.maxY)"
        let label = stated?.label ?? ""
        if reference.latestWkid == 4326 {
            guard extent.minX < -180 || extent.maxX > 180 else { return [] }
            return ["longitudes reach beyond ±180 (\(range)); they are kept as they are"]
        }
        var box = Envelope.empty
        for place in places {
            if let there = try? toDegrees.forward(Coordinate(x: place.x, y: place.y)) {
                box.extend(to: there)
            }
        }
        guard !box.isEmpty else {
            throw Self.refusal(
                "its coordinates (\(range)) have no place in its spatial reference \(label)")
        }
        let isProjected = (try? reference.coordinateSystem.unit())?.isAngular == false
        if isProjected, extent.union(Self.degrees) == Self.degrees {
            return [
                "all coordinates (\(range)) lie within ±180, ±90, though the spatial reference "
                    + "\(label) is not in degrees"
            ]
        }
        // Features slightly outside a system's area are common, ones far away are not.
        let slack = 10.0
        let system = reference.coordinateSystem
        guard let area = SystemExamination.area(of: system), area.west < area.east,
            !Envelope(
                minX: area.west - slack, minY: area.south - slack, maxX: area.east + slack,
                maxY: area.north + slack
            ).intersects(box)
        else { return [] }
        return [
            "all coordinates (\(range)) lie far from the area that the spatial reference \(label) "
                + "is made for (longitude \(area.west) to \(area.east), latitude \(area.south) to "
                + "\(area.north))"
        ]
    }
}

extension SourceSpatialReference {
    var system: CoordinateSystem { wkid.map { .wkid($0) } ?? .wkt(wkt) }

    var reference: SpatialReference {
        wkid.map { SpatialReference(wkid: $0) } ?? SpatialReference(wkt: wkt)
    }

    /// The name that the definition has, and the number.
    var label: String {
        let name =
            wkt.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
            .dropFirst().first.map(String.init) ?? ""
        guard let wkid else { return "'\(name.prefix(80))'" }
        return name.isEmpty ? "\(wkid)" : "'\(name.prefix(80))' (\(wkid))"
    }

    /// Whether it is GDAL's placeholder for an unknown system.
    fileprivate var isUndefined: Bool {
        wkid == nil && wkt.hasPrefix("GEOGCRS[\"Undefined geographic SRS\"")
    }
}

extension String {
    /// Without such characters at both ends.
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> String {
        var rest = self[...]
        while let first = rest.first, isBlank(first) { rest.removeFirst() }
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(rest)
    }
}
