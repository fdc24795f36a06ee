// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// How a graphic or a feature is drawn.
///
/// Sizes, widths and offsets are points. A change is seen in the next picture.
public class Symbol: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its subclasses keep their state behind
    // locks.
    init() {}

    var json: JSON { .object([]) }

    /// The JSON text of the REST.
    public func toJSON() -> String { json.jsonText }

    /// A symbol from the JSON text of the REST: `esriSMS`, `esriSLS`, `esriSFS`, `esriPMS`,
    /// `esriTS`.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) for text of none, and of a symbol of another class
    /// than the one that is asked.
    public static func fromJSON(_ json: String) throws -> Self {
        guard let symbol = make(JSON(Array(json.utf8))) else {
            throw CairnError(
                .invalidDocument,
                "the text is no symbol: expected JSON of the type esriSMS, esriSLS, esriSFS, "
                    + "esriPMS or esriTS")
        }
        guard let own = symbol as? Self else {
            throw CairnError(
                .invalidDocument, "the JSON is of a \(type(of: symbol)), expected a \(Self.self)")
        }
        return own
    }

    /// Reads a symbol of the REST; nil for none, and for kinds that are not known here.
    static func make(_ json: JSON?) -> Symbol? {
        guard let json else { return nil }
        let color = SymbolColor(json.member("color"))
        let symbol: Symbol
        switch json.text("type") {
        case "esriSMS":
            let mark = SimpleMarkerSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .circle,
                color: color ?? .clear, size: json["size"]?.number ?? 8)
            mark.outline = outline(json)
            symbol = mark
        case "esriSLS":
            symbol = SimpleLineSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
                color: color ?? .clear, width: json["width"]?.number ?? 1)
        case "esriSFS":
            symbol = SimpleFillSymbol(
                style: json.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
                color: color ?? .clear, outline: outline(json))
        case "esriPMS": symbol = PictureMarkerSymbol(json)
        case "esriTS": symbol = TextSymbol(json)
        case "CompositeSymbol":
            symbol = CompositeSymbol(symbols: (json["symbols"]?.elements ?? []).compactMap(make))
        default: return nil
        }
        (symbol as? MarkerSymbol)?.read(json)
        return symbol
    }

    private static func outline(_ json: JSON) -> SimpleLineSymbol? {
        guard let outline = json.member("outline") else { return nil }
        return SimpleLineSymbol(
            style: outline.text("style").flatMap { .init(rawValue: $0) } ?? .solid,
            color: SymbolColor(outline.member("color")) ?? .clear,
            width: outline["width"]?.number ?? 1)
    }
}

/// A symbol at a point.
public class MarkerSymbol: Symbol, @unchecked Sendable {
    private struct Position: Sendable {
        var angle = 0.0
        var offsetX = 0.0
        var offsetY = 0.0
    }

    private let position = Guarded(Position())

    /// Degrees clockwise that it is turned.
    public var angle: Double {
        get { position.current.angle }
        set { position.withLock { $0.angle = newValue } }
    }

    /// Points to the right of its place.
    public var offsetX: Double {
        get { position.current.offsetX }
        set { position.withLock { $0.offsetX = newValue } }
    }

    /// Points above its place.
    public var offsetY: Double {
        get { position.current.offsetY }
        set { position.withLock { $0.offsetY = newValue } }
    }

    /// The REST turns counterclockwise.
    func read(_ json: JSON) {
        position.withLock { position in
            position.angle = json["angle"]?.number.map { -$0 } ?? 0
            position.offsetX = json["xoffset"]?.number ?? 0
            position.offsetY = json["yoffset"]?.number ?? 0
        }
    }

    /// What every marker has in the REST.
    var positionMembers: [(name: String, value: JSON)] {
        let position = position.current
        return [
            (name: "angle", value: .real(position.angle == 0 ? 0 : -position.angle)),
            ("xoffset", .real(position.offsetX)), ("yoffset", .real(position.offsetY)),
        ]
    }
}

/// A mark at a point.
public final class SimpleMarkerSymbol: MarkerSymbol, @unchecked Sendable {
    /// Shapes of marks.
    public enum Style: String, Sendable {
        case circle = "esriSMSCircle"
        case cross = "esriSMSCross"
        case diamond = "esriSMSDiamond"
        case square = "esriSMSSquare"
        case triangle = "esriSMSTriangle"
        case x = "esriSMSX"
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var size: Double
        var outline: SimpleLineSymbol?
    }

