// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// Labels of a layer's features: one of Esri's `labelingInfo`.
public struct LabelClass: Hashable, Sendable {
    /// The text of the labels.
    public var expression: LabelExpression
    /// Placement; nil for points above right, lines along, areas in the middle.
    public var placement: LabelPlacement?
    /// A WHERE clause of the features that have them; nil: all.
    public var condition: String?
    /// The scales at which they are drawn.
    public var scaleRange: ScaleRange
    /// The style of the text.
    public var symbol: TextSymbol

    /// Makes one.
    public init(
        _ expression: LabelExpression, placement: LabelPlacement? = nil,
        condition: String? = nil, scaleRange: ScaleRange = .unlimited,
        symbol: TextSymbol = TextSymbol()
    ) {
        self.expression = expression
        self.placement = placement
        self.condition = condition
        self.scaleRange = scaleRange
        self.symbol = symbol
    }
}

/// A placement of labels; raw values are Esri's without `esriServer`.
public enum LabelPlacement: String, Hashable, Sendable, CaseIterable {
    /// Above the point, in the middle.
    case aboveCenter = "PointLabelPlacementAboveCenter"
    /// Above the point, to the left.
    case aboveLeft = "PointLabelPlacementAboveLeft"
    /// Above the point, to the right.
    case aboveRight = "PointLabelPlacementAboveRight"
    /// Below the point, in the middle.
    case belowCenter = "PointLabelPlacementBelowCenter"
    /// Below the point, to the left.
    case belowLeft = "PointLabelPlacementBelowLeft"
    /// Below the point, to the right.
    case belowRight = "PointLabelPlacementBelowRight"
    /// On the point.
    case center = "PointLabelPlacementCenterCenter"
    /// To the left of the point.
    case centerLeft = "PointLabelPlacementCenterLeft"
    /// To the right of the point.
    case centerRight = "PointLabelPlacementCenterRight"
    /// Along a line, above it.
    case aboveAlong = "LinePlacementAboveAlong"
    /// Along a line, below it.
    case belowAlong = "LinePlacementBelowAlong"
    /// Along a line, on it.
    case centerAlong = "LinePlacementCenterAlong"
    /// Level, inside an area.
    case horizontal = "PolygonPlacementAlwaysHorizontal"

    /// Whether features of that type can have it.
    public func fits(_ type: GeometryType) -> Bool {
        switch self {
        case .aboveAlong, .belowAlong, .centerAlong: type == .polyline
        case .horizontal: type == .polygon
        case .aboveCenter, .aboveLeft, .aboveRight, .belowCenter, .belowLeft, .belowRight, .center,
            .centerLeft, .centerRight:
            type == .point || type == .multipoint
        }
    }
}

/// The style of a text: Esri's `esriTS`.
public struct TextSymbol: Hashable, Sendable {
    /// Their colour.
    public var color: LayerSymbol.Color
    /// Font families, separated by commas, the first available one; missing glyphs come from
    /// others.
    public var family: String
    /// The size of the font in points.
    public var sizePoints: Double
    /// Whether they are bold.
    public var isBold: Bool
    /// Whether they slant.
    public var isItalic: Bool
    /// The colour around them; nil: none.
    public var haloColor: LayerSymbol.Color?
    /// Width of the halo in points.
    public var haloPoints: Double

    /// Creates one; the defaults are those of an unspecified label.
    public init(
        color: LayerSymbol.Color = .init(40, 40, 40), family: String = "DejaVu Sans",
        sizePoints: Double = 8, isBold: Bool = false, isItalic: Bool = false,
        haloColor: LayerSymbol.Color? = .init(255, 255, 255, alpha: 220), haloPoints: Double = 1
    ) {
        self.color = color
        self.family = family
        self.sizePoints = sizePoints
        self.isBold = isBold
        self.isItalic = isItalic
        self.haloColor = haloColor
        self.haloPoints = haloPoints
    }
}

