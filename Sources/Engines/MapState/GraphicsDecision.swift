// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// Decides commands on the graphics of one layer; an accepted command is one event, or none.
struct GraphicsDecision {
    let model: MapModel
    let layer: LayerDescription
    private let graphics: [Graphic]

    /// Throws `invalidParameter` for a layer that is no graphics layer.
    init(model: MapModel, layer: LayerDescription) throws(Failure) {
        guard let graphics = layer.graphics else {
            throw Failure(
                .invalidParameter,
                "layer \(layer.id) ('\(layer.name)') is a \(layer.kindName) layer: only a graphics "
                    + "layer is drawn on")
        }
        self.model = model
        self.layer = layer
        self.graphics = graphics
    }

    func add(
        _ shape: Shape, _ attributes: Attributes, _ zIndex: Int
    ) throws(Failure) -> MapEvent {
        guard graphics.count < MapLimits.graphics else {
            throw Failure(
                .tooLarge,
                "layer \(layer.id) ('\(layer.name)') has \(MapLimits.graphics) graphics, the most "
                    + "it "
                    + "can hold")
        }
        let graphic = Graphic(
            id: model.nextGraphicID(in: layer.id), shape: shape.drawn, attributes: attributes,
            zIndex: zIndex)
        try check(graphic, replacing: 0)
        return .graphicAdded(GraphicAdded(layer: layer.id, graphic: graphic))
    }

    func update(
        _ id: Int64, _ shape: Shape?, _ attributes: Attributes?, _ zIndex: Int?
    ) throws(Failure) -> MapEvent? {
        let old = graphics[try place(of: id)]
        let new = Graphic(
            id: id, shape: shape?.drawn ?? old.shape, attributes: attributes ?? old.attributes,
            zIndex: zIndex ?? old.zIndex)
        if new == old { return nil }
        try check(new, replacing: old.shape.coordinateCount)
        return .graphicChanged(GraphicChanged(layer: layer.id, graphic: new))
    }

    func remove(_ id: Int64) throws(Failure) -> MapEvent {
        _ = try place(of: id)
        return .graphicRemoved(GraphicRemoved(layer: layer.id, graphic: id))
    }

    func clear() -> MapEvent? {
        graphics.isEmpty ? nil : .graphicsCleared(GraphicsCleared(layer: layer.id))
    }

    private func place(of id: Int64) throws(Failure) -> Int {
        guard let place = graphics.place(of: id) else {
            throw Failure(
                .notFound, "layer \(layer.id) ('\(layer.name)') has no graphic \(id)")
        }
        return place
    }

    // MARK: Checks

    private func check(_ graphic: Graphic, replacing replaced: Int) throws(Failure) {
        try graphic.shape.checkDrawable()
        try Self.check(graphic.attributes)
        guard abs(graphic.zIndex) <= MapLimits.zIndex else {
            throw Failure(
                .invalidParameter,
                "zIndex \(graphic.zIndex): expected -\(MapLimits.zIndex) to \(MapLimits.zIndex)")
        }
        let others = graphics.reduce(-replaced) { $0 + $1.shape.coordinateCount }
        guard others + graphic.shape.coordinateCount <= MapLimits.coordinatesPerLayer else {
            throw Failure(
                .tooLarge,
                "layer \(layer.id) ('\(layer.name)') would have more than "
                    + "\(MapLimits.coordinatesPerLayer) coordinates, the most it can hold")
        }
    }

    private static func check(_ attributes: Attributes) throws(Failure) {
        let entries = attributes.entries
        guard entries.count <= MapLimits.attributesPerGraphic else {
            throw Failure(
                .tooLarge,
                "attributes: \(entries.count), expected at most \(MapLimits.attributesPerGraphic)")
        }
        var names: Set<String> = ["objectid"]
        var byteCount = 0
        for entry in entries {
            guard !entry.name.isEmpty, entry.name.utf8.count <= MapLimits.layerNameBytes,
                names.insert(entry.name.lowercased()).inserted
            else {
                throw Failure(
                    .invalidParameter,
                    "attribute '\(entry.name.prefix(80))': expected a name of 1 to "
                        + "\(MapLimits.layerNameBytes) bytes, used once and not OBJECTID, which is "
                        + "the graphic's number")
            }
            byteCount += entry.name.utf8.count
            switch entry.value {
            case .string(let text): byteCount += text.utf8.count
            case .real(let real) where !real.isFinite:
                throw Failure(
                    .invalidParameter, "attribute '\(entry.name)': expected a finite number")
            default: byteCount += 8
            }
        }
        guard byteCount <= MapLimits.attributeBytes else {
            throw Failure(
                .tooLarge,
                "attributes: \(byteCount) bytes, expected at most \(MapLimits.attributeBytes)")
        }
    }
}

extension Shape {
    /// The stored form of the shape: an envelope becomes a polygon.
    fileprivate var drawn: Shape {
        guard case .envelope = self else { return self }
        return GeometryForm(self).shape ?? self
    }

    /// Throws unless the shape has coordinates, all of them in range, and not too many.
    func checkDrawable() throws(Failure) {
        let count = coordinateCount
        guard count > 0 else {
            throw Failure(.invalidParameter, "geometry: expected one coordinate or more")
        }
        guard count <= MapLimits.coordinatesPerGraphic else {
            throw Failure(
                .tooLarge,
                "geometry: \(count) coordinates, expected at most "
                    + "\(MapLimits.coordinatesPerGraphic)")
        }
        let bounds = [envelope.minX, envelope.minY, envelope.maxX, envelope.maxY]
        guard isFinite, bounds.allSatisfy({ abs($0) <= MapLimits.ordinate }) else {
            throw Failure(
                .invalidParameter,
                "geometry: expected numbers between -\(MapLimits.ordinate) and "
                    + "\(MapLimits.ordinate)")
        }
        switch self {
        case .polyline(let parts) where parts.contains { $0.count < 2 }:
            throw Failure(.invalidParameter, "geometry: a path needs two coordinates")
        case .polygon(let parts) where parts.contains { $0.count < 4 || $0.first != $0.last }:
            throw Failure(
                .invalidParameter,
                "geometry: a ring needs four coordinates, the last the same as the first")
        default: break
        }
    }

    private var isFinite: Bool {
        switch self {
        case .point(let coordinate): coordinate.isFinite
        case .multipoint(let coordinates): coordinates.allSatisfy(\.isFinite)
        case .polyline(let parts), .polygon(let parts):
            parts.allSatisfy { $0.allSatisfy(\.isFinite) }
        case .envelope(let box): box.isFinite
        }
    }
}