    private let state: Guarded<State>

    /// Makes a mark.
    public init(style: Style = .circle, color: SymbolColor = .red, size: Double = 8) {
        state = Guarded(State(style: style, color: color, size: size))
    }

    /// The shape.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of the inside.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// Width and height, points.
    public var size: Double {
        get { state.current.size }
        set { state.withLock { $0.size = newValue } }
    }
    /// The border; nil for none.
    public var outline: SimpleLineSymbol? {
        get { state.current.outline }
        set { state.withLock { $0.outline = newValue } }
    }

    override var json: JSON {
        let state = state.current
        var members: [(name: String, value: JSON)] = [
            ("type", .string("esriSMS")), ("style", .string(state.style.rawValue)),
            ("color", state.color.json), ("size", .real(state.size)),
        ]
        members += positionMembers
        if let outline = state.outline { members.append(("outline", outline.json)) }
        return .object(members)
    }
}

/// A line.
public final class SimpleLineSymbol: Symbol, @unchecked Sendable {
    /// Patterns of lines.
    public enum Style: String, Sendable {
        case solid = "esriSLSSolid"
        case dash = "esriSLSDash"
        case dot = "esriSLSDot"
        case dashDot = "esriSLSDashDot"
        case dashDotDot = "esriSLSDashDotDot"
        case longDash = "esriSLSLongDash"
        case longDashDot = "esriSLSLongDashDot"
        case shortDash = "esriSLSShortDash"
        case shortDot = "esriSLSShortDot"
        case shortDashDot = "esriSLSShortDashDot"
        case shortDashDotDot = "esriSLSShortDashDotDot"
        case null = "esriSLSNull"

        /// Lengths that are drawn and left out by turns, in widths of the line; empty for all.
        var pattern: [Double] {
            switch self {
            case .solid, .null: []
            case .dash: [4, 3]
            case .dot: [1, 3]
            case .dashDot: [4, 3, 1, 3]
            case .dashDotDot: [4, 3, 1, 3, 1, 3]
            case .longDash: [8, 3]
            case .longDashDot: [8, 3, 1, 3]
            case .shortDash: [4, 1]
            case .shortDot: [1, 1]
            case .shortDashDot: [4, 1, 1, 1]
            case .shortDashDotDot: [4, 1, 1, 1, 1, 1]
            }
        }
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var width: Double
    }

    private let state: Guarded<State>

    /// Makes a line.
    public init(style: Style = .solid, color: SymbolColor = .black, width: Double = 1) {
        state = Guarded(State(style: style, color: color, width: width))
    }

    /// The pattern.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of what is drawn.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// The width, points.
    public var width: Double {
        get { state.current.width }
        set { state.withLock { $0.width = newValue } }
    }

    override var json: JSON {
        let state = state.current
        return .object(of: [
            "type": .string("esriSLS"), "style": .string(state.style.rawValue),
            "color": state.color.json, "width": .real(state.width),
        ])
    }
}

/// The inside and the outline of an area.
public final class SimpleFillSymbol: Symbol, @unchecked Sendable {
    /// Patterns of areas.
    public enum Style: String, Sendable {
        case solid = "esriSFSSolid"
        case noFill = "esriSFSNull"
        case horizontal = "esriSFSHorizontal"
        case vertical = "esriSFSVertical"
        case cross = "esriSFSCross"
        case forwardDiagonal = "esriSFSForwardDiagonal"
        case backwardDiagonal = "esriSFSBackwardDiagonal"
        case diagonalCross = "esriSFSDiagonalCross"

        /// Whether the pattern has a pixel; lines are 8 pixels apart.
        func has(_ x: Int, _ y: Int) -> Bool {
            switch self {
            case .solid: true
            case .noFill: false
            case .horizontal: y % 8 == 0
            case .vertical: x % 8 == 0
            case .cross: y % 8 == 0 || x % 8 == 0
            case .forwardDiagonal: (x - y) % 8 == 0
            case .backwardDiagonal: (x + y) % 8 == 0
            case .diagonalCross: (x + y) % 8 == 0 || (x - y) % 8 == 0
            }
        }
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var outline: SimpleLineSymbol?
    }

