// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// A view of a map that has no window: it knows what would be seen, identifies through it, and
/// makes a picture of it.
///
/// Points of the screen count from the upper left corner, y downwards. A view begins at the map's
/// initial viewpoint, else at the extent of its basemap, else of its first layer.
public final class MapViewProxy: Sendable {
    private struct State: Sendable {
        var size: CGSize
        var frame: ViewFrame?
        var overlays: [GraphicsOverlay] = []
        /// What was set before the map had a reference.
        var pending: Viewpoint?
    }

    /// The map.
    public let map: Map
    /// Dots per inch.
    public let dpi: Double
    private let state: Guarded<State>

    /// Greatest tolerance, in points.
    public static let greatestTolerance = 100.0
    private static let greatestDPI = 9_600.0
    /// Beyond it, pixels are no numbers any more.
    private static let greatestNumber = 1e15

    /// A view of a size in points.
    public init(map: Map, size: CGSize, dpi: Double = 96) {
        self.map = map
        self.dpi = dpi > 0 ? min(dpi, Self.greatestDPI) : 96
        func side(_ length: CGFloat) -> CGFloat { length > 1 ? min(length, 16_384) : 1 }
        state = Guarded(
            State(
                size: CGSize(width: side(size.width), height: side(size.height))))
    }

    /// The overlays, the bottom one first.
    public var graphicsOverlays: [GraphicsOverlay] {
        get { state.current.overlays }
        set { state.withLock { $0.overlays = newValue } }
    }

    // MARK: The frame

    /// What is shown; loads the map.
    private func frame() async throws -> ViewFrame {
        try await map.load()
        guard let reference = map.spatialReference else { throw map.missingReference }
        if let frame = state.current.frame, frame.spatialReference == reference { return frame }
        let viewpoint =
            state.current.pending ?? map.initialViewpoint
            ?? map.firstExtent.map { Viewpoint(boundingGeometry: $0) }
            ?? Viewpoint(
                center: Point(x: 0, y: 0, spatialReference: reference), scale: 100_000_000)
        let frame = try Self.frame(viewpoint, state.current.size, dpi, reference, nil)
        state.withLock { ($0.frame, $0.pending) = (frame, nil) }
        return frame
    }

    private static func frame(
        _ viewpoint: Viewpoint, _ size: CGSize, _ dpi: Double, _ reference: SpatialReference,
        _ padding: Double?
    ) throws -> ViewFrame {
        let target =
            viewpoint.targetGeometry.spatialReference == nil
            ? viewpoint.targetGeometry
            : try GeometryEngine.projected(viewpoint.targetGeometry, into: reference)
        let (width, height) = (Double(size.width), Double(size.height))
        var frame = ViewFrame(
            center: target.extent.center.place, scale: viewpoint.scale ?? 1,
            rotation: viewpoint.rotation, width: width, height: height, dpi: dpi,
            spatialReference: reference)
        if viewpoint.scale == nil {
            let extent = target.extent
            let room = 2 * (padding ?? 0)
            let resolution = max(
                extent.width / max(width - room, 1), extent.height / max(height - room, 1))
            // A single place is shown at 1:1,000.
            frame.scale =
                resolution > 0
                ? ViewFrame.scale(resolution: resolution, dpi: dpi, reference) : 1_000
        }
        guard frame.scale > 0, frame.scale < greatestNumber, frame.rotation.isFinite,
            abs(frame.center.x) < greatestNumber, abs(frame.center.y) < greatestNumber
        else {
            throw CairnError(
                .invalidArgument,
                "a viewpoint at \(target.extent.center) of the scale \(frame.scale) cannot be shown"
            )
        }
        return frame
    }

    /// Shows something else; false where its geometry cannot be had in the map's reference.
    ///
    /// `duration` is for views with a window, which move; here it passes at once.
    @discardableResult
    public func setViewpoint(_ viewpoint: Viewpoint, duration: TimeInterval = 0) async -> Bool {
        try? await map.load()
        guard let reference = map.spatialReference else {
            state.withLock { $0.pending = viewpoint }
            return false
        }
        let size = state.current.size
        guard let frame = try? Self.frame(viewpoint, size, dpi, reference, nil) else {
            return false
        }
        state.withLock { $0.frame = frame }
        return true
    }

