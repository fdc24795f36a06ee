// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

extension MapViewProxy {
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
    /// A layer that fails is left out and logged. Vector tiles are drawn here, as
    /// ``ArcGISVectorTiledLayer`` says. Throws where the map has no reference.
    public func exportImage() async throws -> Data { Data(PNG.encode(try await exportRaster())) }

    /// The pixels of ``exportImage()``.
    public func exportRaster() async throws -> Raster {
        let frame = try await frame()
        let layers = map.allLayers.filter {
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
                case .raster(let raster): canvas.draw(raster, opacity: opacity)
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
