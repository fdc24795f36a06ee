// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import Platform

/// A layer of a MapLibre style: one symbol, or the labels of one class, of a map's layer.
///
/// MapLibre's pixels are 1/96 inch; dashes are in widths of their line.
struct StyleLayer {
    typealias Members = [(name: String, value: JSONTree)]

    var id = ""
    let type: String
    let sourceLayer: String
    let zooms: ClosedRange<Double>
    /// An expression; nil for every feature.
    let filter: JSONTree?
    var layout: Members = []
    let paint: Members

    /// The layers of a map's layer without its labels, bottom first.
    ///
    /// - Parameter sprites: Pictures of symbols; markers without one are circles, and fills solid.
    static func layers(of tiles: TileLayer, _ sprites: SpriteSheet) -> [StyleLayer] {
        let layer = tiles.layer
        guard let type = layer.properties?.geometryType else { return [] }
        let opacity = 1 - Double(layer.shownDrawing?.transparency ?? 0) / 100
        let zooms = zooms(of: tiles)
        return rendered(layer, type).flatMap { condition, symbol -> [StyleLayer] in
            let filter = condition.map(StyleFilter.plain) ?? StyleFilter.always
            guard !StyleFilter.isNever(filter) else { return [] }
            return looks(of: symbol, opacity, sprites).map { look in
                StyleLayer(
                    type: look.type, sourceLayer: layer.name, zooms: zooms,
                    filter: StyleFilter.isAlways(filter) ? nil : filter,
                    layout: look.layout, paint: look.paint)
            }
        }
    }

    /// Every symbol of a layer, as its renderer lists them.
    static func symbols(of layer: LayerDescription) -> [LayerSymbol] {
        guard let type = layer.properties?.geometryType else { return [] }
        return renderer(of: layer, type).entries.map(\.symbol)
    }

    /// Zooms between which the scales of the layer itself show it.
    static func zooms(of tiles: TileLayer) -> ClosedRange<Double> {
        zooms(
            tiles.layer.scaleRange,
            within: Double(tiles.levels.lowerBound)...24)
    }

    /// Zooms between which scales show something; `all` where there is no limit.
    static func zooms(_ range: ScaleRange, within all: ClosedRange<Double>) -> ClosedRange<Double> {
        func zoom(_ scale: Double) -> Double {
            let exact = log2(TileLayer.rootScale / scale)
            return min(max((exact * 1000).rounded() / 1000, 0), 24)
        }
        let least = range.minScale > 0 ? zoom(range.minScale) : all.lowerBound
        let most = range.maxScale > 0 ? zoom(range.maxScale) : all.upperBound
        return least...max(least, most)
    }

    // MARK: Expressions

    static func call(_ name: String, _ arguments: JSONTree...) -> JSONTree {
        .array([.string(name)] + arguments)
    }

    /// A field as tiles have it: the first as the feature's id.
    private struct Subject {
        /// Nil for one that the layer does not have; it is null everywhere.
        var type: FieldType?
        var isID = false
        var value: JSONTree
        var isThere: JSONTree
    }

    private static func subject(_ name: String, _ layer: LayerDescription) -> Subject {
        let fields = layer.properties?.fields ?? []
        let wanted = name.lowercased()
        guard let place = fields.firstIndex(where: { $0.name.lowercased() == wanted }) else {
            return Subject(value: .null, isThere: StyleFilter.never)
        }
        let type = fields[place].type
        guard place > 0 else {
            return Subject(
                type: type, isID: true, value: call("id"), isThere: StyleFilter.always)
        }
        let own = JSONTree.string(fields[place].name)
        return Subject(type: type, value: call("get", own), isThere: call("has", own))
    }

    /// The value of a field: tiles have the first as the feature's id.
    static func value(_ name: String, _ layer: LayerDescription) -> JSONTree {
        let found = subject(name, layer)
        return found.type == nil ? call("get", .string(name)) : found.value
    }

