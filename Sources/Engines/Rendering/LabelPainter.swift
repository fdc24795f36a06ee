// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Cairo
internal import Geometry
internal import Identify

/// Collects the labels of a picture while its features are drawn, and finally draws those that fit.
///
/// Labels neither overlap nor cross the picture's border. Those of upper layers take precedence,
/// within a layer those of earlier classes, then those of earlier features.
struct LabelPainter {
    /// Limit of label candidates of a picture.
    static let candidateBound = 20_000
    /// Limit of line coordinates kept for labels.
    static let coordinateBound = 2_000_000
    /// Limit of labels drawn.
    static let labelBound = 2_000
    /// Limit of characters of a label; the rest becomes an ellipsis.
    static let characterBound = 200

    private struct Candidate {
        var layer: Int
        var rank: Int
        var style: Int
        var text: String
        var anchor: LabelAnchor
    }

    private let canvas: Canvas
    private let pixelsPerPoint: Double
    private var classes: [LabelClass] = []
    private var layer = 0
    private var firstClass = 0
    private var style: LayerStyle?
    private var candidates: [Candidate] = []
    private var coordinateCount = 0

    init(_ canvas: Canvas, dpi: Double) {
        self.canvas = canvas
        pixelsPerPoint = dpi / 72
    }

    /// Starts a layer on top of the previous one.
    mutating func beginLayer(_ style: LayerStyle) {
        layer += 1
        self.style = style
        firstClass = classes.count
        classes += style.labels
    }

    /// Keeps the label of a feature of the layer, if any.
    mutating func take(_ feature: DrawnFeature, _ frame: PixelFrame) {
        guard let style, !style.labels.isEmpty, candidates.count < Self.candidateBound,
            let symbol = style.symbol(of: feature), let (rank, whole) = style.label(of: feature),
            let anchor = anchor(
                feature.shape, frame, reach: symbol.reachPoints * pixelsPerPoint)
        else { return }
        let text =
            whole.count <= Self.characterBound
            ? whole : String(whole.prefix(Self.characterBound - 1)) + "…"
        if case .paths(let paths, _) = anchor {
            coordinateCount += paths.reduce(0) { $0 + $1.count }
        }
        candidates.append(
            Candidate(
                layer: layer, rank: rank, style: firstClass + rank, text: text, anchor: anchor))
    }

    private func anchor(
        _ shape: DrawnShape, _ frame: PixelFrame, reach: Double
    ) -> LabelAnchor? {
        switch shape {
        case .positions(let places):
            return places.lazy.map(frame.pixel).first { frame.shows($0) }
                .map { .point($0, reach: reach) }
        case .paths(let paths):
            guard coordinateCount < Self.coordinateBound else { return nil }
            let pieces = paths.flatMap(frame.path).map { ($0, $0.length) }
                .filter { $0.1 > 4 * pixelsPerPoint }
            let longest = pieces.sorted { $0.1 > $1.1 }.prefix(3).map(\.0)
            return longest.isEmpty ? nil : .paths(longest, reach: reach)
        case .areas(let parts):
            // The part with the largest visible area; its shell must be visible.
            let seen = parts.compactMap { rings -> (rings: [[Coordinate]], bounds: Envelope)? in
                let drawn = rings.map(frame.ring)
                guard let shell = drawn.first, !shell.isEmpty else { return nil }
                return (drawn.filter { !$0.isEmpty }, Shape.multipoint(shell).envelope)
            }
            guard
                let most = seen.max(by: {
                    $0.bounds.width * $0.bounds.height < $1.bounds.width * $1.bounds.height
                }), most.bounds.width > 4 * pixelsPerPoint,
                let inner = InnerPlace(most.rings, precision: 1)
            else { return nil }
            return .area(inner, width: most.bounds.width)
        }
    }

    /// Draws the labels that fit; throws `cancelled` soon after `isCancelled` returns true, and
    /// `internal` when out of memory.
    mutating func draw(_ isCancelled: () -> Bool) throws(Failure) {
        var taken = TakenPlaces(width: canvas.width, height: canvas.height)
        var layouts: [Int: TextLayout] = [:]
        var count = 0
        let order = candidates.indices.sorted { first, second in
            let (one, two) = (candidates[first], candidates[second])
            return (-one.layer, one.rank, first) < (-two.layer, two.rank, second)
        }
        for (number, index) in order.enumerated() where count < Self.labelBound {
            if number.isMultiple(of: 32), isCancelled() {
                throw Failure(.cancelled, "the request was cancelled or timed out")
            }
            let candidate = candidates[index]
            let symbol = classes[candidate.style].symbol
            guard symbol.sizePoints > 0 else { continue }
            guard let layout = layouts[candidate.style] ?? TextLayout(font(symbol), on: canvas)
            else { throw Failure(.internal, "cannot lay out text: no memory") }
            layouts[candidate.style] = layout
            layout.setText(candidate.text)
            if draw(candidate, layout, symbol, &taken) { count += 1 }
        }
        candidates = []
    }

    private func draw(
        _ candidate: Candidate, _ layout: TextLayout, _ symbol: TextSymbol,
        _ taken: inout TakenPlaces
    ) -> Bool {
        let halo = symbol.haloColor == nil ? 0 : symbol.haloPoints * pixelsPerPoint
        let (width, height) = (layout.size.width + 2 * halo, layout.size.height + 2 * halo)
        let boxes = candidate.anchor.boxes(
            width: width, height: height, classes[candidate.style].placement)
        let name = "\(candidate.style) \(candidate.text)"
        guard
            let box = boxes.first(where: { taken.isFree($0) }),
            !candidate.anchor.isLine
                || !taken.has(name, near: box.center, within: 100 * pixelsPerPoint)
        else { return false }
        layout.draw(
            x: box.center.x, y: box.center.y, angle: box.angle, PaintColor(symbol.color),
            halo: symbol.haloColor.flatMap { halo > 0 ? (PaintColor($0), halo) : nil })
        taken.take(box, named: name)
        if case .point(let place, let reach) = candidate.anchor {
            taken.take(LabelBox(center: place, width: 2 * reach, height: 2 * reach))
        }
        return true
    }

    private func font(_ symbol: TextSymbol) -> Font {
        Font(
            family: symbol.family, sizePixels: symbol.sizePoints * pixelsPerPoint,
            isBold: symbol.isBold, isItalic: symbol.isItalic)
    }
}
