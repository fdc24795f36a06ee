// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Expression
internal import Platform

/// Rows derived from features: distinct values, or statistics of groups.
struct RowTable {
    /// The output columns, in order.
    let fields: [FieldDescription]
    /// The rows in order, each with one value per column.
    private(set) var rows: [[AttributeValue]]
    private let layer: QueriedLayer

    /// Aggregates all matching features.
    ///
    /// Throws `invalidParameter` for an unknown field or one of the wrong type, `tooLarge` beyond
    /// the limit of rows.
    init(_ run: QueryRun, _ filter: inout RowFilter) throws(Failure) {
        let layer = run.layer
        self.layer = layer
        let request = run.request
        var keys: [RowTerm] = []
        if request.statistics.isEmpty {
            keys = try OutputColumns(request, layer).columns.map { .column($0) }
        } else {
            for text in request.groupFields {
                keys.append(try RowTerm(text, of: layer, "groupByFieldsForStatistics"))
            }
        }
        var columns: [StatisticColumn] = []
        for statistic in request.statistics {
            columns.append(try StatisticColumn(statistic, layer))
        }
        var computedCount = 0
        let own = keys.map { key in
            if case .computed = key { computedCount += 1 }
            return key.described(layer.fields, name: "EXPR_\(computedCount)")
        }
        fields = own + columns.map(\.output)
        try Self.checkNames(fields)
        let having = try request.havingClause()
        for statistic in try having?.statistics() ?? [] {
            columns.append(try StatisticColumn(statistic, layer, "having"))
        }
        let condition = try Self.bind(having, to: own + columns.map(\.output))

        var groups: [[AttributeValue]: Int] = [:]
        var states: [[StatisticState]] = []
        var key: [AttributeValue] = []
        let empty = columns.map { _ in StatisticState() }
        if keys.isEmpty, !columns.isEmpty {
            groups[[]] = 0
            states = [empty]
        }
        try run.forEachRow(&filter) { reader throws(Failure) in
            key.removeAll(keepingCapacity: true)
            for term in keys { key.append(try term.value(reader)) }
            var place = groups[key]
            if place == nil {
                guard groups.count < QueryLimits.groups else {
                    let parameter =
                        columns.isEmpty ? "returnDistinctValues" : "groupByFieldsForStatistics"
                    throw Failure(
                        .tooLarge, "\(parameter): more than \(QueryLimits.groups) different rows")
                }
                place = groups.count
                groups[key] = groups.count
                states.append(empty)
            }
            guard let place else { return true }
            for (index, column) in columns.enumerated() {
                states[place][index].add(
                    try column.source.map { source throws(Failure) in try source.value(reader) }
                        ?? .integer(1))
            }
            return true
        }
        rows = []
        for (number, (key, place)) in groups.enumerated() {
            if condition != nil, number.isMultiple(of: 256) { try run.stopIfCancelled() }
            let row =
                key + zip(columns, states[place]).map { column, state in state.value(column.kind) }
            if let condition, condition.evaluate({ row[$0] }) != true { continue }
            // Columns that only the condition needs come last, and are dropped.
            rows.append(row.count == fields.count ? row : Array(row.prefix(fields.count)))
        }
        try sort(request, keyCount: keys.count)
    }

    private static func bind(
        _ having: WhereClause?, to fields: [FieldDescription]
    ) throws(Failure) -> BoundClause? {
        guard let having else { return nil }
        do throws(Failure) {
            return try having.bound(to: fields)
        } catch {
            throw Failure(error.code, "parameter 'having': " + error.message)
        }
    }

    /// Two columns of one name would be one JSON member.
    private static func checkNames(_ fields: [FieldDescription]) throws(Failure) {
        var known: Set<String> = []
        for field in fields where !known.insert(field.name.lowercased()).inserted {
            throw Failure(
                .invalidParameter,
                "outStatisticFieldName: there would be two columns '\(field.name.prefix(80))'")
        }
    }

