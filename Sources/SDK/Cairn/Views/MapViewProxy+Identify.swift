// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

extension MapViewProxy {
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
                guard graphic.isVisible, let geometry = graphic.geometry, !geometry.isEmpty,
                    let own = try? frame.placed(geometry)
                else { return false }
                return GeometryEngine.distance(from: question.point.place, to: own)
                    <= question.radius
            } : []
        return IdentifyGraphicsOverlayResult(
            graphicsOverlay: overlay, graphics: Array(found.prefix(question.limit ?? Int.max)),
            isTransferLimitExceeded: found.count > question.limit ?? Int.max)
    }
}
