// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import PROJ
internal import Platform
internal import Remote
internal import Site

/// A layer of a map, and the source to load it from.
struct LayerToLoad: Hashable, Sendable {
    var map: MapName
    var layer: LayerID
    var source: LayerSource
    var definitionExpression: String?
    var timeInfo: LayerTimeInfo?
}

/// The outcome of loading a layer.
struct LoadedLayer: Sendable {
    var layer: LayerToLoad
    var result: Result<LayerProperties, Failure>
}

/// Reads layers' sources on threads of its own, since a read may wait for a disk or a remote
/// server.
///
/// One thread reads sources in the site, a few read remote servers, so that a slow server delays no
/// local layer and few remote ones.
final class LayerLoader: Sendable {
    /// The kind of source, each with threads of its own.
    enum Lane: Int, CaseIterable {
        case site, remote

        /// Number of concurrent loads.
        var width: Int { self == .site ? 1 : 4 }

        init(_ source: LayerSource?) { self = source?.isRemote == true ? .remote : .site }
    }

    private let queues: [BlockingQueue<LayerToLoad>]
    private let threads: [PinnedThread]

    /// Starts the threads; `deliver` is called on them with each result.
    init(
        site: Site, deliver: @escaping @Sendable (LoadedLayer) -> Void
    ) throws(Failure) {
        let remotes = try RemoteServices(of: site)
        queues = Lane.allCases.map { BlockingQueue<LayerToLoad>(capacity: $0.width) }
        var threads: [PinnedThread] = []
        do {
            for lane in Lane.allCases {
                let queue = queues[lane.rawValue]
                for number in 0..<lane.width {
                    threads.append(
                        try PinnedThread(name: "load-\(lane)-\(number)") {
                            while let layer = queue.pop() {
                                let result = Result { () throws(Failure) in
                                    try Self.load(layer, in: site, remotes)
                                }
                                deliver(LoadedLayer(layer: layer, result: result))
                            }
                        })
                }
            }
        } catch {
            for queue in queues { queue.close() }
            throw Failure(error)
        }
        self.threads = threads
    }

    /// Starts a load; false while its lane is at capacity.
    func start(_ layer: LayerToLoad) -> Bool {
        queues[Lane(layer.source).rawValue].tryPush(layer)
    }

    /// Waits for the loads in progress and ends the threads.
    func stop() {
        for queue in queues { queue.close() }
        for thread in threads { thread.join() }
    }

    private static func load(
        _ layer: LayerToLoad, in site: Site, _ remotes: RemoteServices
    ) throws(Failure) -> LayerProperties {
        var properties = try read(layer.source, in: site, remotes)
        if properties.geographicExtent == nil {
            properties.geographicExtent = GeographicExtent.of(properties)
        }
        if let expression = layer.definitionExpression {
            try WhereClause(parsing: expression).validate(against: properties.fields)
        }
        try layer.timeInfo?.check(properties.fields)
        return properties
    }

    /// The properties of a source; the one place that dispatches on the kind of source.
    private static func read(
        _ source: LayerSource, in site: Site, _ remotes: RemoteServices
    ) throws(Failure) -> LayerProperties {
        switch source {
        case .dataset(let dataset):
            return try Dataset(path: site.datasetPath(dataset)).properties
        case .raster(let raster):
            return try RasterFile(raster, in: site.rastersDirectory, isVerified: true).properties
        case .wms, .mapService, .featureService, .tiles: return try remotes.load(source)
        case .graphics(let source):
            let reference = source.spatialReference
            do throws(PROJError) { _ = try reference.coordinateSystem.unit() } catch {
                throw Failure(.invalidParameter, error.description)
            }
            return LayerProperties(
                extent: nil, spatialReference: reference, geometryType: nil, fields: [],
                featureCount: 0)
        }
    }
}

/// A rectangle in degrees around a rectangle in any spatial reference.
enum GeographicExtent {
    /// Number of sampling steps along each side and across.
    private static let steps = 16

    /// The extent in WGS 84 longitude and latitude, slightly generous; nil when there is no extent
    /// or no transformation.
    ///
    /// A layer across the antimeridian gets −180…180.
    static func of(_ properties: LayerProperties) -> Envelope? {
        guard let extent = properties.extent, !extent.isEmpty, extent.isFinite else { return nil }
        let source = properties.spatialReference
        if source.latestWkid == 4326 { return extent }
        let system: CoordinateSystem
        if let wkid = source.latestWkid {
            system = .wkid(wkid)
        } else if let wkt = source.wkt {
            system = .wkt(wkt)
        } else {
            return nil
        }
        guard let transform = try? CoordinateTransform(from: system, to: .wkid(4326)) else {
            return nil
        }
        return around(extent) { coordinate in
            guard let degrees = try? transform.forward(x: coordinate.x, y: coordinate.y) else {
                return nil
            }
            return Coordinate(x: degrees.x, y: degrees.y)
        }
    }

    private static func around(
        _ extent: Envelope, _ transform: (Coordinate) -> Coordinate?
    ) -> Envelope? {
        var result = Envelope.empty
        for row in 0...steps {
            for column in 0...steps {
                let place = Coordinate(
                    x: extent.minX + extent.width * Double(column) / Double(steps),
                    y: extent.minY + extent.height * Double(row) / Double(steps))
                if let degrees = transform(place), degrees.isFinite { result.extend(to: degrees) }
            }
        }
        guard !result.isEmpty else { return nil }
        // Between two sampled points a curved border can bulge out by about a step's square.
        let margin = max(result.width, result.height) / Double(4 * steps * steps)
        return Envelope(
            minX: max(result.minX - margin, -180), minY: max(result.minY - margin, -90),
            maxX: min(result.maxX + margin, 180), maxY: min(result.maxY + margin, 90))
    }
}
