// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

extension ODMatrix {
    /// Pairs of one request, so that a cancellation is soon heard.
    private static let pairsPerRequest = 200_000
    /// Routes of one request with both costs, likewise.
    private static let routesPerRequest = 200

    /// The columns of the product before those of features' attributes.
    private static let resultColumns = ["origin", "destination", "duration", "length"]

    /// Reads the whole file once: checks it, and splits its origins.
    static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let routing = try RouteSettings(texts, context.assignment)
        let settings = try MatrixSettings(texts)
        let table = try JobTable(context, .single, texts)
        let columns = try MatrixColumns(table, texts)
        var count = MatrixCount()
        var origins: [(start: Int, row: Int)] = []
        var (invalidCount, pairCount) = (0, 0)
        let (scanner, notes) = try table.forEachRow(context) { record in
            let roles = try columns.roles(in: record.fields, row: record.number)
            count.take(roles)
            // The number of all is in the refusal.
            if roles.isOrigin, count.places <= maximumPlaceCount {
                origins.append((record.start, record.number))
            }
            if roles.isOrigin, roles.isDestination { pairCount -= 1 }
            let place = columns.places.place(in: record.fields, row: record.number)
            if place.location == nil { invalidCount += 1 }
        }
        try count.check(settings)
        pairCount += count.origins * count.destinations

