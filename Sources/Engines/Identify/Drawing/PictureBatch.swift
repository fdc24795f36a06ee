// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The requests for one picture's layers on other servers, sent all at once.
struct PictureBatch {
    private enum Answer {
        case here(Result<RemotePicture?, Failure>)
        /// The index of the request.
        case pending(Int)
    }

    private var answers: [LayerID: Answer] = [:]
    private var wait: ((Int) -> Result<RemotePicture?, Failure>)?

    /// Sends the requests for layers on other servers; a request that cannot be formed is its
    /// layer's failure.
    init(
        _ layers: [PreparedLayer], _ provider: IdentifyEngine.RemotePictureProvider?,
        _ request: ExportRequest, _ drawing: Drawing, _ wish: (LayerDescription) -> DrawnWish,
        _ transforms: Transforms
    ) {
        var questions: [RemotePictureQuestion] = []
        for layer in layers where layer.isRemote {
            do throws(Failure) {
                guard provider != nil else {
                    throw Failure(.unavailable, "this program does not query remote servers")
                }
                let question = try RemotePictureQuestion(
                    layer, request, drawing, wish(layer.description), transforms)
                if let question {
                    questions.append(question)
                    answers[layer.id] = .pending(questions.count - 1)
                } else {
                    answers[layer.id] = .here(.success(nil))
                }
            } catch {
                answers[layer.id] = .here(.failure(error))
            }
        }
        if !questions.isEmpty { wait = provider?(questions) }
    }

    /// The response of the layer's server, once it has arrived.
    func answer(_ layer: LayerID) throws(Failure) -> RemotePicture? {
        switch answers[layer] {
        case .here(let answer): return try answer.get()
        case .pending(let index): if let wait { return try wait(index).get() }
        case nil: break
        }
        throw Failure(.internal, "layer \(layer) was not requested")
    }
}

/// Features of another server, with their transform to the picture.
struct RemoteFeatures {
    let features: [RemoteAnswer.Feature]
    let window: DrawnWindow
    /// The layer's definition expression, the request's clause and its time.
    let filter: FeatureFilter

    var coordinateCount: Int { features.reduce(0) { $0 + ($1.shape?.coordinateCount ?? 0) } }
}

extension Drawing {
    /// The drawable content of a layer on another server.
    enum RemoteContent {
        case nothing
        /// Red, green, blue and alpha of each pixel of the frame.
        case pixels([UInt8])
        case features(RemoteFeatures)
    }

    /// Waits for the layer's server; returns its content and the failure, if any.
    ///
    /// - Parameter left: Number of coordinates that the picture may still have.
    func content(
        _ layer: PreparedLayer, _ batch: PictureBatch, _ request: ExportRequest, _ left: Int,
        _ transforms: Transforms
    ) -> (content: RemoteContent, failure: Failure?) {
        do throws(Failure) {
            guard let picture = try batch.answer(layer.id) else { return (.nothing, nil) }
            var shortfall = picture.shortfall
            switch picture.content {
            case .mosaic(let mosaic):
                let pixels = try mosaic.pixels(
                    of: frame.extent, in: frame.spatialReference, width: request.width,
                    height: request.height, sideBound: ExportRequest.sizeBound,
                    shortfall: &shortfall, isCancelled: run.isCancelled)
                return (pixels.map { .pixels($0) } ?? .nothing, shortfall)
            case .features(let features):
                let found = RemoteFeatures(
                    features: features, window: try window(layer, 0, transforms),
                    filter: try run.filter(layer, nil))
                guard found.coordinateCount <= left else {
                    throw Failure(.tooLarge, "it has more coordinates than a picture may have")
                }
                return (.features(found), shortfall)
            }
        } catch {
            return (.nothing, error)
        }
    }

    /// The visible part of a layer's source, up to a distance beyond the frame.
    private func window(
        _ layer: PreparedLayer, _ reach: Double, _ transforms: Transforms
    ) throws(Failure) -> DrawnWindow {
        let source = layer.description.properties?.spatialReference ?? frame.spatialReference
        let toFrame = try transforms.transform(from: source, to: frame.spatialReference)
        return DrawnWindow(
            frame.extent.expanded(by: reach), in: frame.spatialReference, from: source, toFrame)
    }

    func draw(
        _ found: RemoteFeatures, _ details: DrawnDetails,
        _ body: (DrawnFeature) throws(Failure) -> Void
    ) throws(Failure) {
        for (number, feature) in found.features.enumerated() {
            if number.isMultiple(of: 64) { try Failure.stop(if: run.isCancelled) }
            guard let shape = feature.shape else { continue }
            guard found.filter.exclusion(of: feature.attributes) == nil else { continue }
            let values = feature.attributes.entries
            let drawn = found.window.drawn(DrawnShape(shape)).shape
            try body(details.feature(drawn) { values[$0].value })
        }
    }
}

