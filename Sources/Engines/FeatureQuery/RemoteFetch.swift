// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import Identify

/// Fetches the features that a query needs from a layer's server into a dataset in memory, where
/// the query runs as on any other; confined to one thread.
///
/// Filters that all servers agree on are sent (``Narrowing``, a rectangle), and features come in
/// pages by rising object id, or by lists of object ids where the server does not page. Each page
/// is filtered on arrival, and paging ends when the answer has enough rows. Where all are needed,
/// it ends with an empty page: servers return fewer features than announced, and not all report
/// that there are more.
struct RemoteFetch {
    typealias Feature = RemoteFeatureAnswer.Feature

    /// Limit of object ids per request, which contains them.
    private static let idsAtOnce = 500
    /// Limit of object ids named in a clause, 140 KB.
    private static let namedIDs = 10_000

    private var request: QueryRequest
    private let layer: QueriedLayer
    private let properties: LayerProperties
    private let source: LayerSource
    private let ask: QueryEngine.RemoteProvider
    private let isCancelled: () -> Bool
    /// Clauses of which one must hold; nil for none.
    private let alternatives: [BoundClause]?
    /// Limit of features needed; nil for all matching ones.
    private let wanted: Int?

    private var filter = RowFilter(clauses: [], time: nil, spatial: nil, sight: nil)
    private var choices: [RowFilter]?
    private var kept: [Feature] = []
    private var keptByteCount = 0
    private var placelessCount = 0
    /// Number of matching features so far.
    private var foundCount = 0
    private var foundIDs: [Int64] = []
    /// Whether there may be more rows than are kept.
    private var isCutShort = false
    private var readCount = 0
    private var questionCount = 0

    /// Throws `unavailable` without `ask`.
    init(
        _ request: QueryRequest, _ layer: QueriedLayer, by ask: QueryEngine.RemoteProvider?,
        _ isCancelled: @escaping () -> Bool, alternatives: [BoundClause]? = nil, wanted: Int? = nil
    ) throws(Failure) {
        guard let properties = layer.description.properties, let source = layer.remote else {
            throw Failure(.internal, "layer \(layer.description.id) is not on a remote server")
        }
        guard let ask else {
            throw Failure(
                .unavailable,
                "layer \(layer.description.id) '\(layer.description.name)': this program does not "
                    + "query remote servers")
        }
        self.request = request
        self.layer = layer
        self.properties = properties
        self.source = source
        self.ask = ask
        self.isCancelled = isCancelled
        self.alternatives = alternatives
        self.wanted = wanted
    }

    /// Runs the query on the fetched features.
    ///
    /// Throws `Failure`: an invalid request before the first request to a server, then failures of
    /// requests, with the layer's name before them.
    func run() throws(Failure) -> QueryRun {
        var fetch = self
        return try fetch.fetched()
    }

    private mutating func fetched() throws(Failure) -> QueryRun {
        guard request.part == nil else {
            throw Failure(
                .invalidParameter, "an answer of a layer on a remote server has one part only")
        }
        var empty = try queryRun()
        filter = try empty.filter()
        choices = alternatives?.map {
            RowFilter(clauses: [$0], time: nil, spatial: nil, sight: nil)
        }
        // A dry run detects an invalid request, such as an unknown column.
        _ = try empty.answer()
        // Reading stops at that many features.
        let isBeyond =
            request.offset > Int32.max
            && (request.result == .features || request.result == .objectIDs && !request.makesTable)
        if filter.isNever || isBeyond { return empty }

        let narrowing = narrowing()
        let isExact = narrowing.isExact && filter.spatial == nil && filter.time == nil
        var question = RemoteFeatureQuestion(
            source: source, properties: properties, wanted: .count, clause: narrowing.sql,
            extent: filter.spatial?.searchEnvelope?.widened,
            comparesEnvelopes: request.spatialFilter?.relation.comparesEnvelopes ?? false,
            fields: try neededFields(), returnGeometry: needsGeometry)
        question.returnZ = needsGeometry && request.returnZ && properties.hasZ
        question.returnM = needsGeometry && request.returnM && properties.hasM
        if question.extent?.isFinite == false { question.extent = nil }
        if isExact, !request.makesTable, request.objectIDs == nil {
            if request.result == .count {
                guard case .count(let count) = try asked(question) else { throw lost }
                empty.knownCount = count
                return empty
            }
            if request.result == .objectIDs, let isDescending = isDescending {
                let ids = try objectIDs(question)
                empty.knownIDs = isDescending ? ids.reversed() : ids
                return empty
            }
        }
        try fetch(question, isExact: isExact)
        if keepsCount { empty.knownCount = foundCount }
        if keepsIDs {
            foundIDs.sort()
            empty.knownIDs = isDescending == true ? foundIDs.reversed() : foundIDs
        }
        if keepsCount || keepsIDs { return empty }
        var run = try queryRun()
        run.placelessCount = placelessCount
        run.isCutShort = isCutShort
        return run
    }

