// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

extension JobKind {
    /// Finds the route of every row of a CSV file.
    public static let batchRoute = JobKind(rawValue: "BatchRoute")
}

/// The job kind `BatchRoute`: takes a CSV file with two or more stops in each row, or features,
/// returns its rows with the length (metres), the duration (seconds) and the status of their
/// routes; or GeoJSON, with the lines.
///
/// The network is asked as of the job's submission (or `at`), so the product does not depend on
/// when, or where, its chunks run.
public enum BatchRoute: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .batchRoute, summary: "Finds the route over the stops of every row.",
        input: "CSV with a header row; or GeoJSON with points or lines of stops",
        output:
            "the same rows with Length (metres), Duration (seconds) and Status; or GeoJSON with "
            + "their lines",
        outputMediaType: MediaType.csv.rawValue,
        parameters: JobKindDescription.routing([
            .text(
                "columns",
                "The columns of the stops in the order of travel: X,Y,X,Y; or one that lists them "
                    + "as x,y;x,y."),
            JobTable.fields,
            .text(
                "outputFormat", "The form of the product.", RouteProduct.csv.rawValue,
                of: RouteProduct.allCases.map(\.rawValue)),
        ]), reads: JobKindDescription.routingReads, inputNamesBlobs: false,
        features: [
            .init(
                name: "stops",
                summary: "The stops: points with RouteName and Sequence, or a line for each route.",
                geometryType: "Point",
                fields: [
                    .init(name: "RouteName", type: .text), .init(name: "Sequence", type: .whole),
                ], mostFeatures: 100_000)
        ],
        featureOutput: .init(
            summary: "The rows as features; with lines where outputFormat is geojson.",
            geometryType: "Polyline",
            fields: [
                .init(name: "Length", type: .number), .init(name: "Duration", type: .number),
                .init(name: "Status", type: .text),
            ]))

    /// Smallest number of rows in a chunk.
    public static let rowsPerChunk = 100
    /// Limit of chunks per file; larger files get larger chunks.
    public static let maximumChunkCount = 4_000
    /// Limit of rows in a file.
    public static let maximumRowCount = 1_000_000

    /// The input of `routeRows`.
    struct RowsInput: Codable, Hashable, Sendable {
        var range: RowRange
        /// CRLF or LF.
        var newline: String
        var form: TableForm
        /// Of features; absent for a table.
        var kinds: [AttributeKind]?
    }

    /// The input of `assemble`.
    struct AssembleInput: Codable, Hashable, Sendable {
        /// Of a table; absent for GeoJSON.
        var header: String?
        var rowCount: Int
    }

    /// The columns of the product behind those of the input.
    static let resultColumns = ["Length", "Duration", "Status"]

    /// Splits the file, finds the routes of its ranges of rows, concatenates them.
    public static let operations = [plan, routeRows, assemble]

    static let plan = JobOperation.files("plan") { try plan($0) }
    static let routeRows = JobOperation.routers("routeRows") { try routeRows($0, $1) }
    static let assemble = JobOperation.files("assemble") { try assemble($0) }

    /// Checks the parameters, the columns, and the number of rows of a file that is not large.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws {
        try RouteSettings.check(order, texts)
        _ = try texts.word("outputFormat", of: RouteProduct.self)
        guard let table = try JobTable(order, .stops, texts) else { return }
        _ = try StopColumns(table, texts)
        var count = 0
        if try table.forEachRowIfSmall({ _ in count += 1 }) {
            try RowCuts.check(count, most: maximumRowCount)
        }
    }
}

/// The forms of a product of routes.
enum RouteProduct: String, CaseIterable {
    case csv
    case geoJSON = "geojson"

    init(_ texts: ParameterTexts) throws(Failure) {
        self = try texts.word("outputFormat", of: RouteProduct.self) ?? .csv
    }
}