extension LabelClass: Codable {
    private enum CodingKeys: String, CodingKey {
        case labelExpression, labelExpressionInfo, labelPlacement, minScale, maxScale, symbol
        case condition = "where"
    }

    private struct ExpressionInfo: Codable { var expression: String? }

    /// Reads a class; `labelExpressionInfo`, an Arcade expression, goes before `labelExpression`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let info = try members.decodeIfPresent(ExpressionInfo.self, forKey: .labelExpressionInfo)
        let key: CodingKeys =
            info?.expression == nil ? .labelExpression : .labelExpressionInfo
        let text = try info?.expression ?? members.decode(String.self, forKey: .labelExpression)
        let expression: LabelExpression
        do {
            expression = try LabelExpression(parsing: text)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: members, debugDescription: error.message)
        }
        let condition = try members.decodeIfPresent(String.self, forKey: .condition)
        let isLimited = condition?.contains { !$0.isWhitespace } ?? false
        self.init(
            expression,
            placement: try members.style(
                LabelPlacement.self, prefix: "esriServer", forKey: .labelPlacement),
            condition: isLimited ? condition : nil,
            scaleRange: ScaleRange(
                minScale: try members.decodeIfPresent(Double.self, forKey: .minScale) ?? 0,
                maxScale: try members.decodeIfPresent(Double.self, forKey: .maxScale) ?? 0),
            symbol: try members.decodeIfPresent(TextSymbol.self, forKey: .symbol) ?? TextSymbol())
    }

    /// Writes every member that there is, the expression in Esri's simple form.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(expression.text, forKey: .labelExpression)
        try members.encodeIfPresent(
            placement.map { "esriServer" + $0.rawValue }, forKey: .labelPlacement)
        try members.encodeIfPresent(condition, forKey: .condition)
        try members.encode(scaleRange.minScale, forKey: .minScale)
        try members.encode(scaleRange.maxScale, forKey: .maxScale)
        try members.encode(symbol, forKey: .symbol)
    }
}

extension TextSymbol: Codable {
    private enum CodingKeys: String, CodingKey { case type, color, haloColor, haloSize, font }
    private enum FontKeys: String, CodingKey { case family, size, style, weight }

    /// Decodes an `esriTS`; absent members default to those of `TextSymbol()`, with no halo.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(haloColor: nil, haloPoints: 0)
        if let color = try members.decodeIfPresent(LayerSymbol.Color.self, forKey: .color) {
            self.color = color
        }
        haloColor = try members.decodeIfPresent(LayerSymbol.Color.self, forKey: .haloColor)
        haloPoints = try members.size(forKey: .haloSize) ?? (haloColor == nil ? 0 : 1)
        guard members.contains(.font), try !members.decodeNil(forKey: .font) else { return }
        let font = try members.nestedContainer(keyedBy: FontKeys.self, forKey: .font)
        family = try font.decodeIfPresent(String.self, forKey: .family) ?? family
        sizePoints = try font.size(forKey: .size) ?? sizePoints
        isItalic = try ["italic", "oblique"].contains(
            font.decodeIfPresent(String.self, forKey: .style) ?? "")
        isBold = try ["bold", "bolder"].contains(
            font.decodeIfPresent(String.self, forKey: .weight) ?? "")
    }

    /// Writes every member but an absent halo.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("esriTS", forKey: .type)
        try members.encode(color, forKey: .color)
        if let haloColor {
            try members.encode(haloColor, forKey: .haloColor)
            try members.encode(haloPoints, forKey: .haloSize)
        }
        var font = members.nestedContainer(keyedBy: FontKeys.self, forKey: .font)
        try font.encode(family, forKey: .family)
        try font.encode(sizePoints, forKey: .size)
        try font.encode(isItalic ? "italic" : "normal", forKey: .style)
        try font.encode(isBold ? "bold" : "normal", forKey: .weight)
    }
}