    /// The part of the filter that the server applies.
    private func narrowing() -> Narrowing {
        var parts = filter.clauses.map { $0.narrowing(layer.fields) }
        if let alternatives {
            parts.append(.disjunction(alternatives.map { $0.narrowing(layer.fields) }))
        }
        if let text = filter.time?.clause(layer.fields, orMissing: filter.acceptsMissing),
            let clause = try? WhereClause(parsing: text).bound(to: layer.fields)
        {
            parts.append(clause.narrowing(layer.fields))
        }
        return .conjunction(parts)
    }

    /// Fetches the features, or those needed for the rows of the answer.
    private mutating func fetch(
        _ question: RemoteFeatureQuestion, isExact: Bool
    ) throws(Failure) {
        let isDescending = isDescending
        var end = wanted
        if wanted == nil, isDescending != nil, let limit = request.rowLimit {
            // One more shows whether there are more.
            let (sum, overflow) = request.offset.addingReportingOverflow(limit)
            end = overflow || sum == .max ? nil : sum + 1
        }
        if let ids = request.objectIDs {
            let known = Set(ids).sorted()
            try fetchFeatures(
                isDescending == true ? known.reversed() : known, areThere: false, question,
                until: end)
            return
        }
        // The server skips the preceding rows, where it can identify them.
        var offset = 0
        if isExact, let limit = end, request.result == .features, wanted == nil {
            offset = request.offset
            end = limit - offset
            request.offset = 0
        }
        if let pageSize = properties.service?.pageSize, layer.fields[0].name.isPlainName {
            try fetchPages(
                question, from: offset, until: end, isExact: isExact,
                size: min(max(pageSize, 1), QueryLimits.remotePage),
                isDescending: isDescending ?? false)
            return
        }
        var ids = try objectIDs(question)
        if isDescending == true { ids.reverse() }
        if end == nil, ids.count > QueryLimits.remoteFeatures { throw tooMany }
        try fetchFeatures(
            Array(ids.dropFirst(offset)), areThere: true, question, until: end)
    }

    // MARK: Rounds

    private mutating func fetchPages(
        _ question: RemoteFeatureQuestion, from offset: Int, until end: Int?, isExact: Bool,
        size: Int, isDescending: Bool
    ) throws(Failure) {
        let first = question
        var question = question
        let (clause, key) = (question.clause, layer.fields[0].name)
        var size = size
        var last: Int64?
        while true {
            let missing = isExact ? end.map { $0 - foundCount } : nil
            let limit = min(size, missing ?? size)
            question.wanted = .page(
                offset: last == nil ? offset : 0, limit: limit, isDescending: isDescending)
            if let last {
                let beyond = "\(key) \(isDescending ? "<" : ">") \(last)"
                question.clause = clause.map { $0 + " AND " + beyond } ?? beyond
            }
            guard let (page, hasMore) = try features(question, &size) else { continue }
            if last == nil, offset > 0, try !passesOver(offset, page, first, isDescending) {
                request.offset = offset
                return try fetchPages(
                    first, from: 0, until: end.map { $0 + offset }, isExact: isExact, size: size,
                    isDescending: isDescending)
            }
            if let last, let end = page.last?.id, isDescending ? end >= last : end <= last,
                hasMore == nil, cutsRows
            {
                // It is unknown whether there are more.
                isCutShort = true
                return
            }
            for feature in page {
                if let last, isDescending ? feature.id >= last : feature.id <= last {
                    throw refusal(
                        .unreadable,
                        "the server returned feature \(feature.id) after \(last), twice or out of "
                            + "order")
                }
                last = feature.id
            }
            try take(page)
            if isCutShort || foundCount >= end ?? .max { return }
            if page.isEmpty, hasMore == true {
                throw refusal(
                    .unreadable,
                    "the server returned an empty page, but reported further features")
            }
            if page.isEmpty || hasMore == false && page.count < limit { return }
        }
    }

