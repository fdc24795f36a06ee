// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import PROJ
internal import Platform
internal import Raster
internal import Site

/// A layer of a map, and what it shall be loaded from.
struct LayerToLoad: Hashable, Sendable {
    var map: MapName
    var layer: LayerID
    var source: LayerSource
    var definitionExpression: String?
    var timeInfo: LayerTimeInfo?
}

/// What came of loading a layer.
struct LoadedLayer: Sendable {
    var layer: LayerToLoad
    var result: Result<LayerProperties, Failure>
}

/// Reads layers' sources on a thread of its own, one after the other, because that may wait for a
/// disk.
final class LayerLoader: Sendable {
    private let queue = BlockingQueue<LayerToLoad>(capacity: 1)
    private let thread: PinnedThread

    /// Starts the thread; `deliver` is called on it with every result.
    init(
        site: Site, deliver: @escaping @Sendable (LoadedLayer) -> Void
    ) throws(Failure) {
        let queue = queue
        do {
            thread = try PinnedThread(name: "layer-loader") {
                while let layer = queue.pop() {
                    let result = Result { () throws(Failure) in try Self.load(layer, in: site) }
                    deliver(LoadedLayer(layer: layer, result: result))
                }
            }
        } catch {
            throw Failure(error)
        }
    }

    /// Hands a layer over; false while another one is being loaded.
    func start(_ layer: LayerToLoad) -> Bool { queue.tryPush(layer) }

    /// Waits for the layer under way and ends the thread.
    func stop() {
        queue.close()
        thread.join()
    }

    private static func load(
        _ layer: LayerToLoad, in site: Site
    ) throws(Failure) -> LayerProperties {
        var properties = try read(layer.source, in: site)
        if properties.geographicExtent == nil {
            properties.geographicExtent = GeographicExtent.of(properties)
        }
        if let expression = layer.definitionExpression {
            try WhereClause(parsing: expression).validate(against: properties.fields)
        }
        try layer.timeInfo?.check(properties.fields)
        return properties
    }

    /// What the source says of itself: the one place that knows how each kind is loaded.
    private static func read(
        _ source: LayerSource, in site: Site
    ) throws(Failure) -> LayerProperties {
        switch source {
        case .dataset(let dataset):
            return try Dataset(path: site.datasetPath(dataset)).properties
        case .raster(let raster):
            return try RasterFile(raster, in: site.rastersDirectory, isVerified: true).properties
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
    /// Points along each side and across, whose positions are taken.
    private static let steps = 16

    /// The extent in WGS 84 longitude and latitude, slightly generous; nil when there is no extent or
    /// no transformation.
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
