// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

/// The forms of a product of `BatchIdentify`; raw values are those of its parameter `outputFormat`.
enum BatchProduct: String, CaseIterable {
    /// A line for each query, with its answer.
    case jsonLines = "jsonl"
    /// A row for each query and feature that was found.
    case csv
    /// The same rows, at the places that were asked for.
    case geoPackage = "gpkg"
}

extension BatchIdentify {
    /// The most columns of features in a joined product.
    static let foundColumnLimit = 1_000

    /// Joins the answers onto the rows of the input: a row for each query and feature, and one for
    /// a query without any.
    static func joined(
        _ context: ChunkContext, _ input: AssembleInput, _ parts: [BlobReference],
        _ settings: BatchSettings
    ) throws -> ChunkOutcome {
        var answers = AnswerLines(try parts.map { try BatchGeocode.open($0, context) })
        var found = FoundColumns()
        var (lineCount, errorCount) = (0, 0)
        while let answer = try answers.next() {
            lineCount += 1
            if answer.error != nil { errorCount += 1 }
            if let answer = answer.answer { try found.take(answer) }
            if lineCount.isMultiple(of: 256) {
                try context.checkCancelled()
                context.report(Double(lineCount) / Double(2 * max(1, input.queryCount)))
            }
        }
        guard lineCount == input.queryCount else {
            throw Failure(
                .corrupt, "the chunks have \(lineCount) lines; the input has \(input.queryCount)")
        }
        answers.restart()
        let (blob, rowCount) =
            settings.product == .geoPackage
            ? try geoPackage(context, input, &answers, found)
            : try table(context, input, &answers, found)
        return ChunkOutcome(
            blob: blob,
            messages: [
                JobMessage(
                    errorCount > 0 ? .warning : .informative,
                    "\(lineCount - errorCount) of \(lineCount) queries have an answer"),
                JobMessage(
                    .informative,
                    "\(rowCount) rows of queries and features, \(found.names.count) columns of "
                        + "features"),
            ])
    }

    private static func table(
        _ context: ChunkContext, _ input: AssembleInput, _ answers: inout AnswerLines,
        _ found: FoundColumns
    ) throws -> (BlobReference, rowCount: Int) {
        var rowCount = 0
        let newline = [UInt8(ascii: "\n")]
        let blob = try context.blobs.put(mediaType: MediaType.csv.rawValue) { write in
            try forEachQuery(context, input, &answers) { names in
                let header = joinedNames(names, found)
                try write(
                    Data(CSVWriter.record(header.map { Array($0.utf8) }, newline: newline)))
            } each: { _, fields, answer in
                for result in results(of: answer) {
                    let values = found.values(result, answer).map { Array(Self.text($0).utf8) }
                    try write(Data(CSVWriter.record(fields + values, newline: newline)))
                    rowCount += 1
                }
            }
        }
        return (blob, rowCount)
    }

    private static func geoPackage(
        _ context: ChunkContext, _ input: AssembleInput, _ answers: inout AnswerLines,
        _ found: FoundColumns
    ) throws -> (BlobReference, rowCount: Int) {
        let staging = try StagingDirectory(in: context.blobs.stagingDirectory)
        let path = staging.path + "/features" + ExportFormat.geoPackage.ending
        do {
            var file: ExportedFile?
            var count: Int64 = 0
            let template = IdentifyRequest.ofNothing(
                try BatchSettings(context.assignment).map, .sequence(0))
            let reader = BatchQueryReader(template: template, columns: input.columns)
            try forEachQuery(context, input, &answers) { names in
                var plain: [String] = []
                for (number, name) in names.enumerated() {
                    plain.append(
                        BatchGeocode.free(
                            name.isEmpty ? "field_\(number + 1)" : name, among: plain))
                }
                let all = joinedNames(plain, found)
                let types = plain.map { _ in FieldType.string } + found.types
                file = try ExportedFile(
                    .geoPackage, path: path, layerName: "identified",
                    table: FeatureTable(
                        fields: zip(all, types).map { FieldDescription(name: $0, type: $1) },
                        geometryType: .point, spatialReference: found.reference ?? .wgs84,
                        hasZ: false, hasM: false))
            } each: { record, fields, answer in
                let own = fields.map {
                    AttributeValue.string(String(decoding: $0, as: UTF8.self))
                }
                var place: Data?
                if case .point(let point)? = try? reader.query(record).request.get().geometry {
                    place = point.wellKnownBytes
                }
                for result in results(of: answer) {
                    count += 1
                    try file?.append(
                        FeatureRow(
                            objectID: count, values: own + found.values(result, answer), wkb: place)
                    )
                }
            }
            try file?.close()
            let blob = try context.blobs.put(
                file: path, mediaType: MediaType.geoPackage.rawValue)
            return (blob, Int(count))
        } catch {
            throw Failure(importing: error)
        }
    }

    /// The columns of the input, then those of features under names that it does not have.
    private static func joinedNames(_ own: [String], _ found: FoundColumns) -> [String] {
        var names = own
        for name in FoundColumns.fixed + found.names {
            names.append(BatchGeocode.free(name, among: names))
        }
        return names
    }

    /// The features of an answer; one nil without any.
    private static func results(of answer: BatchAnswer) -> [IdentifyResult?] {
        let results = answer.answer?.results ?? []
        return results.isEmpty ? [nil] : results
    }