    /// The field's name as an attribute of tiles; nil for the first, and for none.
    static func attribute(_ name: String, _ layer: LayerDescription) -> String? {
        let wanted = name.lowercased()
        return layer.properties?.fields.dropFirst().first { $0.name.lowercased() == wanted }?.name
    }

    // MARK: Renderers

    private static func renderer(
        of layer: LayerDescription, _ type: GeometryType
    ) -> FeatureRenderer {
        layer.shownDrawing?.renderer
            ?? .simple(FeatureRenderer.Entry(LayerSymbol(standard: layer.id, type)))
    }

    private static func rendered(
        _ layer: LayerDescription, _ type: GeometryType
    ) -> [(JSONTree?, LayerSymbol)] {
        switch renderer(of: layer, type) {
        case .simple(let entry): return [(nil, entry.symbol)]
        case .uniqueValues(let unique):
            var seen: Set<String> = []
            let own = unique.values.filter { seen.insert($0.value).inserted }.map { each in
                (has(each.value, unique, layer) as JSONTree?, each.entry.symbol)
            }
            let others = unique.others.map { entry in
                (call("!", known(unique, layer)) as JSONTree?, entry.symbol)
            }
            return own + (others.map { [$0] } ?? [])
        case .classBreaks(let classes):
            var result: [(JSONTree?, LayerSymbol)] = []
            var least = classes.least
            for each in classes.breaks {
                let within = range(
                    classes.field, layer, from: least, isOpen: !result.isEmpty, to: each.greatest)
                result.append((within, each.entry.symbol))
                least = each.greatest
            }
            if let others = classes.others {
                result.append((call("!", inside(classes, layer)), others.symbol))
            }
            return result
        }
    }

    /// Features that a layer's renderer draws; nil for all.
    static func drawn(_ layer: LayerDescription) -> JSONTree? {
        switch layer.shownDrawing?.renderer {
        case .uniqueValues(let unique) where unique.others == nil: known(unique, layer)
        case .classBreaks(let classes) where classes.others == nil: inside(classes, layer)
        case .simple, .uniqueValues, .classBreaks, nil: nil
        }
    }

    /// Features that a renderer knows by a value.
    private static func has(
        _ value: String, _ unique: FeatureRenderer.UniqueValues, _ layer: LayerDescription
    ) -> JSONTree {
        guard unique.fields.count > 1 else {
            return unique.fields.first.map { equals(value, subject($0, layer)) }
                ?? StyleFilter.never
        }
        let parts = unique.delimiter.isEmpty ? [] : value.split(by: unique.delimiter)
        guard parts.count == unique.fields.count else {
            // Values have the delimiter inside.
            return call("==", text(of: unique, layer), .string(value))
        }
        return StyleFilter.all(
            zip(unique.fields, parts).map { equals($1, subject($0, layer)) })
    }

    /// Features whose field has a text in display form.
    private static func equals(_ text: String, _ subject: Subject) -> JSONTree {
        let isNull = text == "<Null>" ? call("!", subject.isThere) : StyleFilter.never
        guard let wanted = subject.type.flatMap({ constant(text, $0) }) else {
            return StyleFilter.plain(isNull)
        }
        return StyleFilter.any([StyleFilter.plain(isNull), call("==", subject.value, wanted)])
    }

    /// The value that a field of tiles has where the display form is this text; nil for none.
    private static func constant(_ text: String, _ type: FieldType) -> JSONTree? {
        switch type {
        case .string, .date: return .string(text)
        case .objectID, .smallInteger, .integer, .bigInteger:
            guard let number = Int64(text), AttributeValue.integer(number).text == text else {
                return nil
            }
            return .integer(number)
        case .single, .double:
            guard let number = Double(text), AttributeValue.real(number).text == text else {
                return nil
            }
            return .real(number)
        }
    }

