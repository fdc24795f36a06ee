// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import Dataset
internal import FoundationEssentials
internal import GDAL
internal import Geometry
internal import Locator
internal import Platform

/// Reads extracts of OpenStreetMap, PBF or XML: settlements, borders, named streets, points
/// of interest and addresses.
struct OpenStreetMap {
    private let path: String
    private var draft: LocatorDraft
    private var shapes = SourceShapes()
    private var fields: [[String: Int]] = []
    private var count = 0

    private static let placeKinds: Set<String> = [
        "city", "town", "village", "hamlet", "isolated_dwelling", "suburb", "quarter",
        "neighbourhood", "borough",
    ]
    private static let parts: Set<String> = ["suburb", "quarter", "neighbourhood", "borough"]
    /// Administrative levels of borders by kind of area.
    private static let areaKinds: [String: LocatorDraft.Area.Kind] = [
        "2": .country, "4": .region, "7": .municipality, "8": .municipality,
    ]
    /// Named ways that carry no addresses.
    private static let otherWays: Set<String> = [
        "bus_stop", "construction", "corridor", "elevator", "platform", "proposed", "raceway",
        "razed", "abandoned", "rest_area", "services", "steps",
    ]

    /// Configuration of GDAL's driver.
    static let settings: [UInt8] = PackageResources.osmconf_ini

    /// Detects an extract by its first bytes.
    static func isExtract(_ path: String) -> Bool {
        let start = String(decoding: GzipFile.beginning(of: path, count: 512), as: UTF8.self)
        return start.contains("OSMHeader") || start.contains("<osm")
    }

    /// Reads a file; objects need not be sorted by id, though that takes longer.
    static func read(
        _ file: SourceFile, into draft: inout LocatorDraft,
        expandingIn staging: borrowing StagingDirectory, _ progress: (Int) throws(Failure) -> Void
    ) throws {
        let configuration = try staging.makeEntry() + "/osmconf.ini"
        try Data(settings).write(to: URL(filePath: configuration))
        let extract = SourceFile(
            path: FileSystem.absolute(try ExtractOrder.ordered(file.path, in: staging)),
            name: file.name)
        for isSorted in [true, false] {
            let options = [
                "CONFIG_FILE=\(configuration)", "USE_CUSTOM_INDEXING=\(isSorted ? "YES" : "NO")",
            ]
            let source = try extract.open(options: options)
            var reader = OpenStreetMap(path: file.name, draft: draft)
            reader.draft.readOpenStreetMap()
            do {
                try reader.read(source, progress)
                draft = reader.draft
                return
            } catch let error as GDALError
                where isSorted && error.messages.contains(where: { $0.contains("Non increasing") })
            {
                continue
            }
        }
    }

    private init(path: String, draft: LocatorDraft) {
        self.path = path
        self.draft = draft
    }

    private mutating func read(
        _ source: VectorSource, _ progress: (Int) throws(Failure) -> Void
    ) throws {
        fields = source.layers.map { layer in
            Dictionary(
                layer.fields.enumerated().map { ($0.element.name, $0.offset) },
                uniquingKeysWith: { first, _ in first })
        }
        try source.forEachFeature { index, feature in
            count += 1
            if count.isMultiple(of: 1_000) { try progress(count) }
            take(feature, fields[index])
        }
    }

    /// The id of an object, from the layer's fields and their texts.
    private static func identifier(
        _ fields: [String: Int], _ tag: (String) -> String
    ) -> SourceIdentifier {
        let object = UInt64(tag("osm_id"))
        // Areas are relations, or closed ways, which have a field of their own.
        if fields["osm_way_id"] != nil {
            return object.map { .relation($0) } ?? UInt64(tag("osm_way_id")).map { .way($0) }
                ?? .none
        }
        let isPoint = fields["place"] != nil
        return object.map { isPoint ? .node($0) : .way($0) } ?? .none
    }