    /// Reads the input again, each query with its answer; `begin` takes the names of its columns.
    private static func forEachQuery(
        _ context: ChunkContext, _ input: AssembleInput, _ answers: inout AnswerLines,
        begin: ([String]) throws -> Void,
        each: (BatchRecord, [[UInt8]], BatchAnswer) throws -> Void
    ) throws {
        let file = try openInput(context)
        let (format, form) = (input.format ?? .jsonLines, input.form ?? TableForm())
        var columnCount: Int?
        if format == .jsonLines { try begin(["line", "id"]) }
        var done = 0
        try scan(
            file, form.start..<file.byteCount, BatchRecords(format, at: form.start, form: form),
            context
        ) { record in
            var fields: [[UInt8]] = []
            if case .fields(let row) = record.content {
                guard let columnCount else {
                    columnCount = row.count
                    return try begin(row.map { String(decoding: $0, as: UTF8.self) })
                }
                fields = Array(row.prefix(columnCount))
                while fields.count < columnCount { fields.append([]) }
            }
            guard let answer = try answers.next(), answer.line == record.line else {
                throw Failure(.corrupt, "the query of line \(record.line) has no answer")
            }
            if format == .jsonLines {
                fields = [Array("\(answer.line)".utf8), Array((answer.id?.text ?? "").utf8)]
            }
            try each(record, fields, answer)
            done += 1
            if done.isMultiple(of: 256) {
                context.report(0.5 + Double(done) / Double(2 * max(1, input.queryCount)))
            }
        }
    }

    /// A value as text: moments in ISO 8601, numbers with the fewest digits.
    fileprivate static func text(_ value: AttributeValue) -> String {
        switch value {
        case .null: ""
        case .integer(let integer): "\(integer)"
        case .real(let real): Int64(exactly: real).map { "\($0)" } ?? "\(real)"
        case .string(let text): text
        case .date(let milliseconds): CalendarClock(milliseconds: milliseconds).text
        }
    }
}

/// The columns that the found features of a batch have together.
private struct FoundColumns {
    /// Columns of every product.
    static let fixed = ["layerId", "layerName", "value", "error"]

    /// Names of attributes, by first appearance.
    private(set) var names: [String] = []
    /// Of the places and geometries; nil while no query has an answer.
    private(set) var reference: SpatialReference?
    private var places: [String: Int] = [:]
    /// The type that all values of a column have; nil for one without values.
    private var kinds: [FieldType?] = []

    /// Types of ``fixed`` and the attributes.
    var types: [FieldType] { [.integer, .string, .string, .string] + kinds.map { $0 ?? .string } }

    mutating func take(_ answer: IdentifyAnswer) throws(Failure) {
        reference = reference ?? answer.spatialReference
        for result in answer.results {
            for entry in result.attributes.entries {
                let key = entry.name.lowercased()
                let place = places[key] ?? names.count
                if place == names.count {
                    guard names.count < BatchIdentify.foundColumnLimit else {
                        throw Failure(
                            .tooLarge,
                            "the features that were found have more than "
                                + "\(BatchIdentify.foundColumnLimit) columns: ask fewer layers, or "
                                + "with outputFormat jsonl")
                    }
                    places[key] = place
                    names.append(entry.name)
                    kinds.append(nil)
                }
                kinds[place] = Self.joined(kinds[place], entry.value)
            }
        }
    }

    private static func joined(_ kind: FieldType?, _ value: AttributeValue) -> FieldType? {
        let own: FieldType
        switch value {
        case .null: return kind
        case .integer: own = .bigInteger
        case .real: own = .double
        case .string: own = .string
        case .date: own = .date
        }
        guard let kind, kind != own else { return own }
        let areNumbers = [kind, own].allSatisfy { $0 == .bigInteger || $0 == .double }
        return areNumbers ? .double : .string
    }

    /// The values of a feature, nil for none, and the failure of its query.
    func values(_ result: IdentifyResult?, _ answer: BatchAnswer) -> [AttributeValue] {
        var values = [AttributeValue](repeating: .null, count: names.count)
        for entry in result?.attributes.entries ?? [] {
            guard let place = places[entry.name.lowercased()] else { continue }
            values[place] = converted(entry.value, kinds[place])
        }
        let shown = result.map { BatchIdentify.text($0.value) }
        return [
            result.map { .integer(Int64($0.layerID)) } ?? .null,
            result.map { .string($0.layerName) } ?? .null, shown.map { .string($0) } ?? .null,
            answer.error.map { .string($0.message) } ?? .null,
        ] + values
    }

    private func converted(_ value: AttributeValue, _ kind: FieldType?) -> AttributeValue {
        switch (value, kind) {
        case (.null, _), (.string, _): value
        case (.integer(let integer), .double?): .real(Double(integer))
        case (_, .string?): .string(BatchIdentify.text(value))
        default: value
        }
    }
}

/// The lines of several blobs, one after the other.
private struct AnswerLines {
    private let files: [MappedFile]
    private var (file, offset) = (0, 0)
    private var rest = Data()

    init(_ files: [MappedFile]) { self.files = files }

    mutating func restart() { (file, offset, rest) = (0, 0, Data()) }

    /// The next answer; nil after the last.
    mutating func next() throws(Failure) -> BatchAnswer? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(rest[..<end])
                rest = rest[rest.index(after: end)...]
                return try CairnJSON.decode(BatchAnswer.self, from: line)
            }
            guard file < files.count else {
                guard rest.isEmpty else { throw Failure(.corrupt, "a line of answers has no end") }
                return nil
            }
            let end = min(offset + (256 << 10), files[file].byteCount)
            rest = Data(rest) + files[file].copy(offset..<end)
            offset = end
            if offset == files[file].byteCount { (file, offset) = (file + 1, 0) }
        }
    }
}

extension BatchID {
    fileprivate var text: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        }
    }
}

extension Coordinate {
    /// A point in well-known binary, little-endian.
    fileprivate var wellKnownBytes: Data {
        var bytes = Data([1, 1, 0, 0, 0])
        for ordinate in [x, y] {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: ordinate.bitPattern >> UInt64(shift)))
            }
        }
        return bytes
    }
}
