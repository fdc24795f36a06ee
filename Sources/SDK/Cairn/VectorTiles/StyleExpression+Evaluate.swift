// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension StyleExpression {
    /// The value for what `scope` has.
    func evaluate(_ scope: inout StyleScope) throws(StyleFault) -> StyleValue {
        scope.budget.spend(1)
        guard !scope.budget.isSpent else { throw StyleFault() }
        switch self {
        case .value(let value): return value
        case .variable(let number):
            guard let value = scope.variables[number] else { throw StyleFault() }
            return value
        case .bind(let number, let value, let body):
            scope.variables[number] = try value.evaluate(&scope)
            return try body.evaluate(&scope)
        case .choose(let choices, let otherwise):
            for (condition, output) in choices {
                if try condition.flag(&scope) { return try output.evaluate(&scope) }
            }
            return try otherwise.evaluate(&scope)
        case .match(let input, let labels, let outputs, let otherwise):
            let place = labels[try input.evaluate(&scope)]
            let output = place.map { outputs[$0] } ?? otherwise
            return try output.evaluate(&scope)
        case .step(let input, let first, let stops):
            let value = try input.number(&scope)
            scope.budget.spend(stops.count)
            let output = stops.last { $0.input <= value }?.output ?? first
            return try output.evaluate(&scope)
        case .interpolate(let input, let base, let stops, let isColor):
            return try Self.interpolated(
                try input.number(&scope), base, stops, isColor: isColor, &scope)
        case .checked(let expression, let kind, let otherwise):
            let value = try expression.evaluate(&scope)
            if kind.takes(value) { return value }
            guard let otherwise else { throw StyleFault() }
            return try otherwise.evaluate(&scope)
        case .filter(let filter): return .flag(filter.holds(&scope))
        case .call(let call, let parts): return try Self.call(call, parts, &scope)
        }
    }

    func number(_ scope: inout StyleScope) throws(StyleFault) -> Double {
        guard case .number(let number) = try evaluate(&scope) else { throw StyleFault() }
        return number
    }

    func flag(_ scope: inout StyleScope) throws(StyleFault) -> Bool {
        guard case .flag(let flag) = try evaluate(&scope) else { throw StyleFault() }
        return flag
    }

    func text(_ scope: inout StyleScope) throws(StyleFault) -> String {
        guard case .text(let text) = try evaluate(&scope) else { throw StyleFault() }
        return text
    }

    // MARK: Curves

    private static func interpolated(
        _ value: Double, _ base: Double, _ stops: [StyleStop], isColor: Bool,
        _ scope: inout StyleScope
    ) throws(StyleFault) -> StyleValue {
        scope.budget.spend(stops.count)
        guard let next = stops.firstIndex(where: { $0.input > value }) else {
            guard let last = stops.last, !value.isNaN else { throw StyleFault() }
            return try last.output.evaluate(&scope)
        }
        guard next > 0 else { return try stops[0].output.evaluate(&scope) }
        let (low, high) = (stops[next - 1], stops[next])
        let (done, whole) = (value - low.input, high.input - low.input)
        let share =
            base == 1 ? done / whole : (pow(base, done) - 1) / (pow(base, whole) - 1)
        guard share.isFinite else { throw StyleFault() }
        let (from, to) = (try low.output.evaluate(&scope), try high.output.evaluate(&scope))
        return try mixed(from, to, share, isColor: isColor)
    }

    private static func mixed(
        _ from: StyleValue, _ to: StyleValue, _ share: Double, isColor: Bool
    ) throws(StyleFault) -> StyleValue {
        switch (from, to) {
        case (.number(let from), .number(let to)): return .number(from + (to - from) * share)
        case (.color, _), (.text, _):
            guard isColor || from.typeName == "color", let from = from.convertedColor,
                let to = to.convertedColor
            else { throw StyleFault() }
            return .color(from.mixed(with: to, share))
        case (.list(let from), .list(let to)) where from.count == to.count:
            var parts: [StyleValue] = []
            for (from, to) in zip(from, to) {
                guard case .number = from, case .number = to else { throw StyleFault() }
                parts.append(try mixed(from, to, share, isColor: false))
            }
            return .list(parts)
        default: throw StyleFault()
        }
    }

    // MARK: Operators

    private static func call(
        _ call: StyleOperator, _ parts: [StyleExpression], _ scope: inout StyleScope
    ) throws(StyleFault) -> StyleValue {
        switch call {
        case .zoom: return .number(scope.zoom)
        case .id: return scope.feature?.id.map { .number(Double($0)) } ?? .null
        case .geometryType: return scope.feature.map { .text($0.kind.rawValue) } ?? .null
        case .properties:
            guard let layer = scope.layer, let feature = scope.feature else { throw StyleFault() }
            scope.budget.spend(layer.keys.count * feature.tags.count)
            return .object(layer.attributes(of: feature))
        case .get, .has:
            let name = try parts[0].text(&scope)
            let found: StyleValue?
            if parts.count > 1 {
                guard case .object(let members) = try parts[1].evaluate(&scope) else {
                    throw StyleFault()
                }
                found = members[name]
            } else {
                scope.budget.spend(scope.feature?.tags.count ?? 0)
                found = scope.feature.flatMap { scope.layer?.attribute(name, of: $0) }
            }
            return call == .has ? .flag(found != nil) : found ?? .null
        case .not: return .flag(try !parts[0].flag(&scope))
        case .all:
            for part in parts {
                if try !part.flag(&scope) { return .flag(false) }
            }
            return .flag(true)
        case .any:
            for part in parts {
                if try part.flag(&scope) { return .flag(true) }
            }
            return .flag(false)
        case .coalesce:
            var found = StyleValue.null
            for part in parts where found == .null { found = try part.evaluate(&scope) }
            return found
        case .equal: return .flag(try parts[0].evaluate(&scope) == parts[1].evaluate(&scope))
        case .unequal: return .flag(try parts[0].evaluate(&scope) != parts[1].evaluate(&scope))
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (left, right) = (try parts[0].evaluate(&scope), try parts[1].evaluate(&scope))
            guard let holds = left.ordered(call, right) else { throw StyleFault() }
            return .flag(holds)
        case .string, .number, .boolean, .object, .toNumber, .toColor:
            return try first(call, parts, &scope)
        case .at, .in, .indexOf, .slice, .length:
            return try elements(call, parts, &scope)
        case .typeName: return .text(try parts[0].evaluate(&scope).typeName)
        case .toText: return .text(try parts[0].evaluate(&scope).shownText)
        case .toFlag: return .flag(try parts[0].evaluate(&scope).isTruthy)
        case .toParts:
            guard let color = try parts[0].evaluate(&scope).convertedColor else {
                throw StyleFault()
            }
            return .list(
                [color.red * 255, color.green * 255, color.blue * 255, color.alpha].map {
                    .number($0)
                })
        case .concat:
            var text = ""
            for part in parts {
                text += try part.evaluate(&scope).shownText
                guard text.utf8.count <= textLimit else { throw StyleFault() }
            }
            return .text(text)
        case .upcase: return .text(try parts[0].text(&scope).uppercased())
        case .downcase: return .text(try parts[0].text(&scope).lowercased())
        case .isSupported: return .flag(true)
        case .rgb, .rgba:
            let numbers = try numbers(parts, &scope)
            guard
                let color = StyleColor(
                    bytes: numbers[0], numbers[1], numbers[2],
                    alpha: numbers.count > 3 ? numbers[3] : 1)
            else { throw StyleFault() }
            return .color(color)
        default: return .number(try calculated(call, try numbers(parts, &scope)))
        }
    }

    /// Most bytes of a text that is put together.
    private static let textLimit = 1 << 16

    private static func numbers(
        _ parts: [StyleExpression], _ scope: inout StyleScope
    ) throws(StyleFault) -> [Double] {
        var numbers: [Double] = []
        for part in parts { numbers.append(try part.number(&scope)) }
        return numbers
    }

    private static func calculated(
        _ call: StyleOperator, _ numbers: [Double]
    ) throws(StyleFault) -> Double {
        switch call {
        case .plus: numbers.reduce(0, +)
        case .times: numbers.reduce(1, *)
        case .minus: numbers.count > 1 ? numbers[0] - numbers[1] : -numbers[0]
        case .divided: numbers[0] / numbers[1]
        case .remainder: fmod(numbers[0], numbers[1])
        case .power: pow(numbers[0], numbers[1])
        case .min: numbers.min() ?? 0
        case .max: numbers.max() ?? 0
        case .abs: numbers[0].magnitude
        case .ceil: numbers[0].rounded(.up)
        case .floor: numbers[0].rounded(.down)
        case .round: numbers[0].rounded()
        case .sqrt: numbers[0].squareRoot()
        case .ln: log(numbers[0])
        case .log2: Foundation.log2(numbers[0])
        case .log10: Foundation.log10(numbers[0])
        case .sin: Foundation.sin(numbers[0])
        case .cos: Foundation.cos(numbers[0])
        case .tan: Foundation.tan(numbers[0])
        case .asin: Foundation.asin(numbers[0])
        case .acos: Foundation.acos(numbers[0])
        case .atan: Foundation.atan(numbers[0])
        default: throw StyleFault()
        }
    }

    /// The first argument that is of a type, or can be made one.
    private static func first(
        _ call: StyleOperator, _ parts: [StyleExpression], _ scope: inout StyleScope
    ) throws(StyleFault) -> StyleValue {
        for part in parts {
            let value = try part.evaluate(&scope)
            switch (call, value) {
            case (.string, .text), (.number, .number), (.boolean, .flag), (.object, .object):
                return value
            case (.toNumber, _): if let number = value.convertedNumber { return .number(number) }
            case (.toColor, _): if let color = value.convertedColor { return .color(color) }
            default: break
            }
        }
        throw StyleFault()
    }

    /// Lists, and texts by their characters of Unicode.
    private static func elements(
        _ call: StyleOperator, _ parts: [StyleExpression], _ scope: inout StyleScope
    ) throws(StyleFault) -> StyleValue {
        let first = try parts[0].evaluate(&scope)
        guard parts.count > 1 else {
            switch first {
            case .list(let elements): return .number(Double(elements.count))
            case .text(let text): return .number(Double(text.unicodeScalars.count))
            default: throw StyleFault()
            }
        }
        let second = try parts[1].evaluate(&scope)
        let third = parts.count > 2 ? try parts[2].number(&scope) : nil
        /// A place as `slice` takes it: from the end where it is negative.
        func place(_ number: Double, _ count: Int) -> Int {
            guard number.isFinite else { return number > 0 ? count : 0 }
            let whole = number.rounded(.towardZero)
            return Int(min(max(whole < 0 ? whole + Double(count) : whole, 0), Double(count)))
        }
        switch (call, first, second) {
        case (.at, .number(let index), .list(let elements)):
            guard let place = Int(exactly: index), elements.indices.contains(place) else {
                throw StyleFault()
            }
            return elements[place]
        case (.in, _, .list(let elements)):
            scope.budget.spend(elements.count)
            return .flag(elements.contains(first))
        case (.in, _, .text(let text)):
            return .flag(text.isEmpty ? first.shownText.isEmpty : text.has(first.shownText))
        case (.indexOf, _, .list(let elements)):
            scope.budget.spend(elements.count)
            let start = place(third ?? 0, elements.count)
            return .number(Double(elements[start...].firstIndex(of: first) ?? -1))
        case (.indexOf, _, .text(let text)):
            let scalars = Array(text.unicodeScalars)
            let wanted = Array(first.shownText.unicodeScalars)
            let start = place(third ?? 0, scalars.count)
            scope.budget.spend(scalars.count * max(1, wanted.count))
            let found = (start...scalars.count).first { scalars[$0...].starts(with: wanted) }
            return .number(Double(found ?? -1))
        case (.slice, .list(let elements), .number(let start)):
            let from = place(start, elements.count)
            let end = place(third ?? .infinity, elements.count)
            return .list(Array(elements[from..<max(from, end)]))
        case (.slice, .text(let text), .number(let start)):
            let scalars = Array(text.unicodeScalars)
            let from = place(start, scalars.count)
            let end = place(third ?? .infinity, scalars.count)
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[from..<max(from, end)])
            return .text(String(part))
        default: throw StyleFault()
        }
    }
}

extension String {
    fileprivate func has(_ part: String) -> Bool {
        part.isEmpty || utf8.count >= part.utf8.count && range(of: part, options: .literal) != nil
    }
}
