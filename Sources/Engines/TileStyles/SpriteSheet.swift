// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Platform
internal import Rendering

/// The symbols of a map's vector tiles that are pictures: markers that are no circles, and fills
/// with a pattern.
///
/// Places follow from the symbols alone, whatever layers have them. Beyond ``sideBound`` symbols
/// are left out.
public struct SpriteSheet: Hashable, Sendable {
    /// The most columns and rows of the picture, in pixels of 1/96 inch.
    public static let sideBound = 1_024

    /// A symbol with its rectangle, in pixels of 1/96 inch.
    struct Sprite: Hashable, Sendable {
        var name: String
        var symbol: LayerSymbol
        var x = 0
        var y = 0
        var width: Int
        var height: Int
    }

    /// By rising name.
    private(set) var sprites: [Sprite] = []
    private var width = 1
    private var height = 1
    private let names: Set<String>

    /// The pictures for these symbols, each once.
    public init(_ symbols: some Sequence<LayerSymbol>) {
        var wanted: [String: Sprite] = [:]
        for symbol in symbols {
            guard let sprite = Sprite(symbol) else { continue }
            wanted[sprite.name] = sprite
        }
        // In rows, the tallest first.
        var (x, y, rowHeight) = (0, 0, 0)
        for var sprite in wanted.values.sorted(by: { ($1.height, $0.name) < ($0.height, $1.name) })
        {
            if x + sprite.width > Self.sideBound { (x, y, rowHeight) = (0, y + rowHeight, 0) }
            guard sprite.width <= Self.sideBound, y + sprite.height <= Self.sideBound else {
                continue
            }
            (sprite.x, sprite.y) = (x, y)
            x += sprite.width
            rowHeight = max(rowHeight, sprite.height)
            (width, height) = (max(width, x), max(height, y + rowHeight))
            sprites.append(sprite)
        }
        sprites.sort { $0.name < $1.name }
        names = Set(sprites.map(\.name))
    }

    /// The symbols that have a picture; of these a sheet is the same.
    public var symbols: [LayerSymbol] { sprites.map(\.symbol) }

    /// The name of a symbol's picture; nil where it has none.
    func name(of symbol: LayerSymbol) -> String? {
        guard let name = Sprite(symbol)?.name, names.contains(name) else { return nil }
        return name
    }

    /// Whether a symbol would have a picture.
    static func wants(_ symbol: LayerSymbol) -> Bool { Sprite(symbol) != nil }

    /// The rectangles as MapLibre reads them, by rising name.
    ///
    /// - Parameter scale: Columns and rows of the picture for one pixel of 1/96 inch.
    public func index(scale: Int) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            for sprite in sprites {
                json.member(sprite.name) { json in
                    json.member("x", sprite.x * scale)
                    json.member("y", sprite.y * scale)
                    json.member("width", sprite.width * scale)
                    json.member("height", sprite.height * scale)
                    json.member("pixelRatio", scale)
                }
            }
        }
        return json.bytes
    }

    /// The picture, a PNG; one transparent pixel where there are no symbols.
    ///
    /// Throws `unavailable` when out of memory.
    public func picture(scale: Int) throws(Failure) -> [UInt8] {
        let placed = sprites.map {
            SymbolPicture.Placed($0.symbol, x: $0.x, y: $0.y, width: $0.width, height: $0.height)
        }
        let picture = SymbolPicture.png(
            placed, width: width, height: height, scale: sprites.isEmpty ? 1 : scale)
        guard let picture else {
            throw Failure(.unavailable, "there is no memory for the picture of symbols")
        }
        return picture
    }
}

extension SpriteSheet.Sprite {
    /// Nil for a symbol that a style draws without a picture.
    init?(_ symbol: LayerSymbol) {
        switch symbol.form {
        case .line: return nil
        case .marker(let marker):
            guard !marker.isCircle else { return nil }
            // An even number, so that the middle is between pixels.
            let side = 2 * Int((symbol.reachPoints * 96 / 72).rounded(.up) + 1)
            self.init(name: marker.spriteName, symbol: symbol, width: side, height: side)
        case .fill(let fill):
            guard fill.style != .solid, fill.style != .null, fill.color.alpha > 0 else {
                return nil
            }
            var plain = fill
            plain.outline = nil
            // Lines are 8 pixels apart.
            self.init(
                name: "fill-\(fill.style.rawValue)-\(fill.color.digits)",
                symbol: LayerSymbol(.fill(plain)), width: 8, height: 8)
        }
    }
}

extension LayerSymbol.Marker {
    /// Whether MapLibre's circles show it as it is.
    var isCircle: Bool {
        guard style == .circle else { return false }
        guard let stroke, stroke.isVisible else { return true }
        return stroke.style == .solid
    }

    fileprivate var spriteName: String {
        var name = "marker-\(style.rawValue)-\(color.digits)-\(sizePoints)"
        if angleDegrees != 0 { name += "-a\(angleDegrees)" }
        if let stroke, stroke.isVisible {
            name += "-\(stroke.style.rawValue)-\(stroke.color.digits)-\(stroke.widthPoints)"
        }
        return name
    }
}

extension LayerSymbol.Color {
    /// Eight hexadecimal digits.
    fileprivate var digits: String {
        [red, green, blue, alpha].map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }
}
