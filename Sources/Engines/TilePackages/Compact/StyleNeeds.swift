// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform
internal import VectorTiles

/// Glyphs that a package's style needs: 256 characters of some fonts.
public struct GlyphNeed: Hashable, Sendable, Comparable {
    /// The names of the fonts with commas, as the style asks for them.
    public let fonts: String
    /// The first character, a multiple of 256.
    public let first: Int

    /// Where a VTPK has them, below its `resources`.
    public var path: String { "fonts/\(fonts)/\(first)-\(first + 255).pbf" }

    /// By fonts, then by characters.
    public static func < (left: Self, right: Self) -> Bool {
        (left.fonts, left.first) < (right.fonts, right.first)
    }
}

/// The files that a style needs with some tiles: pictures of symbols, and the glyphs of labels, by
/// the style's `text-field` and the tiles' values.
///
/// Characters beyond U+FFFF have no glyphs. Zooms and filters are not looked at.
struct StyleNeeds {
    /// Where a VTPK has the pictures of symbols, below its `resources`.
    private static let sprites = [
        "sprites/sprite.json", "sprites/sprite.png", "sprites/sprite@2x.json",
        "sprites/sprite@2x.png",
    ]

    private struct Label {
        var fonts: String
        var keys: Set<String> = []
        /// Ranges of its constants, and of the feature's id.
        var ranges: Set<Int> = []
    }

    private var labels: [String: [Label]] = [:]
    private let hasSprites: Bool
    private(set) var glyphs: Set<GlyphNeed> = []

    /// Needs nothing without a style that can be read.
    init(style: String?) {
        guard let style, let tree = JSONTree(Array(style.utf8)) else {
            hasSprites = false
            return
        }
        hasSprites = tree["sprite"]?.text != nil
        for layer in tree["layers"]?.elements ?? [] {
            guard let name = layer["source-layer"]?.text, let layout = layer["layout"],
                let text = layout["text-field"]
            else { continue }
            let fonts = (layout["text-font"]?.elements ?? []).compactMap(\.text)
            guard !fonts.isEmpty else { continue }
            var label = Label(fonts: fonts.joined(separator: ","))
            Self.read(text: text, into: &label)
            labels[name, default: []].append(label)
        }
    }

    /// Paths below `resources`, sorted.
    var paths: [String] { (glyphs.map(\.path) + (hasSprites ? Self.sprites : [])).sorted() }

    /// A text is one with attributes in braces; anything else an expression.
    private static func read(text: JSONTree, into label: inout Label) {
        guard var rest = text.text?[...] else { return read(text, into: &label) }
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            label.ranges.formUnion(ranges(of: String(rest[..<open])))
            label.keys.insert(String(rest[open..<close].dropFirst()))
            rest = rest[close...].dropFirst()
        }
        label.ranges.formUnion(ranges(of: String(rest)))
    }

    private static func read(_ tree: JSONTree, into label: inout Label) {
        switch tree {
        case .string(let text): label.ranges.formUnion(ranges(of: text))
        case .array(let parts):
            switch parts.first?.text {
            case "get": if let key = parts.last?.text { label.keys.insert(key) }
            case "id": label.ranges.insert(0)
            default: for part in parts.dropFirst() { read(part, into: &label) }
            }
        default: break
        }
    }

    private static func ranges(of text: String) -> Set<Int> {
        var ranges: Set<Int> = []
        for scalar in text.unicodeScalars where scalar.value <= 0xFFFF {
            ranges.insert(Int(scalar.value) / 256 * 256)
        }
        return ranges
    }

    /// Notes what the labels of a tile need; throws `corrupt` for bytes that are no vector tile.
    mutating func take(_ tile: [UInt8]) throws(Failure) {
        guard !labels.isEmpty else { return }
        var reader = ProtobufReader(tile[...])
        while let field = try reader.next() {
            if field.number == 3 { try take(layer: field.bytes()) }
        }
    }

    private mutating func take(layer bytes: ArraySlice<UInt8>) throws(Failure) {
        var (name, keys, values) = ("", [String](), [ArraySlice<UInt8>]())
        var features: [ArraySlice<UInt8>] = []
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: name = try field.text()
            case 2: features.append(try field.bytes())
            case 3: keys.append(try field.text())
            case 4: values.append(try field.bytes())
            default: break
            }
        }
        guard let labels = labels[name] else { return }
        var used: [String: Set<Int>] = [:]
        for feature in features {
            var tags: [UInt64] = []
            var reader = ProtobufReader(feature)
            while let field = try reader.next() {
                if field.number == 2 { try field.appendVarints(to: &tags) }
            }
            for pair in stride(from: 0, to: tags.count - 1, by: 2) {
                guard tags[pair] < keys.count, tags[pair + 1] < values.count else {
                    throw Failure(.corrupt, "the bytes are no vector tile: a tag is not there")
                }
                used[keys[Int(tags[pair])], default: []].insert(Int(tags[pair + 1]))
            }
        }
        for label in labels {
            for first in label.ranges { glyphs.insert(GlyphNeed(fonts: label.fonts, first: first)) }
            for key in label.keys {
                for place in used[key] ?? [] {
                    for first in try Self.ranges(ofValue: values[place]) {
                        glyphs.insert(GlyphNeed(fonts: label.fonts, first: first))
                    }
                }
            }
        }
    }

    /// Digits and words of the first range for anything but a text.
    private static func ranges(ofValue bytes: ArraySlice<UInt8>) throws(Failure) -> Set<Int> {
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { return ranges(of: try field.text()) }
        }
        return [0]
    }
}
