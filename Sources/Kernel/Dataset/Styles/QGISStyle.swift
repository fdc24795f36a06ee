// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat

/// A style of QGIS, a QML document.
struct QGISStyle {
    private(set) var rules = StyleRules()

    init(_ document: XMLElement) {
        if let opacity = document.first("layerOpacity").flatMap({ Double($0.trimmed) }) {
            rules.transparency = Int(((1 - min(1, max(0, opacity))) * 100).rounded())
        }
        if let renderer = document.first("renderer-v2") {
            read(renderer)
        } else {
            rules.note("the style has no renderer")
        }
        if document.attributes["labelsEnabled"] == "1", let labeling = document.first("labeling") {
            read(labeling: labeling)
        }
    }

    // MARK: Renderers

    private mutating func read(_ renderer: XMLElement) {
        let type = renderer.attributes["type"] ?? ""
        var symbols: [String: XMLElement] = [:]
        for symbol in renderer.first("symbols")?.all("symbol") ?? [] {
            symbols[symbol.attributes["name"] ?? ""] = symbol
        }
        let field = Self.fieldName(renderer.attributes["attr"] ?? "")
        switch type {
        case "singleSymbol":
            add(.rest, symbols["0"] ?? symbols.values.first, label: "")
        case "categorizedSymbol":
            guard let field else { return noteExpression(renderer) }
            for category in renderer.first("categories")?.all("category") ?? [] {
                let value = category.attributes["value"] ?? ""
                let label = category.attributes["label"] ?? value
                guard category.attributes["render"] != "false" else {
                    rules.note("category '\(label.prefix(40))' is turned off: it is left out")
                    continue
                }
                let values = category.all("val").compactMap { $0.attributes["value"] }
                let isRest = value.isEmpty && values.isEmpty
                add(
                    isRest ? .rest : .values(field: field, values.isEmpty ? [value] : values),
                    symbols[category.attributes["symbol"] ?? ""], label: label)
            }
        case "graduatedSymbol":
            guard let field else { return noteExpression(renderer) }
            for range in renderer.first("ranges")?.all("range") ?? [] {
                let label = range.attributes["label"] ?? ""
                guard range.attributes["render"] != "false" else {
                    rules.note("range '\(label.prefix(40))' is turned off: it is left out")
                    continue
                }
                add(
                    .range(
                        field: field, least: range.attributes["lower"].flatMap { Double($0) },
                        greatest: range.attributes["upper"].flatMap { Double($0) }),
                    symbols[range.attributes["symbol"] ?? ""], label: label)
            }
        case "RuleRenderer":
            for rule in renderer.first("rules")?.all("rule") ?? [] { read(rule: rule, symbols) }
        case "nullSymbol": rules.note("the style draws nothing: the layer keeps its symbol")
        default: rules.note("a renderer of type '\(type.prefix(40))' is not understood")
        }
    }

    private mutating func noteExpression(_ renderer: XMLElement) {
        rules.note(
            "the renderer is by the expression '\((renderer.attributes["attr"] ?? "").prefix(60))':"
                + " only fields are understood")
    }

    private mutating func read(rule: XMLElement, _ symbols: [String: XMLElement]) {
        let label = rule.attributes["label"] ?? ""
        if rule.attributes["checkstate"] == "0" {
            return rules.note("rule '\(label.prefix(40))' is turned off: it is left out")
        }
        if rule.attributes["scalemindenom"] != nil || rule.attributes["scalemaxdenom"] != nil {
            rules.note(
                "rule '\(label.prefix(40))' is for some scales: it is used at all of them")
        }
        if !rule.all("rule").isEmpty {
            rules.note("rules inside rule '\(label.prefix(40))' are left out")
        }
        guard let symbol = rule.attributes["symbol"].flatMap({ symbols[$0] }) else { return }
        let filter = rule.attributes["filter"] ?? ""
        guard let condition = StyleFilter.condition(filter) else {
            return rules.note(
                "rule '\(label.prefix(40))' is left out: its filter '\(filter.prefix(60))' is not "
                    + "understood")
        }
        add(condition, symbol, label: label)
    }