    private static func known(
        _ unique: FeatureRenderer.UniqueValues, _ layer: LayerDescription
    ) -> JSONTree {
        if unique.fields.count == 1, case let subject = subject(unique.fields[0], layer),
            !subject.isID, let type = subject.type, type != .single, type != .double
        {
            var seen: Set<String> = []
            let known = unique.values.map(\.value).filter { seen.insert($0).inserted }
            let constants = known.compactMap { constant($0, type) }
            var parts: [JSONTree] = []
            if !constants.isEmpty {
                parts = [
                    call("match", subject.value, .array(constants), .bool(true), .bool(false))
                ]
            }
            if seen.contains("<Null>") { parts.append(call("!", subject.isThere)) }
            return StyleFilter.any(parts)
        }
        return StyleFilter.any(unique.values.map { has($0.value, unique, layer) })
    }

    private static func inside(
        _ classes: FeatureRenderer.ClassBreaks, _ layer: LayerDescription
    ) -> JSONTree {
        range(
            classes.field, layer, from: classes.least, isOpen: false,
            to: classes.breaks.last?.greatest ?? 0)
    }

    /// Features whose number or moment is in a range.
    private static func range(
        _ field: String, _ layer: LayerDescription, from least: Double?, isOpen: Bool,
        to greatest: Double
    ) -> JSONTree {
        let subject = subject(field, layer)
        let bound: (Double) -> JSONTree
        switch subject.type {
        case nil, .string: return StyleFilter.never
        // Texts of moments are ordered as these are.
        case .date: bound = { .string(moment($0)) }
        case .objectID, .smallInteger, .integer, .bigInteger, .single, .double:
            bound = { .real($0) }
        }
        var conditions = [subject.isThere, call("<=", subject.value, bound(greatest))]
        if let least { conditions.append(call(isOpen ? ">" : ">=", subject.value, bound(least))) }
        return StyleFilter.all(conditions)
    }

