// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// 256 characters whose glyphs are in one file: U+0000 to U+00FF, and so on up to U+FFFF.
public struct GlyphRange: Hashable, Sendable, Codable, Comparable {
    /// Characters of a range.
    public static let count = 256
    /// The last character of the last range, and one more.
    public static let end = 65_536

    /// The first character; a multiple of ``count``, less than ``end``.
    public let first: Int

    /// Nil unless a range begins with that character.
    public init?(first: Int) {
        guard first >= 0, first < Self.end, first.isMultiple(of: Self.count) else { return nil }
        self.first = first
    }

    /// The range that has a character; nil beyond U+FFFF.
    public init?(containing character: Unicode.Scalar) {
        self.init(first: Int(character.value) / Self.count * Self.count)
    }

    /// Reads ``text``; nil for any other.
    public init?(text: String) {
        guard let first = text.split(separator: "-").first.flatMap({ Int($0) }),
            let range = Self(first: first), range.text == text
        else { return nil }
        self = range
    }

    /// The first and the last character, `256-511`.
    public var text: String { "\(first)-\(first + Self.count - 1)" }

    /// Reads its first character; throws for one that no range begins with.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let range = Self(first: try container.decode(Int.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a multiple of \(Self.count), less than \(Self.end)")
        }
        self = range
    }

    /// Writes its first character.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(first)
    }

    /// By their characters.
    public static func < (left: Self, right: Self) -> Bool { left.first < right.first }
}

/// Fonts as a style names them, the first that has a character's glyph.
///
/// A name is a family, and its style where it has one: `DejaVu Sans Bold Italic`.
public struct FontStack: Hashable, Sendable {
    /// The most bytes of its name.
    public static let byteBound = 256

    /// The families, at least one.
    public let families: [String]
    /// Whether they are bold.
    public let isBold: Bool
    /// Whether they slant.
    public let isItalic: Bool

    /// The fonts of a label: as many families as a name can have, or the usual one.
    public init(_ symbol: TextSymbol) {
        (isBold, isItalic) = (symbol.isBold, symbol.isItalic)
        var (named, byteCount) = ([String](), 0)
        for family in Self.families(symbol.family) where Self.isPlain(family) {
            byteCount += family.utf8.count + " Bold Italic,".utf8.count
            if byteCount > Self.byteBound { break }
            named.append(family)
        }
        families = named.isEmpty ? [TextSymbol().family] : named
    }

    /// Reads names with commas; the style is that of the first one.
    ///
    /// Nil for a name without a family, of more than ``byteBound`` bytes, or with a slash or a
    /// character of control.
    public init?(name: String) {
        guard name.utf8.count <= Self.byteBound, Self.isPlain(name) else { return nil }
        var (families, isBold, isItalic) = ([String](), false, false)
        for font in Self.families(name) {
            var words = font.split(separator: " ")
            while words.count > 1, let word = words.last?.lowercased(), Self.styles.contains(word) {
                words.removeLast()
                guard families.isEmpty else { continue }
                if word == "bold" { isBold = true }
                if word == "italic" || word == "oblique" { isItalic = true }
            }
            families.append(words.joined(separator: " "))
        }
        guard !families.isEmpty else { return nil }
        (self.families, self.isBold, self.isItalic) = (families, isBold, isItalic)
    }

    private static let styles: Set = ["regular", "book", "normal", "bold", "italic", "oblique"]

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "/" && $0 != "\\" }
    }

    private static func families(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }
            .filter { !$0.isEmpty }
    }

    /// The name of each font.
    ///
    /// One without a style is the family alone: programs that look for installed fonts call that
    /// style `Regular`, `Book` or `Roman`, each by its family.
    public var names: [String] {
        let style = (isBold ? " Bold" : "") + (isItalic ? " Italic" : "")
        return families.map { $0 + style }
    }

    /// The names with commas, as a client asks for them.
    public var name: String { names.joined(separator: ",") }
}

/// A file that the style of a map's vector tiles refers to.
public enum StyleResource: Hashable, Sendable, Codable {
    /// The glyphs of a range, of the fonts that have that name.
    case glyphs(fonts: String, range: GlyphRange)
    /// The picture of the symbols, with that many pixels for one of 1/96 inch.
    case sprite(scale: Int)

    /// The scales of the picture of symbols.
    public static let scales = 1...2
}

/// "Give me this file of the style" of a map.
public struct StyleResourceRequest: Hashable, Sendable, Codable {
    /// The map.
    public var map: MapName
    /// The file.
    public var resource: StyleResource
    /// Least sequence number that the map must have.
    public var minSequence: Int64?

    /// Asks for a file of the map as it is now.
    public init(map: MapName, _ resource: StyleResource) {
        self.map = map
        self.resource = resource
    }
}