    private mutating func add(
        _ condition: StyleRules.Condition, _ symbol: XMLElement?, label: String
    ) {
        guard let symbol, let read = self.symbol(symbol) else { return }
        rules.add(condition, FeatureRenderer.Entry(read, label: label))
    }

    /// The field that an attribute or simple expression names: `kind`, `"kind"`.
    static func fieldName(_ text: String) -> String? {
        var name = text[...]
        if name.hasPrefix("\""), name.hasSuffix("\""), name.count > 2 {
            name = name.dropFirst().dropLast()
        }
        let isPlain = !name.contains { "\"'()+*/|=<>".contains($0) }
        return name.isEmpty || !isPlain ? nil : String(name)
    }

    // MARK: Symbols

    private mutating func symbol(_ symbol: XMLElement) -> LayerSymbol? {
        let alpha = symbol.attributes["alpha"].flatMap { Double($0) } ?? 1
        let layers = symbol.all("layer").filter { $0.attributes["enabled"] != "0" }
        var understood: [LayerSymbol] = []
        for layer in layers {
            let name = layer.attributes["class"] ?? ""
            guard let read = self.symbol(Properties(layer), class: name, alpha) else {
                rules.note("a symbol layer '\(name.prefix(40))' is not understood")
                continue
            }
            understood.append(read)
        }
        if understood.count > 1 {
            rules.note("of symbols with several layers the lowest is taken")
        }
        return understood.first
    }

    private mutating func symbol(
        _ values: Properties, class name: String, _ alpha: Double
    ) -> LayerSymbol? {
        switch name {
        case "SimpleMarker":
            let shape = values.text("name") ?? "circle"
            let style: LayerSymbol.MarkerStyle? =
                switch shape {
                case "circle": .circle
                case "square", "rectangle": .square
                case "diamond": .diamond
                case "triangle", "equilateral_triangle": .triangle
                case "cross", "line": .cross
                case "cross2", "x": .x
                default: nil
                }
            if style == nil {
                rules.note("a marker '\(shape.prefix(40))' is not understood: it is a circle")
            }
            return LayerSymbol(
                .marker(
                    LayerSymbol.Marker(
                        style ?? .circle, values.color("color", alpha),
                        sizePoints: size(values, "size", 2),
                        angleDegrees: values.number("angle") ?? 0,
                        outline: stroke(
                            values, "outline_color", "outline_width", "outline_style", alpha))))
        case "SimpleLine":
            return LayerSymbol(
                .line(
                    stroke(values, "line_color", "line_width", "line_style", alpha)
                        ?? LayerSymbol.Stroke(.init(0, 0, 0), widthPoints: 0, style: .null)))
        case "SimpleFill":
            let pattern = values.text("style") ?? "solid"
            let style: LayerSymbol.FillStyle? =
                switch pattern {
                case "solid": .solid
                case "no": .null
                case "horizontal": .horizontal
                case "vertical": .vertical
                case "cross": .cross
                case "b_diagonal": .backwardDiagonal
                case "f_diagonal": .forwardDiagonal
                case "diagonal_x": .diagonalCross
                default: nil
                }
            if style == nil {
                rules.note("a fill '\(pattern.prefix(40))' is not understood: it is solid")
            }
            return LayerSymbol(
                .fill(
                    LayerSymbol.Fill(
                        values.color("color", alpha), style: style ?? .solid,
                        outline: stroke(
                            values, "outline_color", "outline_width", "outline_style", alpha))))
        default: return nil
        }
    }

    private mutating func stroke(
        _ values: Properties, _ color: String, _ width: String, _ style: String, _ alpha: Double
    ) -> LayerSymbol.Stroke? {
        let name = values.text(style) ?? "solid"
        let line: LayerSymbol.LineStyle
        switch name {
        case "no": return nil
        case "solid": line = .solid
        case "dash": line = .dash
        case "dot": line = .dot
        case "dash dot": line = .dashDot
        case "dash dot dot": line = .dashDotDot
        default:
            rules.note("a line '\(name.prefix(40))' is not understood: it is solid")
            line = .solid
        }
        return LayerSymbol.Stroke(
            values.color(color, alpha), widthPoints: size(values, width, 0.26), style: line)
    }

