// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// What a job kind does and what it may be told, as it is published: in `cairn job kinds` and as a task of the
/// geoprocessing service.
public struct JobKindDescription: Hashable, Sendable, Codable {
    /// A parameter.
    public struct Parameter: Hashable, Sendable, Codable {
        /// Its name, as in `cairn job submit --param NAME=VALUE`.
        public var name: String
        /// What its text stands for.
        public var type: ParameterType
        /// One sentence.
        public var summary: String
        /// Whether there is no job without it.
        public var isRequired: Bool
        /// What counts where it is absent; nil where that depends on the map or the input.
        public var defaultValue: String?
        /// The only texts it may be; empty where there is no such list.
        public var choices: [String]
    }

    /// What the text of a parameter stands for.
    public enum ParameterType: String, Hashable, Sendable, Codable {
        /// Itself.
        case text
        /// A whole number.
        case whole
        /// A number.
        case number
        /// `true` or `false`.
        case flag
    }

    /// The kind.
    public var kind: JobKind
    /// One sentence.
    public var summary: String
    /// What its input file is, in a few words; a job of every kind there is needs one.
    public var input: String
    /// What its product is, in a few words.
    public var output: String
    /// The media type of the product.
    public var outputMediaType: String
    /// Its parameters, the required ones first.
    public var parameters: [Parameter]
    /// The services that its jobs read besides their input; their products need the right to read these.
    public var reads: [Read]
    /// Whether its input is a file of jobs (`Batch.Item`), whose own inputs it names by their hashes.
    public var inputNamesBlobs: Bool

    /// Every kind that the workers of this build can do, by name.
    public static let all = [batch, batchGeocode, batchIdentify]

    /// The kind of that name; nil when there is none.
    public static func of(_ kind: JobKind) -> JobKindDescription? {
        all.first { $0.kind == kind }
    }

    static let batch = JobKindDescription(
        kind: .batch, summary: "Does several jobs and lists their products.",
        input: "JSON Lines, one job on each line", output: "JSON Lines, one product on each line",
        outputMediaType: "application/jsonl",
        parameters: [
            .whole("sideBySide", "How many run at once, 1 to 16.", "4"),
            .text(
                "onFailure", "What the failure of one of them does to the rest.", "stop",
                of: ["stop", "continue"]),
        ], reads: [.everyService], inputNamesBlobs: true)

    static let batchGeocode = JobKindDescription(
        kind: .batchGeocode, summary: "Finds the place of the address in every row.",
        input: "CSV with a header row",
        output:
            "the same rows with Match_addr, X, Y (longitude and latitude, degrees), Score, Status",
        outputMediaType: "text/csv",
        parameters: [
            .text("query", "The column that holds the whole address.", "query"),
            .text("country", "The column that holds an ISO country code."),
            .text("locator", "The locator that is asked.", "World"),
        ], reads: [.locator(parameter: "locator")], inputNamesBlobs: false)

    static let batchIdentify = JobKindDescription(
        kind: .batchIdentify, summary: "Asks a map what is at each place.",
        input: "JSON Lines or CSV, one place on each line",
        output: "JSON Lines, one answer on each line",
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
        ], reads: [.map(parameter: "map", moment: "at")], inputNamesBlobs: false)
}

extension JobKindDescription.Parameter {
    fileprivate static func text(
        _ name: String, _ summary: String, _ value: String? = nil, isRequired: Bool = false,
        of choices: [String] = []
    ) -> Self {
        Self(
            name: name, type: .text, summary: summary, isRequired: isRequired, defaultValue: value,
            choices: choices)
    }

    fileprivate static func whole(
        _ name: String, _ summary: String, _ value: String? = nil
    ) -> Self { plain(name, .whole, summary, value) }

    fileprivate static func number(
        _ name: String, _ summary: String, _ value: String? = nil
    ) -> Self { plain(name, .number, summary, value) }

    fileprivate static func flag(_ name: String, _ summary: String) -> Self {
        plain(name, .flag, summary, "false")
    }

    private static func plain(
        _ name: String, _ type: JobKindDescription.ParameterType, _ summary: String,
        _ value: String?
    ) -> Self {
        Self(
            name: name, type: type, summary: summary, isRequired: false, defaultValue: value,
            choices: [])
    }
}
