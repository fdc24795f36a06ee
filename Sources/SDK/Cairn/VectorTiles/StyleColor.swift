// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A color of a style: parts from 0 to 1, not multiplied by the alpha.
struct StyleColor: Sendable, Hashable {
    var red, green, blue, alpha: Double

    static let black = StyleColor(red: 0, green: 0, blue: 0, alpha: 1)
    static let clear = StyleColor(red: 0, green: 0, blue: 0, alpha: 0)

    init(red: Double, green: Double, blue: Double, alpha: Double) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Three parts from 0 to 255 and an alpha from 0 to 1; nil where one is outside.
    init?(bytes red: Double, _ green: Double, _ blue: Double, alpha: Double) {
        guard [red, green, blue].allSatisfy({ 0...255 ~= $0 }), 0...1 ~= alpha else { return nil }
        self.init(red: red / 255, green: green / 255, blue: blue / 255, alpha: alpha)
    }

    /// A color as CSS writes it: `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `rgb()`, `rgba()`,
    /// `hsl()`, `hsla()`, or a name; nil for anything else.
    init?(css: String) {
        let text = css.trimmingCharacters(in: .whitespaces).lowercased()
        if text == "transparent" {
            self = .clear
        } else if let number = Self.names[text] {
            self.init(number: number)
        } else if text.hasPrefix("#") {
            self.init(hex: text.dropFirst())
        } else {
            self.init(function: text)
        }
    }

    private init(number: UInt32) {
        func part(_ shift: UInt32) -> Double { Double(number >> shift & 255) / 255 }
        self.init(red: part(16), green: part(8), blue: part(0), alpha: 1)
    }

    private init?(hex: Substring) {
        let digits = hex.compactMap(\.hexDigitValue).map(Double.init)
        guard digits.count == hex.utf8.count else { return nil }
        let parts: [Double]
        switch digits.count {
        case 3, 4: parts = digits.map { $0 * 17 / 255 }
        case 6, 8:
            parts = stride(from: 0, to: digits.count, by: 2).map { place -> Double in
                let byte: Double = digits[place] * 16 + digits[place + 1]
                return byte / 255
            }
        default: return nil
        }
        self.init(
            red: parts[0], green: parts[1], blue: parts[2], alpha: parts.count > 3 ? parts[3] : 1)
    }

    private init?(function text: String) {
        guard text.hasSuffix(")"), let open = text.firstIndex(of: "(") else { return nil }
        let name = text[..<open]
        let words = text[text.index(after: open)...].dropLast()
            .split { $0 == "," || $0 == " " || $0 == "/" }
        guard 3...4 ~= words.count else { return nil }
        /// A number of which 100 % is `whole`, within 0 and 1.
        func share(_ word: Substring, of whole: Double) -> Double? {
            let isShare = word.hasSuffix("%")
            guard let number = Double(isShare ? word.dropLast() : word), number.isFinite else {
                return nil
            }
            return min(max(number / (isShare ? 100 : whole), 0), 1)
        }
        guard let alpha = words.count > 3 ? share(words[3], of: 1) : 1 else { return nil }
        switch name {
        case "rgb", "rgba":
            let parts = words.prefix(3).compactMap { share($0, of: 255) }
            guard parts.count == 3 else { return nil }
            self.init(red: parts[0], green: parts[1], blue: parts[2], alpha: alpha)
        case "hsl", "hsla":
            let degrees = words[0].hasSuffix("deg") ? words[0].dropLast(3) : words[0]
            guard let hue = Double(degrees), hue.isFinite, words[1].hasSuffix("%"),
                words[2].hasSuffix("%"), let saturation = share(words[1], of: 1),
                let lightness = share(words[2], of: 1)
            else { return nil }
            self.init(hue: hue, saturation: saturation, lightness: lightness, alpha: alpha)
        default: return nil
        }
    }

    private init(hue: Double, saturation: Double, lightness: Double, alpha: Double) {
        let reach = saturation * min(lightness, 1 - lightness)
        func part(_ number: Double) -> Double {
            var place = (number + hue / 30).truncatingRemainder(dividingBy: 12)
            if place < 0 { place += 12 }
            return lightness - reach * max(-1, min(place - 3, 9 - place, 1))
        }
        self.init(red: part(0), green: part(8), blue: part(4), alpha: alpha)
    }

    /// `rgba(255,0,0,1)`.
    var css: String {
        let parts = [red, green, blue].map { ($0 * 255).rounded().scriptText }
        return "rgba(\(parts.joined(separator: ",")),\(alpha.scriptText))"
    }

    /// Between two colors: this one at 0, the other at 1.
    func mixed(with other: StyleColor, _ share: Double) -> StyleColor {
        func part(_ from: Double, _ to: Double) -> Double { from + (to - from) * share }
        return StyleColor(
            red: part(red, other.red), green: part(green, other.green),
            blue: part(blue, other.blue), alpha: part(alpha, other.alpha))
    }

    /// Its red, green and blue alone, opaque.
    var opaque: SymbolColor {
        func byte(_ part: Double) -> UInt8 {
            UInt8((min(max(part.isFinite ? part : 0, 0), 1) * 255).rounded())
        }
        return SymbolColor(red: byte(red), green: byte(green), blue: byte(blue))
    }
}
