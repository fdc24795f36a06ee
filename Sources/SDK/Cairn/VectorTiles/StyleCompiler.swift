// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// What is not understood in a style.
struct StyleUnknown: Error {
    /// As a style names it: an operator, or what is wrong with its arguments.
    var what: String
}

/// Reads the expressions of a style; one reader for all of it, so that its size is bounded.
struct StyleCompiler {
    /// The most parts of a style's expressions.
    private static let partLimit = 1 << 20

    private var partCount = 0
    private var variableCount = 0
    /// Parts of expressions that change nothing here, by their names.
    private(set) var ignored: Set<String> = []

    private typealias Names = [String: Int]

    /// Reads a value of a property: a constant, a function of stops, or an expression.
    mutating func property(_ json: JSON, _ kind: StyleKind) throws(StyleUnknown) -> StyleExpression
    {
        if case .object = json { return try function(json, kind) }
        if kind == .template {
            return json.text.map(Self.template) ?? .call(.toText, [try expression(json, .any, [:])])
        }
        if kind == .list, json.elements.first?.text.map(Self.isOperator) != true {
            return try literal(StyleValue(json), kind)
        }
        return try expression(json, kind, [:])
    }

    /// Reads a condition, in the old form or as an expression.
    mutating func filter(_ json: JSON) throws(StyleUnknown) -> StyleExpression {
        if LegacyFilter.isExpression(json) { return try expression(json, .any, [:]) }
        return .filter(try legacy(json))
    }

    private mutating func legacy(_ json: JSON) throws(StyleUnknown) -> LegacyFilter {
        try count()
        let parts = json.elements
        guard let name = parts.first?.text else { throw StyleUnknown(what: json.brief) }
        switch name {
        case "all", "any", "none":
            var filters: [LegacyFilter] = []
            for part in parts.dropFirst() {
                filters.append(
                    LegacyFilter.isExpression(part)
                        ? .expression(try expression(part, .any, [:])) : try legacy(part))
            }
            return name == "all" ? .all(filters) : name == "any" ? .any(filters) : .none(filters)
        default:
            guard let filter = LegacyFilter(name, Array(parts.dropFirst())) else {
                throw StyleUnknown(what: name)
            }
            return filter
        }
    }

    private mutating func count() throws(StyleUnknown) {
        partCount += 1
        guard partCount <= Self.partLimit else {
            throw StyleUnknown(what: "more than \(Self.partLimit) parts of expressions")
        }
    }

    /// A value as a property or an operator takes it; texts become colors where those are wanted.
    private func literal(_ value: StyleValue, _ kind: StyleKind) throws(StyleUnknown)
        -> StyleExpression
    {
        if kind == .color, let color = value.convertedColor, case .text = value {
            return .value(.color(color))
        }
        guard value == .null || kind.takes(value) else {
            throw StyleUnknown(what: "the value \(value.shownText.prefix(40))")
        }
        return .value(value)
    }

    private static let forms: Set<String> = [
        "literal", "case", "match", "step", "interpolate", "let", "var", "array", "format",
        "feature-state", "pi", "e", "ln2", "interpolate-hcl", "interpolate-lab", "image",
        "number-format", "collator", "resolved-locale", "within", "distance", "heatmap-density",
        "line-progress", "accumulated", "global-state", "split", "join",
    ]

    private static func isOperator(_ name: String) -> Bool {
        forms.contains(name) || StyleOperator(rawValue: name) != nil
    }

    private mutating func expressions(
        _ json: some Sequence<JSON>, _ kind: StyleKind, _ names: Names
    ) throws(StyleUnknown) -> [StyleExpression] {
        var result: [StyleExpression] = []
        for part in json { result.append(try expression(part, kind, names)) }
        return result
    }

