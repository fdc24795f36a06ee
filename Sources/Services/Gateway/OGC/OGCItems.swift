// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// The parameters of `items` as a query of a layer.
///
/// Unlike Esri's resources, unknown parameters are refused, as the standard demands.
struct OGCItems {
    /// Default of `limit`.
    static let standardLimit = 100
    /// Parameters other than filters on a property.
    static let parameters: [any DescribedParameter] = [
        Known.box.shown("Box", hint: "west,south,east,north"), Known.bboxCRS, Known.crs,
        Known.datetime.shown("Time", hint: "2024-01-01/.."),
        Known.limit.shown("Rows", value: "\(standardLimit)"), Known.offset, Known.ogcFormat,
        Known.at, Known.historicMoment, Known.minSequence, Known.timeout, Known.token,
    ]
    /// Parameters of `items` that do not apply to a single feature.
    static let filters = ["bbox", "bbox-crs", "datetime", "limit", "offset"]
    private static let parameterNames = parameters.map(\.description.name)

    /// The query for the features.
    private(set) var query: QueryRequest
    /// The coordinate reference system of the answer.
    private(set) var reference = OGCReference.crs84
    /// The client's time limit.
    let limit: Duration

    /// Parses the parameters; throws `invalidParameter`, naming the offending one.
    init(
        _ id: OGCCollectionID, _ layer: LayerProperties, _ parameters: Parameters
    ) throws(Failure) {
        limit = try parameters.timeout()
        query = QueryRequest(map: id.map, layer: id.layer)
        query.form = .ogcFeatures
        query.outFields = ["*"]
        query.returnZ = layer.hasZ
        query.past = try parameters.past()
        query.minSequence = try parameters.minSequence()
        let known = OGCReference.all(of: layer)
        reference = try Self.reference(Known.crs.name, parameters, known)
        query.outReference = reference.authority
        let wanted = try parameters.integer(Known.limit)
        query.limit = min(wanted, QueryRequest.recordBound)
        query.offset = try parameters.integer(Known.offset)
        query.time = try Self.time(parameters)
        query.spatialFilter = try Self.box(parameters, known)
        // Requirements 25 and 26 of Part 1: C, and B.
        if query.spatialFilter != nil || query.time != nil { query.matchesMissing = true }
        query.clause = try Self.clause(parameters, layer.fields)
    }

    /// The same filters, as a query for the count.
    var count: QueryRequest {
        var count = query
        count.result = .count
        (count.limit, count.offset) = (nil, 0)
        count.isAuxiliary = true
        return count
    }

    /// Restricts the query to one feature; throws `invalidParameter` as the initialiser.
    mutating func select(_ objectID: Int64) {
        query.objectIDs = [objectID]
    }

    private static func reference(
        _ name: String, _ parameters: Parameters, _ known: [OGCReference]
    ) throws(Failure) -> OGCReference {
        guard let text = parameters[name] else { return .crs84 }
        guard let found = known.first(where: { $0.uri == text }) else {
            throw Failure(
                .invalidParameter,
                "parameter '\(name)' is '\(text.prefix(80))': expected "
                    + known.map(\.uri).joined(separator: ", "))
        }
        return found
    }

    // MARK: Filters

