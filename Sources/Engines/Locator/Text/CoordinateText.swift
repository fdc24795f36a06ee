// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Parses coordinates typed as text: degrees, degrees and minutes, degrees, minutes and seconds,
/// UTM, or MGRS.
///
/// Latitude comes first, unless letters (`N` `S` `E` `W`) decide otherwise. `Docs/locator.md`
/// defines the forms; any other text, and a position off the Earth, is not parsed as coordinates.
enum CoordinateText {
    /// Limit of a text, in bytes.
    static let longestText = 80

    /// Longitude and latitude, WGS 84; nil for a text that is no coordinate.
    static func location(_ text: String) -> Coordinate? {
        guard text.utf8.count <= longestText, text.utf8.contains(where: { 0x30...0x39 ~= $0 })
        else {
            return nil
        }
        let plain = plain(text)
        return GridReference.location(plain) ?? degrees(plain)
    }

    /// The text in capitals, with variants of each sign unified.
    private static func plain(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x61...0x7A: result.append(UInt8(scalar.value) - 0x20)
            case 0xBA, 0xB0, 0x02DA: result.append(UInt8(ascii: "*"))
            case 0x2A: result.append(UInt8(ascii: "?"))
            case 0x2032, 0x2018, 0x2019, 0xB4: result.append(UInt8(ascii: "'"))
            case 0x2033, 0x201C, 0x201D: result.append(UInt8(ascii: "\""))
            case 0x2212: result.append(UInt8(ascii: "-"))
            case 0x09, 0xA0, 0x202F: result.append(UInt8(ascii: " "))
            case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: break
            case 0..<0x80: result.append(UInt8(scalar.value))
            default: result.append(UInt8(ascii: "?"))
            }
        }
        return result
    }

    private enum Token: Equatable {
        case number(Double, hasFraction: Bool, isNegative: Bool, isSigned: Bool)
        case degree, minute, second, separator
        case letter(UInt8)
    }

    /// One ordinate with its marks.
    private struct Angle {
        var parts: [Double] = []
        var hasFraction = false
        var hasMarks = false
        var isNegative = false
        var isSigned = false
        var letter: UInt8?

        /// Degrees; nil for minutes or seconds of 60 or more, or both a sign and a letter.
        var value: Double? {
            guard let first = parts.first, parts.count <= 3,
                parts.dropFirst().allSatisfy({ $0 < 60 }),
                letter == nil || !isSigned
            else { return nil }
            // Only the last part may have a fraction.
            guard parts.dropLast().allSatisfy({ $0 == $0.rounded() }) else { return nil }
            let minutes = parts.count > 1 ? parts[1] : 0
            let seconds = parts.count > 2 ? parts[2] : 0
            let value = first + minutes / 60 + seconds / 3_600
            let isNegative =
                isNegative || letter == UInt8(ascii: "S") || letter == UInt8(ascii: "W")
            return isNegative ? -value : value
        }

        var isLatitude: Bool? {
            letter.map { $0 == UInt8(ascii: "N") || $0 == UInt8(ascii: "S") }
        }

        /// Whether it is unambiguously an angle.
        var isPrecise: Bool { hasFraction || hasMarks || parts.count > 1 }
    }

    private static func degrees(_ text: [UInt8]) -> Coordinate? {
        guard let tokens = tokens(text), let (first, second) = angles(tokens),
            let one = first.value, let other = second.value
        else { return nil }
        let isLatitudeFirst: Bool
        switch (first.isLatitude, second.isLatitude) {
        case (nil, nil):
            guard first.hasFraction && second.hasFraction || first.hasMarks && second.hasMarks
            else { return nil }
            isLatitudeFirst = true
        case (let left?, let right?):
            guard left != right, first.isPrecise || second.isPrecise else { return nil }
            isLatitudeFirst = left
        default: return nil
        }
        let location = isLatitudeFirst ? Coordinate(x: other, y: one) : Coordinate(x: one, y: other)
        return abs(location.y) <= 90 && abs(location.x) <= 180 ? location : nil
    }

    private static func tokens(_ text: [UInt8]) -> [Token]? {
        var result: [Token] = []
        var at = 0
        while at < text.count {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: " "): at += 1
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "/"):
                result.append(.separator)
                at += 1
            case UInt8(ascii: "*"):
                result.append(.degree)
                at += 1
            case UInt8(ascii: "'"):
                let isDouble = at + 1 < text.count && text[at + 1] == byte
                result.append(isDouble ? .second : .minute)
                at += isDouble ? 2 : 1
            case UInt8(ascii: "\""):
                result.append(.second)
                at += 1
            case UInt8(ascii: "N"), UInt8(ascii: "S"), UInt8(ascii: "E"), UInt8(ascii: "W"):
                result.append(.letter(byte))
                at += 1
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), 0x30...0x39:
                guard let (token, end) = number(text, at) else { return nil }
                result.append(token)
                at = end
            default: return nil
            }
            guard result.count <= 24 else { return nil }
        }
        return result
    }

    private static func number(_ text: [UInt8], _ start: Int) -> (Token, Int)? {
        var at = start
        let sign = text[at]
        let isSigned = sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+")
        if isSigned { at += 1 }
        let first = at
        while at < text.count, 0x30...0x39 ~= text[at] || text[at] == UInt8(ascii: ".") { at += 1 }
        let digits = text[first..<at]
        guard digits.count <= 20, digits.first.map({ $0 != UInt8(ascii: ".") }) ?? false,
            digits.last != UInt8(ascii: "."), digits.count(where: { $0 == UInt8(ascii: ".") }) <= 1,
            let value = Double(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let token = Token.number(
            value, hasFraction: digits.contains(UInt8(ascii: ".")),
            isNegative: sign == UInt8(ascii: "-"), isSigned: isSigned)
        return (token, at)
    }

    /// The two ordinates: separated by letters, by a separator, by degree signs, or two bare
    /// numbers.
    private static func angles(_ tokens: [Token]) -> (Angle, Angle)? {
        let letters = tokens.indices.filter { if case .letter = tokens[$0] { true } else { false } }
        let separators = tokens.indices.filter { tokens[$0] == .separator }
        let degrees = tokens.indices.filter { tokens[$0] == .degree }
        guard separators.count <= 1, letters.isEmpty || letters.count == 2 else { return nil }
        let cut: Int
        if let separator = separators.first {
            cut = separator
        } else if letters.count == 2 {
            cut = letters[0] == 0 ? letters[1] : letters[0] + 1
        } else if degrees.count == 2 {
            cut = degrees[1] - 1
        } else if tokens.count == 2 {
            cut = 1
        } else {
            return nil
        }
        let rest = separators.isEmpty ? tokens[cut...] : tokens[(cut + 1)...]
        guard let first = angle(tokens[..<cut]), let second = angle(rest),
            (first.letter == nil) == (second.letter == nil)
        else { return nil }
        return (first, second)
    }

    /// Parses numbers with their marks in order, with a letter before or after them.
    private static func angle(_ tokens: ArraySlice<Token>) -> Angle? {
        var result = Angle()
        var tokens = tokens
        if case .letter(let letter)? = tokens.first {
            result.letter = letter
            tokens = tokens.dropFirst()
        } else if case .letter(let letter)? = tokens.last {
            result.letter = letter
            tokens = tokens.dropLast()
        }
        let marks: [Token] = [.degree, .minute, .second]
        for token in tokens {
            switch token {
            case .number(let value, let hasFraction, let isNegative, let isSigned):
                guard result.parts.count < 3, !result.hasFraction, !isSigned || result.parts.isEmpty
                else { return nil }
                result.parts.append(value)
                result.hasFraction = hasFraction
                if result.parts.count == 1 {
                    (result.isNegative, result.isSigned) = (isNegative, isSigned)
                }
            case .degree, .minute, .second:
                guard let number = marks.firstIndex(of: token), number == result.parts.count - 1
                else { return nil }
                result.hasMarks = true
            case .separator, .letter: return nil
            }
        }
        return result.parts.isEmpty ? nil : result
    }
}