    /// Shows a place, at a scale or at the one shown.
    @discardableResult
    public func setViewpointCenter(_ center: Point, scale: Double? = nil) async -> Bool {
        let now = try? await frame()
        guard let scale = scale ?? now?.scale else { return false }
        return await setViewpoint(
            Viewpoint(center: center, scale: scale, rotation: now?.rotation ?? 0))
    }

    /// Shows the same place at another scale.
    @discardableResult
    public func setViewpointScale(_ scale: Double) async -> Bool {
        guard scale > 0, scale < Self.greatestNumber, (try? await frame()) != nil else {
            return false
        }
        state.withLock { $0.frame?.scale = scale }
        return true
    }

    /// Turns the map, by degrees counterclockwise.
    @discardableResult
    public func setViewpointRotation(_ rotation: Double) async -> Bool {
        guard rotation.isFinite, (try? await frame()) != nil else { return false }
        state.withLock { $0.frame?.rotation = rotation }
        return true
    }

    /// Shows an area, with points of padding at each side.
    @discardableResult
    public func setViewpointGeometry(_ geometry: Geometry, padding: Double = 0) async -> Bool {
        guard let now = try? await frame(), let reference = map.spatialReference,
            let frame = try? Self.frame(
                Viewpoint(boundingGeometry: geometry, rotation: now.rotation), state.current.size,
                dpi, reference, padding)
        else { return false }
        state.withLock { $0.frame = frame }
        return true
    }

    /// The scale that is shown; nil before the map has a reference.
    public var mapScale: Double? { state.current.frame?.scale }

    /// The area that is shown; nil before the map has a reference.
    public var visibleArea: Polygon? { state.current.frame?.visibleArea }

    /// Degrees counterclockwise that the map is turned.
    public var rotation: Double { state.current.frame?.rotation ?? 0 }

    /// The place at a point of the screen; nil before the map has a reference.
    public func location(fromScreenPoint point: CGPoint) -> Point? {
        guard let frame = state.current.frame else { return nil }
        return Point(frame.location(Double(point.x), Double(point.y)), frame.spatialReference)
    }

    /// The point of the screen at a place; nil before the map has a reference, and for a place that
    /// cannot be had in it.
    public func screenPoint(fromLocation location: Point) -> CGPoint? {
        guard let frame = state.current.frame else { return nil }
        let place =
            location.spatialReference == nil
            ? location : try? GeometryEngine.projected(location, into: frame.spatialReference)
        return place.map { frame.pixel($0.place) }.map { CGPoint(x: $0.x, y: $0.y) }
    }

    /// Around what a rectangle of the screen shows; nil before the map has a reference.
    public func envelope(fromViewRect rect: CGRect) -> Envelope? {
        guard let frame = state.current.frame else { return nil }
        let (left, top) = (Double(rect.origin.x), Double(rect.origin.y))
        let (right, bottom) = (left + Double(rect.size.width), top + Double(rect.size.height))
        return Multipoint(
            places: [(left, top), (right, top), (left, bottom), (right, bottom)].map {
                frame.location($0.0, $0.1)
            }, spatialReference: frame.spatialReference
        ).extent
    }

    // MARK: Identify

    private func question(
        _ screenPoint: CGPoint, _ tolerance: Double, _ popupsOnly: Bool, _ limit: Int?
    ) async throws -> IdentifyQuestion {
        guard 0...Self.greatestTolerance ~= tolerance else {
            throw CairnError(
                .invalidArgument, "tolerance \(tolerance): expected 0 to 100 points")
        }
        guard limit.map({ $0 > 0 }) ?? true else {
            throw CairnError(
                .invalidArgument, "maximum of results: expected 1 or more, or nil for all")
        }
        guard screenPoint.x.isFinite, screenPoint.y.isFinite else {
            throw CairnError(.invalidArgument, "screenPoint: expected finite numbers")
        }
        let frame = try await frame()
        return IdentifyQuestion(
            frame: frame,
            point: Point(
                frame.location(Double(screenPoint.x), Double(screenPoint.y)),
                frame.spatialReference),
            tolerance: tolerance, limit: limit, returnsPopupsOnly: popupsOnly)
    }

