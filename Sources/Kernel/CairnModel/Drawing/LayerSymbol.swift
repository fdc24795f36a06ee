// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The symbol of one feature, common to a map's pictures, its legend and its description.
///
/// Sizes are points of 1/72 inch.
public struct LayerSymbol: Hashable, Sendable {
    /// A colour of the screen.
    public struct Color: Hashable, Sendable {
        /// Red, green and blue, 0…255, and how much it covers, 0…255.
        public var red, green, blue, alpha: UInt8

        /// Mixes it.
        public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, alpha: UInt8 = 255) {
            (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
        }
    }

    /// The dash pattern of a line; raw values are Esri's without `esriSLS`.
    public enum LineStyle: String, Hashable, Sendable, CaseIterable {
        /// Without gaps.
        case solid = "Solid"
        /// Dashes of four widths.
        case dash = "Dash"
        /// Dots.
        case dot = "Dot"
        /// A dash and a dot by turns.
        case dashDot = "DashDot"
        /// A dash and two dots by turns.
        case dashDotDot = "DashDotDot"
        /// Not at all.
        case null = "Null"
    }

    /// A line of some width.
    public struct Stroke: Hashable, Sendable {
        /// Its colour.
        public var color: Color
        /// Its width in points.
        public var widthPoints: Double
        /// Dash pattern.
        public var style: LineStyle

        /// Makes one.
        public init(_ color: Color, widthPoints: Double, style: LineStyle = .solid) {
            self.color = color
            self.widthPoints = widthPoints
            self.style = style
        }

        /// Whether it leaves anything on a picture.
        public var isVisible: Bool { style != .null && color.alpha > 0 && widthPoints > 0 }
    }

    /// The shape of a marker; raw values are Esri's without `esriSMS`.
    public enum MarkerStyle: String, Hashable, Sendable, CaseIterable {
        /// A disc.
        case circle = "Circle"
        /// An upright cross, drawn by its outline alone.
        case cross = "Cross"
        /// A square on a corner.
        case diamond = "Diamond"
        /// A square.
        case square = "Square"
        /// A triangle on its base.
        case triangle = "Triangle"
        /// A slanting cross, drawn by its outline alone.
        case x = "X"

        /// Whether it encloses anything.
        public var isFilled: Bool { self != .cross && self != .x }
    }

    /// A shape of its own at each position.
    public struct Marker: Hashable, Sendable {
        /// Its shape.
        public var style: MarkerStyle
        /// Fill colour; of a cross, that of its lines where it has no outline.
        public var color: Color
        /// Its width and height in points, to the middle of the outline.
        public var sizePoints: Double
        /// Clockwise rotation in degrees.
        public var angleDegrees: Double
        /// The line around it; of a cross, its lines.
        public var outline: Stroke?

        /// Makes one.
        public init(
            _ style: MarkerStyle, _ color: Color, sizePoints: Double, angleDegrees: Double = 0,
            outline: Stroke? = nil
        ) {
            self.style = style
            self.color = color
            self.sizePoints = sizePoints
            self.angleDegrees = angleDegrees
            self.outline = outline
        }

        /// The line that is drawn along its shape.
        public var stroke: Stroke? {
            style.isFilled ? outline : outline ?? Stroke(color, widthPoints: 1)
        }
    }

    /// The fill of an area; raw values are Esri's without `esriSFS`.
    public enum FillStyle: String, Hashable, Sendable, CaseIterable {
        /// Its colour.
        case solid = "Solid"
        /// No fill.
        case null = "Null"
        /// Level lines.
        case horizontal = "Horizontal"
        /// Upright lines.
        case vertical = "Vertical"
        /// Lines that rise to the right.
        case forwardDiagonal = "ForwardDiagonal"
        /// Lines that fall to the right.
        case backwardDiagonal = "BackwardDiagonal"
        /// Level and upright lines.
        case cross = "Cross"
        /// Lines that rise and lines that fall.
        case diagonalCross = "DiagonalCross"
    }

    /// An area, and a line along its rings.
    public struct Fill: Hashable, Sendable {
        /// Fill style.
        public var style: FillStyle
        /// The colour of that.
        public var color: Color
        /// The line along its rings.
        public var outline: Stroke?

        /// Makes one.
        public init(_ color: Color, style: FillStyle = .solid, outline: Stroke? = nil) {
            self.style = style
            self.color = color
            self.outline = outline
        }
    }

    /// The form of a symbol.
    public enum Form: Hashable, Sendable {
        /// At each position.
        case marker(Marker)
        /// Along each path.
        case line(Stroke)
        /// Over the area.
        case fill(Fill)
    }

    /// The form.
    public var form: Form

    /// A symbol of that form.
    public init(_ form: Form) { self.form = form }

    /// Whether features of that type can be drawn with it.
    public func fits(_ type: GeometryType) -> Bool {
        switch (form, type) {
        case (.marker, .point), (.marker, .multipoint), (.line, .polyline), (.fill, .polygon): true
        case (.marker, _), (.line, _), (.fill, _): false
        }
    }

    /// Extent of the symbol around a position, path or ring, in points.
    public var reachPoints: Double {
        switch form {
        // The corners of a square are farther than its sides.
        case .marker(let marker): marker.sizePoints * 0.71 + (marker.stroke?.widthPoints ?? 0)
        case .line(let stroke): stroke.widthPoints / 2
        case .fill(let fill): (fill.outline?.widthPoints ?? 0) / 2
        }
    }
}

extension LayerSymbol {
    /// The default symbol of a layer: a colour that follows from the layer's number.
    ///
    /// The colours are distinct for every kind of colour vision (Okabe and Ito, 2008), as far as
    /// eight can be; outlines are darker, so that neighbours stay distinct in any case.
    public init(standard layer: LayerID, _ type: GeometryType) {
        let color = Self.palette[abs(layer % Self.palette.count)]
        switch type {
        case .point, .multipoint:
            form = .marker(
                Marker(
                    .circle, color, sizePoints: 4.5,
                    outline: Stroke(color.toward(.black, 0.5), widthPoints: 0.6)))
        case .polyline: form = .line(Stroke(color.toward(.black, 0.1), widthPoints: 1.2))
        case .polygon:
            // Pale and not quite opaque: layers below show through without a muddy mix.
            var fill = color.toward(.white, 0.65)
            fill.alpha = 200
            form = .fill(
                Fill(fill, outline: Stroke(color.toward(.black, 0.3), widthPoints: 0.5)))
        }
    }

    /// Blue, vermilion, bluish green, reddish purple, orange, sky blue, yellow, grey.
    private static let palette = [
        Color(0, 114, 178), Color(213, 94, 0), Color(0, 158, 115), Color(204, 121, 167),
        Color(230, 159, 0), Color(86, 180, 233), Color(240, 228, 66), Color(120, 120, 120),
    ]
}

extension LayerSymbol.Color {
    fileprivate static let black = Self(0, 0, 0)
    fileprivate static let white = Self(255, 255, 255)

    /// The colour mixed with another: 0 gives this one, 1 the other.
    fileprivate func toward(_ other: Self, _ amount: Double) -> Self {
        func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
            UInt8((Double(from) + (Double(to) - Double(from)) * amount).rounded())
        }
        return Self(
            mix(red, other.red), mix(green, other.green), mix(blue, other.blue), alpha: alpha)
    }
}
