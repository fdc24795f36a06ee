// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How the features of a layer are drawn: what a map's pictures, its legend and its description have in
/// common.
public struct LayerSymbol: Hashable, Sendable {
    /// A colour of the screen.
    public struct Color: Hashable, Sendable {
        /// Red, green and blue, 0…255, and how much it covers, 0…255.
        public var red, green, blue, alpha: UInt8

        /// Mixes it.
        public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }

        /// The same hue, on the way to another colour: 0 is none of it, 1 all the way.
        fileprivate func toward(_ other: Color, _ amount: Double) -> Color {
            func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
                UInt8((Double(from) + (Double(to) - Double(from)) * amount).rounded())
            }
            return Color(
                mix(red, other.red), mix(green, other.green), mix(blue, other.blue), alpha: alpha)
        }

        fileprivate static let black = Color(0, 0, 0)
        fileprivate static let white = Color(255, 255, 255)
    }

    /// A line of some width in points, 1/72 inch.
    public struct Stroke: Hashable, Sendable {
        /// Its colour.
        public var color: Color
        /// Its width in points.
        public var widthPoints: Double

        /// Makes one.
        public init(_ color: Color, widthPoints: Double) {
            self.color = color
            self.widthPoints = widthPoints
        }
    }

    /// What is drawn.
    public enum Form: Hashable, Sendable {
        /// A disc at each position, its size in points across the outline's middle.
        case disc(Color, sizePoints: Double, outline: Stroke)
        /// A line along each path.
        case line(Stroke)
        /// The area, and a line along every ring.
        case area(Color, outline: Stroke)
    }

    /// What is drawn.
    public var form: Form

    /// The symbol of a layer nobody has chosen one for: a colour that follows from the layer's number.
    ///
    /// The colours are told apart by people of every kind of colour vision (Okabe and Ito, 2008), as
    /// far as eight can be; outlines are darker, so that neighbours stay apart in any case.
    public init(standard layer: LayerID, _ type: GeometryType) {
        let color = Self.palette[abs(layer % Self.palette.count)]
        switch type {
        case .point, .multipoint:
            form = .disc(
                color, sizePoints: 4.5, outline: Stroke(color.toward(.black, 0.5), widthPoints: 0.6)
            )
        case .polyline: form = .line(Stroke(color.toward(.black, 0.1), widthPoints: 1.2))
        case .polygon:
            // Pale, and not quite opaque: what lies below is seen, and does not make it muddy.
            var fill = color.toward(.white, 0.65)
            fill.alpha = 200
            form = .area(fill, outline: Stroke(color.toward(.black, 0.3), widthPoints: 0.5))
        }
    }

    /// Blue, vermilion, bluish green, reddish purple, orange, sky blue, yellow, grey.
    private static let palette = [
        Color(0, 114, 178), Color(213, 94, 0), Color(0, 158, 115), Color(204, 121, 167),
        Color(230, 159, 0), Color(86, 180, 233), Color(240, 228, 66), Color(120, 120, 120),
    ]

    /// How far any symbol of a layer nobody has chosen one for reaches, in points.
    public static let greatestReachPoints = [GeometryType.point, .polyline, .polygon].reduce(0) {
        max($0, LayerSymbol(standard: 0, $1).reachPoints)
    }

    /// How far it reaches from a position, path or ring, in points.
    public var reachPoints: Double {
        switch form {
        case .disc(_, let size, let outline): (size + outline.widthPoints) / 2
        case .line(let stroke), .area(_, let stroke): stroke.widthPoints / 2
        }
    }
}