    /// `bbox`: four numbers, or six with heights, which are ignored.
    private static func box(
        _ parameters: Parameters, _ known: [OGCReference]
    ) throws(Failure) -> QuerySpatialFilter? {
        let reference = try reference(Known.bboxCRS.name, parameters, known)
        guard let text = parameters[Known.box] else { return nil }
        let numbers = Parameters.numbers(text, counts: 4...6) ?? []
        guard numbers.count != 5, let first = numbers.first else {
            throw Parameters.unexpected("bbox", text, "four numbers, or six with heights")
        }
        let half = numbers.count / 2
        var (low, high) = (
            Coordinate(x: first, y: numbers[1]), Coordinate(x: numbers[half], y: numbers[half + 1])
        )
        if reference.isNorthFirst {
            (low, high) = (Coordinate(x: low.y, y: low.x), Coordinate(x: high.y, y: high.x))
        }
        guard half == 2 || numbers[2] <= numbers[5] else {
            throw Parameters.unexpected("bbox", text, "lower height first")
        }
        let isGeographic = reference.reference.latestWkid == 4326
        guard low.y <= high.y, low.x <= high.x || isGeographic else {
            throw Parameters.unexpected("bbox", text, "lower corner first")
        }
        return QuerySpatialFilter(
            geometry: low.x <= high.x
                ? .envelope(Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y))
                : acrossTheAntimeridian(low, high),
            spatialReference: reference.reference)
    }

    /// From the west of `low` across the 180th meridian to the east of `high`.
    private static func acrossTheAntimeridian(_ low: Coordinate, _ high: Coordinate) -> Shape {
        let sides = [(low.x, 180.0), (-180.0, high.x)]
        return .polygon(
            rings: sides.map { west, east in
                [(west, low.y), (west, high.y), (east, high.y), (east, low.y), (west, low.y)].map {
                    Coordinate(x: $0.0, y: $0.1)
                }
            })
    }

    /// `datetime`: an instant, or `from/to` with `..` or nothing for an open end.
    private static func time(_ parameters: Parameters) throws(Failure) -> TimeExtent? {
        guard let text = parameters[Known.datetime] else { return nil }
        let ends = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard 1...2 ~= ends.count else { throw Self.noTime(text) }
        func isOpen(_ end: String) -> Bool { ends.count == 2 && (end.isEmpty || end == "..") }
        let (start, end) = (
            moment(ends[0], isEnd: false), moment(ends[ends.count - 1], isEnd: true)
        )
        guard start != nil || isOpen(ends[0]), end != nil || isOpen(ends[ends.count - 1]) else {
            throw Self.noTime(text)
        }
        if let start, let end, start > end { throw Self.noTime(text) }
        return start == nil && end == nil ? nil : TimeExtent(from: start, to: end)
    }

    private static func noTime(_ text: String) -> Failure {
        Parameters.unexpected(
            "datetime", text, "2024-02-29T13:00:00Z, or two with '/', '..' for an open end")
    }

    /// Milliseconds; a date alone ends with its last one.
    ///
    /// A date, or a date and time with its offset (RFC 3339, 5.6).
    private static func moment(_ text: String, isEnd: Bool) -> Int64? {
        let text = text.uppercased()
        let hasTime = text.contains(/T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/)
        guard text.utf8.count == 10 || hasTime, let time = Timestamp(iso: text) else { return nil }
        let milliseconds = time.microseconds / 1_000
        return isEnd && text.utf8.count == 10 ? milliseconds + 86_399_999 : milliseconds
    }

    /// Each remaining parameter is a property's value.
    private static func clause(
        _ parameters: Parameters, _ fields: [FieldDescription]
    ) throws(Failure) -> String? {
        var terms: [String] = []
        for name in parameters.names
        where !parameterNames.contains(where: { $0.isEqualIgnoringCase(name) }) {
            guard let field = fields.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
                throw Failure(
                    .invalidParameter,
                    "parameter '\(name.prefix(80))' is not known: expected "
                        + parameterNames.joined(separator: ", ") + ", or a property: "
                        + fields.prefix(20).map(\.name).joined(separator: ", ")
                        + (fields.count > 20 ? ", …" : ""))
            }
            let text = parameters.text(name) ?? ""
            terms.append("\(quoted(field.name, "\"")) = \(try literal(text, field))")
        }
        return terms.isEmpty ? nil : terms.joined(separator: " AND ")
    }

    private static func literal(
        _ text: String, _ field: FieldDescription
    ) throws(Failure) -> String {
        switch field.type {
        case .string: return quoted(text, "'")
        case .date:
            guard let time = Timestamp(iso: text) else {
                throw Parameters.unexpected(field.name, text, "a moment as 2024-02-29T13:00:00Z")
            }
            return "\(time.microseconds / 1_000)"
        case .objectID, .smallInteger, .integer, .bigInteger, .single, .double:
            // The dialect accepts a number in quotes, with all its digits.
            guard Parameters.number(text) != nil else {
                throw Parameters.unexpected(field.name, text, "a number")
            }
            return quoted(text.filter { $0 != " " }, "'")
        }
    }

    private static func quoted(_ text: String, _ quote: Character) -> String {
        let doubled = text.split(separator: quote, omittingEmptySubsequences: false)
            .joined(separator: "\(quote)\(quote)")
        return "\(quote)\(doubled)\(quote)"
    }
}