    /// A size in points; QGIS has millimetres unless it states another unit.
    private mutating func size(
        _ values: Properties, _ name: String, _ usual: Double
    ) -> Double {
        let number = values.number(name) ?? usual
        let unit = values.text(name + "_unit") ?? "MM"
        guard let points = Self.points(unit) else {
            rules.note("sizes in '\(unit.prefix(40))' are not understood: taken as millimetres")
            return min(LayerDrawing.sizeBoundPoints, number * 72 / 25.4)
        }
        // A hairline is drawn as thin as it is visible.
        return min(LayerDrawing.sizeBoundPoints, number == 0 ? 0.25 : number * points)
    }

    private static func points(_ unit: String) -> Double? {
        switch unit.lowercased() {
        case "mm", "": 72 / 25.4
        case "point", "points": 1
        case "pixel", "pixels": 0.75
        case "inch", "inches": 72
        default: nil
        }
    }

    // MARK: Labels

    private mutating func read(labeling: XMLElement) {
        guard labeling.attributes["type"] == "simple" else {
            return rules.note(
                "labels of type '\((labeling.attributes["type"] ?? "").prefix(40))' are not "
                    + "understood")
        }
        guard let settings = labeling.first("settings"), let style = settings.first("text-style")
        else { return }
        let name = style.attributes["fieldName"] ?? ""
        guard let field = Self.fieldName(name),
            let expression = try? LabelExpression(parsing: "[\(field)]")
        else {
            return rules.note(
                "labels by the expression '\(name.prefix(60))' are not understood: only fields are")
        }
        var symbol = TextSymbol()
        symbol.color = Properties.color(style.attributes["textColor"] ?? "", 1)
        if let family = style.attributes["fontFamily"], !family.isEmpty { symbol.family = family }
        let unit = Self.points(style.attributes["fontSizeUnit"] ?? "Point") ?? 1
        let fontSize = style.attributes["fontSize"].flatMap { Double($0) } ?? 8
        symbol.sizePoints = min(LayerDrawing.sizeBoundPoints, fontSize * unit)
        symbol.isItalic = style.attributes["fontItalic"] == "1"
        symbol.isBold = (style.attributes["fontWeight"].flatMap { Int($0) } ?? 50) >= 63
        symbol.haloColor = nil
        if let buffer = style.first("text-buffer"), buffer.attributes["bufferDraw"] == "1" {
            symbol.haloColor = Properties.color(buffer.attributes["bufferColor"] ?? "", 1)
            let size = buffer.attributes["bufferSize"].flatMap { Double($0) } ?? 1
            symbol.haloPoints =
                size * (Self.points(buffer.attributes["bufferSizeUnits"] ?? "MM") ?? 1)
        }
        var label = LabelClass(expression, symbol: symbol)
        if let rendering = settings.first("rendering"),
            rendering.attributes["scaleVisibility"] == "1"
        {
            // QGIS calls the zoomed-out limit the maximum.
            label.scaleRange = ScaleRange(
                minScale: rendering.attributes["scaleMax"].flatMap { Double($0) } ?? 0,
                maxScale: rendering.attributes["scaleMin"].flatMap { Double($0) } ?? 0)
        }
        rules.labels = [label]
    }

    /// The properties of a symbol layer, `Option` elements or, of older versions, `prop`.
    private struct Properties {
        private var values: [String: String] = [:]

        init(_ layer: XMLElement) {
            for property in layer.all("prop") {
                if let key = property.attributes["k"] { values[key] = property.attributes["v"] }
            }
            for option in layer.first("Option")?.all("Option") ?? [] {
                if let key = option.attributes["name"] {
                    values[key] = option.attributes["value"]
                }
            }
        }

        func text(_ name: String) -> String? { values[name] }

        func number(_ name: String) -> Double? { values[name].flatMap { Double($0) } }