    /// What is at a point of the screen: one result for each layer that has something there, the
    /// top one first.
    ///
    /// Searched is what a person could see. `tolerance` is a radius in points; 0 tests the position
    /// alone. A layer that could not be asked has a result with its error; where every layer
    /// failed, the first error is thrown.
    public func identifyLayers(
        screenPoint: CGPoint, tolerance: Double, returnPopupsOnly: Bool = false,
        maximumResultsPerLayer: Int? = 1
    ) async throws -> [IdentifyLayerResult] {
        let question = try await question(
            screenPoint, tolerance, returnPopupsOnly, maximumResultsPerLayer)
        let layers = map.operationalLayers.filter {
            $0.isVisible && $0.isVisible(atScale: question.frame.scale)
        }
        let sorted = try await Self.ask(layers, question)
        let asked = layers.filter { !($0 is TiledLayer) }
        let failures = sorted.compactMap(\.error)
        if let first = failures.first, failures.count == asked.count { throw first }
        return sorted
    }

    /// The results of layers, the top one first.
    static func ask(
        _ layers: [Layer], _ question: IdentifyQuestion
    ) async throws -> [IdentifyLayerResult] {
        let results = try await withThrowingTaskGroup(
            of: (Int, IdentifyLayerResult?).self
        ) { group in
            for (place, layer) in layers.enumerated() {
                group.addTask { (place, try await ask(layer, question)) }
            }
            var results: [(Int, IdentifyLayerResult)] = []
            for try await (place, result) in group {
                if let result { results.append((place, result)) }
            }
            return results
        }
        return results.sorted { $0.0 > $1.0 }.map(\.1)
    }

    private static func ask(
        _ layer: Layer, _ question: IdentifyQuestion
    ) async throws -> IdentifyLayerResult? {
        do {
            try await layer.load()
            return try await layer.identify(question)
        } catch is CancellationError {
            guard Task.isCancelled else {
                return IdentifyLayerResult(layerContent: layer, error: CancellationError())
            }
            throw CancellationError()
        } catch {
            return IdentifyLayerResult(layerContent: layer, error: error)
        }
    }

    /// What is at a point of the screen in one layer; throws its error.
    public func identify(
        on layer: Layer, screenPoint: CGPoint, tolerance: Double, returnPopupsOnly: Bool = false,
        maximumResults: Int? = 1
    ) async throws -> IdentifyLayerResult {
        let question = try await question(
            screenPoint, tolerance, returnPopupsOnly, maximumResults)
        guard layer.isVisible, layer.isVisible(atScale: question.frame.scale) else {
            return IdentifyLayerResult(layerContent: layer, sublayerResults: [])
        }
        try await layer.load()
        return try await layer.identify(question)
            ?? IdentifyLayerResult(layerContent: layer, sublayerResults: [])
    }

    /// The graphics at a point of the screen in one overlay.
    public func identify(
        on graphicsOverlay: GraphicsOverlay, screenPoint: CGPoint, tolerance: Double,
        returnPopupsOnly: Bool = false, maximumResults: Int? = 1
    ) async throws -> IdentifyGraphicsOverlayResult {
        let question = try await question(
            screenPoint, tolerance, returnPopupsOnly, maximumResults)
        return Self.found(in: graphicsOverlay, question)
    }

    /// The graphics at a point of the screen: one result for each overlay that has some, the top
    /// one first.
    public func identifyGraphicsOverlays(
        screenPoint: CGPoint, tolerance: Double, returnPopupsOnly: Bool = false,
        maximumResultsPerOverlay: Int? = 1
    ) async throws -> [IdentifyGraphicsOverlayResult] {
        let question = try await question(
            screenPoint, tolerance, returnPopupsOnly, maximumResultsPerOverlay)
        return graphicsOverlays.reversed().map { Self.found(in: $0, question) }
            .filter { !$0.graphics.isEmpty }
    }

