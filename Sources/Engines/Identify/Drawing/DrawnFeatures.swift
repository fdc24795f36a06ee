// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import Expression
public import Geometry
internal import PROJ

/// The shape of a drawn feature, in the picture's spatial reference.
public enum DrawnShape: Hashable, Sendable {
    /// Positions.
    case positions([Coordinate])
    /// Paths.
    case paths([[Coordinate]])
    /// Parts, each a list of closed rings.
    ///
    /// The feature is the union of its parts; within one part the even-odd rule applies.
    case areas([[[Coordinate]]])

    init(_ shape: Shape) {
        switch shape {
        case .point(let place): self = .positions([place])
        case .multipoint(let places): self = .positions(places)
        case .polyline(let paths): self = .paths(paths)
        case .polygon(let rings): self = .areas([rings])
        case .envelope(let box):
            let corners = [
                (box.minX, box.minY), (box.maxX, box.minY), (box.maxX, box.maxY),
                (box.minX, box.maxY), (box.minX, box.minY),
            ]
            self = .areas([[corners.map { Coordinate(x: $0.0, y: $0.1) }]])
        }
    }
}

/// The data that a picture needs of a layer's features besides their shapes.
public struct DrawnWish: Hashable, Sendable {
    /// The distance beyond the frame, in units of the frame, up to which features are needed.
    public var reach: Double
    /// Fields whose values are needed.
    public var fields: [String]
    /// WHERE clauses whose truth is needed.
    public var conditions: [String]

    /// Creates a wish, by default for shapes only.
    public init(reach: Double, fields: [String] = [], conditions: [String] = []) {
        self.reach = reach
        self.fields = fields
        self.conditions = conditions
    }
}

/// A feature visible in a picture.
public struct DrawnFeature: Sendable {
    /// Its shape, in the picture's spatial reference.
    public var shape: DrawnShape
    /// Values of the wished fields; null for an unknown one.
    public var values: [AttributeValue]
    /// Truth of the wished conditions; false for one with unknown fields.
    public var holds: [Bool]
}

extension IdentifyEngine {
    /// Limit of coordinates of the features in one picture, before simplification.
    public static let drawnCoordinateBound = 20_000_000

    /// The extent and scale of a picture.
    ///
    /// Throws `invalidParameter` or `tooLarge`, naming the parameter, for an invalid request.
    public func frame(
        of request: ExportRequest, in map: PreparedMap
    ) throws(Failure) -> PictureFrame {
        let state = kept.take(nil)
        defer { kept.giveBack(state) }
        return try PictureFrame(request, map.description, state.transforms)
    }