    private mutating func take(_ feature: borrowing SourceFeature, _ fields: [String: Int]) {
        func tag(_ name: String) -> String {
            fields[name].map { feature.value(at: $0).text } ?? ""
        }
        let name = tag("name")
        let isStreet = !name.isEmpty && !tag("highway").isEmpty && fields["place"] == nil
        let isPlace = !name.isEmpty && Self.placeKinds.contains(tag("place"))
        let isArea = !name.isEmpty && tag("boundary") == "administrative"
        let isHouse = !tag("addr:housenumber").isEmpty
        let interpolation = tag("addr:interpolation")
        let category =
            name.isEmpty || isPlace || isArea || isStreet
            ? nil : PointOfInterestTags.shipped.category(tag)
        guard
            category != nil || isStreet && !Self.otherWays.contains(tag("highway")) || isPlace
                || isArea || isHouse || !interpolation.isEmpty
        else { return }
        let found: [Shape]
        do throws(Failure) {
            found = try shapes.shapes(of: feature)
        } catch {
            return draft.reject(error.message, source: path, number: count)
        }
        let identifier = Self.identifier(fields, tag)
        let names = HStore.pairs(tag("other_tags"))
        let languageNames = name.isEmpty ? [] : Self.namesInLanguages(names)
        if isArea, let kind = Self.areaKinds[tag("admin_level")] {
            let code = [tag("ISO3166-1:alpha2"), tag("ISO3166-1"), tag("ISO3166-2")]
            draft.add(source: path, number: count) { () throws(Failure) in
                var area = try LocatorDraft.Area(
                    kind: kind, name: name, code: code.first { !$0.isEmpty } ?? "", shapes: found)
                area.identifier = identifier
                area.alternateNames = Self.otherNames(names)
                area.languageNames = languageNames
                return area
            }
        }
        if isPlace, let location = found.first?.centroid {
            let digits = tag("population").filter { $0 != " " && $0 != "," && $0 != "." }
            var place = LocatorDraft.Place(
                name: name, alternateNames: Self.otherNames(names),
                location: location, population: UInt64(digits) ?? 0,
                isPart: Self.parts.contains(tag("place")), isCapital: tag("capital") == "yes")
            place.identifier = identifier
            place.languageNames = languageNames
            draft.add(place)
        }
        if let category, var point = Self.point(name, category, found) {
            point.alternateNames = Self.otherNames(names)
            point.languageNames = languageNames
            point.identifier = identifier
            point.city = tag("addr:city")
            point.country = tag("addr:country")
            let street = tag("addr:street")
            point.address = PointAddress(
                street: street.isEmpty ? tag("addr:place") : street,
                number: tag("addr:housenumber"))
            draft.add(point, source: path, number: count)
        }
        if isStreet { take(found, street: name, isApart: Self.isApart(names)) }
        let street = tag("addr:street").isEmpty ? tag("addr:place") : tag("addr:street")
        if !interpolation.isEmpty, case .polyline(let paths)? = found.first, paths.count == 1 {
            draft.add(
                LocatorDraft.Interpolation(kind: interpolation, line: paths[0], street: street),
                source: path, number: count)
        }
        if isHouse, street.isEmpty, case .point(let location)? = found.first {
            draft.addNumber(tag("addr:housenumber"), at: location)
        }
        if isHouse {
            take(
                found, street: street,
                number: tag("addr:housenumber"), postal: tag("addr:postcode"),
                city: tag("addr:city"), region: tag("addr:state"), country: tag("addr:country"))
        }
    }

    /// A point of interest; open lines are skipped, closed ones are areas.
    private static func point(
        _ name: String, _ category: (name: String, row: Int), _ shapes: [Shape]
    ) -> LocatorDraft.PointOfInterest? {
        let areas = shapes.compactMap { shape -> Shape? in
            guard case .polyline(let paths) = shape else { return shape }
            guard paths.count == 1, paths[0].count >= 4, paths[0].first == paths[0].last else {
                return nil
            }
            return .polygon(rings: paths)
        }
        var point = LocatorDraft.PointOfInterest(
            name: name, category: category.name, shapes: areas)
        point?.categoryRank = category.row
        return point
    }

    private mutating func take(
        _ shapes: [Shape], street: String, number: String = "", postal: String = "",
        city: String = "", region: String = "", country: String = "", isApart: Bool = false
    ) {
        let texts = [street, number, "", city, postal, region, country]
        draft.take(
            shapes, draft.plainLayout, source: path, number: count, isApart: isApart
        ) { texts[$0] }
    }

    /// Whether the tags put a way on a bridge, in a tunnel, or on another layer than the ground.
    private static func isApart(_ tags: [(key: String, value: String)]) -> Bool {
        tags.contains { key, value in
            switch key {
            case "bridge", "tunnel": value != "no"
            case "layer": Int(value) != 0
            default: false
            }
        }
    }

    /// The names in tags with a language, such as `name:fr`; the first one per language.
    static func namesInLanguages(_ tags: [(key: String, value: String)]) -> [NameInLanguage] {
        tags.compactMap { key, value in
            guard key.hasPrefix("name:"), let first = value.split(separator: ";").first else {
                return nil
            }
            return NameInLanguage(
                language: String(key.dropFirst(5)),
                name: SourceValue.text(Array(first.utf8)).text)
        }
    }

    /// The names in `name:fr`, `alt_name` and the like, which may be lists separated by semicolons.
    static func otherNames(_ tags: [(key: String, value: String)]) -> [String] {
        var result: [String] = []
        for (key, value) in tags {
            let isName =
                key.hasPrefix("name:") && key.utf8.count <= 12
                || ["alt_name", "int_name", "official_name", "old_name", "short_name", "loc_name"]
                    .contains(key)
            guard isName else { continue }
            for name in value.split(separator: ";") {
                let bare = SourceValue.text(Array(name.utf8)).text
                if !bare.isEmpty, bare.utf8.count <= 200, !result.contains(bare) {
                    result.append(bare)
                }
            }
        }
        return result
    }
}

/// The hstore text of PostgreSQL, in which GDAL writes further tags.
enum HStore {
    /// The pairs in order, without malformed ones.
    static func pairs(_ text: String) -> [(key: String, value: String)] {
        var strings: [String] = []
        var current: String?
        var isEscaped = false
        for character in text {
            if let open = current {
                if isEscaped {
                    current = open + String(character)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    strings.append(open)
                    current = nil
                } else {
                    current = open + String(character)
                }
            } else if character == "\"" {
                current = ""
            }
        }
        return stride(from: 0, to: strings.count - 1, by: 2).map {
            (strings[$0], strings[$0 + 1])
        }
    }
}