    /// Whether the server skipped that many features before its first page.
    private mutating func passesOver(
        _ offset: Int, _ page: [Feature], _ question: RemoteFeatureQuestion, _ isDescending: Bool
    ) throws(Failure) -> Bool {
        var question = question
        guard let first = page.first else {
            question.wanted = .count
            // Without a count, an empty page is taken as the end of the features.
            guard case .count(let count)? = try? asked(question) else { return true }
            return count <= offset
        }
        question.wanted = .page(offset: 0, limit: 1, isDescending: isDescending)
        guard case .features(let head, _) = try asked(question) else { throw lost }
        guard let id = head.first?.id else { return false }
        return isDescending ? first.id < id : first.id > id
    }

    /// - Parameter areThere: Whether the server claims to have all of them.
    private mutating func fetchFeatures(
        _ ids: [Int64], areThere: Bool, _ question: RemoteFeatureQuestion, until end: Int?
    ) throws(Failure) {
        var size = min(max(properties.service?.pageSize ?? .max, 1), Self.idsAtOnce)
        var start = 0
        while start < ids.count, foundCount < end ?? .max, !isCutShort {
            let some = Array(ids[start..<min(start + size, ids.count)])
            guard let got = try features(withIDs: some, question, &size, areThere) else {
                continue
            }
            try take(got)
            start += some.count
        }
    }

    /// Fetches the features with these object ids, in that order, until a request returns no new
    /// one; nil where the answer was too large, and `size` is reduced.
    private mutating func features(
        withIDs ids: [Int64], _ question: RemoteFeatureQuestion, _ size: inout Int,
        _ areThere: Bool
    ) throws(Failure) -> [Feature]? {
        var question = question
        var missing = ids
        var got: [Int64: Feature] = [:]
        while !missing.isEmpty {
            question.wanted = .features(missing)
            guard let (page, hasMore) = try features(question, &size) else { return nil }
            let asked = Set(missing)
            for feature in page {
                guard asked.contains(feature.id),
                    got.updateValue(feature, forKey: feature.id) == nil
                else {
                    throw refusal(
                        .unreadable,
                        "the server returned feature \(feature.id), which is a duplicate or was "
                            + "not requested")
                }
            }
            missing.removeAll { got[$0] != nil }
            guard page.isEmpty, let first = missing.first else {
                if hasMore == false { break }
                continue
            }
            if hasMore == true {
                if missing.count > 1, size > 1 {
                    size = max(1, min(size, missing.count) / 4)
                    return nil
                }
                throw refusal(
                    .unreadable,
                    "the server omitted feature \(first), but reported further features")
            }
            break
        }
        if areThere, let first = missing.first {
            throw refusal(
                .unreadable,
                "the server listed object id \(first), but did not return its feature")
        }
        return ids.compactMap { got[$0] }
    }

    /// Fetches all object ids, rising and unique.
    ///
    /// A server that counts more than it returns, or does not count, is asked for the rest: for ids
    /// above the last where they rise, else for ids other than the known ones.
    private mutating func objectIDs(
        _ question: RemoteFeatureQuestion
    ) throws(Failure) -> [Int64] {
        var question = question
        question.wanted = .objectIDs
        guard case .objectIDs(let told, var hasMore) = try asked(question) else { throw lost }
        var ids = told.sorted()
        for (id, next) in zip(ids, ids.dropFirst()) where id == next {
            throw refusal(.unreadable, "the server returned the object id \(id) twice")
        }
        try checkCount(ids)
        if hasMore == false { return ids }
        let clause = question.clause
        question.wanted = .count
        var count: Int?
        if case .count(let counted)? = try? asked(question) { count = counted }
        if hasMore == nil, let count, count <= ids.count { return ids }
        question.wanted = .objectIDs
        var isRising = told == ids
        var known = Set(ids)
        var isNamed = true
        while let last = ids.last, layer.fields[0].name.isPlainName {
            guard let others = Self.others(layer.fields[0].name, than: ids, isRising ? last : nil)
            else {
                isNamed = false
                break
            }
            question.clause = clause.map { $0 + " AND " + others } ?? others
            guard case .objectIDs(let more, let mark) = try asked(question) else { throw lost }
            let new = more.filter { known.insert($0).inserted }
            if isRising { isRising = new == new.sorted() && new.first ?? .max > last }
            ids = (ids + new).sorted()
            hasMore = mark
            if new.isEmpty || mark == false { break }
            try checkCount(ids)
        }
        if hasMore == true || count.map({ $0 > ids.count }) ?? !isNamed {
            throw refusal(
                .unreadable,
                "the server did not return all its object ids"
                    + (count.map { ": \(ids.count) of \($0)" } ?? ""))
        }
        return ids
    }

