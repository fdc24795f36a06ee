// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import TilePackages

/// What an export of tiles comes to, before it is submitted: the tiles counted, bytes and seconds
/// by what earlier exports of the site took for each tile.
///
/// The earlier exports are those that succeeded, of the same kind, format and form of pictures:
/// whole packages of the present with an area of at most ``areaByteLimit``. Where some are of the
/// same map, the latest ``jobLimit`` of these count, otherwise the latest of any map. Without one,
/// bytes and seconds are assumptions.
public struct TileExportEstimate: Hashable, Sendable, Codable {
    /// The source of bytes and seconds.
    public enum Basis: String, Hashable, Sendable, Codable {
        /// Earlier exports of the same map.
        case map
        /// Earlier exports of other maps.
        case site
        /// No export: what a tile of a world map of a few layers takes.
        case assumption
    }

    /// Number of tiles: those that touch the area, exactly; how many are empty is not known before.
    public var tileCount: Int
    /// Bytes of the package, at most ``byteLimit``.
    public var byteCount: Int64
    /// Seconds from the submission to the end, to the millisecond, at most ``secondLimit``.
    public var seconds: Double
    /// What bytes and seconds follow from.
    public var basis: Basis
    /// Number of earlier exports that bytes and seconds follow from; 0 where they are assumed.
    public var jobCount: Int

    /// The kinds of jobs that have an estimate.
    public static let kinds: [JobKind] = [.exportTiles, .exportVectorTiles]
    /// Earlier exports that count.
    public static let jobLimit = 20
    /// The most bytes of an earlier export's area as text: tiles of others take long to count.
    public static let areaByteLimit = 20_000
    /// The greatest number of bytes, which JSON's readers keep exactly.
    public static let byteLimit: Int64 = 1 << 53
    /// The greatest number of seconds.
    public static let secondLimit = 1e12

    /// An estimate that was made before.
    public init(tileCount: Int, byteCount: Int64, seconds: Double, basis: Basis, jobCount: Int) {
        self.tileCount = tileCount
        self.byteCount = byteCount
        self.seconds = seconds
        self.basis = basis
        self.jobCount = jobCount
    }

    /// Estimates an export.
    ///
    /// Throws `Failure` (`invalidParameter`) as the check of such a job does, and for a kind that
    /// exports no tiles.
    ///
    /// - Parameters:
    ///   - jobs: Jobs of the site, of any kind and state, newest first.
    ///   - name: The parameter that failures of the area name.
    public init(
        _ kind: JobKind, _ parameters: [String: String], after jobs: some Sequence<JobDescription>,
        areaIn name: String = "area"
    ) throws(Failure) {
        let task = try Self.task(kind)
        let texts = try ParameterTexts(parameters, of: task)
        let form = TileExportForm(texts, of: kind)
        tileCount = try TileSelection(texts, of: kind).touchedTileCount(areaIn: name)

        var (sameMap, others) = (History(), History())
        for job in jobs where job.kind == kind && sameMap.jobCount < Self.jobLimit {
            guard job.status == .succeeded, job.parameters["since"] == nil,
                job.parameters["at"] == nil,
                job.parameters["area"]?.utf8.count ?? 0 <= Self.areaByteLimit,
                let asked = try? ParameterTexts(job.parameters, of: task),
                TileExportForm(asked, of: kind) == form
            else { continue }
            if asked["map"] == texts["map"] {
                sameMap.add(job, asked)
            } else if others.jobCount < Self.jobLimit {
                others.add(job, asked)
            }
        }
        let history = sameMap.jobCount > 0 ? sameMap : others
        (basis, jobCount) = (sameMap.jobCount > 0 ? .map : .site, history.jobCount)
        let perTile: (bytes: Double, seconds: Double)
        if let known = history.perTile {
            perTile = known
        } else {
            (perTile, basis) = (form.assumed, .assumption)
        }
        byteCount = Int64(min(Double(tileCount) * perTile.bytes, Double(Self.byteLimit)).rounded())
        let milliseconds = (Double(tileCount) * perTile.seconds * 1e3).rounded()
        seconds = min(milliseconds / 1e3, Self.secondLimit)
    }

    /// The description of a kind; throws `invalidParameter` for one without estimates.
    @discardableResult public static func task(
        _ kind: JobKind
    ) throws(Failure) -> JobKindDescription {
        guard kinds.contains(kind), let task = JobKindDescription.of(kind) else {
            throw Failure(
                .invalidParameter,
                "jobs of kind '\(kind.rawValue.prefix(80))' have no estimate: expected "
                    + kinds.map(\.rawValue).joined(separator: " or "))
        }
        return task
    }

    /// The estimate as a sentence.
    public var text: String {
        let exports = jobCount == 1 ? "1 earlier export" : "\(jobCount) earlier exports"
        let source =
            switch basis {
            case .map: "by \(exports) of the map"
            case .site: "by \(exports) of other maps"
            case .assumption: "assumed: there is no earlier export of this kind and format"
            }
        return "\(tileCount) tiles, about \(byteCount) bytes in \((seconds * 10).rounded() / 10) "
            + "seconds, \(source)"
    }
}

/// Earlier exports, summed up.
private struct History {
    private var (tiles, bytes, seconds) = (0, 0.0, 0.0)
    private(set) var jobCount = 0

    /// Adds a job that has a product and an end, and whose tiles can be counted.
    mutating func add(_ job: JobDescription, _ texts: ParameterTexts) {
        guard let product = job.result, let ended = job.endedAt,
            let count = try? TileSelection(texts, of: job.kind).touchedTileCount(), count > 0
        else { return }
        tiles += count
        bytes += Double(product.byteCount)
        seconds += max(0, Double(ended.microseconds - job.submittedAt.microseconds) / 1e6)
        jobCount += 1
    }

    /// Nil without jobs.
    var perTile: (bytes: Double, seconds: Double)? {
        jobCount == 0 ? nil : (bytes / Double(tiles), seconds / Double(tiles))
    }
}

/// What decides the bytes of a tile and the time that it takes.
private struct TileExportForm: Equatable {
    var kind: JobKind
    var format: String
    var pictures: String?

    init(_ texts: ParameterTexts, of kind: JobKind) {
        self.kind = kind
        format = texts["format"]?.lowercased() ?? ""
        pictures = kind == .exportTiles ? texts["tileFormat"]?.lowercased() : nil
    }

    /// Of a tile where nothing is known: those of a world map of a few layers.
    var assumed: (bytes: Double, seconds: Double) {
        kind == .exportVectorTiles
            ? (2_000, 0.002) : (pictures == "jpg" ? 10_000 : 8_000, 0.006)
    }
}
