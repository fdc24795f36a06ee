// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import GDAL
import Platform
import Tables

/// Choices of the caller of an import, each of which counts before what the source states.
public struct ImportOptions: Hashable, Sendable {
    /// Types of columns.
    public var fields: [FieldStatement] = []
    /// The spatial reference of the coordinates; nil for the source's.
    public var spatialReference: SpatialReference?
    /// The columns of a table of text that hold the geometry; nil for the usual names.
    public var geometry: GeometryColumns?
    /// The encoding of texts, in any usual spelling; nil for the source's.
    public var encoding: String?
    /// The names of the layers to take, in any letter case; empty for all.
    public var layers: [String] = []
    /// Object ids by a key; nil for those of the source.
    public var keys: KeyedIDs?
    /// Whether styles that come with the source are read.
    public var takesStyles = true

    /// Chooses nothing.
    public init() {}
}

/// The columns of a table of text that hold the geometry of its rows.
public enum GeometryColumns: Hashable, Sendable {
    /// Numbers.
    case coordinates(x: String, y: String)
    /// Well-known text, GeoJSON, or well-known binary in hexadecimal digits.
    case shape(String)

    /// The names of the columns.
    var names: [String] {
        switch self {
        case .coordinates(let x, let y): [x, y]
        case .shape(let name): [name]
        }
    }

    /// The open options of GDAL's driver.
    var openOptions: [String] {
        switch self {
        case .coordinates(let x, let y):
            [
                "X_POSSIBLE_NAMES=\(x)", "Y_POSSIBLE_NAMES=\(y)", "GEOM_POSSIBLE_NAMES=",
            ]
        case .shape(let name):
            ["GEOM_POSSIBLE_NAMES=\(name)", "X_POSSIBLE_NAMES=", "Y_POSSIBLE_NAMES="]
        }
    }

    /// Throws `invalidParameter` for a column that is not among `known`, or whose name the driver
    /// would take for several.
    func check(_ known: [String]) throws(Failure) {
        for name in names {
            guard known.contains(where: { $0.lowercased() == name.lowercased() }) else {
                throw Failure(
                    .invalidParameter,
                    "there is no column '\(name.prefix(80))' for the geometry; there are "
                        + known.prefix(40).map { "'\($0.prefix(40))'" }.joined(separator: ", "))
            }
            guard !name.contains(where: { ",*\"".contains($0) }) else {
                throw Failure(
                    .invalidParameter,
                    "column '\(name.prefix(80))' cannot hold the geometry: expected a name without "
                        + "',', '*' and '\"'")
            }
        }
    }
}

/// The encoding of a source's text, and how it is known.
public struct SourceEncoding: Hashable, Sendable, Codable {
    /// The ways to know an encoding.
    public enum Basis: String, Hashable, Sendable, Codable {
        /// The caller of the import named it.
        case chosen
        /// The source names it, in itself or in a file beside it.
        case stated
        /// All of the text is in it.
        case detected
        /// It is the likely one of text that is not UTF-8.
        case guessed
        /// The format has no other.
        case format
    }

    /// The name, `UTF-8`, `CP1252`.
    public var name: String
    /// How it is known.
    public var basis: Basis

    init(_ name: String, _ basis: Basis) {
        self.name = name
        self.basis = basis
    }

    /// The encoding of a file of text.
    init(_ found: TextEncoding, isMarked: Bool, isGuess: Bool) {
        self.init(found.rawValue, isMarked ? .stated : isGuess ? .guessed : .detected)
    }
}

/// Where an imported layer came from, and what the import found out about its source.
public struct LayerProvenance: Hashable, Sendable, Codable {
    /// The data set inside an archive or a folder; else the source itself.
    public var part: String
    /// The layer's name in the source.
    public var layer: String
    /// GDAL's name of the format.
    public var driver: String
    /// Number of features read.
    public var rowCount: Int
    /// The spatial reference of the source, its number and name.
    public var reference: String
    /// The statement of the spatial reference: `.prj`, `the import`, `assumed`.
    public var referenceBasis: String
    /// Encoding of the texts.
    public var encoding: SourceEncoding
    /// The mean area of its polygons in square metres, about; absent without polygons.
    public var meanArea: Double?