    /// The clause for further object ids: above `last`, else other than `ids`; nil where those are
    /// too many to name.
    private static func others(_ key: String, than ids: [Int64], _ last: Int64?) -> String? {
        if let last { return "\(key) > \(last)" }
        guard ids.count <= namedIDs else { return nil }
        return stride(from: 0, to: ids.count, by: 1_000).map { start in
            let list = ids[start..<min(start + 1_000, ids.count)].map { "\($0)" }
            return "\(key) NOT IN (\(list.joined(separator: ",")))"
        }.joined(separator: " AND ")
    }

    private func checkCount(_ ids: [Int64]) throws(Failure) {
        guard ids.count <= QueryLimits.remoteObjectIDs else {
            throw refusal(
                .tooLarge,
                "the server returned more than \(QueryLimits.remoteObjectIDs) object ids: narrow "
                    + "the query with 'where' or 'geometry'")
        }
    }

    /// Fetches features; nil where the answer was too large, and `size` is reduced.
    private mutating func features(
        _ question: RemoteFeatureQuestion, _ size: inout Int
    ) throws(Failure) -> (features: [Feature], hasMore: Bool?)? {
        do throws(Failure) {
            guard case .features(let features, let hasMore) = try asked(question) else {
                throw lost
            }
            return (features, hasMore)
        } catch {
            guard error.code == .tooLarge, size > 1 else { throw error }
            size = max(1, size / 4)
            return nil
        }
    }

    private mutating func asked(
        _ question: RemoteFeatureQuestion
    ) throws(Failure) -> RemoteFeatureAnswer {
        questionCount += 1
        guard questionCount <= QueryLimits.remoteQuestions else {
            throw refusal(
                .tooLarge,
                "the query needs more than \(QueryLimits.remoteQuestions) requests to the server: "
                    + "narrow it with 'where' or 'geometry'")
        }
        if isCancelled() {
            throw Failure(.cancelled, "the request was cancelled or timed out")
        }
        do throws(Failure) { return try ask(question) } catch {
            guard request.hidesInside == true else {
                // A failure of the server is never an error of the request.
                throw refusal(
                    error.code == .invalidParameter ? .unreadable : error.code, error.message,
                    error.details)
            }
            let isOwn = [.tooLarge, .timedOut, .cancelled, .busy].contains(error.code)
            throw refusal(
                isOwn ? error.code : .unavailable, "its server did not answer as it should")
        }
    }

    // MARK: Received features

    /// Keeps the matching features; throws `tooLarge` beyond the limit.
    private mutating func take(_ features: [Feature]) throws(Failure) {
        readCount += features.count
        guard readCount <= QueryLimits.remoteFeatures else { throw tooMany }
        for feature in try chosen(features) {
            foundCount += 1
            if keepsCount { continue }
            if keepsIDs {
                foundIDs.append(feature.id)
                continue
            }
            if feature.shape == nil, request.result == .extent, !request.makesTable {
                placelessCount += 1
                continue
            }
            keptByteCount += feature.byteCount
            kept.append(feature)
        }
        guard keptByteCount > QueryLimits.remoteBytes else { return }
        // Rows in order of arrival are cut off, as long as there are any.
        isCutShort = cutsRows && kept.count > request.offset
        if !isCutShort {
            throw refusal(
                .tooLarge,
                "the query needs more than \(QueryLimits.remoteBytes >> 20) MiB of the server's "
                    + "features: narrow it with 'where' or 'geometry'")
        }
    }

    /// Whether rows are needed in order of arrival, and may end early.
    private var cutsRows: Bool {
        request.result == .features && isDescending != nil && wanted == nil
    }

    /// Whether only the number of features is needed.
    private var keepsCount: Bool { request.result == .count && !request.makesTable }

    /// Whether only the object ids of features are needed, in order of arrival.
    private var keepsIDs: Bool { request.result == .objectIDs && isDescending != nil }

