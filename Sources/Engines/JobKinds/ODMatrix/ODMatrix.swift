// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

extension JobKind {
    /// Measures the ways between many places.
    public static let odMatrix = JobKind(rawValue: "ODMatrix")
}

/// The job kind `ODMatrix`: takes a CSV file of places, or points, returns a CSV file with the
/// duration (seconds) and the length (metres) of the best route from each origin to each
/// destination.
///
/// A column says which places are origins, destinations or both; without one each place is both,
/// and none a destination of itself. With `closest` or `cutoff` only the pairs that are asked for
/// are in the product. The network is asked as of the job's submission (or `at`).
public enum ODMatrix: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .odMatrix, summary: "Measures the ways from many places to many places.",
        input: "CSV with a header row, one place in each row; or GeoJSON with points",
        output: "CSV with origin, destination, duration (seconds), length (metres)",
        outputMediaType: MediaType.csv.rawValue,
        parameters: JobKindDescription.routing(
            PlaceColumns.parameters + [
                .text(
                    "role",
                    "The column that says what a place is: origin, destination or both; else each "
                        + "is both."),
                .whole("closest", "The most destinations of each origin, the nearest ones."),
                .number(
                    "cutoff",
                    "The most cost of a route, in what the travel mode minimises: seconds or "
                        + "metres."),
                .text(
                    "costs",
                    "Duration and length, or what the travel mode minimises alone, which is many "
                        + "times faster.", MatrixCosts.both.rawValue,
                    of: MatrixCosts.allCases.map(\.rawValue)),
            ]), reads: JobKindDescription.routingReads, inputNamesBlobs: false,
        features: [
            .init(
                name: "origins", summary: "The places where routes begin.",
                geometryType: "Point", fields: [], role: "origin", mostFeatures: 100_000),
            .init(
                name: "destinations", summary: "The places where routes end.",
                geometryType: "Point", fields: [], role: "destination", mostFeatures: 100_000),
        ],
        featureOutput: .init(
            summary: "The rows as records.", geometryType: nil,
            fields: [
                .init(name: "origin", type: .text), .init(name: "destination", type: .text),
                .init(name: "duration", type: .number), .init(name: "length", type: .number),
            ]))

    /// Limit of places in a file.
    public static let maximumPlaceCount = 200_000
    /// Limit of pairs that are searched.
    public static let maximumPairCount = 1_000_000_000
    /// Limit of rows of a product with one cost.
    public static let maximumRowCount = 50_000_000
    /// Limit of rows of a product with both costs.
    public static let maximumRouteCount = 5_000_000
    /// Limit of chunks per file; larger ones get larger chunks.
    public static let maximumChunkCount = 4_000
    /// Pairs of a chunk, where its origins allow for so few.
    static let pairsPerChunk = 200_000
    /// Routes of a chunk with both costs, likewise.
    static let routesPerChunk = 5_000

    /// The input of `measure`.
    struct RowsInput: Codable, Hashable, Sendable {
        /// The rows among which the chunk's origins are.
        var range: RowRange
        /// CRLF or LF.
        var newline: String
        var form: TableForm
        /// Of features; absent for a table.
        var kinds: [AttributeKind]?
    }

    /// The input of `assemble`.
    struct AssembleInput: Codable, Hashable, Sendable {
        var header: String
        /// Of the whole matrix; nil where it is sparse.
        var rowCount: Int?
    }

    /// Splits the origins, measures their ways to all destinations, concatenates the rows.
    public static let operations = [plan, measure, assemble]

    static let plan = JobOperation.files("plan") { try plan($0) }
    static let measure = JobOperation.routers("measure") { try measure($0, $1) }
    static let assemble = JobOperation.files("assemble") { try assemble($0) }

    /// Checks the parameters, the columns, and the size of the matrix of a file that is not large.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws {
        try RouteSettings.check(order, texts)
        let settings = try MatrixSettings(texts)
        guard let table = try JobTable(order, .single, texts) else { return }
        let columns = try MatrixColumns(table, texts)
        var count = MatrixCount()
        var row = 0
        let isWhole = try table.forEachRowIfSmall { fields in
            row += 1
            try count.take(columns.roles(in: table.fitted(fields), row: row))
        }
        if isWhole { try count.check(settings) }
    }
}