    /// Enumerates the content of a picture, layer by layer, bottom first.
    ///
    /// Calls `layer` with each, and then `feature` with those of its features that pass the
    /// request's filters and are visible in the frame, in the order of the dataset or of drawing;
    /// far from the frame, shapes may be cut. Before it, `unplaceable` is called with the object id
    /// of one of the site's own layers that has a position without a place in the frame's
    /// reference. For the layer of a raster `raster` is called instead,
    /// with red, green, blue and alpha of each pixel of the frame, unless it does not overlap the
    /// frame.
    ///
    /// `wish` returns the data needed of a layer's features. Features that cannot be projected into
    /// the frame's spatial reference are left out. Nothing is cached.
    ///
    /// Layers on other servers are requested through `remotes`, all at once and before drawing
    /// starts. Their failures are returned; no response of another server makes this throw.
    ///
    /// Throws `invalidParameter` for an unusable clause or time, `tooLarge` beyond
    /// ``drawnCoordinateBound`` coordinates, `cancelled` soon after `isCancelled` returns true, and
    /// what the datasets, the rasters and the closures throw.
    public func forEachDrawnFeature(
        of request: ExportRequest, in map: PreparedMap, frame: PictureFrame,
        remotes: RemotePictureProvider? = nil, isCancelled: @escaping () -> Bool,
        wish: (LayerDescription) -> DrawnWish,
        unplaceable: (LayerID, Int64) -> Void = { _, _ in },
        layer: (LayerDescription) throws(Failure) -> Void,
        raster: ([UInt8]) throws(Failure) -> Void,
        feature: (DrawnFeature) throws(Failure) -> Void
    ) throws(Failure) -> [LayerFailure] {
        var state = kept.take(nil)
        defer { kept.giveBack(state) }
        let drawing = Drawing(
            run: IdentifyRun(
                request: request.asIdentify(frame), map: map, reference: frame.spatialReference,
                output: frame.spatialReference, sources: sources, remotes: nil,
                isCancelled: isCancelled),
            frame: frame)
        var left = Self.drawnCoordinateBound
        var missing: [LayerFailure] = []
        let drawn = map.resolution.drawn(request.layers, scale: frame.scale)
        let batch = PictureBatch(drawn, remotes, request, drawing, wish, state.transforms)
        for each in drawn {
            try Failure.stop(if: isCancelled)
            let description = each.description
            if each.isRemote {
                let found = drawing.content(each, batch, request, left, state.transforms)
                // A wait may have ended because of cancellation.
                try Failure.stop(if: isCancelled)
                if let failure = found.failure {
                    missing.append(
                        LayerFailure(layerID: each.id, layerName: each.name, error: failure))
                }
                try layer(description)
                switch found.content {
                case .nothing: break
                case .pixels(let pixels): try raster(pixels)
                case .features(let features):
                    left -= features.coordinateCount
                    try drawing.draw(
                        features, DrawnDetails(wish(description), each.fields), feature)
                }
                continue
            }
            try layer(description)
            do throws(Failure) {
                if case .raster(let id) = description.kind.source {
                    let file = try state.raster(id, sources.rasters)
                    if let pixels = try drawing.pixels(of: file, request, state.transforms) {
                        try raster(pixels)
                    }
                    continue
                }
                let wish = wish(description)
                try drawing.draw(
                    each, frame.extent.expanded(by: wish.reach).widened,
                    DrawnDetails(wish, each.fields),
                    &state, &left, { unplaceable(each.id, $0) }, feature)
            } catch {
                guard error.isOfLayer else { throw error }
                missing.append(
                    LayerFailure(layerID: each.id, layerName: each.name, error: error))
            }
        }
        return missing
    }

    /// The failures that a picture would have, of layers on other servers, which are requested as
    /// for the picture, and of layers in an unusable spatial reference.
    public func missing(
        of request: ExportRequest, in map: PreparedMap, frame: PictureFrame,
        remotes: RemotePictureProvider?, isCancelled: @escaping () -> Bool,
        wish: (LayerDescription) -> DrawnWish
    ) throws(Failure) -> [LayerFailure] {
        let state = kept.take(nil)
        defer { kept.giveBack(state) }
        let drawing = Drawing(
            run: IdentifyRun(
                request: request.asIdentify(frame), map: map, reference: frame.spatialReference,
                output: frame.spatialReference, sources: sources, remotes: nil,
                isCancelled: isCancelled),
            frame: frame)
        let drawn = map.resolution.drawn(request.layers, scale: frame.scale)
        let batch = PictureBatch(drawn, remotes, request, drawing, wish, state.transforms)
        var missing: [LayerFailure] = []
        for each in drawn {
            guard each.isRemote else {
                if let failure = drawing.obstacle(to: each, state.transforms) {
                    missing.append(
                        LayerFailure(layerID: each.id, layerName: each.name, error: failure))
                }
                continue
            }
            let found = drawing.content(
                each, batch, request, Self.drawnCoordinateBound, state.transforms)
            try Failure.stop(if: isCancelled)
            guard let failure = found.failure else { continue }
            missing.append(LayerFailure(layerID: each.id, layerName: each.name, error: failure))
        }
        return missing
    }

    /// Whether a picture has layers on other servers.
    public func showsRemotes(
        _ request: ExportRequest, in map: PreparedMap, frame: PictureFrame
    ) -> Bool {
        map.resolution.drawn(request.layers, scale: frame.scale).contains(where: \.isRemote)
    }
}