    private let state: Guarded<State>

    /// Makes a fill.
    public init(
        style: Style = .solid, color: SymbolColor = .gray, outline: SimpleLineSymbol? = nil
    ) {
        state = Guarded(State(style: style, color: color, outline: outline))
    }

    /// The pattern.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of the inside.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// The border; nil for none.
    public var outline: SimpleLineSymbol? {
        get { state.current.outline }
        set { state.withLock { $0.outline = newValue } }
    }

    override var json: JSON {
        let state = state.current
        return .object(of: [
            "type": .string("esriSFS"), "style": .string(state.style.rawValue),
            "color": state.color.json, "outline": state.outline?.json,
        ])
    }
}

/// Several symbols over each other.
public final class CompositeSymbol: Symbol, @unchecked Sendable {
    private let parts: Guarded<[Symbol]>

    /// Makes a symbol.
    public init(symbols: [Symbol] = []) { parts = Guarded(symbols) }

    /// The parts, the bottom one first.
    public var symbols: [Symbol] { parts.current }

    /// Adds a part on top.
    public func addSymbol(_ symbol: Symbol) { parts.withLock { $0.append(symbol) } }

    /// Removes all parts.
    public func removeAllSymbols() { parts.current = [] }

    override var json: JSON {
        .object(of: [
            "type": .string("CompositeSymbol"), "symbols": .array(symbols.map(\.json)),
        ])
    }
}

/// A text at a point.
///
/// Pictures have it in strokes of one simple face: letters, digits and signs of ASCII; letters with
/// marks as the letter with a stroke above it, others as a box.
public final class TextSymbol: MarkerSymbol, @unchecked Sendable {
    /// Where the text lies beside its place.
    public enum HorizontalAlignment: String, Sendable, Hashable {
        /// It begins at the place.
        case left
        /// Its middle is at the place.
        case center
        /// It ends at the place.
        case right
        /// As `left`.
        case justify
    }

    /// Where the text lies above or below its place.
    public enum VerticalAlignment: String, Sendable, Hashable {
        /// Letters stand on the place.
        case baseline
        /// The text, with what hangs below its letters, is above the place.
        case bottom
        /// Its middle is at the place.
        case middle
        /// It is below the place.
        case top
    }

    /// Slants of letters, kept and written; pictures draw upright ones.
    public enum FontStyle: String, Sendable { case normal, italic, oblique }
    /// Strengths of strokes.
    public enum FontWeight: String, Sendable { case normal, bold }
    /// Lines along the text.
    public enum FontDecoration: String, Sendable {
        case none
        case underline
        case lineThrough = "line-through"
    }

    struct State: Sendable {
        var text = ""
        var color = SymbolColor.black
        var size = 10.0
        var horizontal = HorizontalAlignment.center
        var vertical = VerticalAlignment.middle
        var haloColor = SymbolColor.clear
        var haloWidth = 0.0
        var backgroundColor = SymbolColor.clear
        var outlineColor = SymbolColor.clear
        var outlineWidth = 0.0
        var fontFamily = ""
        var fontStyle = FontStyle.normal
        var fontWeight = FontWeight.normal
        var fontDecoration = FontDecoration.none
    }

    let state: Guarded<State>

    /// A black text of 10 points in the middle of its place, unless said otherwise; `size` is the
    /// height of a line in points.
    public init(
        text: String = "", color: SymbolColor = .black, size: Double = 10,
        horizontalAlignment: HorizontalAlignment = .center,
        verticalAlignment: VerticalAlignment = .middle
    ) {
        state = Guarded(
            State(
                text: text, color: color, size: size, horizontal: horizontalAlignment,
                vertical: verticalAlignment))
    }

