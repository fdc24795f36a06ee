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

/// Maps with their data, asked inside this program: no service need run, and none is spoken to.
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
/// The engine is that of an identify worker, so an answer is the one that a site gives at the same
/// sequence number, byte for byte. An atlas stands still: it sees what was in the log when it was
/// made, or last ``refresh()``ed. It reads and changes nothing, whether the site is up or not.
///
/// Any thread may ask, any number at once; a call blocks its thread. Layers on other servers are
/// asked over the network, every other layer is read from files.
public final class Atlas: Sendable {
    private let history: Mutex<MapHistory>
    private let engine: IdentifyEngine
    /// Nil where no layer can lie on another server.
    private let remotes: RemoteServices?

    /// Opens the maps of a site's directory.
    ///
    /// It begins at the last snapshot of the maps that the log vouches for, and reads what came
    /// after; without one, every event of a map.
    ///
    /// Throws `Failure`: `notFound` where there is no site, `unreadable`, `corrupt`,
    /// `newerVersion`.
    ///
    /// - Parameters:
    ///   - path: The site's directory.
    ///   - report: Told, on the thread that asks, of each snapshot that could not be taken.
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

    /// Makes one map of dataset files, `layer.fgb` as an import left them, the first at the bottom.
    ///
    /// The first gives the map its spatial reference; layers have the names they were imported
    /// under. Throws `Failure`: `notFound`, `unreadable`, `corrupt` where a file is no dataset,
    /// `conflict` for two of one name, `invalidParameter` for none.
    public init(datasets paths: [String], map name: MapName) throws(Failure) {
        guard !paths.isEmpty else {
            throw Failure(.invalidParameter, "a map of no datasets has nothing to ask")
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

    /// The last sequence number that is known of the site's log.
    public var sequence: Int64 { history.withLock { $0.sequence } }

    /// How many events of maps were read and folded, to begin and for questions about the past;
    /// less than there are where it began at a snapshot.
    public var foldedCount: Int { history.withLock { $0.foldedCount } }

    /// A map with its layers, now or as it was; nil when there is, or was, none of that name.
    ///
    /// Throws `Failure`: `invalidParameter` for a past that lies ahead of the log, `corrupt`.
    public func map(
        named name: MapName, at moment: AsOf? = nil
    ) throws(Failure) -> MapDescription? {
        try history.withLock { history throws(Failure) in try history.map(name, at: moment) }
    }

    /// A map now, or a past of it as it may be seen; nil when there is, or was, none of that name.
    ///
    /// Throws as ``map(named:at:)``.
    public func map(named name: MapName, past: SeenPast?) throws(Failure) -> MapDescription? {
        try history.withLock { history throws(Failure) in try history.map(name, past: past) }
    }

    /// Reads what was appended to the site's log since.
    ///
    /// Throws `Failure`: `unreadable`, `corrupt`.
    public func refresh() throws(Failure) {
        try history.withLock { history throws(Failure) in try history.readOn() }
    }

    /// Answers what is here.
    ///
    /// The request's parameters are those of `Docs/identify.md`. A sequence number that is not
    /// known yet (`minSequence`, `at`) refreshes the atlas first.
    ///
    /// Throws `Failure`: `notFound` for an unknown map or missing data, `invalidParameter` and
    /// `tooLarge` for a request that cannot be answered, `timedOut` for a `minSequence` that the
    /// log does not have, `cancelled`, `corrupt`.
    ///
    /// - Parameters:
    ///   - deadline: Until when other servers are waited for.
    ///   - isCancelled: Asked now and then, on any thread; the call ends soon after it says so.
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