extension LayerResolution {
    /// The layers of a picture, bottom first.
    func drawn(_ wanted: DrawnLayers, scale: Double?) -> [PreparedLayer] {
        let named = expanded(wanted.ids)
        return layers.filter { layer in
            guard layer.isDrawable, layer.outOfScale(scale) == nil else { return false }
            let isVisible = layer.hidden == nil
            return switch wanted.option {
            case .show: named.contains(layer.id)
            case .hide: !named.contains(layer.id)
            case .include: isVisible || named.contains(layer.id)
            case .exclude: isVisible && !named.contains(layer.id)
            }
        }
    }
}

extension PreparedLayer {
    /// Whether it has features or pixels; it need not be queryable.
    fileprivate var isDrawable: Bool {
        description.loadStatus == .loaded && description.kind.source != nil
    }
}

extension ExportRequest {
    /// An identify request with the picture's clauses and time.
    fileprivate func asIdentify(_ frame: PictureFrame) -> IdentifyRequest {
        IdentifyRequest(
            map: map, geometry: .envelope(frame.extent), tolerance: 0, mapExtent: frame.extent,
            imageDisplay: ImageDisplay(width: Double(width), height: Double(height), dpi: dpi),
            spatialReference: frame.spatialReference, layerDefinitions: layerDefinitions,
            time: time, timeRelation: timeRelation, layerTimeOptions: layerTimeOptions)
    }
}

/// One picture in progress.
struct Drawing {
    /// The run of its filters; `reference` is the picture's.
    let run: IdentifyRun
    let frame: PictureFrame

    func draw(
        _ layer: PreparedLayer, _ envelope: Envelope, _ details: DrawnDetails,
        _ state: inout EngineState, _ left: inout Int, _ unplaceable: (Int64) -> Void,
        _ body: (DrawnFeature) throws(Failure) -> Void
    ) throws(Failure) {
        switch layer.description.kind.source {
        case .dataset(let id):
            let description = layer.description
            let filter = try run.filter(layer, try run.sight(layer, in: id, state))
            let dataset = try run.sources.datasets(id)
            let toFrame = try state.transforms.transform(
                ofLayerIn: dataset.properties.spatialReference, to: frame.spatialReference)
            let window = DrawnWindow(
                envelope, in: frame.spatialReference,
                from: dataset.properties.spatialReference, toFrame)
            let (edited, _) = try state.edited(
                dataset, description, in: run.map.description.name)
            for part in [dataset, edited.overlay] {
                guard let part else { continue }
                try drawFeatures(
                    of: part, edited, filter, details, window, &left, unplaceable, body)
            }
        case .graphics(let source):
            let toFrame = try state.transforms.transform(
                ofLayerIn: source.spatialReference, to: frame.spatialReference)
            let window = DrawnWindow(
                envelope, in: frame.spatialReference, from: source.spatialReference, toFrame)
            let graphics = layer.description.graphics ?? []
            let filter = try run.graphicsFilter(layer)
            try drawGraphics(
                filter.map { filter in graphics.filter(filter.selects) } ?? graphics, details,
                window, &left, unplaceable, body)
        case .raster, .wms, .mapService, .featureService, .tiles, nil: return
        }
    }

    /// Why one of the site's own layers cannot be drawn, from its spatial reference; nil where it
    /// can.
    func obstacle(to layer: PreparedLayer, _ transforms: Transforms) -> Failure? {
        guard let own = layer.description.properties?.spatialReference else { return nil }
        do throws(Failure) {
            _ = try transforms.transform(ofLayerIn: own, to: frame.spatialReference)
            return nil
        } catch {
            return error
        }
    }

    /// Nil where the raster does not overlap the frame.
    func pixels(
        of raster: RasterFile, _ request: ExportRequest, _ transforms: Transforms
    ) throws(Failure) -> [UInt8]? {
        let reference = raster.properties.spatialReference
        let toFrame = try transforms.transform(
            ofLayerIn: reference, to: frame.spatialReference)
        let window = DrawnWindow(
            frame.extent, in: frame.spatialReference, from: reference, toFrame)
        guard let extent = raster.properties.extent, window.bounds.intersects(extent) else {
            return nil
        }
        let pixels = try raster.picture(
            of: frame.extent, in: frame.spatialReference, width: request.width,
            height: request.height, isCancelled: run.isCancelled)
        try Failure.stop(if: run.isCancelled)
        return pixels
    }