    init(_ json: JSON) {
        let font = json.member("font")
        var read = State()
        read.text = json.text("text") ?? ""
        read.color = SymbolColor(json.member("color")) ?? .black
        read.size = font?["size"]?.number ?? 10
        read.horizontal =
            json.text("horizontalAlignment").flatMap { .init(rawValue: $0) } ?? .center
        read.vertical = json.text("verticalAlignment").flatMap { .init(rawValue: $0) } ?? .baseline
        read.haloColor = SymbolColor(json.member("haloColor")) ?? .clear
        read.haloWidth = json["haloSize"]?.number ?? 0
        read.backgroundColor = SymbolColor(json.member("backgroundColor")) ?? .clear
        read.outlineColor = SymbolColor(json.member("borderLineColor")) ?? .clear
        read.outlineWidth = json["borderLineSize"]?.number ?? 0
        read.fontFamily = font?.text("family") ?? ""
        read.fontStyle = font?.text("style").flatMap { .init(rawValue: $0) } ?? .normal
        read.fontWeight = font?.text("weight").flatMap { .init(rawValue: $0) } ?? .normal
        read.fontDecoration = font?.text("decoration").flatMap { .init(rawValue: $0) } ?? .none
        state = Guarded(read)
    }

    /// The text; line breaks begin lines.
    public var text: String {
        get { state.current.text }
        set { state.withLock { $0.text = newValue } }
    }
    /// The color of the letters.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// The height of a line, points.
    public var size: Double {
        get { state.current.size }
        set { state.withLock { $0.size = newValue } }
    }
    /// Where the text lies beside its place.
    public var horizontalAlignment: HorizontalAlignment {
        get { state.current.horizontal }
        set { state.withLock { $0.horizontal = newValue } }
    }
    /// Where the text lies above or below its place.
    public var verticalAlignment: VerticalAlignment {
        get { state.current.vertical }
        set { state.withLock { $0.vertical = newValue } }
    }
    /// The color around the letters.
    public var haloColor: SymbolColor {
        get { state.current.haloColor }
        set { state.withLock { $0.haloColor = newValue } }
    }
    /// How far ``haloColor`` reaches beyond the letters, points; 0 for none.
    public var haloWidth: Double {
        get { state.current.haloWidth }
        set { state.withLock { $0.haloWidth = newValue } }
    }
    /// The color of the rectangle behind the text.
    public var backgroundColor: SymbolColor {
        get { state.current.backgroundColor }
        set { state.withLock { $0.backgroundColor = newValue } }
    }
    /// The color of the border of that rectangle.
    public var outlineColor: SymbolColor {
        get { state.current.outlineColor }
        set { state.withLock { $0.outlineColor = newValue } }
    }
    /// The width of that border, points; 0 for none.
    public var outlineWidth: Double {
        get { state.current.outlineWidth }
        set { state.withLock { $0.outlineWidth = newValue } }
    }
    /// The face, kept and written; pictures have one face alone.
    public var fontFamily: String {
        get { state.current.fontFamily }
        set { state.withLock { $0.fontFamily = newValue } }
    }
    /// The slant, kept and written; pictures draw upright letters.
    public var fontStyle: FontStyle {
        get { state.current.fontStyle }
        set { state.withLock { $0.fontStyle = newValue } }
    }
    /// The strength of the strokes.
    public var fontWeight: FontWeight {
        get { state.current.fontWeight }
        set { state.withLock { $0.fontWeight = newValue } }
    }
    /// A line along the text.
    public var fontDecoration: FontDecoration {
        get { state.current.fontDecoration }
        set { state.withLock { $0.fontDecoration = newValue } }
    }

    override var json: JSON {
        let state = state.current
        let hasHalo = state.haloWidth > 0
        let hasBorder = state.outlineWidth > 0
        let members = JSON.object(of: [
            "type": .string("esriTS"), "text": .string(state.text), "color": state.color.json,
            "horizontalAlignment": .string(state.horizontal.rawValue),
            "verticalAlignment": .string(state.vertical.rawValue),
            "haloColor": hasHalo ? state.haloColor.json : nil,
            "haloSize": hasHalo ? .real(state.haloWidth) : nil,
            "backgroundColor": state.backgroundColor == .clear ? nil : state.backgroundColor.json,
            "borderLineColor": hasBorder ? state.outlineColor.json : nil,
            "borderLineSize": hasBorder ? .real(state.outlineWidth) : nil,
            "font": .object(of: [
                "family": state.fontFamily.isEmpty ? nil : .string(state.fontFamily),
                "size": .real(state.size), "style": .string(state.fontStyle.rawValue),
                "weight": .string(state.fontWeight.rawValue),
                "decoration": .string(state.fontDecoration.rawValue),
            ]),
        ])
        return .object(members.members + positionMembers)
    }
}