        let newline = String(decoding: scanner.newline, as: UTF8.self)
        let each = originsPerChunk(count, settings)
        let chunks = try stride(from: 0, to: origins.count, by: each).map { first in
            let next = first + each < origins.count ? origins[first + each] : nil
            let range = RowRange(
                start: origins[first].start, end: next?.start ?? table.file.byteCount,
                rowCount: (next?.row ?? count.places + 1) - origins[first].row,
                firstRow: origins[first].row)
            return try measure.chunk(
                RowsInput(
                    range: range, newline: newline, form: table.form, kinds: table.kinds),
                weight: min(each, origins.count - first), gathers: table.kinds != nil)
        }
        let names = columns.attributes(of: table).map { table.names[$0] }
        let header =
            (resultColumns + names.map { "origin_" + $0 } + names.map { "destination_" + $0 })
            .map { Array($0.utf8) }
        let input = AssembleInput(
            header: String(
                decoding: CSVWriter.record(header, newline: scanner.newline), as: UTF8.self),
            rowCount: settings.isSparse ? nil : pairCount)
        let last = try assemble.chunk(input, weight: max(1, origins.count / 20), gathers: true)
        var messages = notes
        if invalidCount > 0 {
            messages.append(
                JobMessage(.warning, "\(invalidCount) places have no longitude and latitude"))
        }
        messages.append(
            JobMessage(
                .informative,
                "\(count.origins) origins and \(count.destinations) destinations, "
                    + routing.moment))
        return ChunkOutcome(
            nextStage: chunks, laterStages: [[last]], blob: table.made, messages: messages)
    }

    private static func originsPerChunk(_ count: MatrixCount, _ settings: MatrixSettings) -> Int {
        var each = pairsPerChunk / count.destinations
        if settings.costs == .both {
            let routes = min(count.destinations, settings.closest ?? count.destinations)
            each = min(each, routesPerChunk / routes)
        }
        let least = (count.origins + maximumChunkCount - 1) / maximumChunkCount
        return max(1, each, least)
    }

    /// Measures the ways from one range of origins to all destinations.
    static func measure(
        _ context: ChunkContext, _ routers: any JobRouters
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let routing = try RouteSettings(texts, context.assignment)
        let table = try JobTable(context, input.form, input.kinds)
        let columns = try MatrixColumns(table, texts)
        let attributes = columns.attributes(of: table)
        func place(_ fields: [[UInt8]], _ row: Int) -> TablePlace {
            var place = columns.places.place(in: fields, row: row)
            place.attributes = attributes.map { fields[$0] }
            return place
        }
        var destinations: [TablePlace] = []
        _ = try table.forEachRow(context, share: 0) { record in
            guard try columns.roles(in: record.fields, row: record.number).isDestination else {
                return
            }
            destinations.append(place(record.fields, record.number))
        }
        var origins: [TablePlace] = []
        var row = input.range.firstRow
        try table.forEachRow(of: input.range, context, share: 0) { fields in
            if try columns.roles(in: fields, row: row).isOrigin {
                origins.append(place(fields, row))
            }
            row += 1
        }
        let router = try context.patiently { () throws(Failure) in
            try routers.router(routing.terms)
        }
        let matrix = Matrix(
            routing: routing, settings: try MatrixSettings(texts), router: router,
            destinations: destinations, context: context, newline: Array(input.newline.utf8))
        let blob = try context.blobs.put(mediaType: MediaType.csv.rawValue) { write in
            let each = max(1, pairsPerRequest / max(1, destinations.count))
            for first in stride(from: 0, to: origins.count, by: each) {
                try context.checkCancelled()
                let share = origins[first..<min(first + each, origins.count)]
                try matrix.write(share, at: Double(first) / Double(origins.count), write)
                context.report(Double(first + share.count) / Double(origins.count))
            }
        }
        return ChunkOutcome(blob: blob)
    }

    /// What measures the ways to the destinations of a matrix.
    private struct Matrix {
        let routing: RouteSettings
        let settings: MatrixSettings
        let router: JobRouter
        let destinations: [TablePlace]
        let context: ChunkContext
        let newline: [UInt8]

        private struct Cell {
            var destination: Int
            var duration: Double?
            var length: Double?

            var cost: Double? { duration ?? length }
        }

        func write(
            _ origins: ArraySlice<TablePlace>, at progress: Double, _ write: (Data) throws -> Void
        ) throws {
            let known = origins.filter { $0.location != nil }
            let costs = try self.costs(known.compactMap(\.location))
            var place = 0
            for origin in origins {
                var cells = destinations.indices.map { Cell(destination: $0) }
                if origin.location != nil {
                    for index in cells.indices {
                        cells[index].duration = costs.durations[place]?[index]
                        cells[index].length = costs.lengths[place]?[index]
                    }
                    place += 1
                }
                cells.removeAll { destinations[$0.destination].row == origin.row }
                cells = chosen(cells)
                if settings.costs == .both, let location = origin.location {
                    try measure(&cells, from: location, at: progress)
                }
                var rows: [UInt8] = []
                for cell in cells {
                    let fields = [
                        origin.name, destinations[cell.destination].name,
                        cell.duration.map(BatchGeocode.decimal) ?? "",
                        cell.length.map(BatchGeocode.decimal) ?? "",
                    ]
                    rows += CSVWriter.record(
                        fields.map { Array($0.utf8) } + origin.attributes
                            + destinations[cell.destination].attributes, newline: newline)
                }
                try write(Data(rows))
            }
        }

        /// The cells that are asked for: of a sparse matrix those with a route, with `closest` the
        /// nearest first.
        private func chosen(_ cells: [Cell]) -> [Cell] {
            guard settings.isSparse else { return cells }
            let found = cells.filter { cell in
                cell.cost.map { $0 <= settings.cutoff ?? .infinity } ?? false
            }
            guard let closest = settings.closest else { return found }
            let sorted = found.sorted {
                ($0.cost ?? 0, $0.destination) < ($1.cost ?? 0, $1.destination)
            }
            return Array(sorted.prefix(closest))
        }

        /// What the travel mode minimises, by origin and destination.
        private func costs(
            _ origins: [Coordinate]
        ) throws(Failure) -> (durations: [[Double?]?], lengths: [[Double?]?]) {
            let none = [[Double?]?](repeating: nil, count: origins.count)
            let known = destinations.indices.filter { destinations[$0].location != nil }
            guard !origins.isEmpty, !known.isEmpty else { return (none, none) }
            let request = RouteTableRequest(
                routing.terms, origins: origins.map(routing.place),
                destinations: known.compactMap { destinations[$0].location }.map(routing.place))
            let answer = try router.table(request, context.isCancelled)
            func spread(_ values: [Double?]?) -> [[Double?]?] {
                guard let values else { return none }
                return origins.indices.map { origin in
                    var row = [Double?](repeating: nil, count: destinations.count)
                    for (column, destination) in known.enumerated() {
                        row[destination] = values[origin * known.count + column]
                    }
                    return row
                }
            }
            return (spread(answer.durations), spread(answer.lengths))
        }

        /// Adds duration and length of the routes to cells that have a cost.
        private func measure(
            _ cells: inout [Cell], from origin: Coordinate, at progress: Double
        ) throws(Failure) {
            let found = cells.indices.filter { cells[$0].cost != nil }
            for first in stride(from: 0, to: found.count, by: routesPerRequest) {
                try context.checkCancelled()
                let share = found[first..<min(first + routesPerRequest, found.count)]
                var request = RouteTableRequest(
                    routing.terms, origins: [routing.place(origin)],
                    destinations: share.compactMap {
                        destinations[cells[$0].destination].location
                    }.map(routing.place))
                request.wantsBoth = true
                let answer = try router.table(request, context.isCancelled)
                for (column, cell) in share.enumerated() {
                    cells[cell].duration = answer.durations?[column]
                    cells[cell].length = answer.lengths?[column]
                }
                // A sign of life: a row may take minutes.
                context.report(progress)
            }
        }
    }

    /// Concatenates the chunks' rows, in order, and counts them: a wrong number fails the job.
    static func assemble(_ context: ChunkContext) throws -> ChunkOutcome {
        let input = try context.input(AssembleInput.self)
        let parts = try context.parts()
        var (rowCount, foundCount) = (0, 0)
        for (index, part) in parts.enumerated() {
            let file = try BatchGeocode.open(part, context)
            try BatchGeocode.scan(file, 0..<file.byteCount, TableForm(), context) { record in
                rowCount += 1
                if record.fields.dropFirst(2).prefix(2).contains(where: { !$0.isEmpty }) {
                    foundCount += 1
                }
            }
            context.report(Double(index + 1) / Double(parts.count + 1))
        }
        if let planned = input.rowCount, rowCount != planned {
            throw Failure(
                .corrupt, "the chunks have \(rowCount) rows; the matrix has \(planned)")
        }
        let product = try context.blobs.put(
            Data(input.header.utf8), then: parts, mediaType: MediaType.csv.rawValue)
        return ChunkOutcome(
            blob: product,
            messages: [
                JobMessage(.informative, "\(foundCount) of \(rowCount) rows have a route")
            ])
    }
}