    private func drawFeatures(
        of dataset: Dataset, _ edited: EditedDataset, _ filter: FeatureFilter,
        _ details: DrawnDetails, _ window: DrawnWindow, _ left: inout Int,
        _ unplaceable: (Int64) -> Void, _ body: (DrawnFeature) throws(Failure) -> Void
    ) throws(Failure) {
        var number = 0
        do {
            try dataset.search(window.bounds) { feature in
                if number.isMultiple(of: 64) { try Failure.stop(if: run.isCancelled) }
                number += 1
                if dataset === edited.base, edited.hides(feature.objectID) { return }
                guard try filter.exclusion(of: feature, in: dataset) == nil else { return }
                try take(try dataset.coordinateCount(of: feature), &left)
                let shape: DrawnShape
                if dataset.properties.geometryType == .polygon {
                    shape = .areas(try dataset.polygonParts(of: feature))
                } else if let whole = try dataset.shape(of: feature) {
                    shape = DrawnShape(whole)
                } else {
                    return
                }
                let values =
                    details.isEmpty ? [] : try dataset.attributes(of: feature).entries.map(\.value)
                let (drawn, isWhole) = window.drawn(shape)
                if !isWhole { unplaceable(Int64(feature.objectID)) }
                try body(details.feature(drawn) { values[$0] })
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "\(error)")
        }
    }

    private func drawGraphics(
        _ graphics: [Graphic], _ details: DrawnDetails, _ window: DrawnWindow,
        _ left: inout Int, _ unplaceable: (Int64) -> Void,
        _ body: (DrawnFeature) throws(Failure) -> Void
    ) throws(Failure) {
        let ordered = graphics.sorted { ($0.zIndex, $0.id) < ($1.zIndex, $1.id) }
        for (number, graphic) in ordered.enumerated() {
            if number.isMultiple(of: 64) { try Failure.stop(if: run.isCancelled) }
            guard graphic.shape.envelope.intersects(window.bounds) else { continue }
            try take(graphic.shape.coordinateCount, &left)
            let (drawn, isWhole) = window.drawn(DrawnShape(graphic.shape))
            if !isWhole { unplaceable(graphic.id) }
            try body(details.feature(drawn, of: graphic.attributes))
        }
    }

    private func take(_ count: Int, _ left: inout Int) throws(Failure) {
        left -= count
        guard left >= 0 else {
            throw Failure(
                .tooLarge,
                "the picture would need more than \(IdentifyEngine.drawnCoordinateBound) "
                    + "coordinates: show a smaller bbox or fewer layers, or give layers a scale "
                    + "range"
            )
        }
    }
}

/// A wish, resolved to columns.
struct DrawnDetails {
    private let wish: DrawnWish
    /// Indices of the wished fields; nil for an unknown one.
    private let columns: [Int?]
    private let clauses: [BoundClause?]

    init(_ wish: DrawnWish, _ fields: [FieldDescription]) {
        self.wish = wish
        let names = fields.map { $0.name.lowercased() }
        columns = wish.fields.map { names.firstIndex(of: $0.lowercased()) }
        clauses = wish.conditions.map { try? WhereClause(parsing: $0).bound(to: fields) }
    }

    /// Whether no attributes are needed.
    var isEmpty: Bool { wish.fields.isEmpty && wish.conditions.isEmpty }

    func feature(_ shape: DrawnShape, _ value: (Int) -> AttributeValue) -> DrawnFeature {
        DrawnFeature(
            shape: shape, values: columns.map { $0.map(value) ?? .null },
            holds: clauses.map { $0?.evaluate(value) == true })
    }

    /// Graphics have attributes of any name, but no columns for conditions.
    func feature(_ shape: DrawnShape, of attributes: Attributes) -> DrawnFeature {
        DrawnFeature(
            shape: shape, values: wish.fields.map { attributes[$0] ?? .null },
            holds: wish.conditions.map { _ in false })
    }
}
