// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import Platform

/// A layer of a MapLibre style: one symbol of a map's layer.
///
/// MapLibre's pixels are 1/96 inch. Markers are circles; dashes are in widths of their line.
struct StyleLayer {
    private enum Paint {
        case text(String, String)
        case number(String, Double)
        case numbers(String, [Double])
    }

    private let id: String
    private let type: String
    private let sourceLayer: String
    private let zooms: ClosedRange<Double>
    /// An expression as JSON; nil for every feature.
    private let filter: JSONTree?
    private let paint: [Paint]

    /// The layers of a map's layer, bottom first.
    static func layers(of tiles: TileLayer) -> [StyleLayer] {
        let layer = tiles.layer
        guard let type = layer.properties?.geometryType else { return [] }
        let opacity = 1 - Double(layer.shownDrawing?.transparency ?? 0) / 100
        let zooms = zooms(of: tiles)
        var result: [StyleLayer] = []
        for (filter, symbol) in symbols(of: layer, type) {
            for (type, paint) in paints(of: symbol.form, opacity) {
                let number = result.count
                result.append(
                    StyleLayer(
                        id: number == 0 ? layer.name : "\(layer.name)/\(number)", type: type,
                        sourceLayer: layer.name, zooms: zooms, filter: filter, paint: paint))
            }
        }
        return result
    }

    /// Zooms between which the scales of the layer itself show it.
    private static func zooms(of tiles: TileLayer) -> ClosedRange<Double> {
        let range = tiles.layer.scaleRange
        func zoom(_ scale: Double) -> Double {
            let exact = log2(TileLayer.rootScale / scale)
            return min(max((exact * 1000).rounded() / 1000, 0), 24)
        }
        let least = range.minScale > 0 ? zoom(range.minScale) : Double(tiles.levels.lowerBound)
        let most = range.maxScale > 0 ? zoom(range.maxScale) : 24
        return least...max(least, most)
    }

    // MARK: Symbols

    private static func symbols(
        of layer: LayerDescription, _ type: GeometryType
    ) -> [(JSONTree?, LayerSymbol)] {
        let standard = FeatureRenderer.simple(
            FeatureRenderer.Entry(LayerSymbol(standard: layer.id, type)))
        switch layer.shownDrawing?.renderer ?? standard {
        case .simple(let entry): return [(nil, entry.symbol)]
        case .uniqueValues(let unique):
            let value = text(of: unique.fields, delimiter: unique.delimiter)
            let own = unique.values.map { each in
                (call("==", value, .string(each.value)) as JSONTree?, each.entry.symbol)
            }
            let known = JSONTree.array(unique.values.map { .string($0.value) })
            let others = unique.others.map { entry in
                (
                    call("!", call("in", value, call("literal", known))) as JSONTree?,
                    entry.symbol
                )
            }
            return own + (others.map { [$0] } ?? [])
        case .classBreaks(let classes):
            let value = call("to-number", call("get", .string(classes.field)))
            let isThere = call("has", .string(classes.field))
            var result: [(JSONTree?, LayerSymbol)] = []
            var least = classes.least
            for each in classes.breaks {
                var conditions = [isThere, call("<=", value, .real(each.greatest))]
                if let least {
                    conditions.append(call(result.isEmpty ? ">=" : ">", value, .real(least)))
                }
                result.append((.array([.string("all")] + conditions), each.entry.symbol))
                least = each.greatest
            }
            if let others = classes.others {
                var inside: [JSONTree] = [call("<=", value, .real(least ?? 0))]
                if let first = classes.least { inside.append(call(">=", value, .real(first))) }
                let within = JSONTree.array([.string("all"), isThere] + inside)
                result.append((call("!", within), others.symbol))
            }
            return result
        }
    }

    private static func call(_ name: String, _ arguments: JSONTree...) -> JSONTree {
        .array([.string(name)] + arguments)
    }

    /// The values of fields as a renderer compares them.
    private static func text(of fields: [String], delimiter: String) -> JSONTree {
        let texts = fields.map { field in
            call(
                "case", call("has", .string(field)),
                call("to-string", call("get", .string(field))), .string("<Null>"))
        }
        guard texts.count > 1 else { return texts.first ?? .string("") }
        let joined = texts.dropFirst().flatMap { [JSONTree.string(delimiter), $0] }
        return .array([.string("concat"), texts[0]] + joined)
    }

    // MARK: Paint

    private static func paints(
        of form: LayerSymbol.Form, _ opacity: Double
    ) -> [(type: String, paint: [Paint])] {
        switch form {
        case .marker(let marker):
            var paint: [Paint] = [
                .number("circle-radius", marker.sizePoints.pixels / 2),
                .text("circle-color", css(marker.color)),
                .number("circle-opacity", opacity * alpha(marker.color)),
            ]
            if let stroke = marker.stroke, stroke.isVisible {
                paint += [
                    .number("circle-stroke-width", stroke.widthPoints.pixels),
                    .text("circle-stroke-color", css(stroke.color)),
                    .number("circle-stroke-opacity", opacity * alpha(stroke.color)),
                ]
            }
            return [("circle", paint)]
        case .line(let stroke): return line(stroke, opacity)
        case .fill(let fill):
            let inside: [(type: String, paint: [Paint])] =
                fill.style == .null || fill.color.alpha == 0
                ? []
                : [
                    (
                        "fill",
                        [
                            .text("fill-color", css(fill.color)),
                            .number("fill-opacity", opacity * alpha(fill.color)),
                        ]
                    )
                ]
            return inside + (fill.outline.map { line($0, opacity) } ?? [])
        }
    }

    private static func line(
        _ stroke: LayerSymbol.Stroke, _ opacity: Double
    ) -> [(type: String, paint: [Paint])] {
        guard stroke.isVisible else { return [] }
        var paint: [Paint] = [
            .text("line-color", css(stroke.color)),
            .number("line-width", stroke.widthPoints.pixels),
            .number("line-opacity", opacity * alpha(stroke.color)),
        ]
        let dashes: [Double]? =
            switch stroke.style {
            case .solid, .null: nil
            case .dash: [4, 3]
            case .dot: [1, 3]
            case .dashDot: [4, 3, 1, 3]
            case .dashDotDot: [4, 3, 1, 3, 1, 3]
            }
        if let dashes { paint.append(.numbers("line-dasharray", dashes)) }
        return [("line", paint)]
    }

    private static func css(_ color: LayerSymbol.Color) -> String {
        "rgb(\(color.red),\(color.green),\(color.blue))"
    }

    private static func alpha(_ color: LayerSymbol.Color) -> Double { Double(color.alpha) / 255 }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("id", id)
            json.member("type", type)
            json.member("source", "esri")
            json.member("source-layer", sourceLayer)
            json.member("minzoom", zooms.lowerBound)
            json.member("maxzoom", zooms.upperBound)
            if let filter {
                json.key("filter")
                json.json(filter.jsonText.utf8)
            }
            json.member("paint") { json in
                for each in paint {
                    switch each {
                    case .text(let name, let value): json.member(name, value)
                    case .number(let name, let value): json.member(name, value.rounded(to: 1000))
                    case .numbers(let name, let values):
                        json.member(name, array: values) { $0.number($1) }
                    }
                }
            }
        }
    }
}

extension Double {
    /// Pixels of 1/96 inch in as many points of 1/72 inch.
    fileprivate var pixels: Double { self * 96 / 72 }

    fileprivate func rounded(to parts: Double) -> Double { (self * parts).rounded() / parts }
}