    private static func found(
        in overlay: GraphicsOverlay, _ question: IdentifyQuestion
    ) -> IdentifyGraphicsOverlayResult {
        let frame = question.frame
        let isShown =
            overlay.isVisible
            && Layer.isIn(frame.scale, min: overlay.minScale, max: overlay.maxScale)
        // Of equal places in the order, the later one is above.
        let graphics = overlay.graphics.enumerated()
            .sorted { ($0.element.zIndex, $0.offset) > ($1.element.zIndex, $1.offset) }
            .map(\.element)
        let found =
            isShown
            ? graphics.filter { graphic in
                guard graphic.isVisible, let geometry = graphic.geometry, !geometry.isEmpty
                else { return false }
                let own =
                    geometry.spatialReference == nil
                    ? geometry
                    : try? GeometryEngine.projected(geometry, into: frame.spatialReference)
                guard let own else { return false }
                return GeometryEngine.distance(from: question.point.place, to: own)
                    <= question.radius
            } : []
        return IdentifyGraphicsOverlayResult(
            graphicsOverlay: overlay, graphics: Array(found.prefix(question.limit ?? Int.max)),
            isTransferLimitExceeded: found.count > question.limit ?? Int.max)
    }

    // MARK: Pictures

    /// Why a layer shows nothing, or that it is drawn.
    public func layerViewState(of layer: Layer) -> LayerViewState {
        var above: Layer? = layer
        while let shown = above {
            guard shown.isVisible else { return .notVisible }
            above = shown.group
        }
        if let error = layer.loadError { return .error("\(error)") }
        if let reference = map.spatialReference, !layer.isCompatible(with: reference) {
            return .incompatible(
                "\(layer.name) has \(layer.spatialReference?.description ?? "no reference"), the "
                    + "map \(reference)")
        }
        if let scale = mapScale, !layer.isVisible(atScale: scale) { return .outOfScale }
        return .active
    }

    /// A PNG of what is shown: basemap, layers bottom to top, graphics above.
    ///
    /// A layer that fails is left out and logged. Throws where the map has no reference.
    public func exportImage() async throws -> Data { Data(PNG.encode(try await exportRaster())) }

    /// The pixels of ``exportImage()``.
    public func exportRaster() async throws -> Raster {
        let frame = try await frame()
        let layers = map.drawnLayers.filter {
            $0.isVisible && $0.isVisible(atScale: frame.scale)
        }
        let pictures = try await Self.pictures(of: layers, frame)
        let overlays = graphicsOverlays.filter { overlay in
            overlay.isVisible
                && Layer.isIn(frame.scale, min: overlay.minScale, max: overlay.maxScale)
        }
        await Symbol.loadPictures(
            pictures.flatMap(\.1.symbols) + overlays.flatMap { $0.shapes.compactMap(\.symbol) })
        var canvas = PictureCanvas(frame)
        for (layer, picture) in pictures {
            for (content, opacity) in picture.faded(layer.opacity).parts {
                switch content {
                case .shapes(let shapes):
                    for (geometry, symbol) in shapes { canvas.draw(geometry, symbol, opacity) }
                case .png(let png, let extent):
                    do {
                        try canvas.draw(png, over: extent, opacity: opacity)
                    } catch {
                        CairnEnvironment.note(
                            .warning, "a layer is not in the picture",
                            ["layer": layer.name, "error": "\(error)"])
                    }
                }
            }
        }
        for overlay in overlays { canvas.draw(overlay) }
        return canvas.raster
    }

    /// What layers show, in their order; one that fails is left out and logged.
    static func pictures(
        of layers: [Layer], _ frame: ViewFrame
    ) async throws -> [(Layer, LayerPicture)] {
        try await withThrowingTaskGroup(of: (Int, LayerPicture?).self) { group in
            for (place, layer) in layers.enumerated() {
                group.addTask {
                    do {
                        try await layer.load()
                        guard layer.isCompatible(with: frame.spatialReference) else {
                            return (place, nil)
                        }
                        return (place, try await layer.picture(frame))
                    } catch {
                        try Task.checkCancellation()
                        CairnEnvironment.note(
                            .warning, "a layer is not in the picture",
                            ["layer": layer.name, "error": "\(error)"])
                        return (place, nil)
                    }
                }
            }
            var pictures: [(Int, LayerPicture)] = []
            for try await (place, picture) in group {
                if let picture { pictures.append((place, picture)) }
            }
            return pictures.sorted { $0.0 < $1.0 }.map { (layers[$0.0], $0.1) }
        }
    }
}
