// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Expression
internal import Geometry
internal import Identify
internal import Platform

/// One run of a request.
struct QueryRun {
    let request: QueryRequest
    let layer: QueriedLayer
    let features: EditedDataset
    let order: ObjectOrder
    /// Size limit of a feature that is read, in bytes.
    let featureByteLimit: Int
    let isCancelled: () -> Bool
    /// The visible features of a past layer; nil for all.
    var sight: FeatureSight?
    /// Whether the answer has one part, whatever its size: for a layer on another server.
    var hasOnePart = false
    /// The number of matching features; nil where `features` must be counted.
    var knownCount: Int?
    /// The object ids of matching features, in order; nil where `features` must be read.
    var knownIDs: [Int64]?
    /// Number of matching features missing from `features`, because they have no geometry.
    var placelessCount = 0
    /// Whether there are more rows than in `features`.
    var isCutShort = false

    /// Features read between two checks for cancellation.
    private static let cancelStride = 256
    /// Bytes read between two checks for cancellation.
    private static let cancelBytes = 64 << 10
    /// Number of features after which the size of the answer is estimated.
    private static let measuredRows = 32

    /// The bytes of the requested part, and the start of the next one.
    func answer() throws(Failure) -> (bytes: [UInt8], next: QueryPart?) {
        var filter = try filter()
        if !request.statistics.isEmpty || request.returnDistinctValues {
            let table = try RowTable(self, &filter)
            if request.result == .count { return (Self.count(table.rows.count), nil) }
            return try table.answer(request, limit: limit, hasOnePart: hasOnePart)
        }
        switch request.result {
        case .features: return try features(&filter)
        case .objectIDs: return try objectIDs(&filter)
        case .count: return (Self.count(try count(&filter)), nil)
        case .extent: return (try extent(&filter), nil)
        }
    }

    /// Limit of rows in the answer.
    private var limit: Int { min(request.limit ?? .max, QueryRequest.recordBound) }

    /// The filter of the request; throws `invalidParameter`, naming the invalid clause.
    func filter() throws(Failure) -> RowFilter {
        var clauses: [BoundClause] = []
        let texts = [
            ("definition expression", layer.description.definitionExpression),
            ("where", request.clause), ("text", try textClause()),
        ]
        for (origin, text) in texts {
            guard let text, text.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(Failure) {
                clauses.append(try WhereClause(parsing: text).bound(to: layer.fields))
            } catch {
                if origin == texts[0].0 { throw layer.description.brokenDefinition }
                throw Failure(
                    error.code,
                    "\(origin) of layer \(layer.description.id) '\(layer.description.name)': "
                        + error.message)
            }
        }
        return RowFilter(
            clauses: clauses,
            time: try TimeWindow(
                request.time, request.timeRelation, LayerTimeOptions(), layer.description,
                layer.fields),
            spatial: try request.spatialFilter.map { filter throws(Failure) in
                try SpatialTest(
                    filter, filter.spatialReference ?? layer.reference, of: features.base,
                    isCancelled)
            }, sight: sight, acceptsMissing: request.matchesMissing ?? false)
    }

    /// The properties of the dataset, with the extent of the visible features where a grid starts
    /// there: the extent of the source includes hidden ones.
    private func shownProperties() throws(Failure) -> LayerProperties {
        var properties = features.base.properties
        guard request.form == .esri, let grid = request.quantization, grid.extent == nil else {
            return properties
        }
        let shown = QueryRun(
            request: QueryRequest(map: request.map, layer: request.layer), layer: layer,
            features: features, order: order, featureByteLimit: featureByteLimit,
            isCancelled: isCancelled, sight: sight)
        var filter = try shown.filter()
        if filter.isEverything { return properties }
        var total = Envelope.empty
        try shown.forEachRow(&filter) { reader throws(Failure) in
            total = total.union(reader.envelope)
            return true
        }
        properties.extent = total.isEmpty ? nil : total
        return properties
    }

