// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat

/// A Styled Layer Descriptor, of version 1.0 or 1.1 with Symbology Encoding.
struct SLDStyle {
    private(set) var rules = StyleRules()

    init(_ document: XMLElement) {
        var found: [XMLElement] = []
        Self.collect("Rule", document, &found)
        if found.isEmpty { rules.note("the style has no rules") }
        for rule in found { read(rule) }
    }

    private static func collect(_ name: String, _ element: XMLElement, _ found: inout [XMLElement])
    {
        for child in element.children {
            if child.name == name { found.append(child) } else { collect(name, child, &found) }
        }
    }

    private mutating func read(_ rule: XMLElement) {
        let title = (rule.first("Title") ?? rule.first("Description")?.first("Title"))?.trimmed
        let label = title ?? rule.first("Name")?.trimmed ?? ""
        let hasScale =
            rule.first("MinScaleDenominator") != nil || rule.first("MaxScaleDenominator") != nil
        var condition: StyleRules.Condition? = .rest
        if let filter = rule.first("Filter") { condition = Self.condition(filter) }
        guard let condition else {
            return rules.note(
                "rule '\(label.prefix(40))' is left out: its filter is not understood")
        }
        let known = ["PointSymbolizer", "LineSymbolizer", "PolygonSymbolizer", "TextSymbolizer"]
        for element in rule.children where element.name.hasSuffix("Symbolizer") {
            if !known.contains(element.name) {
                rules.note("a '\(element.name.prefix(40))' is not understood")
            }
        }
        if let text = rule.first("TextSymbolizer") { read(text: text, rule) }
        let symbols = known.prefix(3).flatMap { rule.all($0) }
        guard let first = symbols.first else { return }
        if symbols.count > 1 { rules.note("of rules with several symbols the first is taken") }
        guard let symbol = symbol(first) else {
            return rules.note("the symbol of rule '\(label.prefix(40))' is not understood")
        }
        if hasScale {
            rules.note("rule '\(label.prefix(40))' is for some scales: it is used at all of them")
        }
        rules.add(condition, FeatureRenderer.Entry(symbol, label: label))
    }

    // MARK: Filters

    private static func condition(_ filter: XMLElement) -> StyleRules.Condition? {
        guard filter.children.count == 1 else { return nil }
        return condition(of: filter.children[0])
    }

    private static func condition(of element: XMLElement) -> StyleRules.Condition? {
        let field = element.first("PropertyName")?.trimmed
        let number = element.first("Literal").flatMap { Double($0.trimmed) }
        switch element.name {
        case "PropertyIsEqualTo":
            guard let field, let value = element.first("Literal")?.trimmed else { return nil }
            return .values(field: field, [value])
        case "PropertyIsBetween":
            func bound(_ name: String) -> Double? {
                element.first(name)?.first("Literal").flatMap { Double($0.trimmed) }
            }
            guard let field, let least = bound("LowerBoundary"),
                let greatest = bound("UpperBoundary")
            else { return nil }
            return .range(field: field, least: least, greatest: greatest)
        case "PropertyIsGreaterThanOrEqualTo", "PropertyIsGreaterThan":
            guard let field, let number else { return nil }
            let isStrict = element.name == "PropertyIsGreaterThan"
            return .range(
                field: field, least: isStrict ? number.nextUp : number, greatest: nil)
        case "PropertyIsLessThanOrEqualTo", "PropertyIsLessThan":
            guard let field, let number else { return nil }
            let isStrict = element.name == "PropertyIsLessThan"
            return .range(
                field: field, least: nil, greatest: isStrict ? number.nextDown : number)
        case "Or": return either(element.children.map { condition(of: $0) })
        case "And": return both(element.children.map { condition(of: $0) })
        default: return nil
        }
    }

    private static func either(_ parts: [StyleRules.Condition?]) -> StyleRules.Condition? {
        guard case .values(let field, _)?? = parts.first else { return nil }
        var all: [String] = []
        for part in parts {
            guard case .values(field, let values)? = part else { return nil }
            all += values
        }
        return .values(field: field, all)
    }

    private static func both(_ parts: [StyleRules.Condition?]) -> StyleRules.Condition? {
        guard case .range(let field, _, _)?? = parts.first else { return nil }
        var bounds: (least: Double?, greatest: Double?) = (nil, nil)
        for part in parts {
            guard case .range(field, let least, let greatest)? = part else { return nil }
            bounds = (least ?? bounds.least, greatest ?? bounds.greatest)
        }
        return .range(field: field, least: bounds.least, greatest: bounds.greatest)
    }

    // MARK: Symbols

    private mutating func symbol(_ symbolizer: XMLElement) -> LayerSymbol? {
        switch symbolizer.name {
        case "LineSymbolizer":
            return stroke(symbolizer.first("Stroke")).map { LayerSymbol(.line($0)) }
        case "PolygonSymbolizer":
            let fill = symbolizer.first("Fill")
            if fill?.first("GraphicFill") != nil {
                rules.note("a fill of pictures is not understood: it is solid")
            }
            let color = color(fill, "fill", "fill-opacity", 0x80)
            return LayerSymbol(
                .fill(
                    LayerSymbol.Fill(
                        color, style: fill == nil ? .null : .solid,
                        outline: stroke(symbolizer.first("Stroke")))))
        default: return marker(symbolizer)
        }
    }

