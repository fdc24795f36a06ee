// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

extension BatchRoute {
    /// Reads the whole file once: checks and splits it.
    static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let settings = try RouteSettings(texts, context.assignment)
        let product = try RouteProduct(texts)
        let table = try JobTable(context, .stops, texts)
        let columns = try StopColumns(table, texts)
        var cuts = RowCuts(every: rowsPerChunk)
        let (scanner, messages) = try table.forEachRow(context) { cuts.take($0) }
        try RowCuts.check(cuts.rowCount, most: maximumRowCount)

        let newline = String(decoding: scanner.newline, as: UTF8.self)
        let chunks = try cuts.ranges(end: table.file.byteCount, limit: maximumChunkCount).map {
            try routeRows.chunk(
                RowsInput(
                    range: $0, newline: newline, form: table.form, kinds: table.kinds),
                weight: $0.rowCount, gathers: table.kinds != nil)
        }
        var input = AssembleInput(rowCount: cuts.rowCount)
        if product == .csv {
            let header = output(table.names).map { Array($0.utf8) }
            input.header = String(
                decoding: CSVWriter.record(header, newline: scanner.newline), as: UTF8.self)
        }
        let last = try assemble.chunk(input, weight: max(1, cuts.rowCount / 20), gathers: true)
        return ChunkOutcome(
            nextStage: chunks, laterStages: [[last]], blob: table.made,
            messages: messages + [
                JobMessage(.informative, "columns read: \(columns.described(table.names))"),
                JobMessage(.informative, "\(cuts.rowCount) routes, \(settings.moment)"),
            ])
    }

    /// The input's columns, then the results under unused names.
    private static func output(_ names: [String]) -> [String] {
        var names = names
        for name in resultColumns { names.append(BatchGeocode.free(name, among: names)) }
        return names
    }

    /// Finds the routes of one range of rows into a blob of as many rows, or features.
    static func routeRows(
        _ context: ChunkContext, _ routers: any JobRouters
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let settings = try RouteSettings(texts, context.assignment)
        let product = try RouteProduct(texts)
        let table = try JobTable(context, input.form, input.kinds)
        let columns = try StopColumns(table, texts)
        let router = try context.patiently { () throws(Failure) in
            try routers.router(settings.terms)
        }
        let names = output(table.names)
        let newline = Array(input.newline.utf8)
        var isFirst = input.range.firstRow == 1
        let type: MediaType = product == .csv ? .csv : .geoJSON
        let blob = try context.blobs.put(mediaType: type.rawValue) { write in
            try table.forEachRow(of: input.range, context) { fields in
                let found = try route(
                    columns.stops(in: fields), settings, router, wantsLine: product == .geoJSON)
                switch product {
                case .csv:
                    let results = [
                        found.length.map(BatchGeocode.decimal) ?? "",
                        found.duration.map(BatchGeocode.decimal) ?? "", found.status,
                    ]
                    try write(
                        Data(
                            CSVWriter.record(
                                fields + results.map { Array($0.utf8) }, newline: newline)))
                case .geoJSON:
                    let values =
                        fields.enumerated().map { table.value($0.element, of: $0.offset) }
                        + [
                            found.length.map { .real($0) } ?? .null,
                            found.duration.map { .real($0) } ?? .null, .string(found.status),
                        ]
                    let feature = try FeatureText.feature(
                        Array(zip(names, values)), geometry: FeatureText.line(found.line),
                        isFirst: isFirst)
                    try write(Data(feature.utf8))
                }
                isFirst = false
            }
        }
        return ChunkOutcome(blob: blob)
    }

    private struct Found {
        /// Metres.
        var length: Double?
        /// Seconds.
        var duration: Double?
        var status: String
        var line: [Coordinate] = []
    }

    private static func route(
        _ stops: [Coordinate]?, _ settings: RouteSettings, _ router: JobRouter, wantsLine: Bool
    ) throws(Failure) -> Found {
        guard let stops else { return Found(status: RowStatus.invalid) }
        var request = RouteRequest(settings.terms, stops: stops.map(settings.place))
        request.wantsShape = wantsLine
        let answer = try router.route(request)
        guard let route = answer.routes.first else {
            let isLocated = !answer.stops.contains { $0.status == .notLocated }
            let status: LocatedPlace.Status = isLocated ? .notReached : .notLocated
            return Found(status: status.word)
        }
        let isMoved = answer.stops.contains { $0.status == .moved }
        let status: LocatedPlace.Status = isMoved ? .moved : .ok
        var found = Found(
            length: route.length, duration: route.duration, status: status.word)
        if wantsLine { found.line = try router.positions(route) }
        return found
    }

    /// Concatenates the chunks' rows, in order, and counts them: a wrong number fails the job.
    static func assemble(_ context: ChunkContext) throws -> ChunkOutcome {
        let input = try context.input(AssembleInput.self)
        let parts = try context.parts()
        var (rowCount, foundCount) = (0, 0)
        let found = [LocatedPlace.Status.ok, .moved].map { Array($0.word.utf8) }
        guard let header = input.header else {
            return ChunkOutcome(
                blob: try FeatureText.file(parts, in: context.blobs),
                messages: [JobMessage(.informative, "\(input.rowCount) rows are features")])
        }
        for (index, part) in parts.enumerated() {
            let file = try BatchGeocode.open(part, context)
            try BatchGeocode.scan(file, 0..<file.byteCount, TableForm(), context) { record in
                rowCount += 1
                if let status = record.fields.last, found.contains(status) { foundCount += 1 }
            }
            context.report(Double(index + 1) / Double(parts.count + 1))
        }
        guard rowCount == input.rowCount else {
            throw Failure(
                .corrupt, "the chunks have \(rowCount) rows; the input has \(input.rowCount)")
        }
        let product = try context.blobs.put(
            Data(header.utf8), then: parts, mediaType: MediaType.csv.rawValue)
        return ChunkOutcome(
            blob: product,
            messages: [
                JobMessage(.informative, "\(foundCount) of \(rowCount) rows have a route")
            ])
    }
}
