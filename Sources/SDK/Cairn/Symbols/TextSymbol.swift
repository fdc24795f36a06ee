// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

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