    private mutating func chosen(_ features: [Feature]) throws(Failure) -> [Feature] {
        if filter.isEverything, choices == nil { return features }
        // Features without a geometry cannot be fetched by location.
        let placed = filter.spatial == nil ? features : features.filter { $0.shape != nil }
        if placed.isEmpty { return [] }
        var reader = FeatureReader(try laid(placed))
        var ids: Set<Int64> = []
        for ordinal in placed.indices {
            if ordinal.isMultiple(of: 64), isCancelled() {
                throw Failure(.cancelled, "the request was cancelled or timed out")
            }
            try reader.move(to: ordinal)
            guard try filter.accepts(reader, isCancelled), try isChosen(reader),
                case .integer(let id) = try reader.stored(0)
            else { continue }
            ids.insert(id)
        }
        return placed.filter { ids.contains($0.id) }
    }

    private mutating func isChosen(_ reader: FeatureReader) throws(Failure) -> Bool {
        guard let count = choices?.count else { return true }
        for index in 0..<count {
            if try choices?[index].accepts(reader, isCancelled) == true { return true }
        }
        return false
    }

    private func laid(_ features: [Feature]) throws(Failure) -> EditedDataset {
        try EditedDataset(
            features, of: properties, called: "features of '\(layer.description.name)'")
    }

    /// The run of the query on the kept features.
    private func queryRun() throws(Failure) -> QueryRun {
        let laid = try laid(kept)
        var run = QueryRun(
            request: request, layer: layer, features: laid,
            order: try ObjectOrder(try ObjectOrder(laid.base), under: laid),
            featureByteLimit: .max, isCancelled: isCancelled)
        run.hasOnePart = true
        return run
    }

    // MARK: Needed fields and rows

    /// Whether rows are by falling object id; nil for another order, or rows that are no features.
    private var isDescending: Bool? {
        if request.makesTable { return nil }
        guard let first = request.order.first else { return false }
        let isPlain = first.field.lowercased() == layer.fields[0].name.lowercased()
        return isPlain ? first.isDescending : nil
    }

    private var needsGeometry: Bool {
        if filter.spatial != nil || request.result == .extent { return true }
        return request.result == .features && !request.makesTable
            && (request.returnGeometry || request.returnCentroid)
    }

    /// The needed fields, the object id's first.
    private func neededFields() throws(Failure) -> [String] {
        var places: Set<Int> = [0]
        for clause in filter.clauses + (alternatives ?? []) { places.formUnion(clause.fieldPlaces) }
        places.formUnion(filter.time?.fieldPlaces ?? [])
        if !request.statistics.isEmpty {
            for name in request.groupFields {
                places.formUnion(
                    try RowTerm(name, of: layer, "groupByFieldsForStatistics").columns)
            }
            for statistic in request.statistics where statistic.field != "*" {
                places.formUnion(try RowTerm(statistic.field, of: layer, "outStatistics").columns)
            }
            for statistic in try request.havingClause()?.statistics() ?? []
            where statistic.field != "*" {
                places.insert(try layer.column(statistic.field, "having"))
            }
        } else if request.result == .features || request.returnDistinctValues {
            places.formUnion(try OutputColumns(request, layer).columns)
        }
        if !request.makesTable, request.result == .features || request.result == .objectIDs {
            for key in request.order {
                places.formUnion(try RowTerm(key.field, of: layer, "orderByFields").columns)
            }
        }
        return places.sorted().map { layer.fields[$0].name }
    }

    // MARK: Failures

    private func refusal(
        _ code: Failure.Code, _ message: String, _ details: [String] = []
    ) -> Failure {
        Failure(
            code, "layer \(layer.description.id) '\(layer.description.name)': \(message)",
            details: details)
    }

    private var lost: Failure { refusal(.internal, "the server's answer was lost") }

    private var tooMany: Failure {
        refusal(
            .tooLarge,
            "the query needs more than \(QueryLimits.remoteFeatures) features of the server: "
                + "narrow it with 'where' or 'geometry'")
    }
}

extension QueryRequest {
    /// Whether its rows are derived from features: distinct values, or statistics.
    fileprivate var makesTable: Bool { !statistics.isEmpty || returnDistinctValues }

    /// The limit of rows of features, or of object ids; nil for all.
    fileprivate var rowLimit: Int? {
        switch result {
        case .features: min(limit ?? .max, Self.recordBound)
        case .objectIDs: limit
        case .count, .extent: nil
        }
    }
}

extension QuerySpatialFilter.Relation {
    fileprivate var comparesEnvelopes: Bool {
        self == .envelopeIntersects || self == .indexIntersects
    }
}