/// The costs in a matrix.
enum MatrixCosts: String, CaseIterable {
    case both
    case own
}

/// The parameters of an `ODMatrix` job besides those of all routes.
struct MatrixSettings {
    /// Most destinations of an origin; nil for all.
    var closest: Int?
    /// Seconds or metres; nil for any.
    var cutoff: Double?
    var costs: MatrixCosts

    var isSparse: Bool { closest != nil || cutoff != nil }

    init(_ texts: ParameterTexts) throws(Failure) {
        closest = try texts.whole("closest")
        if let closest, closest < 1 { throw ParameterTexts.fault("closest", "1 or more") }
        cutoff = try texts.numbers("cutoff", 1...1)?[0]
        if let cutoff, cutoff < 0 { throw ParameterTexts.fault("cutoff", "0 or more") }
        costs = try texts.word("costs", of: MatrixCosts.self) ?? .both
    }
}

/// The number of origins and destinations.
struct MatrixCount {
    private(set) var places = 0
    private(set) var origins = 0
    private(set) var destinations = 0

    mutating func take(_ roles: MatrixColumns.Roles) {
        places += 1
        if roles.isOrigin { origins += 1 }
        if roles.isDestination { destinations += 1 }
    }

    /// Throws `tooLarge` with the numbers, `invalidParameter` where one of them is 0.
    func check(_ settings: MatrixSettings) throws(Failure) {
        try RowCuts.check(places, most: ODMatrix.maximumPlaceCount)
        guard origins > 0, destinations > 0 else {
            throw Failure(
                .invalidParameter,
                "the CSV file has \(origins) origins and \(destinations) destinations: expected "
                    + "one of each")
        }
        let rows = origins * min(destinations, settings.closest ?? destinations)
        let most =
            settings.costs == .both ? ODMatrix.maximumRouteCount : ODMatrix.maximumRowCount
        guard origins * destinations <= ODMatrix.maximumPairCount, rows <= most else {
            throw Failure(
                .tooLarge,
                "\(origins) origins and \(destinations) destinations are "
                    + "\(origins * destinations) pairs, of which up to \(rows) are measured: "
                    + "expected at most \(ODMatrix.maximumPairCount) and \(most); 'closest' "
                    + "limits the second, and costs=own allows for more")
        }
    }
}

/// Which columns of a table have the places of a matrix, and their roles.
struct MatrixColumns {
    let places: PlaceColumns
    /// Nil where each place is both.
    let role: Int?

    struct Roles: Hashable {
        var isOrigin: Bool
        var isDestination: Bool
    }

    init(_ table: JobTable, _ texts: ParameterTexts) throws(Failure) {
        places = try PlaceColumns(table, texts)
        if let stated = table.kinds?.firstIndex(of: .role) {
            guard texts["role"] == nil else {
                throw ParameterTexts.fault(
                    "role", "none: origins and destinations are features of their own")
            }
            role = stated
        } else if let name = texts["role"] {
            role = try table.column(name, of: "role")
        } else {
            role = table.column(known: ["role"])
        }
    }

    /// The columns of features' attributes that go along.
    func attributes(of table: JobTable) -> [Int] { places.attributes(of: table, besides: [role]) }

    /// The roles of a row's place; throws `invalidParameter` for another word.
    func roles(in fields: [[UInt8]], row: Int) throws(Failure) -> Roles {
        let text = role.map { String(decoding: fields[$0], as: UTF8.self) } ?? ""
        switch text.filter({ $0 != " " }).lowercased() {
        case "", "both": return Roles(isOrigin: true, isDestination: true)
        case "origin", "o": return Roles(isOrigin: true, isDestination: false)
        case "destination", "d": return Roles(isOrigin: false, isDestination: true)
        default:
            throw Failure(
                .invalidParameter,
                "row \(row) has the role '\(text.prefix(40))': expected origin, destination or "
                    + "both")
        }
    }
}