extension RemotePictureQuestion {
    /// The request to a layer's server: for pictures in the frame's spatial reference where the
    /// server supports it, else in the layer's own, to be projected here; for features in the
    /// layer's own.
    ///
    /// Nil where the frame cannot be projected there.
    fileprivate init?(
        _ layer: PreparedLayer, _ request: ExportRequest, _ drawing: Drawing,
        _ wish: DrawnWish, _ transforms: Transforms
    ) throws(Failure) {
        let frame = drawing.frame
        let description = layer.description
        guard let source = description.kind.source, let properties = description.properties else {
            throw Failure(.internal, "layer \(layer.id) is not loaded")
        }
        let own = properties.spatialReference
        let reference =
            frame.spatialReference.isAsked(of: source, properties)
            ? frame.spatialReference : own
        var clause: String?
        let options = request.layerTimeOptions[layer.id] ?? LayerTimeOptions()
        var time = options.useTime ? request.time : nil
        time = try time.map { time throws(Failure) in try options.asked(time, of: description) }
        let place: PicturePlace?
        var fields: [String]? = wish.fields
        if case .featureService = source {
            let toFrame = try transforms.transform(from: own, to: frame.spatialReference)
            let window = DrawnWindow(
                frame.extent.expanded(by: wish.reach), in: frame.spatialReference, from: own,
                toFrame)
            let filter = try drawing.run.filter(layer, nil)
            clause = filter.narrowing(layer.fields)
            fields?.append(contentsOf: filter.fieldPlaces.map { layer.fields[$0].name })
            if !wish.conditions.isEmpty || description.timeInfo != nil { fields = nil }
            if description.timeInfo != nil { time = nil }
            place = PicturePlace(frame, request, own, transforms, features: window.bounds)
        } else {
            if case .mapService = source {
                var isNothing = false
                clause = try drawing.run.drawnClause(layer, nothing: &isNothing)
                if isNothing { return nil }
            }
            place = PicturePlace(frame, request, reference, transforms, features: nil)
        }
        guard let place else { return nil }
        self.init(
            source: source, properties: properties, spatialReference: reference,
            extent: place.extent, width: place.width, height: place.height,
            unitsPerPixel: place.unitsPerPixel, dpi: request.dpi, fields: fields,
            clause: clause, time: time)
    }
}

/// The place of a frame in another spatial reference, and its pixel size there.
private struct PicturePlace {
    var extent: Envelope?
    var width: Int
    var height: Int
    var unitsPerPixel: Double

    /// Number of samples projected along each side of the frame.
    private static let sampleCount = 33

    /// - Parameter features: The window on the features; nil for pictures.
    init?(
        _ frame: PictureFrame, _ request: ExportRequest, _ reference: SpatialReference,
        _ transforms: Transforms, features: Envelope?
    ) {
        (width, height) = (request.width, request.height)
        unitsPerPixel = frame.unitsPerPixel
        extent = features ?? frame.extent
        guard let found = try? transforms.transform(from: frame.spatialReference, to: reference)
        else { return }
        let there = Self.samples(frame.extent, found)
        guard !there.isEmpty else { return nil }
        unitsPerPixel = Self.step(frame, found) ?? there.width / Double(width)
        if let features {
            extent = features.isFinite ? features : nil
            return
        }
        // A margin, so that pixels at the border are interpolated from all neighbours.
        let box = there.expanded(by: 2 * unitsPerPixel).inWorld(of: reference)
        guard box.width > 0, box.height > 0, unitsPerPixel > 0 else { return nil }
        let most = Double(ExportRequest.sizeBound)
        unitsPerPixel = max(unitsPerPixel, max(box.width, box.height) / most)
        width = max(1, min(Int(most), Int((box.width / unitsPerPixel).rounded(.up))))
        height = max(1, min(Int(most), Int((box.height / unitsPerPixel).rounded(.up))))
        let (dx, dy) = (Double(width) * unitsPerPixel, Double(height) * unitsPerPixel)
        extent = Envelope(minX: box.minX, minY: box.maxY - dy, maxX: box.minX + dx, maxY: box.maxY)
    }

    private static func samples(_ extent: Envelope, _ transform: CoordinateTransform) -> Envelope {
        var result = Envelope.empty
        let steps = Double(sampleCount - 1)
        for row in 0..<sampleCount {
            for column in 0..<sampleCount {
                let place = Coordinate(
                    x: extent.minX + extent.width * Double(column) / steps,
                    y: extent.minY + extent.height * Double(row) / steps)
                if let there = try? transform.forward(place) { result.extend(to: there) }
            }
        }
        return result
    }

    /// The projected size of a pixel in the centre of the frame, along the shorter axis; nil where
    /// it cannot be projected.
    private static func step(_ frame: PictureFrame, _ transform: CoordinateTransform) -> Double? {
        let middle = frame.extent.center
        let side = frame.unitsPerPixel
        guard let there = try? transform.forward(middle),
            let beside = try? transform.forward(Coordinate(x: middle.x + side, y: middle.y)),
            let above = try? transform.forward(Coordinate(x: middle.x, y: middle.y + side))
        else { return nil }
        let lengths = [beside, above].map { other in
            let (dx, dy) = (other.x - there.x, other.y - there.y)
            return (dx * dx + dy * dy).squareRoot()
        }
        let least = lengths.min() ?? 0
        return least > 0 && least.isFinite ? least : nil
    }
}

extension SpatialReference {
    /// Whether the server is requested for pictures in this spatial reference.
    fileprivate func isAsked(of source: LayerSource, _ properties: LayerProperties) -> Bool {
        switch source {
        case .wms:
            latestWkid.map { properties.service?.spatialReferences.contains($0) ?? false } ?? false
        // ArcGIS projects to any reference with a wkid.
        case .mapService: latestWkid != nil
        case .featureService, .tiles, .dataset, .raster, .graphics: false
        }
    }
}

extension Envelope {
    /// The rectangle clipped to the world, where its extent is known.
    fileprivate func inWorld(of reference: SpatialReference) -> Envelope {
        let half = Double.pi * WebMercator.radiusMeters
        let world: Envelope
        switch reference.latestWkid {
        case 4326: world = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
        case 3857: world = Envelope(minX: -half, minY: -half, maxX: half, maxY: half)
        default: return self
        }
        return Envelope(
            minX: max(minX, world.minX), minY: max(minY, world.minY),
            maxX: min(maxX, world.maxX), maxY: min(maxY, world.maxY))
    }
}
