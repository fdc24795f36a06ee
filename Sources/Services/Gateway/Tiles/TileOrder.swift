// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import JobKinds
internal import PROJ
internal import Platform

/// Esri's parameters of `exportTiles` and `estimateExportTilesSize` as those of the job kind.
///
/// A value that cannot be read is refused, never taken for an absent one: that would export the
/// whole map.
struct TileOrder {
    /// What `levels` states.
    enum LevelForm: String, CaseIterable {
        case levelID = "levelId"
        case resolution, scale
    }

    /// Of the job, by name.
    let texts: [String: String]
    /// The client's parameter with the area.
    let areaName: String

    /// - Parameters:
    ///   - isEstimate: Whether nothing is written, in whatever form.
    ///   - reference: Of an extent without its own.
    ///   - fullExtent: The area without one, in EPSG:3857.
    ///
    /// Throws `invalidParameter`, naming the parameter.
    init(
        _ parameters: Parameters, _ face: TileFace, isEstimate: Bool, map: MapName,
        reference: SpatialReference, fullExtent: Envelope
    ) throws(Failure) {
        try Self.checkWithoutEffect(parameters, face, isEstimate)
        var texts = [
            "map": map.rawValue, "format": try Self.format(parameters, face),
            "levels": try Self.levels(parameters, face).map(String.init).joined(separator: ","),
        ]
        let polygon = [Known.areaOfInterest, Known.exportPolygon].first { parameters[$0] != nil }
        areaName = (polygon ?? Known.exportExtent).name
        let area: Shape? =
            if let polygon {
                try Self.area(parameters, polygon, reference)
            } else {
                try Self.extent(parameters, reference)
            }
        if let text = Self.text(of: area ?? .envelope(fullExtent)) {
            (texts["area"], texts["areaSR"]) = (text, "3857")
        }
        texts["layers"] = parameters[Known.exportedLayers]
        texts["at"] = parameters[Known.at]
        if face == .pictures {
            texts["tileFormat"] = try Self.choice(
                Known.pictureFormat, of: "tileFormat", parameters, face)
            texts["quality"] = try Self.quality(parameters, face, texts["tileFormat"])
        }
        self.texts = texts
    }

    /// Those that change nothing here have the form of theirs all the same.
    private static func checkWithoutEffect(
        _ parameters: Parameters, _ face: TileFace, _ isEstimate: Bool
    ) throws(Failure) {
        let isPackage = try parameters.flag(Known.tilePackage)
        // Clients of vector tiles ask for a package by that, and those that ask for folders of
        // pictures would find none.
        if !isPackage, !isEstimate, face == .pictures,
            let text = parameters[Known.tilePackage]
        {
            throw Parameters.unexpected(
                Known.tilePackage.name, text, "true: tiles in folders are not written")
        }
        if face == .vectors { _ = try quality(parameters, face, nil) }
        if let side = try parameters.integer(Known.exportedTileSize), side != face.side {
            throw Parameters.unexpected(
                Known.exportedTileSize.name, "\(side)", "\(face.side), the side of the tiles")
        }
        if face == .vectors, let text = parameters[Known.createItem],
            text != "0", !text.isEqualIgnoringCase("false")
        {
            throw Parameters.unexpected(
                Known.createItem.name, text, "false: packages are not items of the portal")
        }
    }

    /// The quality of JPEG, which counts with `optimizeTilesForSize` alone: clients state one that
    /// they do not ask for.
    ///
    /// It is never better than what is served. Vector tiles pass over both.
    private static func quality(
        _ parameters: Parameters, _ face: TileFace, _ tileFormat: String?
    ) throws(Failure) -> String? {
        let quality = try parameters.number(Known.compressionQuality) ?? 75
        guard 0...100 ~= quality else {
            throw Parameters.unexpected(
                Known.compressionQuality.name, parameters[Known.compressionQuality] ?? "",
                "0 to 100")
        }
        guard try parameters.flag(Known.optimizeTilesForSize) else { return nil }
        // Clients ask for it whatever the format; PNG is compressed without loss in any case.
        guard face == .vectors || tileFormat == "jpg" else { return nil }
        return "\(min(max(Int(quality), 1), ExportRequest.standardQuality))"
    }

