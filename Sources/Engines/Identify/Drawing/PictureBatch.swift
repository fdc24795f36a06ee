// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The layers on other servers that one picture shows, asked all at once.
struct PictureBatch {
    private enum Answer {
        case here(Result<RemotePicture?, Failure>)
        /// The index of the question.
        case pending(Int)
    }

    private var answers: [LayerID: Answer] = [:]
    private var wait: ((Int) -> Result<RemotePicture?, Failure>)?

    /// Asks for those of the layers that are on other servers; a question that cannot be put is its
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
                    throw Failure(.unavailable, "this program asks no other servers")
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

    /// What the layer's server gave, once it has answered.
    func answer(_ layer: LayerID) throws(Failure) -> RemotePicture? {
        switch answers[layer] {
        case .here(let answer): return try answer.get()
        case .pending(let index): if let wait { return try wait(index).get() }
        case nil: break
        }
        throw Failure(.internal, "layer \(layer) was not asked")
    }
}

/// Features of another server, with the way to the picture.
struct RemoteFeatures {
    let features: [RemoteAnswer.Feature]
    let window: DrawnWindow
    /// The layer's definition, the request's clause and its time.
    let filter: FeatureFilter

    var coordinateCount: Int { features.reduce(0) { $0 + ($1.shape?.coordinateCount ?? 0) } }
}

extension Drawing {
    /// What there is to draw of a layer on another server.
    enum RemoteContent {
        case nothing
        /// Red, green, blue and alpha of each pixel of the frame.
        case pixels([UInt8])
        case features(RemoteFeatures)
    }

    /// Waits for the layer's server; with what is missing, and why.
    ///
    /// - Parameter left: How many coordinates the picture may still have.
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

    /// What is seen of a layer's source, up to a distance beyond the frame.
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
            let drawn = found.window.drawn(DrawnShape(shape))
            try body(details.feature(drawn) { values[$0].value })
        }
    }
}

extension RemotePictureQuestion {
    /// The question in the terms of a layer's server: pictures in the frame's spatial reference
    /// where the server knows it, else in the layer's own, to be projected here; features in the
    /// layer's own.
    ///
    /// Nil where the frame has no place there.
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

/// Where a frame lies in another spatial reference, and how large its pixels are there.
private struct PicturePlace {
    var extent: Envelope?
    var width: Int
    var height: Int
    var unitsPerPixel: Double

    /// How many places along each side of the frame are projected.
    private static let sampleCount = 33

    /// - Parameter features: What of features is to be seen there; nil for pictures.
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
        // A little more, so that pixels at the border are mixed from all of theirs.
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

    /// How far a pixel in the middle of the frame goes there, the shorter way; nil where it has no
    /// place.
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
    /// Whether a server is asked for pictures in it.
    fileprivate func isAsked(of source: LayerSource, _ properties: LayerProperties) -> Bool {
        switch source {
        case .wms:
            latestWkid.map { properties.service?.spatialReferences.contains($0) ?? false } ?? false
        // ArcGIS projects to whatever has a number.
        case .mapService: latestWkid != nil
        case .featureService, .tiles, .dataset, .raster, .graphics: false
        }
    }
}

extension Envelope {
    /// Without what lies beyond the world, where its border is known.
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