    /// The clause of a text search in the display field; nil without one.
    private func textClause() throws(Failure) -> String? {
        guard let text = request.text else { return nil }
        let shown = layer.description.shownField(among: layer.fields)
        guard let field = layer.fields.first(where: { $0.name == shown }), field.type == .string
        else {
            throw Failure(
                .invalidParameter,
                "text: layer \(layer.description.id) '\(layer.description.name)' shows "
                    + (shown.map { "the field '\($0)', which has no text" } ?? "no field"))
        }
        let name = field.name.replacing("\"", with: "\"\"")
        let wanted = text.replacing(#/[!%_]/#) { "!" + $0.output }.replacing("'", with: "''")
        return "\"\(name)\" LIKE '%\(wanted)%' ESCAPE '!'"
    }

    // MARK: Rows

    /// The candidate features, by rising object id.
    private func candidates(_ filter: RowFilter) throws(Failure) -> [Int32] {
        if filter.isNever { return [] }
        if let ids = request.objectIDs {
            return Set(ids).sorted().compactMap { order.ordinal(of: $0) }
        }
        guard let envelope = filter.spatial?.searchEnvelope else { return order.ordinals }
        var found: [Int64] = []
        features.base.search(envelope.widened) { feature in
            if features.hides(feature.objectID) { return }
            found.append(order.rank(of: feature.objectID) << 32 | Int64(feature.ordinal))
        }
        let first = Int64(features.base.properties.featureCount)
        features.overlay?.search(envelope.widened) { feature in
            found.append(order.rank(of: feature.objectID) << 32 | first + Int64(feature.ordinal))
        }
        if filter.acceptsMissing { found += order.placeless }
        found.sort()
        return found.map { Int32(truncatingIfNeeded: $0) }
    }

    /// Calls `body` with every matching feature, by rising object id, until it returns false.
    ///
    /// Those with an object id less than `first` are passed over, unread where neither ids nor a
    /// geometry are asked for.
    func forEachRow(
        _ filter: inout RowFilter, from first: Int64? = nil, isDescending: Bool = false,
        _ body: (FeatureReader) throws(Failure) -> Bool
    ) throws(Failure) {
        var candidates = try candidates(filter)[...]
        if let first, request.objectIDs == nil, filter.spatial == nil {
            candidates = candidates.dropFirst(order.countBelow(first))
        }
        var reader = FeatureReader(features)
        var byteCount = 0
        for index in 0..<candidates.count {
            if index.isMultiple(of: Self.cancelStride) || byteCount > Self.cancelBytes {
                try stopIfCancelled()
                byteCount = 0
            }
            let place = isDescending ? candidates.count - 1 - index : index
            try move(&reader, to: candidates[candidates.startIndex + place])
            byteCount += reader.byteCount
            if let first, case .integer(let id) = try reader.stored(0), id < first { continue }
            guard try filter.accepts(reader, isCancelled) else { continue }
            guard try body(reader) else { return }
        }
        try stopIfCancelled()
    }

    private func move(_ reader: inout FeatureReader, to place: Int32) throws(Failure) {
        try reader.move(to: Int(place))
        if reader.byteCount > featureByteLimit {
            throw Failure(.cancelled, "a feature has more than \(featureByteLimit) bytes")
        }
    }

    func stopIfCancelled() throws(Failure) {
        if isCancelled() {
            throw Failure(.cancelled, "the request was cancelled or timed out")
        }
    }

    /// The rows of the answer in order, `limit` at most, and whether there are more.
    private func rows(
        _ filter: inout RowFilter, limit: Int
    ) throws(Failure) -> (ordinals: ArraySlice<Int32>, hasMore: Bool) {
        var keys: [(term: RowTerm, isDescending: Bool)] = []
        for key in request.order {
            let term = try RowTerm(key.field, of: layer, "orderByFields")
            keys.append((term, key.isDescending))
            // Object ids are unique, so no further term matters.
            if case .column(0) = term { break }
        }
        let (end, overflow) = request.offset.addingReportingOverflow(limit)
        let bound = overflow ? Int.max : end
        guard let first = keys.first else { return try plainRows(&filter, false, bound) }
        if case .column(0) = first.term {
            return try plainRows(&filter, first.isDescending, bound)
        }
        var sorting = RowOrder(keys)
        try forEachRow(&filter) { reader throws(Failure) in
            try sorting.append(reader)
            return true
        }
        let sorted = sorting.sorted()
        return (sorted.prefix(bound).dropFirst(request.offset), sorted.count > bound)
    }

    private func plainRows(
        _ filter: inout RowFilter, _ isDescending: Bool, _ bound: Int
    ) throws(Failure) -> (ordinals: ArraySlice<Int32>, hasMore: Bool) {
        if filter.isEverything {
            let all = try candidates(filter)
            let whole = isDescending ? all.reversed() : all
            return (whole.prefix(bound).dropFirst(request.offset), whole.count > bound)
        }
        var found: [Int32] = []
        var (count, hasMore) = (0, false)
        let offset = request.offset
        try forEachRow(&filter, isDescending: isDescending) { reader throws(Failure) in
            guard count < bound else {
                hasMore = true
                return false
            }
            if count >= offset { found.append(Int32(reader.ordinal)) }
            count += 1
            return true
        }
        return (found[...], hasMore)
    }

    // MARK: Answers

    private func features(
        _ filter: inout RowFilter
    ) throws(Failure) -> (bytes: [UInt8], next: QueryPart?) {
        var (rows, hasMore) = try rows(&filter, limit: limit)
        hasMore = hasMore || isCutShort
        var writer = try FeatureWriter(request, layer, try shownProperties())
        var stream = try AnswerStream(request.part, hasOnePart: hasOnePart) {
            () throws(Failure) in try writer.head()
        }
        let first = request.part?.row ?? 0
        var reader = FeatureReader(features)
        for (row, ordinal) in rows.enumerated().dropFirst(first) {
            if row.isMultiple(of: 16) { try stopIfCancelled() }
            if row == first + Self.measuredRows {
                stream.makeRoom(for: rows.count - row, after: Self.measuredRows)
            }
            try move(&reader, to: ordinal)
            stream.beginRow(row)
            try writer.append(reader, to: &stream.json)
            if try stream.takesBack(isFirst: row == 0) {
                return (stream.finished(writer.tail(isCut: true, featureCount: row)), nil)
            }
            if let next = stream.endRow() { return (stream.json.bytes, next) }
            if stream.isFull, row + 1 < rows.count {
                return (stream.finished(writer.tail(isCut: true, featureCount: row + 1)), nil)
            }
        }
        return (stream.finished(writer.tail(isCut: hasMore, featureCount: rows.count)), nil)
    }

    private func objectIDs(
        _ filter: inout RowFilter
    ) throws(Failure) -> (bytes: [UInt8], next: QueryPart?) {
        let limit = request.limit ?? .max - request.offset
        if let knownIDs {
            let rest = knownIDs.dropFirst(request.offset)
            return try objectIDs(min(rest.count, limit), hasMore: rest.count > limit) {
                rest[rest.startIndex + $0]
            }
        }
        let (rows, hasMore) = try rows(&filter, limit: limit)
        var reader = FeatureReader(features)
        return try objectIDs(rows.count, hasMore: hasMore) { row throws(Failure) in
            try reader.move(to: Int(rows[rows.startIndex + row]))
            if case .integer(let id) = try reader.stored(0) { return id }
            return nil
        }
    }

    /// Object ids as the answer; `id` returns the one at an index.
    private func objectIDs(
        _ count: Int, hasMore: Bool, _ id: (Int) throws(Failure) -> Int64?
    ) throws(Failure) -> (bytes: [UInt8], next: QueryPart?) {
        let name = layer.fields[0].name
        var stream = AnswerStream(request.part, hasOnePart: hasOnePart) {
            var json = JSONWriter()
            json.openObject()
            json.member("objectIdFieldName", name)
            json.openArray("objectIds")
            return json
        }
        func tail(_ isCut: Bool) -> String {
            isCut ? #"],"exceededTransferLimit":true}"# : "]}"
        }
        for row in min(request.part?.row ?? 0, count)..<count {
            if row.isMultiple(of: Self.cancelStride) { try stopIfCancelled() }
            stream.beginRow(row)
            if let id = try id(row) { stream.json.integer(id) }
            if try stream.takesBack(isFirst: row == 0) { return (stream.finished(tail(true)), nil) }
            if let next = stream.endRow() { return (stream.json.bytes, next) }
            if stream.isFull, row + 1 < count { return (stream.finished(tail(true)), nil) }
        }
        return (stream.finished(tail(hasMore)), nil)
    }

    private func count(_ filter: inout RowFilter) throws(Failure) -> Int {
        if let knownCount { return knownCount }
        if filter.isEverything, request.objectIDs == nil { return order.count }
        var count = 0
        try forEachRow(&filter) { _ throws(Failure) in
            count += 1
            return true
        }
        return count
    }

    private static func count(_ count: Int) -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.member("count", count) }
        return json.bytes
    }

    private func extent(_ filter: inout RowFilter) throws(Failure) -> [UInt8] {
        let reference = request.outReference ?? layer.reference
        var measure = try ExtentMeasure(
            from: features.base.properties.spatialReference, to: reference)
        var count = placelessCount
        if filter.isEverything, request.objectIDs == nil, measure.isPlain, !features.isEdited {
            count += order.count
            measure.total = features.base.properties.extent ?? .empty
        } else {
            try forEachRow(&filter) { reader throws(Failure) in
                count += 1
                try measure.add(reader)
                return true
            }
        }
        var json = JSONWriter()
        let isEmpty = measure.total.isEmpty
        let total = measure.total
        json.object { json in
            if request.form != .esri {
                json.member("type", "FeatureCollection")
                if !isEmpty {
                    json.member("bbox", array: [total.minX, total.minY, total.maxX, total.maxY]) {
                        $0.number($1)
                    }
                }
                json.member("features", array: [Int]()) { $0.integer(Int64($1)) }
                return
            }
            if request.returnCount { json.member("count", count) }
            json.member("extent") { json in
                if isEmpty {
                    for side in ["xmin", "ymin", "xmax", "ymax"] { json.member(side, "NaN") }
                } else {
                    json.sides(of: total)
                }
                json.spatialReference(reference)
            }
        }
        return json.bytes
    }
}

extension Envelope {
    /// The rectangle enlarged by far more than the rounding error, and far less than any tolerance.
    var widened: Envelope {
        let magnitude = max(abs(minX), abs(minY), abs(maxX), abs(maxY))
        return expanded(by: magnitude * 0x1p-40)
    }
}