    /// The format of the package; `storageFormatType` is of pictures alone.
    private static func format(
        _ parameters: Parameters, _ face: TileFace
    ) throws(Failure) -> String {
        if face == .pictures {
            for parameter in [Known.storageFormatType, Known.storageFormat] {
                guard let text = parameters[parameter] else { continue }
                guard ["esrimapcachestoragemodecompactv2", "tpkx"].contains(text.lowercased())
                else {
                    throw Parameters.unexpected(
                        parameter.name, text,
                        "esriMapCacheStorageModeCompactV2, the format of TPKX; TPK is not written")
                }
            }
        }
        return try choice(Known.packageFormat, of: "format", parameters, face)
            ?? face.standardFormat
    }

    /// A word that the job kind publishes for its parameter; nil where it is absent.
    private static func choice(
        _ parameter: Parameter<String?>, of name: String, _ parameters: Parameters, _ face: TileFace
    ) throws(Failure) -> String? {
        guard let text = parameters[parameter]?.lowercased() else { return nil }
        let choices = face.task.parameters.first { $0.name == name }?.choices ?? []
        guard choices.contains(text) else {
            throw Parameters.unexpected(parameter.name, text, choices.joined(separator: ", "))
        }
        return text
    }

    // MARK: Levels

    /// Rising, each once.
    private static func levels(
        _ parameters: Parameters, _ face: TileFace
    ) throws(Failure) -> [Int] {
        let form = parameters[Known.exportBy] ?? LevelForm.levelID.rawValue
        let name = Known.tileLevels.name
        guard let form = LevelForm.allCases.first(where: { $0.rawValue.isEqualIgnoringCase(form) })
        else {
            throw Parameters.unexpected(
                Known.exportBy.name, form,
                LevelForm.allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard let text = parameters[Known.tileLevels] else { return Array(TileAddress.levels) }
        var levels: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let part = part.filter { $0 != " " }
            let ends = ends(of: part)
            func level(_ text: String) throws(Failure) -> Int {
                guard let level = self.level(text, form, face) else {
                    throw Parameters.unexpected(name, text, expected(form, face))
                }
                return level
            }
            // A greater scale or resolution is a lower level.
            let (first, last) = (try level(ends.first), try level(ends.last))
            guard first <= last || form != .levelID else {
                throw Parameters.unexpected(name, part, "a range from the lower level on")
            }
            levels.formUnion(min(first, last)...max(first, last))
        }
        return levels.sorted()
    }

    /// The two ends of a range; of a single number, itself twice.
    private static func ends(of part: String) -> (first: String, last: String) {
        var before: Character?
        for index in part.indices {
            let letter = part[index]
            // Not the sign of a number or its exponent.
            if letter == "-", let before, before.isNumber || before == "." {
                return (String(part[..<index]), String(part[part.index(after: index)...]))
            }
            before = letter
        }
        return (part, part)
    }

    private static func level(_ text: String, _ form: LevelForm, _ face: TileFace) -> Int? {
        if form == .levelID {
            return Int(text).flatMap { TileAddress.levels ~= $0 ? $0 : nil }
        }
        guard let value = Parameters.number(text), value > 0 else { return nil }
        // Clients round; the next level is half as much.
        return TileAddress.levels.first { level in
            let own = form == .scale ? face.scale(of: level) : face.resolution(of: level)
            return abs(value / own - 1) < 0.01
        }
    }

    private static func expected(_ form: LevelForm, _ face: TileFace) -> String {
        let last = TileAddress.levels.upperBound
        return switch form {
        case .levelID: "levels from 0 to \(last), as 0-5,8"
        case .resolution:
            "the resolution of a level, \(face.resolution(of: 0)) to "
                + "\(face.resolution(of: last)), each half of the one before"
        case .scale:
            "the scale of a level, \(face.scale(of: 0)) to \(face.scale(of: last)), each half of "
                + "the one before"
        }
    }

    // MARK: The area

    /// The area of a parameter that is there, in EPSG:3857.
    private static func area(
        _ parameters: Parameters, _ parameter: Parameter<String?>, _ reference: SpatialReference
    ) throws(Failure) -> Shape {
        let (shape, own) = try polygon(parameters.required(parameter), parameter.name)
        return try projected(shape, own ?? reference, parameter.name)
    }

    /// `exportExtent` in EPSG:3857; nil where none is asked for.
    private static func extent(
        _ parameters: Parameters, _ reference: SpatialReference
    ) throws(Failure) -> Shape? {
        let name = Known.exportExtent.name
        guard let text = parameters[Known.exportExtent], !text.isEqualIgnoringCase("DEFAULT")
        else { return nil }
        let box = try GeometryParameter(text, kind: .envelope, name: name)
        return try projected(box.shape, box.spatialReference ?? reference, name)
    }

    /// A polygon or an envelope, or the only feature of a set with one.
    private static func polygon(
        _ text: String, _ name: String
    ) throws(Failure) -> (Shape, SpatialReference?) {
        guard text.utf8.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "{") else {
            throw Parameters.unexpected(name, text, "a polygon in Esri JSON")
        }
        do throws(Failure) {
            let json = try RelaxedJSON.parse(text)
            var (geometry, outer) = (json, nil as SpatialReference?)
            if let features = json["features"] {
                guard case .array(let features) = features, features.count == 1,
                    let only = features[0]["geometry"]
                else {
                    throw Failure(
                        .invalidParameter, "'features': expected one feature with its geometry")
                }
                (geometry, outer) = (only, try SpatialReference(json["spatialReference"] ?? .null))
            }
            let found = try GeometryParameter(json: geometry)
            switch found.shape {
            case .polygon, .envelope: return (found.shape, found.spatialReference ?? outer)
            case .point, .multipoint, .polyline:
                throw Failure(.invalidParameter, "expected a polygon or an envelope")
            }
        } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
    }

