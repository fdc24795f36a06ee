// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import Dataset
internal import GDAL
internal import Geometry
internal import PROJ
internal import Platform
internal import RoadNetwork

/// The roads of line layers: every line is a way, joined to others where their ends coincide.
struct LineRoads {
    private let profiles: [RoadProfile]
    private let options: LineOptions
    private var rules: WayRules
    private(set) var report = RoadReport()
    private var lines: [Line] = []
    /// The contents of columns that were stated, and that no layer has had so far.
    private var missing: Set<LineOptions.Columns.Content>

    private struct Line {
        var way: Int64
        var segment: UInt32
        var traits: RoadDraft.WayTraits
        var points: [Place]
    }

    /// A vertex; ends on different levels are different places.
    private struct Place: Hashable, Comparable {
        var x: Int32
        var y: Int32
        var level = 0

        static func < (left: Place, right: Place) -> Bool {
            (left.x, left.y, left.level) < (right.x, right.y, right.level)
        }
    }

    init(_ profiles: [RoadProfile], _ options: LineOptions) {
        self.profiles = profiles
        self.options = options
        rules = WayRules(profiles)
        missing = options.columns.stated
    }

    /// Throws `invalidParameter` for a column that was stated and that no layer has.
    func checkColumns() throws(Failure) {
        guard let content = missing.min(by: { $0.rawValue < $1.rawValue }) else { return }
        let names = (options.columns.names[content] ?? []).map { "'\($0)'" }
        throw Failure(
            .invalidParameter,
            "no layer has the column \(names.joined(separator: " or ")) for \(content.rawValue)")
    }

    /// Reads the line layers of a file.
    ///
    /// - Parameter number: That of the file among all, so that ids of ways differ.
    mutating func read(
        _ path: String, number: Int, expandingIn directory: String,
        _ progress: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        let staging = try StagingDirectory(in: directory)
        do {
            try SourceFile.read(path, in: staging) { file in
                let source = try file.open()
                var hasLines = false
                for (index, layer) in source.layers.enumerated()
                where layer.hasGeometry && layer.geometry.map({ $0.kind == .polyline }) ?? true {
                    hasLines = true
                    guard index < 1 << 8, number < 1 << 8 else {
                        throw Failure(.tooLarge, "'\(path)': more than 256 files or layers")
                    }
                    try read(source, index, base: Int64(number << 8 | index) << 40, progress)
                }
                guard hasLines else {
                    throw Failure(.unreadable, "'\(path)': expected a layer of lines")
                }
            }
        } catch {
            throw Failure(importing: error).naming(path)
        }
    }

    private mutating func read(
        _ source: VectorSource, _ index: Int, base: Int64,
        _ progress: (Int) throws(Failure) -> Void
    ) throws {
        let layer = source.layers[index]
        let toDegrees = try Self.transform(layer)
        let names = layer.fields.map { $0.name.lowercased() }
        func column(_ content: LineOptions.Columns.Content) -> Int? {
            let found = (options.columns.names[content] ?? []).lazy
                .compactMap { name in names.firstIndex(of: name.lowercased()) }.first
            if found != nil { missing.remove(content) }
            return found
        }
        let reading = LineColumnsOfLayer(
            roadClass: column(.roadClass), speed: column(.speed), oneway: column(.oneway),
            name: column(.name), ref: column(.ref), fromLevel: column(.fromLevel),
            toLevel: column(.toLevel))
        var records: [LineRecord] = []
        var shapes = SourceShapes()
        var count = 0
        try source.forEachFeature(inLayer: index) { feature in
            count += 1
            if count.isMultiple(of: 1_000) { try progress(count) }
            let id = 0..<1 << 40 ~= feature.id ? feature.id : Int64(count)
            do throws(Failure) {
                for shape in try shapes.shapes(of: feature) {
                    let shape = try toDegrees?.forward(shape) ?? shape
                    guard case .polyline(let paths) = shape else {
                        throw Failure(.invalidParameter, "not a line")
                    }
                    records.append(
                        LineRecord(id: base | id, paths: paths, values: reading.values(feature)))
                }
            } catch {
                report.reject("feature \(feature.id)", error.message)
            }
        }
        let hasNeither = records.contains {
            ["FT", "TF"].contains($0.values.oneway.uppercased())
        }
        for record in records { add(record, namesNeither: hasNeither) }
    }

