// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

@_exported public import CairnModel
internal import Dataset
internal import EventLog
@_exported public import Geometry
internal import Identify
internal import Remote
internal import Site
internal import Synchronization

/// Maps with their data, queried inside this program, without any service.
///
/// ```swift
/// let atlas = try Atlas(site: "/srv/cairn")
/// let answer = try atlas.identify(
///     IdentifyRequest(
///         map: atlas.mapNames[0], geometry: .point(Coordinate(x: 2.35, y: 48.86)), tolerance: 5,
///         mapExtent: Envelope(minX: 2, minY: 48, maxX: 3, maxY: 49),
///         imageDisplay: ImageDisplay(width: 800, height: 800)))
/// let json = try CairnJSON.encode(answer)
/// ```
/// The engine is that of an identify worker, so an answer equals that of a site at the same
/// sequence number, byte for byte. An atlas is a snapshot: it sees the log as it was at its
/// creation, or its last ``refresh()``. It is read-only and works whether the site is up or not.
///
/// Thread-safe; a call blocks its thread. Layers on other servers are queried over the network,
/// every other layer is read from files.
public final class Atlas: Sendable {
    private let history: Mutex<MapHistory>
    private let engine: IdentifyEngine
    /// Nil where no layer can be on another server.
    private let remotes: RemoteServices?

    /// Opens the maps of a site's directory.
    ///
    /// It starts from the last snapshot of the maps that the log confirms, and folds the events
    /// after it; without one, all events.
    ///
    /// Throws `Failure`: `notFound` where there is no site, `unreadable`, `corrupt`,
    /// `newerVersion`.
    ///
    /// - Parameters:
    ///   - path: The site's directory.
    ///   - report: Receives, on the calling thread, a line for each unusable snapshot.
    public init(
        site path: String, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Failure) {
        let site = try Site(reading: path)
        history = Mutex(try MapHistory(of: site, report: report))
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        remotes = try RemoteServices(of: site)
        engine = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: site.rastersDirectory)
        }
    }

    /// Creates one map of dataset files, `layer.fgb` as written by an import, the first at the
    /// bottom.
    ///
    /// The first gives the map its spatial reference; layers have the names they were imported
    /// under. Throws `Failure`: `notFound`, `unreadable`, `corrupt` where a file is no dataset,
    /// `conflict` for a duplicate name, `invalidParameter` for an empty list.
    public init(datasets paths: [String], map name: MapName) throws(Failure) {
        guard !paths.isEmpty else {
            throw Failure(.invalidParameter, "the list of datasets is empty")
        }
        var datasets: [ContentID: Dataset] = [:]
        var layers: [(name: String, dataset: ContentID, properties: LayerProperties)] = []
        for path in paths {
            let dataset = try Dataset(path: path)
            let id = try dataset.contentID()
            datasets[id] = dataset
            layers.append((dataset.name, id, dataset.properties))
        }
        history = Mutex(try MapHistory(of: name, layers: layers))
        remotes = nil
        engine = IdentifyEngine { [datasets] id throws(Failure) in
            guard let dataset = datasets[id] else {
                throw Failure(.notFound, "dataset \(id) is not in this atlas")
            }
            return dataset
        }
    }

    /// The names of all maps, in byte order.
    public var mapNames: [MapName] { history.withLock { $0.mapNames } }

    /// The last known sequence number of the site's log.
    public var sequence: Int64 { history.withLock { $0.sequence } }

    /// Number of events of maps read and folded, at the start and for past moments, without those
    /// of the initial snapshot.
    public var foldedCount: Int { history.withLock { $0.foldedCount } }

    /// A map with its layers, now or at a past moment; nil when it does not exist there.
    ///
    /// Throws `Failure`: `invalidParameter` for a moment ahead of the log, `corrupt`.
    public func map(
        named name: MapName, at moment: AsOf? = nil
    ) throws(Failure) -> MapDescription? {
        try history.withLock { history throws(Failure) in try history.map(name, at: moment) }
    }

    /// A map now, or a past of it as it may be seen; nil when it does not exist there.
    ///
    /// Throws as ``map(named:at:)``.
    public func map(named name: MapName, past: SeenPast?) throws(Failure) -> MapDescription? {
        try history.withLock { history throws(Failure) in try history.map(name, past: past) }
    }

    /// Reads what has been appended to the site's log since.
    ///
    /// Throws `Failure`: `unreadable`, `corrupt`.
    public func refresh() throws(Failure) {
        try history.withLock { history throws(Failure) in try history.readOn() }
    }

    /// Answers an identify request.
    ///
    /// The request's parameters are those of `Docs/identify.md`. A sequence number that is not
    /// known yet (`minSequence`, `at`) refreshes the atlas first.
    ///
    /// Throws `Failure`: `notFound` for an unknown map or missing data, `invalidParameter` and
    /// `tooLarge` for a request that cannot be answered, `timedOut` for a `minSequence` that the
    /// log does not have, `cancelled`, `corrupt`.
    ///
    /// - Parameters:
    ///   - deadline: Time limit for other servers.
    ///   - isCancelled: Polled on any thread; the call ends soon after it returns true.
    public func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        let map = try history.withLock { history throws(Failure) in
            try history.reach(request.minSequence ?? 0)
            return try history.map(request.map, past: request.past)
        }
        guard let map else {
            let moment = request.asOf.map { " at \($0)" } ?? ""
            throw Failure(.notFound, "there is no map '\(request.map)'\(moment)")
        }
        return try engine.identify(
            request, in: map,
            remotes: remotes.map { remotes in
                { questions in
                    let inquiry = remotes.ask(questions, until: deadline, isCancelled: isCancelled)
                    return { inquiry.features(at: $0) }
                }
            }, isCancelled: isCancelled)
    }
}