    private mutating func expression(
        _ json: JSON, _ kind: StyleKind, _ names: Names
    ) throws(StyleUnknown) -> StyleExpression {
        try count()
        guard case .array(let parts) = json else {
            if case .object = json { throw StyleUnknown(what: "an object in an expression") }
            return try literal(StyleValue(json), kind)
        }
        guard let name = parts.first?.text else { throw StyleUnknown(what: json.brief) }
        let rest = Array(parts.dropFirst())
        func expect(_ holds: Bool) throws(StyleUnknown) {
            guard holds else { throw StyleUnknown(what: "\(name) with \(rest.count) arguments") }
        }
        switch name {
        case "literal":
            try expect(rest.count == 1)
            return try literal(StyleValue(rest[0]), kind)
        case "pi": return .value(.number(.pi))
        case "e": return .value(.number(2.718281828459045))
        case "ln2": return .value(.number(0.6931471805599453))
        case "feature-state": return .value(.null)
        case "case":
            try expect(rest.count >= 3 && rest.count % 2 == 1)
            var choices: [(condition: StyleExpression, output: StyleExpression)] = []
            for index in stride(from: 0, to: rest.count - 1, by: 2) {
                choices.append(
                    (
                        try expression(rest[index], .any, names),
                        try expression(rest[index + 1], kind, names)
                    ))
            }
            return .choose(choices, try expression(rest[rest.count - 1], kind, names))
        case "match": return try match(rest, kind, names)
        case "step":
            try expect(rest.count >= 2 && rest.count % 2 == 0)
            return .step(
                try expression(rest[0], .any, names), try expression(rest[1], kind, names),
                try stops(rest.dropFirst(2), kind, names))
        case "interpolate":
            try expect(rest.count >= 4 && rest.count % 2 == 0)
            let curve = rest[0].elements
            let base: Double
            switch (curve.first?.text, curve.count) {
            case ("linear", 1): base = 1
            case ("exponential", 2): base = curve[1].number ?? .nan
            default: throw StyleUnknown(what: "interpolate with \(rest[0].brief)")
            }
            guard base > 0, base < 1e6 else {
                throw StyleUnknown(what: "interpolate with \(rest[0].brief)")
            }
            return .interpolate(
                try expression(rest[1], .any, names), base: base,
                try stops(rest.dropFirst(2), kind, names), isColor: kind == .color)
        case "let": return try binding(rest, kind, names)
        case "var":
            guard rest.count == 1, let number = rest[0].text.flatMap({ names[$0] }) else {
                throw StyleUnknown(what: json.brief)
            }
            return .variable(number)
        case "array":
            // The types of elements are seen where they are used.
            try expect(1...3 ~= rest.count)
            let inner = try expression(rest[rest.count - 1], .any, names)
            return .checked(inner, .list, nil)
        case "format":
            var texts: [StyleExpression] = []
            for part in rest {
                if case .object(let members) = part {
                    ignored.formUnion(members.map { "format with \($0.name)" })
                } else {
                    texts.append(.call(.toText, [try expression(part, .any, names)]))
                }
            }
            return .call(.concat, texts)
        default:
            guard let call = StyleOperator(rawValue: name) else { throw StyleUnknown(what: name) }
            try expect(call.arity.contains(rest.count))
            let inner: StyleKind = call == .coalesce ? kind : .any
            return .call(call, try expressions(rest, inner, names))
        }
    }

    private mutating func match(
        _ parts: [JSON], _ kind: StyleKind, _ names: Names
    ) throws(StyleUnknown) -> StyleExpression {
        guard parts.count >= 4, parts.count % 2 == 0 else {
            throw StyleUnknown(what: "match with \(parts.count) arguments")
        }
        let input = try expression(parts[0], .any, names)
        var labels: [StyleValue: Int] = [:]
        var outputs: [StyleExpression] = []
        for index in stride(from: 1, to: parts.count - 1, by: 2) {
            let own =
                if case .array(let several) = parts[index] { several } else { [parts[index]] }
            for label in own {
                try count()
                let value = StyleValue(label)
                switch value {
                case .text, .number: break
                default: throw StyleUnknown(what: "match with \(label.brief)")
                }
                if labels[value] == nil { labels[value] = outputs.count }
            }
            outputs.append(try expression(parts[index + 1], kind, names))
        }
        return .match(
            input, labels, outputs, try expression(parts[parts.count - 1], kind, names))
    }