        func color(_ name: String, _ alpha: Double) -> LayerSymbol.Color {
            Self.color(values[name] ?? "", alpha)
        }

        /// `164,113,88,255`, newer versions with more behind it.
        static func color(_ text: String, _ alpha: Double) -> LayerSymbol.Color {
            let parts = text.split(separator: ",").prefix(4).map { UInt8($0) ?? 0 }
            guard parts.count >= 3 else { return LayerSymbol.Color(0, 0, 0) }
            let opacity = Double(parts.count > 3 ? parts[3] : 255) * min(1, max(0, alpha))
            return LayerSymbol.Color(parts[0], parts[1], parts[2], alpha: UInt8(opacity.rounded()))
        }
    }
}

/// Filters of rules as expressions of QGIS, the simple ones.
enum StyleFilter {
    /// The condition; nil for an expression that is none of `"f" = 'a'`, `"f" IN ('a', 'b')`,
    /// `"f" >= 1 AND "f" < 5` and `ELSE`.
    static func condition(_ text: String) -> StyleRules.Condition? {
        let trimmed = text.drop(while: \.isWhitespace)
        if trimmed.isEmpty || trimmed.uppercased() == "ELSE" { return .rest }
        guard var words = words(text) else { return nil }
        while words.first == .sign("("), words.last == .sign(")") {
            words = Array(words.dropFirst().dropLast())
        }
        guard case .name(let field)? = words.first, words.count > 2 else { return nil }
        if words.count == 3, words[1] == .sign("="), let value = words[2].value {
            return .values(field: field, [value])
        }
        if words[1] == .word("IN"), words[2] == .sign("("), words.last == .sign(")") {
            let list = words.dropFirst(3).dropLast()
            let values = list.compactMap(\.value)
            let commas = list.count { $0 == .sign(",") }
            return values.isEmpty || values.count + commas != list.count
                ? nil : .values(field: field, values)
        }
        return range(words, field)
    }

    private static func range(_ words: [Word], _ field: String) -> StyleRules.Condition? {
        var (least, greatest): (Double?, Double?) = (nil, nil)
        for part in words.split(separator: .word("AND")) {
            let part = part.filter { $0 != .sign("(") && $0 != .sign(")") }
            guard part.count == 3, part[0] == .name(field), case .sign(let sign) = part[1],
                let number = part[2].value.flatMap({ Double($0) })
            else { return nil }
            switch sign {
            case ">=": least = number
            case ">": least = number.nextUp
            case "<=": greatest = number
            case "<": greatest = number.nextDown
            default: return nil
            }
        }
        return .range(field: field, least: least, greatest: greatest)
    }

    private enum Word: Hashable {
        case name(String)
        case text(String)
        case number(String)
        case word(String)
        case sign(String)

        var value: String? {
            switch self {
            case .text(let text), .number(let text): text
            case .name, .word, .sign: nil
            }
        }
    }

    private static func words(_ text: String) -> [Word]? {
        var words: [Word] = []
        var rest = text[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if first == "\"" || first == "'" {
                let inner = rest.dropFirst()
                guard let end = inner.firstIndex(of: first) else { return nil }
                let content = String(inner[..<end])
                words.append(first == "\"" ? .name(content) : .text(content))
                rest = inner[inner.index(after: end)...]
            } else if first.isNumber || first == "-" || first == "." {
                let number = rest.prefix { $0.isNumber || "-.eE+".contains($0) }
                words.append(.number(String(number)))
                rest = rest[number.endIndex...]
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                let isKeyword = ["AND", "OR", "IN", "NOT", "IS", "NULL", "LIKE"]
                    .contains(word.uppercased())
                words.append(isKeyword ? .word(word.uppercased()) : .name(String(word)))
                rest = rest[word.endIndex...]
            } else {
                let sign = rest.prefix { "<>=!".contains($0) }
                let taken = sign.isEmpty ? rest.prefix(1) : sign
                words.append(.sign(String(taken)))
                rest = rest[taken.endIndex...]
            }
        }
        return words
    }
}
