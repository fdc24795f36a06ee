// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression
internal import Geometry
internal import Platform

/// The labels of a map's layer as layers of a style.
struct LabelLayers {
    /// The most important last, since MapLibre places the labels of upper layers first.
    private(set) var layers: [StyleLayer] = []
    /// The fonts of the labels.
    private(set) var fonts: Set<FontStack> = []
    /// Fields and constants of their texts.
    private(set) var expressions: [LabelExpression] = []
    /// Classes whose clause has no filter.
    private(set) var leftOut = 0

    /// A class with its filter and its zooms.
    private struct Class {
        var label: LabelClass
        var filter: JSONTree?
        var zooms: ClosedRange<Double>
    }

    init(_ tiles: TileLayer) {
        let layer = tiles.layer
        guard let type = layer.properties?.geometryType else { return }
        let all = StyleLayer.zooms(of: tiles)
        var classes: [Class] = []
        for label in layer.shownDrawing?.labels ?? [] where label.symbol.sizePoints > 0 {
            let own = StyleLayer.zooms(label.scaleRange, within: 0...24)
            guard own.overlaps(all) else { continue }
            let zooms = own.clamped(to: all)
            guard zooms.lowerBound < zooms.upperBound else { continue }
            var filter: JSONTree?
            if let condition = label.condition {
                filter = Self.filter(condition, layer)
                guard filter != nil else {
                    leftOut += 1
                    continue
                }
            }
            classes.append(Class(label: label, filter: filter, zooms: zooms))
        }
        let drawn = StyleLayer.drawn(layer)
        let reach = StyleLayer.symbols(of: layer).map(\.reachPoints).max() ?? 0
        for index in classes.indices {
            let each = classes[index]
            // A feature has the label of the first class that takes it.
            let earlier = classes[..<index].filter { $0.zooms.overlaps(each.zooms) }
            let parts = Self.parts(of: each.zooms, earlier.map(\.zooms)).compactMap { zooms in
                let middle = (zooms.lowerBound + zooms.upperBound) / 2
                let taken = earlier.filter { $0.zooms.contains(middle) }
                guard taken.allSatisfy({ $0.filter != nil }) else { return StyleLayer?.none }
                let conditions =
                    [drawn, each.filter].compactMap { $0 }
                    + taken.compactMap { $0.filter.map { StyleLayer.call("!", $0) } }
                let filter = StyleFilter.plain(.array([.string("all")] + conditions))
                guard !StyleFilter.isNever(filter) else { return nil }
                return StyleLayer(
                    type: "symbol", sourceLayer: tiles.labelName ?? layer.name, zooms: zooms,
                    filter: StyleFilter.isAlways(filter) ? nil : filter,
                    layout: Self.layout(each.label, layer, type, reach: reach),
                    paint: Self.paint(each.label.symbol))
            }
            layers = parts + layers
            guard !parts.isEmpty else { continue }
            fonts.insert(FontStack(each.label.symbol))
            expressions.append(each.label.expression)
        }
    }

    /// The parts of a range between the ends of others.
    private static func parts(
        of zooms: ClosedRange<Double>, _ others: [ClosedRange<Double>]
    ) -> [ClosedRange<Double>] {
        let inner = others.flatMap { [$0.lowerBound, $0.upperBound] }.filter {
            zooms.lowerBound < $0 && $0 < zooms.upperBound
        }
        let ends = [zooms.lowerBound] + Set(inner).sorted() + [zooms.upperBound]
        return zip(ends, ends.dropFirst()).map { $0...$1 }
    }

    private static func filter(_ condition: String, _ layer: LayerDescription) -> JSONTree? {
        let fields = layer.properties?.fields ?? []
        guard let clause = try? WhereClause(parsing: condition).bound(to: fields) else {
            return nil
        }
        return clause.mapLibreFilter(fields)
    }

