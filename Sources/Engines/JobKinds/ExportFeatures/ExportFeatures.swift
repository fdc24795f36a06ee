// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobKind {
    /// Writes the features of a layer into a file.
    public static let exportFeatures = JobKind(rawValue: "ExportFeatures")
}

/// The job kind `ExportFeatures`: the features of a layer, or some of them, as a file in a format
/// of the field.
///
/// `ExportSettings` reads its parameters. The layer is read as of the job's submission, or of `at`,
/// so the product does not depend on when, or where, its chunks run.
public enum ExportFeatures: JobKindDefinition {
    /// Published: a layer as a file.
    public static let description = JobKindDescription(
        kind: .exportFeatures, summary: "Writes the features of a layer into a file.", input: nil,
        output: "A file of features", outputMediaType: MediaType.geoPackage.rawValue,
        parameters: [
            .text("map", "The map of the layer.", isRequired: true),
            .text("layer", "The layer: its number, or its name.", isRequired: true),
            .text("where", "A WHERE clause that features must fulfil."),
            .text(
                "area",
                "Features that intersect it: xmin,ymin,xmax,ymax, or a geometry in GeoJSON or "
                    + "Esri's JSON."),
            .whole(
                "areaSR", "The well-known id of the area's coordinates, the layer's unless set."),
            .text("outFields", "Fields with commas between them.", "*"),
            .whole("sr", "The well-known id of the file, the layer's unless set."),
            .text(
                "format", "The format of the file.", ExportFormat.geoPackage.rawValue,
                of: ExportFormat.allCases.map(\.rawValue)),
            .text("at", "The sequence number or ISO 8601 time as of which the layer is read."),
        ], reads: [.map(parameter: "map", moments: ["at"])], inputNamesBlobs: false)

    /// How many features a chunk reads.
    static let featuresPerChunk = 5_000

    /// The work order of `read`: a run of object ids.
    struct ReadInput: Codable, Hashable, Sendable {
        /// The sequence number as of which the map is read.
        var position: Int64
        var layer: LayerID
        var firstID: Int64
        var lastID: Int64
        /// How many features of the run are selected.
        var featureCount: Int
    }

    /// The work order of `write`.
    struct WriteInput: Codable, Hashable, Sendable {
        var layerName: String
        var featureCount: Int
    }

    /// Checks the parameters; the layer and its fields are known to the maps alone.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        _ = try ExportSettings(texts, submitted: .max)
    }

    /// Checks the parameters, cuts the selection into runs of object ids, reads each, writes one
    /// file.
    public static let operations = [plan, cut, read, write]

    private static let plan = JobOperation.files("plan") { context in
        _ = try ExportSettings(context.assignment)
        return ChunkOutcome(nextStage: [cut.chunk(weight: 1)])
    }
    private static let cut = JobOperation.maps("cut") { try cut($0, $1) }
    static let read = JobOperation.maps("read") { try read($0, $1) }
    static let write = JobOperation.files("write") { try write($0) }
}