    private mutating func binding(
        _ parts: [JSON], _ kind: StyleKind, _ names: Names
    ) throws(StyleUnknown) -> StyleExpression {
        guard parts.count >= 3, parts.count % 2 == 1 else {
            throw StyleUnknown(what: "let with \(parts.count) arguments")
        }
        var inner = names
        var bound: [(Int, StyleExpression)] = []
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            guard let name = parts[index].text else {
                throw StyleUnknown(what: "let with \(parts[index].brief)")
            }
            // What is bound sees what was before the whole, as the specification has it.
            bound.append((variableCount, try expression(parts[index + 1], .any, names)))
            inner[name] = variableCount
            variableCount += 1
        }
        let body = try expression(parts[parts.count - 1], kind, inner)
        return bound.reversed().reduce(body) { .bind($1.0, $1.1, in: $0) }
    }

    private mutating func stops(
        _ parts: ArraySlice<JSON>, _ kind: StyleKind, _ names: Names
    ) throws(StyleUnknown) -> [StyleStop] {
        var stops: [StyleStop] = []
        for index in stride(from: parts.startIndex, to: parts.endIndex - 1, by: 2) {
            guard case let input = StyleValue(parts[index]), case .number(let number) = input,
                stops.last.map({ $0.input < number }) ?? true
            else { throw StyleUnknown(what: "a curve whose inputs do not rise") }
            stops.append(
                StyleStop(input: number, output: try expression(parts[index + 1], kind, names)))
        }
        return stops
    }

    // MARK: Functions of stops

    private mutating func function(
        _ json: JSON, _ kind: StyleKind
    ) throws(StyleUnknown) -> StyleExpression {
        try count()
        let stops = json["stops"]?.elements ?? []
        let property = json.text("property")
        let isCurve = kind == .number || kind == .color || kind == .list
        let type = json.text("type") ?? (isCurve ? "exponential" : "interval")
        let space = json.text("colorSpace") ?? "rgb"
        guard space == "rgb" else { throw StyleUnknown(what: "stops in the space \(space)") }
        let base = json["base"].map { $0.number ?? .nan } ?? 1
        guard base > 0, base < 1e6 else { throw StyleUnknown(what: "stops with a base") }
        let input: StyleExpression =
            property.map { .call(.get, [.value(.text($0))]) }
            ?? .call(.zoom, [])
        let standard =
            try json.member("default").map { (json) throws(StyleUnknown) in
                try outcome(json, kind)
            } ?? .value(.null)
        if type == "identity" {
            guard property != nil else { throw StyleUnknown(what: "identity without a property") }
            return .checked(input, kind, standard)
        }
        guard !stops.isEmpty else { throw StyleUnknown(what: "a function without stops") }
        if property != nil, case .object = stops[0].elements.first {
            return try zoomFunction(stops, input, standard, kind, type, base)
        }
        return try curve(
            stops, input, standard, kind,
            property == nil && type == "categorical"
                ? "interval" : type, base)
    }

    /// Stops by zoom and by an attribute: one curve for each zoom, and one over them.
    private mutating func zoomFunction(
        _ stops: [JSON], _ input: StyleExpression, _ standard: StyleExpression,
        _ kind: StyleKind, _ type: String, _ base: Double
    ) throws(StyleUnknown) -> StyleExpression {
        var byZoom: [Double: [JSON]] = [:]
        for stop in stops {
            let parts = stop.elements
            guard parts.count == 2, let zoom = parts[0]["zoom"]?.number,
                let value = parts[0]["value"]
            else { throw StyleUnknown(what: "a stop \(stop.brief)") }
            byZoom[zoom, default: []].append(.array([value, parts[1]]))
        }
        var outer: [StyleStop] = []
        for (zoom, own) in byZoom.sorted(by: { $0.key < $1.key }) {
            outer.append(
                StyleStop(
                    input: zoom, output: try curve(own, input, standard, kind, type, base)))
        }
        guard let first = outer.first else { throw StyleUnknown(what: "a function without stops") }
        guard kind == .number || kind == .color else {
            return .step(.call(.zoom, []), first.output, Array(outer.dropFirst()))
        }
        return .interpolate(.call(.zoom, []), base: base, outer, isColor: kind == .color)
    }

    private mutating func curve(
        _ stops: [JSON], _ input: StyleExpression, _ standard: StyleExpression,
        _ kind: StyleKind, _ type: String, _ base: Double
    ) throws(StyleUnknown) -> StyleExpression {
        var pairs: [(StyleValue, StyleExpression)] = []
        for stop in stops {
            let parts = stop.elements
            guard parts.count == 2 else { throw StyleUnknown(what: "a stop \(stop.brief)") }
            pairs.append((StyleValue(parts[0]), try outcome(parts[1], kind)))
        }
        if type == "categorical" {
            var labels: [StyleValue: Int] = [:]
            for (place, pair) in pairs.enumerated() where labels[pair.0] == nil {
                labels[pair.0] = place
            }
            return .match(input, labels, pairs.map(\.1), standard)
        }
        var rising: [StyleStop] = []
        for (value, output) in pairs {
            guard case .number(let number) = value, rising.last.map({ $0.input <= number }) ?? true
            else { throw StyleUnknown(what: "stops that do not rise") }
            if rising.last?.input == number { rising.removeLast() }
            rising.append(StyleStop(input: number, output: output))
        }
        let whole: StyleExpression
        switch type {
        case "exponential":
            whole = .interpolate(input, base: base, rising, isColor: kind == .color)
        case "interval":
            whole = .step(input, rising[0].output, Array(rising.dropFirst()))
        default: throw StyleUnknown(what: "a function of the type \(type)")
        }
        // A feature whose attribute is no number has the standard.
        if case .call(.zoom, _) = input { return whole }
        return .choose(
            [(.call(.equal, [.call(.typeName, [input]), .value(.text("number"))]), whole)], standard
        )
    }

    /// A constant of a function.
    private mutating func outcome(
        _ json: JSON, _ kind: StyleKind
    ) throws(StyleUnknown) -> StyleExpression {
        try count()
        if kind == .template, let text = json.text { return Self.template(text) }
        return try literal(StyleValue(json), kind)
    }

    /// A text with attributes in braces.
    private static func template(_ text: String) -> StyleExpression {
        var parts: [StyleExpression] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: open)..<close])
            if open > rest.startIndex { parts.append(.value(.text(String(rest[..<open])))) }
            parts.append(.call(.get, [.value(.text(name))]))
            rest = rest[rest.index(after: close)...]
        }
        guard !parts.isEmpty else { return .value(.text(text)) }
        if !rest.isEmpty { parts.append(.value(.text(String(rest)))) }
        return .call(.concat, parts)
    }
}

extension JSONTree {
    /// Its beginning, for messages.
    fileprivate var brief: String { String(jsonText.prefix(40)) }
}