    private mutating func marker(_ symbolizer: XMLElement) -> LayerSymbol? {
        guard let graphic = symbolizer.first("Graphic") else { return nil }
        guard let mark = graphic.first("Mark") else {
            rules.note("a picture as a marker is not understood")
            return nil
        }
        let name = mark.first("WellKnownName")?.trimmed ?? "square"
        let style: LayerSymbol.MarkerStyle? =
            switch name {
            case "square": .square
            case "circle": .circle
            case "triangle": .triangle
            case "cross": .cross
            case "x": .x
            case "diamond": .diamond
            default: nil
            }
        if style == nil {
            rules.note("a marker '\(name.prefix(40))' is not understood: it is a circle")
        }
        let size = graphic.first("Size").flatMap { Double($0.trimmed) } ?? 6
        let angle = graphic.first("Rotation").flatMap { Double($0.trimmed) } ?? 0
        return LayerSymbol(
            .marker(
                LayerSymbol.Marker(
                    style ?? .circle, color(mark.first("Fill"), "fill", "fill-opacity", 0x80),
                    sizePoints: Self.points(size), angleDegrees: angle,
                    outline: stroke(mark.first("Stroke")))))
    }

    private mutating func stroke(_ element: XMLElement?) -> LayerSymbol.Stroke? {
        guard let element else { return nil }
        let width = Self.parameter(element, "stroke-width").flatMap { Double($0) } ?? 1
        let style: LayerSymbol.LineStyle
        if let dashes = Self.parameter(element, "stroke-dasharray") {
            let lengths = dashes.split { $0 == " " || $0 == "," }.compactMap { Double($0) }
            style =
                lengths.count > 4
                ? .dashDotDot
                : lengths.count > 2 ? .dashDot : (lengths.first ?? 4) <= width * 2 ? .dot : .dash
        } else {
            style = .solid
        }
        return LayerSymbol.Stroke(
            color(element, "stroke", "stroke-opacity", 0), widthPoints: Self.points(width),
            style: style)
    }

    /// Pixels as points, within the bounds of a drawing.
    private static func points(_ pixels: Double) -> Double {
        min(LayerDrawing.sizeBoundPoints, max(0, pixels * 0.75))
    }

    private static func parameter(_ element: XMLElement, _ name: String) -> String? {
        (element.all("CssParameter") + element.all("SvgParameter"))
            .first { $0.attributes["name"] == name }?.trimmed
    }

    /// - Parameter usual: The grey without a statement.
    private mutating func color(
        _ element: XMLElement?, _ name: String, _ opacity: String, _ usual: UInt8
    ) -> LayerSymbol.Color {
        guard let element else { return LayerSymbol.Color(usual, usual, usual) }
        let share = Self.parameter(element, opacity).flatMap { Double($0) } ?? 1
        let alpha = UInt8((min(1, max(0, share)) * 255).rounded())
        guard let text = Self.parameter(element, name) else {
            return LayerSymbol.Color(usual, usual, usual, alpha: alpha)
        }
        guard text.hasPrefix("#"), text.utf8.count == 7,
            let number = UInt32(text.dropFirst(), radix: 16)
        else {
            rules.note("the colour '\(text.prefix(40))' is not understood: it is grey")
            return LayerSymbol.Color(128, 128, 128, alpha: alpha)
        }
        return LayerSymbol.Color(
            UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255), alpha: alpha)
    }

    // MARK: Labels

    private mutating func read(text: XMLElement, _ rule: XMLElement) {
        guard let name = text.first("Label")?.first("PropertyName")?.trimmed,
            let expression = try? LabelExpression(parsing: "[\(name)]")
        else { return rules.note("labels of anything but one field are not understood") }
        var symbol = TextSymbol()
        if let font = text.first("Font") {
            let size = Self.parameter(font, "font-size").flatMap { Double($0) } ?? 10
            symbol.sizePoints = Self.points(size)
            symbol.isBold = Self.parameter(font, "font-weight") == "bold"
            symbol.isItalic = Self.parameter(font, "font-style") == "italic"
            if let family = Self.parameter(font, "font-family") { symbol.family = family }
        }
        symbol.color = color(text.first("Fill"), "fill", "fill-opacity", 0)
        symbol.haloColor = nil
        if let halo = text.first("Halo") {
            symbol.haloColor = color(halo.first("Fill"), "fill", "fill-opacity", 255)
            let radius = halo.first("Radius").flatMap { Double($0.trimmed) } ?? 1
            symbol.haloPoints = Self.points(radius)
        }
        var label = LabelClass(expression, symbol: symbol)
        func scale(_ name: String) -> Double {
            rule.first(name).flatMap { Double($0.trimmed) } ?? 0
        }
        // SLD's maximum is the zoomed-out limit.
        label.scaleRange = ScaleRange(
            minScale: scale("MaxScaleDenominator"), maxScale: scale("MinScaleDenominator"))
        if rules.labels.count < LayerDrawing.labelBound { rules.labels.append(label) }
    }
}