    /// Pieces of each side of a rectangle that is projected.
    private static let pieces = 16

    private static func projected(
        _ shape: Shape, _ reference: SpatialReference, _ name: String
    ) throws(Failure) -> Shape {
        let projected: Shape
        do throws(Failure) {
            projected = try self.projected(shape, reference)
        } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
        let (box, half) = (projected.envelope, TileAddress.halfWorldMeters)
        guard box.isFinite, !box.isEmpty, box.minX < half, box.maxX > -half, box.minY < half,
            box.maxY > -half
        else {
            throw Failure(
                .invalidParameter,
                "parameter '\(name)': expected an area that touches the world between 180 degrees "
                    + "west and east and 85.06 degrees south and north")
        }
        return projected
    }

    private static func projected(
        _ shape: Shape, _ reference: SpatialReference
    ) throws(Failure) -> Shape {
        if reference.isEquivalent(to: .webMercator) { return shape }
        let transform = try CoordinateTransform(from: reference, to: .webMercator)
        guard case .envelope(let box) = shape else {
            return try shape.mapCoordinates { place throws(Failure) in
                try transform.forward(place)
            }
        }
        // Its part with a place on the map.
        var result = Envelope.empty
        for row in 0...pieces {
            for column in 0...pieces {
                let place = Coordinate(
                    x: box.minX + box.width * Double(column) / Double(pieces),
                    y: box.minY + box.height * Double(row) / Double(pieces))
                if let place = try? transform.forward(place) { result.extend(to: place) }
            }
        }
        guard !result.isEmpty else {
            throw Failure(.invalidParameter, "the rectangle has no place on the map")
        }
        return .envelope(result)
    }

    /// As the job kind reads it; nil for the whole world.
    private static func text(of area: Shape) -> String? {
        switch area {
        case .envelope(let box):
            let half = TileAddress.halfWorldMeters - 0.01
            if box.minX <= -half, box.minY <= -half, box.maxX >= half, box.maxY >= half {
                return nil
            }
            return [box.minX, box.minY, box.maxX, box.maxY].map { "\($0)" }.joined(separator: ",")
        case .polygon(let rings):
            var json = JSONWriter()
            json.object { json in
                json.member("rings", array: rings) { json, ring in
                    json.array { json in
                        for place in ring {
                            json.array { json in
                                json.number(place.x)
                                json.number(place.y)
                            }
                        }
                    }
                }
                json.member("spatialReference") { $0.member("wkid", 3857) }
            }
            return String(decoding: json.bytes, as: UTF8.self)
        case .point, .multipoint, .polyline: return nil
        }
    }
}