    /// Sorts by `orderByFields`, then by the columns that distinguish the rows.
    private mutating func sort(_ request: QueryRequest, keyCount: Int) throws(Failure) {
        var order: [(term: RowTerm, isDescending: Bool)] = []
        for key in request.order {
            // A group expression is addressed by its column.
            let group =
                request.statistics.isEmpty ? nil : request.groupFields.firstIndex(of: key.field)
            let term = try RowTerm(
                group.map { fields[$0].name } ?? key.field, over: fields, "orderByFields"
            ) { name in
                Failure(
                    .invalidParameter,
                    "parameter 'orderByFields': the rows have no column '\(name.prefix(80))'")
            }
            order.append((term, key.isDescending))
        }
        order += (0..<keyCount).map { (.column($0), false) }
        let keyed = rows.map { row in (row: row, keys: order.map { $0.term.value(row) }) }
        rows = keyed.sorted { first, second in
            for (key, (_, isDescending)) in order.enumerated() {
                if first.keys[key].isOrdered(before: second.keys[key]) { return !isDescending }
                if second.keys[key].isOrdered(before: first.keys[key]) { return isDescending }
            }
            return false
        }.map(\.row)
    }

    /// The description of the rows, which have no geometry.
    private var table: FeatureTable {
        FeatureTable(
            fields: fields, geometryType: nil, spatialReference: layer.reference, hasZ: false,
            hasM: false)
    }

    /// The object id of a row of distinct values; nil for rows without one.
    private func id(_ values: [AttributeValue]) -> Int64? {
        guard let column = fields.firstIndex(where: { $0.type == .objectID }),
            case .integer(let id) = values[column]
        else { return nil }
        return id
    }

    /// The bytes of the requested part, and the start of the next one.
    func answer(
        _ request: QueryRequest, limit: Int, hasOnePart: Bool
    ) throws(Failure) -> (bytes: [UInt8], next: QueryPart?) {
        let (end, overflow) = request.offset.addingReportingOverflow(limit)
        let bound = overflow ? Int.max : end
        let shown = rows.prefix(bound).dropFirst(request.offset)
        let hasMore = rows.count > bound
        let isGeoJSON = request.form == .geoJSON
        let isRows = request.form == .rows
        let keys = fields.map { OutputColumns.key($0.name) }
        var stream = try AnswerStream(request.part, hasOnePart: hasOnePart) {
            () throws(Failure) in
            var json = JSONWriter()
            if isRows {
                json.raw(try FeatureRows.line(table))
            } else if isGeoJSON {
                json.openObject()
                json.member("type", "FeatureCollection")
                json.openArray("features")
            } else {
                json.rowsHead(layer, fields)
            }
            return json
        }
        func tail(_ isCut: Bool) -> String {
            if isRows { return FeatureRows.end(isCut: isCut) }
            guard isCut else { return "]}" }
            let mark = #""exceededTransferLimit":true"#
            return isGeoJSON ? "],\(mark),\"properties\":{\(mark)}}" : "],\(mark)}"
        }
        for (row, values) in shown.enumerated().dropFirst(request.part?.row ?? 0) {
            stream.beginRow(row)
            if isRows {
                stream.json.raw(
                    try FeatureRows.line(
                        FeatureRow(objectID: id(values) ?? Int64(row) + 1, values: values, wkb: nil)
                    ))
            } else {
                stream.json.object { json in
                    if isGeoJSON {
                        json.member("type", "Feature")
                        json.nullMember("geometry")
                    }
                    json.member(isGeoJSON ? "properties" : "attributes") { json in
                        for (key, value) in zip(keys, values) {
                            json.key(written: key)
                            json.value(value)
                        }
                    }
                }
            }
            if try stream.takesBack(isFirst: row == 0) {
                return (stream.finished(tail(true)), nil)
            }
            if let next = stream.endRow() { return (stream.json.bytes, next) }
            if stream.isFull, row + 1 < shown.count { return (stream.finished(tail(true)), nil) }
        }
        return (stream.finished(tail(hasMore)), nil)
    }
}

extension QueryRequest {
    /// The condition on rows of statistics; throws `invalidParameter` for an invalid clause.
    func havingClause() throws(Failure) -> WhereClause? {
        guard let having, having.contains(where: { !$0.isWhitespace }) else { return nil }
        do throws(Failure) {
            return try WhereClause(parsingHaving: having)
        } catch {
            throw Failure(error.code, "parameter 'having': " + error.message)
        }
    }
}