    /// `read from 'roads.shp' (ESRI Shapefile), 120 rows, 2056 from its .prj, text CP1252
    /// (stated)`.
    public var text: String {
        let named = layer.isEmpty ? "" : ", layer '\(layer)'"
        let basis = referenceBasis == "assumed" ? "assumed" : "from \(referenceBasis)"
        return "read from '\(part)' (\(driver))\(named): \(rowCount) rows, spatial reference "
            + "\(reference) \(basis), text \(encoding.name) (\(encoding.basis.rawValue))"
    }
}

/// Import options, examined.
struct ImportChoices {
    let options: ImportOptions
    /// The chosen spatial reference as a definition.
    let reference: SourceSpatialReference?
    /// The system's name of the chosen encoding.
    let encoding: String?

    /// Throws `invalidParameter` for an unknown spatial reference or encoding.
    init(_ options: ImportOptions = ImportOptions()) throws(Failure) {
        self.options = options
        reference = try options.spatialReference.map { reference throws(Failure) in
            try Self.definition(of: reference)
        }
        encoding = try options.encoding.map { text throws(Failure) in
            guard let name = Self.encodingName(text) else {
                throw Failure(
                    .invalidParameter,
                    "encoding '\(text.prefix(40))': expected UTF-8, UTF-16LE, UTF-16BE, "
                        + "windows-1250 to windows-1258, ISO-8859-1 to ISO-8859-16, CP437, CP850, "
                        + "Big5, GBK, GB18030, Shift_JIS, EUC-JP, EUC-KR, KOI8-R or another code "
                        + "page")
            }
            return name
        }
    }

    private static func definition(
        of reference: SpatialReference
    ) throws(Failure) -> SourceSpatialReference {
        let texts =
            reference.latestWkid.map { ["EPSG:\($0)", "ESRI:\($0)"] } ?? [reference.wkt ?? ""]
        for text in texts {
            if let found = SourceSpatialReference(meaning: text) { return found }
        }
        throw Failure(
            .invalidParameter,
            "spatial reference '\(texts[0].prefix(80))' is unknown: expected a number of EPSG or "
                + "Esri, or well-known text")
    }

    private static func encodingName(_ text: String) -> String? {
        switch text.lowercased().filter({ $0.isLetter || $0.isNumber }) {
        case "utf16", "utf16le", "ucs2": "UTF-16LE"
        case "utf16be": "UTF-16BE"
        default: DBFSource.name(text)
        }
    }

    /// Whether a layer is to be taken.
    func takes(_ name: String) -> Bool {
        options.layers.isEmpty
            || options.layers.contains { $0.lowercased() == name.lowercased() }
    }

    /// Writes a file of text as UTF-8; nil where it has the encoding anyway.
    ///
    /// Throws `unreadable` for text that is not in the chosen encoding.
    func transcoded(_ path: String, name: String, to target: String) throws -> String? {
        guard let encoding else { return nil }
        let file = try MappedFile(path: path)
        if encoding == "UTF-8" {
            guard TextEncoding.isUTF8(file) else { throw Self.wrong(name, encoding) }
            return nil
        }
        let output = try OutputFile(creating: target)
        if let wide = TextEncoding(rawValue: encoding) {
            try Self.transcode(file, wide, to: output)
            return target
        }
        var (place, written) = (0, 0)
        while place < file.byteCount {
            var piece = file.copy(place..<min(place + (1 << 20), file.byteCount))
            place += piece.count
            // Characters of several bytes end before the end of a line.
            if place < file.byteCount, let last = piece.lastIndex(of: 0x0A) {
                place -= piece.count - last - 1
                piece.removeLast(piece.count - last - 1)
            }
            guard !piece.contains(0), let text = Recoding.utf8(piece, from: encoding) else {
                throw Self.wrong(name, encoding)
            }
            try output.write(text, at: written)
            written += text.count
        }
        return target
    }

    private static func transcode(
        _ file: MappedFile, _ encoding: TextEncoding, to output: borrowing OutputFile
    ) throws {
        var decoder = TextDecoder(encoding)
        let mark = TextEncoding.find(file).markByteCount
        var written = 0
        for start in stride(from: mark, to: file.byteCount, by: 256 << 10) {
            let end = min(start + (256 << 10), file.byteCount)
            var text = decoder.decode(file.copy(start..<end))
            if end == file.byteCount { text += decoder.finish() }
            try output.write(text, at: written)
            written += text.count
        }
    }

    private static func wrong(_ name: String, _ encoding: String) -> Failure {
        Failure(
            .unreadable, "the text of '\(name)' is not \(encoding), the encoding that was chosen")
    }
}