    private static func transform(_ layer: SourceLayer) throws(Failure) -> CoordinateTransform? {
        guard let stated = layer.spatialReference else { return nil }
        let reference =
            stated.wkid.map { SpatialReference(wkid: $0) } ?? SpatialReference(wkt: stated.wkt)
        let transform = try CoordinateTransform(from: reference, to: .wgs84)
        return transform.isIdentity ? nil : transform
    }

    private mutating func add(_ record: LineRecord, namesNeither: Bool) {
        let values = record.values
        let given = values.roadClass.lowercased()
        let mapped = options.columns.classes[values.roadClass] ?? given
        let isKnown = profiles.contains {
            $0.speeds[mapped] != nil || $0.taggedSpeeds?[mapped] != nil
        }
        var tags = OSMTags([
            OSMTags.Tag(key: "highway", value: isKnown ? mapped : options.usualClass)
        ])
        let direction = Self.direction(values.oneway, namesNeither: namesNeither)
        guard let direction else {
            return report.reject("feature \(record.id & 0xFF_FFFF_FFFF)", "closed both ways")
        }
        tags.list.append(OSMTags.Tag(key: "oneway", value: direction))
        let use = rules.use(tags)
        if let reason = use.rejection {
            return report.reject("feature \(record.id & 0xFF_FFFF_FFFF)", reason)
        }
        var traits = use.traits
        traits.name = values.name
        traits.ref = values.ref
        if let speed = values.speed.map({ $0 * options.speedUnit }), 0.1...1000 ~= speed {
            for (mode, profile) in profiles.enumerated()
            where [.automobile, .truck].contains(profile.kind) {
                traits.forward[mode] = Self.passage(traits.forward[mode], speed)
                traits.backward[mode] = Self.passage(traits.backward[mode], speed)
            }
        }
        var segment: UInt32 = 0
        for path in record.paths {
            add(path, record, traits, segment)
            segment += UInt32(path.count)
        }
    }

    private static func passage(
        _ passage: RoadDraft.Passage, _ speed: Double
    ) -> RoadDraft.Passage {
        passage.access == .closed
            ? passage : RoadDraft.Passage(access: passage.access, speed: speed)
    }

    /// The value of `oneway` in OpenStreetMap; nil for a line that is closed both ways.
    private static func direction(_ text: String, namesNeither: Bool) -> String? {
        switch text.uppercased() {
        case "FT", "F", "YES", "Y", "TRUE", "T", "1": "yes"
        case "TF", "-1", "REVERSE": "-1"
        case "N" where namesNeither: nil
        default: "no"
        }
    }

    private mutating func add(
        _ path: [Coordinate], _ record: LineRecord, _ traits: RoadDraft.WayTraits,
        _ segment: UInt32
    ) {
        var points: [Place] = []
        for point in path {
            guard point.isFinite, abs(point.x) <= 180, abs(point.y) <= 90 else {
                return report.reject(
                    "feature \(record.id & 0xFF_FFFF_FFFF)", "a vertex is outside the world")
            }
            let place = Place(
                x: Int32((point.x * 1e7).rounded()), y: Int32((point.y * 1e7).rounded()))
            if place != points.last { points.append(place) }
        }
        guard points.count >= 2 else {
            return report.reject(
                "feature \(record.id & 0xFF_FFFF_FFFF)", "fewer than two different vertices")
        }
        points[0].level = record.values.fromLevel
        points[points.count - 1].level = record.values.toLevel
        lines.append(Line(way: record.id, segment: segment, traits: traits, points: points))
    }

