// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

/// The job kind `BatchIdentify`: a file of queries in, JSON Lines out, one line for each query.
///
/// `BatchSettings` has its parameters. The maps are queried as of the job's submission (or `at`),
/// so the product does not depend on when, or where, its chunks run.
public enum BatchIdentify: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .batchIdentify, summary: "Asks a map what is at each place.",
        input: "JSON Lines or CSV, one place on each line",
        output: "JSON Lines, one answer on each line; or a table of places and features",
        outputMediaType: "application/jsonl",
        parameters: [
            .text("map", "The map that is asked.", isRequired: true),
            .text("layers", "Which layers: top, visible or all, and ids after a colon.", "top"),
            .number("tolerance", "How far a feature may lie from the place, in pixels.", "0"),
            .text("extent", "What the screen shows: xmin,ymin,xmax,ymax in 'sr'."),
            .text("size", "The screen: width,height,dpi.", "800,600,96"),
            .whole("sr", "The well-known id of places, extent and answers."),
            .flag("returnGeometry", "Whether answers carry shapes."),
            .whole("precision", "Decimals of coordinates."),
            .number("maxOffset", "How far a simplified shape may be off, in the units of 'sr'."),
            .text("layerDefs", "WHERE clauses by layer id, a JSON object."),
            .text("at", "The sequence number or ISO 8601 time as of which the map is asked."),
            .text("format", "The form of the input.", of: ["jsonl", "csv"]),
            .text(
                "outputFormat",
                "The form of the product: an answer on each line, or a row for each place and "
                    + "feature, with the columns of the input.", BatchProduct.jsonLines.rawValue,
                of: BatchProduct.allCases.map(\.rawValue)),
            .text("time", "A moment, or FROM,TO, as ISO 8601 or milliseconds since 1970."),
            .text(
                "timeRelation", "Which ends of 'time' belong to it.", "overlaps",
                of: TimeRelation.allCases.map {
                    $0.rawValue.prefix(1).lowercased() + $0.rawValue.dropFirst()
                }),
            .text("layerTime", "LAYER:off, LAYER:cumulative, LAYER:offset=NUMBER UNIT; with ';'."),
            .flag("returnZ", "Whether shapes carry Z."),
            .flag("returnM", "Whether shapes carry M."),
            .flag("returnFieldName", "Whether attributes are named by field, not by alias."),
            .flag("formatted", "Whether attributes are text, as people read them."),
            .whole("maximumResultsPerLayer", "The most results of one layer."),
            .flag("returnPopupsOnly", "Whether layers are left out whose popups are off."),
            .flag("explain", "Whether answers say what came of every layer."),
        ], reads: [.map(parameter: "map", moments: ["at"])], inputNamesBlobs: false)

    /// Smallest number of queries in a chunk.
    public static let queriesPerChunk = 500
    /// Limit of chunks per file; larger files get larger chunks.
    public static let maximumChunkCount = 4_000
    /// Size limit of the input file, in bytes.
    public static let maximumInputByteCount: Int64 = 4 << 30

    /// The input of `identifyRows`: a range of whole records of the input file.
    struct RowsInput: Codable, Hashable, Sendable {
        var start: Int
        var end: Int
        var queryCount: Int
        /// The line at `start`.
        var firstLine: Int
        var format: BatchFormat
        var columns: BatchColumns?
        /// The text form of a table; nil for UTF-8 and commas.
        var form: TableForm?
    }

    /// The input of `assemble`.
    struct AssembleInput: Codable, Hashable, Sendable {
        var queryCount: Int
        /// The form of the input; nil in chunks of an earlier version, which joined nothing.
        var format: BatchFormat?
        var columns: BatchColumns?
        var form: TableForm?
    }

    /// Splits the file, answers its ranges of queries, concatenates the answers.
    public static let operations = [plan, identifyRows, assemble]

    static let plan = JobOperation.files("plan") { try plan($0) }
    static let identifyRows = JobOperation.maps("identifyRows") { try identifyRows($0, $1) }
    static let assemble = JobOperation.files("assemble") { try assemble($0) }

    /// Checks the parameters, and the columns of a table of places.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        let settings = try BatchSettings(texts, submitted: .max)
        var request = IdentifyRequest.ofNothing(settings.map, .sequence(0))
        try settings.applyForm(to: &request)
        try checkSize(order.input)
        let beginning = try order.beginning()
        let format = settings.format ?? BatchFormat(firstBytes: beginning)
        try settings.checkProduct(of: format)
        guard format == .csv else { return }
        guard let header = try JobOrder.header(of: beginning) else { throw emptyInput }
        _ = try BatchColumns(header: header.fields)
    }

    static let emptyInput = Failure(
        .invalidParameter, "the file is empty: expected a header row, or a line of JSON")

    static func openInput(_ context: ChunkContext) throws(Failure) -> MappedFile {
        guard let blob = context.assignment.jobInput else {
            throw Failure(
                .invalidParameter, "a BatchIdentify job needs a file of queries as its input")
        }
        try checkSize(blob)
        return try BatchGeocode.open(blob, context)
    }

    private static func checkSize(_ input: BlobReference?) throws(Failure) {
        guard let input, input.byteCount > maximumInputByteCount else { return }
        throw Failure(
            .tooLarge,
            "the file of queries has \(input.byteCount) bytes; at most \(maximumInputByteCount) "
                + "are taken")
    }

    /// Calls `body` with the records of a range of the file, read in pieces of 256 KiB.
    static func scan(
        _ file: MappedFile, _ range: Range<Int>, _ records: BatchRecords, _ context: ChunkContext,
        _ body: (BatchRecord) throws -> Void
    ) throws {
        var records = records
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 256 << 10) {
            try context.checkCancelled()
            try records.feed(
                file.copy(start..<min(start + (256 << 10), range.upperBound)), body)
        }
        try records.finish(body)
    }
}