    private static func layout(
        _ label: LabelClass, _ layer: LayerDescription, _ type: GeometryType, reach: Double
    ) -> StyleLayer.Members {
        let symbol = label.symbol
        let fonts = FontStack(symbol).names.map { JSONTree.string($0) }
        var layout: StyleLayer.Members = [
            ("text-field", text(label.expression, layer)), ("text-font", .array(fonts)),
            ("text-size", StyleLayer.number(symbol.sizePoints.pixels)),
            // Lines end where the text says so.
            ("text-max-width", .integer(1_000)), ("text-line-height", .real(1.2)),
        ]
        let gap = reach / symbol.sizePoints
        switch type {
        case .point, .multipoint:
            let places = Anchor.places(label.placement ?? .aboveRight)
            layout += [
                ("text-anchor", .string(places[0].rawValue)),
                ("text-variable-anchor", .array(places.map { .string($0.rawValue) })),
                ("text-radial-offset", StyleLayer.number(places == [.center] ? 0 : gap)),
                ("text-justify", .string("auto")),
            ]
            // MapLibre has the radial one alone, QGIS 3.22 this one alone.
            let (right, down) = places[0].direction
            if (right, down) != (0, 0) {
                let reach = right != 0 && down != 0 ? gap / 2.0.squareRoot() : gap
                layout.append(
                    (
                        "text-offset",
                        .array([
                            StyleLayer.number(right * reach), StyleLayer.number(down * reach),
                        ])
                    ))
            }
        case .polyline:
            // Half a line of text, and half the width of the line.
            let rise = 0.6 + gap
            let offset =
                switch label.placement ?? .aboveAlong {
                case .belowAlong: rise
                case .centerAlong: 0.0
                default: -rise
                }
            layout += [
                ("symbol-placement", .string("line")),
                ("text-offset", .array([.integer(0), StyleLayer.number(offset)])),
            ]
        case .polygon: break
        }
        return layout
    }

    /// Sides of a text, of which one is at its position.
    private enum Anchor: String {
        case center, left, right, top, bottom
        case topLeft = "top-left"
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottomRight = "bottom-right"

        /// The places of a point's label, the first that is free: as in pictures.
        static func places(_ placement: LabelPlacement) -> [Anchor] {
            let first = Anchor(placement)
            guard first != .center else { return [.center] }
            let order: [Anchor] = [
                .bottomLeft, .topLeft, .left, .bottomRight, .topRight, .right, .bottom, .top,
            ]
            return [first] + order.filter { $0 != first }
        }

        /// From the position to the text: to the right and down, −1, 0 or 1.
        var direction: (right: Double, down: Double) {
            switch self {
            case .center: (0, 0)
            case .left: (1, 0)
            case .right: (-1, 0)
            case .top: (0, 1)
            case .bottom: (0, -1)
            case .topLeft: (1, 1)
            case .topRight: (-1, 1)
            case .bottomLeft: (1, -1)
            case .bottomRight: (-1, -1)
            }
        }

        private init(_ placement: LabelPlacement) {
            self =
                switch placement {
                case .aboveCenter: .bottom
                case .aboveLeft: .bottomRight
                case .belowCenter: .top
                case .belowLeft: .topRight
                case .belowRight: .topLeft
                case .center: .center
                case .centerLeft: .right
                case .centerRight: .left
                case .aboveRight, .aboveAlong, .belowAlong, .centerAlong, .horizontal: .bottomLeft
                }
        }
    }

    /// The text: with attributes in braces, which QGIS 3.22 reads too, where none is in the texts
    /// between them; else as an expression.
    private static func text(_ expression: LabelExpression, _ layer: LayerDescription) -> JSONTree {
        var plain: String? = ""
        for part in expression.parts {
            let (name, text): (String?, String?) =
                switch part {
                case .text(let text): (nil, text)
                case .field(let name): (StyleLayer.attribute(name, layer), nil)
                }
            let isPlain = (name ?? text)?.allSatisfy { $0 != "{" && $0 != "}" } ?? false
            plain = isPlain ? plain.map { $0 + (text ?? "{\(name ?? "")}") } : nil
        }
        if let plain, !plain.isEmpty { return .string(plain) }
        let parts = expression.parts.map { part in
            switch part {
            case .text(let text): JSONTree.string(text)
            // Null is the empty text.
            case .field(let name):
                StyleLayer.call("to-string", StyleLayer.value(name, layer))
            }
        }
        return parts.count == 1 ? parts[0] : .array([.string("concat")] + parts)
    }

    private static func paint(_ symbol: TextSymbol) -> StyleLayer.Members {
        var paint: StyleLayer.Members = [("text-color", StyleLayer.rgba(symbol.color))]
        if let halo = symbol.haloColor, symbol.haloPoints > 0 {
            paint += [
                ("text-halo-color", StyleLayer.rgba(halo)),
                ("text-halo-width", StyleLayer.number(symbol.haloPoints.pixels)),
            ]
        }
        return paint
    }
}