extension WhereClause {
    /// The statistics that the condition needs, each under its name in the clause.
    func statistics() throws(Failure) -> [QueryStatistic] {
        guard aggregates.count <= QueryLimits.columns else {
            throw Failure(
                .tooLarge,
                "parameter 'having': \(aggregates.count) functions, expected at most "
                    + "\(QueryLimits.columns)")
        }
        return aggregates.compactMap { aggregate in
            QueryStatistic.Kind(rawValue: aggregate.function.lowercased()).map {
                QueryStatistic(kind: $0, field: aggregate.field, name: aggregate.name)
            }
        }
    }
}

/// A statistic with its source.
private struct StatisticColumn {
    let kind: QueryStatistic.Kind
    /// Nil for a count of features.
    let source: RowTerm?
    let output: FieldDescription

    init(
        _ statistic: QueryStatistic, _ layer: QueriedLayer, _ parameter: String = "outStatistics"
    ) throws(Failure) {
        kind = statistic.kind
        if statistic.field == "*", kind == .count {
            source = nil
            output = FieldDescription(name: statistic.name, type: .integer)
            return
        }
        let term = try RowTerm(statistic.field, of: layer, parameter)
        let field = term.described(layer.fields, name: statistic.field)
        let type = field.type
        source = term
        switch kind {
        case .count: output = FieldDescription(name: statistic.name, type: .integer)
        case .min, .max:
            output = FieldDescription(
                name: statistic.name, type: type == .objectID ? .integer : type,
                length: field.length)
        case .sum, .avg, .stddev, .variance:
            guard type != .string, type != .date else {
                throw Failure(
                    .invalidParameter,
                    "parameter '\(parameter)': \(kind.rawValue) needs numbers: the field "
                        + "'\(field.name.prefix(80))' has the type \(type.rawValue)")
            }
            output = FieldDescription(name: statistic.name, type: .double)
        }
    }
}

/// Running aggregates of one group; nulls do not count.
private struct StatisticState {
    private var count: Int64 = 0
    private var least = AttributeValue.null
    private var greatest = AttributeValue.null
    /// Sum of whole numbers, as long as they fit.
    private var whole: Int64? = 0
    /// Sum of all numbers, with the compensation of rounding errors (Neumaier).
    private var sum = 0.0
    private var lost = 0.0
    /// Mean, and sum of squared differences from it (Welford).
    private var mean = 0.0
    private var squares = 0.0

    mutating func add(_ value: AttributeValue) {
        if value == .null { return }
        count += 1
        if least == .null || value.isOrdered(before: least) { least = value }
        if greatest == .null || greatest.isOrdered(before: value) { greatest = value }
        let number: Double
        switch value {
        case .integer(let integer):
            number = Double(integer)
            if let known = whole {
                let (total, overflow) = known.addingReportingOverflow(integer)
                whole = overflow ? nil : total
            }
        case .real(let real):
            number = real
            whole = nil
        case .null, .string, .date: return
        }
        let total = sum + number
        lost += abs(sum) >= abs(number) ? (sum - total) + number : (number - total) + sum
        sum = total
        let difference = number - mean
        mean += difference / Double(count)
        squares += difference * (number - mean)
    }

    func value(_ kind: QueryStatistic.Kind) -> AttributeValue {
        if kind == .count { return .integer(count) }
        guard count > 0 else { return .null }
        switch kind {
        case .count: return .integer(count)
        case .min: return least
        case .max: return greatest
        case .sum: return whole.map { .integer($0) } ?? Self.finite(sum + lost)
        case .avg: return Self.finite((whole.map(Double.init) ?? (sum + lost)) / Double(count))
        case .variance: return count < 2 ? .null : Self.finite(squares / Double(count - 1))
        case .stddev:
            return count < 2 ? .null : Self.finite((squares / Double(count - 1)).squareRoot())
        }
    }

    private static func finite(_ value: Double) -> AttributeValue {
        value.isFinite ? .real(value) : .null
    }
}