/// The parameters of a `BatchIdentify` job.
///
/// `map`; `layers` (`top`), `tolerance` in pixels (0), `extent` (the map's initial one), `size`
/// (`800,600,96`), `sr` (the map's), `returnGeometry` (false), `precision`, `maxOffset`,
/// `layerDefs` (a JSON object), `at` (a sequence number or a time; that of the submission),
/// `format` (by the first byte), and those of `IdentifyForm`.
struct BatchSettings {
    var map: MapName
    var layers: LayerSelection
    var tolerance: Double
    var extent: Envelope?
    var display: ImageDisplay
    var reference: SpatialReference?
    var returnGeometry: Bool
    var precision: Int?
    var maxOffset: Double?
    var definitions: [LayerID: String]
    var form: IdentifyForm
    var asOf: AsOf
    /// The job's own sequence number, the latest that may be queried.
    var submitted: Int64
    var format: BatchFormat?
    var product: BatchProduct

    /// Reads the parameters; throws `Failure` (`invalidParameter`) naming the invalid one.
    init(_ assignment: ChunkAssignment) throws(Failure) {
        try self.init(
            ParameterTexts(assignment.parameters, of: BatchIdentify.description),
            submitted: assignment.submission())
    }

    /// Reads those of a job with that sequence number; throws as ``init(_:)`` does.
    init(_ texts: ParameterTexts, submitted: Int64) throws(Failure) {
        guard let name = texts["map"], let map = MapName(rawValue: name) else {
            throw ParameterTexts.fault("map", "the name of a map")
        }
        self.map = map
        layers = try LayerSelection(batch: texts["layers"] ?? "")
        tolerance = try texts.numbers("tolerance", 1...1)?[0] ?? 0
        extent = try texts.numbers("extent", 4...4).map {
            Envelope(minX: $0[0], minY: $0[1], maxX: $0[2], maxY: $0[3])
        }
        guard let size = try texts.numbers("size", 2...3) else {
            throw ParameterTexts.fault("size", "width,height,dpi")
        }
        display = ImageDisplay(width: size[0], height: size[1], dpi: size.count > 2 ? size[2] : 96)
        reference = try texts.whole("sr").map { SpatialReference(wkid: $0) }
        returnGeometry = try texts.flag("returnGeometry")
        form = try IdentifyForm(texts)
        precision = try texts.whole("precision")
        maxOffset = try texts.numbers("maxOffset", 1...1)?[0]
        definitions = [:]
        if let text = texts["layerDefs"] {
            let named: [String: String]
            do throws(Failure) {
                named = try CairnJSON.decode([String: String].self, from: Data(text.utf8))
            } catch {
                throw ParameterTexts.fault("layerDefs", "a JSON object of clauses by layer number")
            }
            for (layer, clause) in named {
                guard let id = LayerID(layer) else {
                    throw ParameterTexts.fault("layerDefs", "layer numbers")
                }
                definitions[id] = clause
            }
        }
        asOf = try texts.asOf("at", submitted: submitted)
        self.submitted = submitted
        format = nil
        if let text = texts["format"] {
            guard let known = BatchFormat(rawValue: text) else {
                throw ParameterTexts.fault("format", "jsonl or csv")
            }
            format = known
        }
        product = try texts.word("outputFormat", of: BatchProduct.self) ?? .jsonLines
        if product != .jsonLines, returnGeometry {
            throw ParameterTexts.fault(
                "returnGeometry", "false with outputFormat \(product.rawValue)")
        }
    }

    /// Throws `invalidParameter` for a product that an input of that form does not give.
    func checkProduct(of format: BatchFormat) throws(Failure) {
        guard product == .geoPackage, format != .csv else { return }
        throw ParameterTexts.fault("outputFormat", "jsonl or csv for an input of JSON Lines")
    }

    /// What every query has in common; throws `Failure` (`invalidParameter`) where the map has no
    /// extent to take for the screen.
    func template(_ map: MapDescription, at position: Int64) throws(Failure) -> IdentifyRequest {
        let isOwn =
            reference == nil
            || map.spatialReference.map { reference?.isEquivalent(to: $0) == true } ?? false
        guard let extent = extent ?? (isOwn ? map.initialExtent : nil) else {
            throw Failure(
                .invalidParameter,
                "parameter 'extent' is missing: map '\(map.name)' has none in that spatial "
                    + "reference"
            )
        }
        var request = IdentifyRequest(
            map: self.map, geometry: .point(Coordinate(x: 0, y: 0)), layers: layers,
            tolerance: tolerance, mapExtent: extent, imageDisplay: display,
            spatialReference: reference, returnGeometry: returnGeometry,
            maxAllowableOffset: maxOffset, geometryPrecision: precision,
            layerDefinitions: definitions, at: position)
        try applyForm(to: &request)
        return request
    }

    /// Applies the parameters of ``IdentifyForm``; throws `invalidParameter` for those that name no
    /// layer.
    func applyForm(to request: inout IdentifyRequest) throws(Failure) {
        try form.apply(to: &request) { text throws(Failure) in
            guard let id = LayerID(text) else {
                throw ParameterTexts.fault("layerTime", "layer numbers")
            }
            return id
        }
    }
}
