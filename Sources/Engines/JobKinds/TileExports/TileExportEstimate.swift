// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import TilePackages

/// What an export of tiles comes to, before it is submitted: the tiles counted, bytes and seconds
/// by what earlier exports of the site took for each tile.
///
/// The earlier exports are those that succeeded, of the same kind, format and form of pictures,
/// whole packages; the latest ``jobLimit`` of them count. Without one, bytes and seconds are
/// assumptions.
public struct TileExportEstimate: Hashable, Sendable, Codable {
    /// Number of tiles: those that touch the area, exactly; how many are empty is not known before.
    public var tileCount: Int
    /// Bytes of the package.
    public var byteCount: Int64
    /// Seconds from the submission to the end.
    public var seconds: Double
    /// Number of earlier exports that bytes and seconds follow from; 0 where they are assumed.
    public var jobCount: Int

    /// Earlier exports that count.
    public static let jobLimit = 20

    /// Estimates an export.
    ///
    /// Throws `Failure` (`invalidParameter`) as the check of such a job does, and for a kind that
    /// exports no tiles.
    ///
    /// - Parameter jobs: Jobs of the site, of any kind and state, newest first.
    public init(
        _ kind: JobKind, _ parameters: [String: String], after jobs: some Sequence<JobDescription>
    ) throws(Failure) {
        guard let export = TileExportForm(kind, parameters: try Self.texts(kind, parameters)) else {
            throw Failure(
                .invalidParameter,
                "jobs of kind '\(kind.rawValue.prefix(80))' have no estimate: expected "
                    + "\(JobKind.exportTiles.rawValue) or \(JobKind.exportVectorTiles.rawValue)")
        }
        tileCount = try Self.selection(kind, parameters).touchedTileCount()
        var (tiles, bytes, seconds, used) = (0, Int64(0), 0.0, 0)
        for job in jobs where used < Self.jobLimit {
            guard job.kind == kind, job.status == .succeeded, let result = job.result,
                let ended = job.endedAt, job.parameters["since"] == nil,
                let texts = try? Self.texts(kind, job.parameters),
                TileExportForm(kind, parameters: texts) == export,
                let count = try? Self.selection(kind, job.parameters).touchedTileCount()
            else { continue }
            tiles += count
            bytes += result.byteCount
            seconds += Double(ended.microseconds - job.submittedAt.microseconds) / 1e6
            used += 1
        }
        jobCount = used
        let perTile =
            tiles == 0
            ? export.assumed : (Double(bytes) / Double(tiles), max(0, seconds) / Double(tiles))
        byteCount = Int64((Double(tileCount) * perTile.0).rounded())
        self.seconds = Double(tileCount) * perTile.1
    }

    private static func texts(
        _ kind: JobKind, _ parameters: [String: String]
    ) throws(Failure) -> ParameterTexts? {
        guard let description = JobKindDescription.of(kind) else { return nil }
        return try ParameterTexts(parameters, of: description)
    }

    private static func selection(
        _ kind: JobKind, _ parameters: [String: String]
    ) throws(Failure) -> TileSelection {
        guard let texts = try texts(kind, parameters) else {
            throw Failure(.internal, "'\(kind.rawValue)' is no kind of job")
        }
        return try TileSelection(texts, of: kind)
    }
}

/// What decides the bytes of a tile and the time that it takes.
private struct TileExportForm: Equatable {
    var kind: JobKind
    var format: String
    var pictures: String?

    /// Nil for a kind that exports no tiles.
    init?(_ kind: JobKind, parameters texts: ParameterTexts?) {
        guard kind == .exportTiles || kind == .exportVectorTiles, let texts else { return nil }
        self.kind = kind
        format = texts["format"]?.lowercased() ?? ""
        pictures = kind == .exportTiles ? texts["tileFormat"]?.lowercased() : nil
    }

    /// Bytes and seconds of a tile where nothing is known: those of a world map of a few layers.
    var assumed: (Double, Double) {
        kind == .exportVectorTiles ? (2_000, 0.002) : (8_000, 0.006)
    }
}
