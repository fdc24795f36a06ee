// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Names for layers: each not blank, without control characters, at most 255 bytes of UTF-8, and
/// different from the others whatever the case of letters and the way that accents are composed.
public struct LayerNames {
    private var taken: Set<String> = []

    private static let byteLimit = 255

    /// - Parameter taken: Names that there are already.
    public init(taken: some Sequence<String> = []) {
        self.taken = Set(taken.map(Self.key))
    }

    /// Takes a unique name: the wanted one as far as valid, with a number when taken.
    public mutating func take(_ wanted: String) -> String {
        let plain = Self.plain(wanted)
        var name = plain
        var number = 1
        while !taken.insert(Self.key(name)).inserted {
            number += 1
            let ending = " \(number)"
            name = Self.cut(plain, to: Self.byteLimit - ending.utf8.count) + ending
        }
        return name
    }

    private static func key(_ name: String) -> String { name.lowercased() }

    private static func plain(_ wanted: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in wanted.unicodeScalars {
            scalars.append(scalar.value < 32 || scalar.value == 127 ? " " : scalar)
        }
        let text = cut(String(scalars), to: byteLimit)
        return text.allSatisfy(\.isWhitespace) ? "layer" : text
    }

    /// Whole characters from the front.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var result = ""
        var count = 0
        for character in text {
            count += character.utf8.count
            guard count <= limit else { break }
            result.append(character)
        }
        return result
    }
}