    private static func moment(_ milliseconds: Double) -> String {
        // Years 0 to 9999.
        let bounded = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_000)
        return CalendarClock(milliseconds: Int64(bounded)).text
    }

    /// The values of several fields as a renderer compares them.
    private static func text(
        of unique: FeatureRenderer.UniqueValues, _ layer: LayerDescription
    ) -> JSONTree {
        let texts = unique.fields.map { field -> JSONTree in
            let subject = subject(field, layer)
            guard subject.type != nil else { return .string("<Null>") }
            let text = call("to-string", subject.value)
            return subject.isID
                ? text : call("case", subject.isThere, text, .string("<Null>"))
        }
        guard let first = texts.first else { return .string("") }
        let joined = texts.dropFirst().flatMap { [JSONTree.string(unique.delimiter), $0] }
        return .array([.string("concat"), first] + joined)
    }

    // MARK: Symbols

    private struct Look {
        var type: String
        var layout: Members = []
        var paint: Members
    }

    private static func looks(
        of symbol: LayerSymbol, _ opacity: Double, _ sprites: SpriteSheet
    ) -> [Look] {
        switch symbol.form {
        case .marker(let marker):
            guard let name = sprites.name(of: symbol) else { return [circle(marker, opacity)] }
            return [
                Look(
                    type: "symbol",
                    layout: [
                        ("icon-image", .string(name)), ("icon-allow-overlap", .bool(true)),
                        ("icon-ignore-placement", .bool(true)),
                    ], paint: [("icon-opacity", number(opacity))])
            ]
        case .line(let stroke): return line(stroke, opacity)
        case .fill(let fill):
            var looks: [Look] = []
            if let name = sprites.name(of: symbol) {
                looks = [
                    Look(
                        type: "fill",
                        paint: [
                            ("fill-pattern", .string(name)), ("fill-opacity", number(opacity)),
                        ])
                ]
            } else if fill.style != .null, fill.color.alpha > 0 {
                looks = [
                    Look(
                        type: "fill",
                        paint: [
                            ("fill-color", .string(css(fill.color))),
                            ("fill-opacity", number(opacity * alpha(fill.color))),
                        ])
                ]
            }
            return looks + (fill.outline.map { line($0, opacity) } ?? [])
        }
    }

    /// A circle; MapLibre's outlines are around it, those of markers half inside.
    private static func circle(_ marker: LayerSymbol.Marker, _ opacity: Double) -> Look {
        let stroke = marker.stroke.flatMap { $0.isVisible ? $0 : nil }
        let radius = (marker.sizePoints - (stroke?.widthPoints ?? 0)).pixels / 2
        var paint: Members = [
            ("circle-radius", number(max(0, radius))),
            ("circle-color", .string(css(marker.color))),
            ("circle-opacity", number(opacity * alpha(marker.color))),
        ]
        if let stroke {
            paint += [
                ("circle-stroke-width", number(stroke.widthPoints.pixels)),
                ("circle-stroke-color", .string(css(stroke.color))),
                ("circle-stroke-opacity", number(opacity * alpha(stroke.color))),
            ]
        }
        return Look(type: "circle", paint: paint)
    }

    private static func line(_ stroke: LayerSymbol.Stroke, _ opacity: Double) -> [Look] {
        guard stroke.isVisible else { return [] }
        var paint: Members = [
            ("line-color", .string(css(stroke.color))),
            ("line-width", number(stroke.widthPoints.pixels)),
            ("line-opacity", number(opacity * alpha(stroke.color))),
        ]
        let dashes: [Int64]? =
            switch stroke.style {
            case .solid, .null: nil
            case .dash: [4, 3]
            case .dot: [1, 3]
            case .dashDot: [4, 3, 1, 3]
            case .dashDotDot: [4, 3, 1, 3, 1, 3]
            }
        if let dashes { paint.append(("line-dasharray", .array(dashes.map { .integer($0) }))) }
        return [Look(type: "line", paint: paint)]
    }

    private static func css(_ color: LayerSymbol.Color) -> String {
        "rgb(\(color.red),\(color.green),\(color.blue))"
    }

    private static func alpha(_ color: LayerSymbol.Color) -> Double { Double(color.alpha) / 255 }

    /// A number with at most three decimals.
    static func number(_ value: Double) -> JSONTree { .real((value * 1000).rounded() / 1000) }

    /// A colour with its opacity.
    static func rgba(_ color: LayerSymbol.Color) -> JSONTree {
        let alpha = (alpha(color) * 1000).rounded() / 1000
        return .string("rgba(\(color.red),\(color.green),\(color.blue),\(alpha))")
    }

    /// The layer as the style has it.
    var tree: JSONTree {
        var members: Members = [
            ("id", .string(id)), ("type", .string(type)), ("source", .string("esri")),
            ("source-layer", .string(sourceLayer)), ("minzoom", .real(zooms.lowerBound)),
            ("maxzoom", .real(zooms.upperBound)),
        ]
        if let filter { members.append(("filter", filter)) }
        if !layout.isEmpty { members.append(("layout", .object(layout))) }
        members.append(("paint", .object(paint)))
        return .object(members)
    }
}

extension String {
    /// The parts between the places of another text that is not empty.
    fileprivate func split(by delimiter: String) -> [String] {
        var (parts, rest) = ([String](), Array(utf8)[...])
        let wanted = Array(delimiter.utf8)
        var part: [UInt8] = []
        while let byte = rest.first {
            if rest.starts(with: wanted) {
                parts.append(String(decoding: part, as: UTF8.self))
                part = []
                rest = rest.dropFirst(wanted.count)
            } else {
                part.append(byte)
                rest = rest.dropFirst()
            }
        }
        return parts + [String(decoding: part, as: UTF8.self)]
    }
}

extension Double {
    /// Pixels of 1/96 inch in as many points of 1/72 inch.
    var pixels: Double { self * 96 / 72 }
}