    /// The roads; frees what was read.
    mutating func draft() -> RoadDraft {
        var draft = RoadDraft(modes: profiles.map(\.mode))
        var numbers: [RoadDraft.WayTraits: UInt32] = [:]
        lines.sort { ($0.way, $0.segment) < ($1.way, $1.segment) }
        let places = sharedPlaces()
        var indices: [Place: UInt32] = [:]
        for place in Set(places.values).sorted() {
            indices[place] = UInt32(draft.nodes.count)
            draft.nodes.append(
                RoadDraft.Node(id: Int64(draft.nodes.count), x: place.x, y: place.y))
        }
        for line in lines {
            var nodes: [UInt32] = []
            for (index, point) in line.points.enumerated() {
                let isEnd = index == 0 || index == line.points.count - 1
                if isEnd || options.connectsAtVertices, let shared = places[point],
                    let node = indices[shared]
                {
                    if nodes.last != node { nodes.append(node) }
                } else {
                    nodes.append(UInt32(draft.nodes.count))
                    draft.nodes.append(
                        RoadDraft.Node(id: Int64(draft.nodes.count), x: point.x, y: point.y))
                }
            }
            guard nodes.count >= 2 else {
                report.reject("feature \(line.way & 0xFF_FFFF_FFFF)", "shorter than the tolerance")
                continue
            }
            let number = numbers[line.traits] ?? UInt32(draft.traits.count)
            if numbers[line.traits] == nil {
                numbers[line.traits] = number
                draft.traits.append(line.traits)
            }
            draft.ways.append(
                RoadDraft.Way(
                    id: line.way, traits: number, first: draft.wayNodes.count, count: nodes.count,
                    segment: line.segment))
            draft.wayNodes += nodes
        }
        report.wayCount = draft.ways.count
        report.nodeCount = draft.nodes.count
        lines = []
        return draft
    }

    /// The place that stands for each vertex where lines may be joined: the first within the
    /// tolerance, by longitude and latitude.
    private func sharedPlaces() -> [Place: Place] {
        var found: Set<Place> = []
        for line in lines {
            if options.connectsAtVertices {
                found.formUnion(line.points)
            } else {
                found.insert(line.points[0])
                found.insert(line.points[line.points.count - 1])
            }
        }
        guard options.tolerance > 0 else {
            return Dictionary(uniqueKeysWithValues: found.map { ($0, $0) })
        }
        // Cells are at least as wide as the tolerance, up to 80° of latitude.
        let high = options.tolerance / 111_000 * 1e7
        let wide = high * 6
        struct Cell: Hashable {
            var x: Int
            var y: Int
            var level: Int
        }
        var cells: [Cell: [Place]] = [:]
        var result: [Place: Place] = [:]
        for place in found.sorted() {
            let (column, row) = (Int(Double(place.x) / wide), Int(Double(place.y) / high))
            var nearest: (place: Place, distance: Double)?
            for x in column - 1...column + 1 {
                for y in row - 1...row + 1 {
                    for other in cells[Cell(x: x, y: y, level: place.level)] ?? [] {
                        let distance = Sphere.distance(place.x, place.y, other.x, other.y)
                        guard distance <= options.tolerance else { continue }
                        if let known = nearest,
                            (known.distance, known.place) <= (distance, other)
                        {
                            continue
                        }
                        nearest = (other, distance)
                    }
                }
            }
            result[place] = nearest?.place ?? place
            if nearest == nil {
                cells[Cell(x: column, y: row, level: place.level), default: []].append(place)
            }
        }
        return result
    }
}

/// A line with what its columns say.
private struct LineRecord {
    var id: Int64
    var paths: [[Coordinate]]
    var values: LineValues
}

/// What the columns of a line say.
private struct LineValues {
    var roadClass = ""
    var speed: Double?
    var oneway = ""
    var name = ""
    var ref = ""
    var fromLevel = 0
    var toLevel = 0
}

/// The columns of a layer, by index.
private struct LineColumnsOfLayer {
    var roadClass: Int?
    var speed: Int?
    var oneway: Int?
    var name: Int?
    var ref: Int?
    var fromLevel: Int?
    var toLevel: Int?

    func values(_ feature: borrowing SourceFeature) -> LineValues {
        LineValues(
            roadClass: Self.text(feature, roadClass),
            speed: Double(Self.text(feature, speed)),
            oneway: Self.text(feature, oneway), name: Self.text(feature, name),
            ref: Self.text(feature, ref), fromLevel: Int(Self.text(feature, fromLevel)) ?? 0,
            toLevel: Int(Self.text(feature, toLevel)) ?? 0)
    }

    private static func text(_ feature: borrowing SourceFeature, _ column: Int?) -> String {
        guard let column else { return "" }
        switch feature.value(at: column) {
        case .null, .moment: return ""
        case .integer(let value): return "\(value)"
        case .real(let value):
            return Int64(exactly: value).map { "\($0)" } ?? (value.isFinite ? "\(value)" : "")
        case .text(let bytes):
            return TagValues.trimmed((String(validating: bytes, as: UTF8.self) ?? "")[...])
        }
    }
}
