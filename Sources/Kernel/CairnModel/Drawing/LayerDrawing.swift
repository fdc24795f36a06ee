// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import FoundationEssentials

/// The drawing of a layer's features: Esri's `drawingInfo`, which is also its JSON.
public struct LayerDrawing: Hashable, Sendable {
    /// The renderer; nil for the symbol of the layer's number.
    public var renderer: FeatureRenderer?
    /// Transparency of the layer in percent, 0…100.
    public var transparency: Int
    /// Their labels, the most important first; none where it is empty.
    public var labels: [LabelClass]

    /// Creates one; without arguments it changes nothing.
    public init(
        _ renderer: FeatureRenderer? = nil, transparency: Int = 0, labels: [LabelClass] = []
    ) {
        self.renderer = renderer
        self.transparency = transparency
        self.labels = labels
    }

    /// The greatest size of a symbol, width of a line or size of a font, in points.
    public static let sizeBoundPoints = 200.0
    /// The most values or ranges of a renderer.
    public static let valueBound = 1_000
    /// The most classes of labels.
    public static let labelBound = 20
    /// The most bytes of one text.
    public static let textByteBound = 1_024
    /// Largest size as JSON, in bytes.
    public static let byteBound = 524_288

    /// Every field that it reads, each once, as spelled there.
    public var fields: [String] {
        var seen: Set<String> = []
        return ((renderer?.fields ?? []) + labels.flatMap(\.expression.fields)).filter {
            seen.insert($0).inserted
        }
    }
}

extension LayerDrawing: Codable {
    private enum CodingKeys: String, CodingKey { case renderer, transparency, labelingInfo }

    /// Decodes the known ones of the three members; others are ignored.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decodeIfPresent(FeatureRenderer.self, forKey: .renderer),
            transparency: try members.decodeIfPresent(Int.self, forKey: .transparency) ?? 0,
            labels: try members.decodeIfPresent([LabelClass].self, forKey: .labelingInfo) ?? [])
    }

    /// Encodes the members that differ from the defaults.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(renderer, forKey: .renderer)
        if transparency != 0 { try members.encode(transparency, forKey: .transparency) }
        if !labels.isEmpty { try members.encode(labels, forKey: .labelingInfo) }
    }
}

extension LayerDrawing {
    /// Throws `invalidParameter` or `tooLarge`, naming the member, unless it can draw a layer with
    /// these fields and geometry type.
    ///
    /// - Parameters:
    ///   - fields: Empty when unknown.
    ///   - type: Nil when unknown, or any.
    public func check(_ fields: [FieldDescription], _ type: GeometryType?) throws(Failure) {
        guard 0...100 ~= transparency else {
            throw Failure(.invalidParameter, "transparency \(transparency): expected 0 to 100")
        }
        if let renderer { try renderer.check(type) }
        guard labels.count <= Self.labelBound else {
            throw Failure(
                .tooLarge,
                "labelingInfo has \(labels.count) classes; a layer can have \(Self.labelBound)")
        }
        for label in labels {
            guard let type, let placement = label.placement, !placement.fits(type) else { continue }
            throw Failure(
                .invalidParameter,
                "labelPlacement 'esriServer\(placement.rawValue)' is not for features of type "
                    + type.rawValue)
        }
        let known = Set(fields.map { $0.name.lowercased() })
        for name in self.fields {
            guard name.utf8.count <= Self.textByteBound,
                known.isEmpty ? !name.isEmpty : known.contains(name.lowercased())
            else {
                throw Failure(
                    .invalidParameter,
                    "the drawing uses '\(name.prefix(80))', which is not a field of the layer")
            }
        }
        let byteCount = try CairnJSON.encode(self).count
        guard byteCount <= Self.byteBound else {
            throw Failure(
                .tooLarge, "the drawing has \(byteCount) bytes; it can have \(Self.byteBound)")
        }
    }
}

extension FeatureRenderer {
    fileprivate func check(_ type: GeometryType?) throws(Failure) {
        guard entries.count <= LayerDrawing.valueBound else {
            throw Failure(
                .tooLarge,
                "the renderer has \(entries.count) symbols; it can have \(LayerDrawing.valueBound)")
        }
        for entry in entries {
            guard [entry.label, entry.description].allSatisfy(Self.isShort) else {
                throw Failure(
                    .tooLarge,
                    "label '\(entry.label.prefix(40))': it and its description can have "
                        + "\(LayerDrawing.textByteBound) bytes each")
            }
            if let type, !entry.symbol.fits(type) {
                throw Failure(
                    .invalidParameter,
                    "the symbol of '\(entry.label.prefix(40))' does not fit features of type "
                        + "\(type.rawValue): points take esriSMS, lines esriSLS, areas esriSFS")
            }
        }
        switch self {
        case .simple: return
        case .uniqueValues(let unique): try unique.check()
        case .classBreaks(let classes): try classes.check()
        }
    }

    fileprivate static func isShort(_ text: String) -> Bool {
        text.utf8.count <= LayerDrawing.textByteBound
    }
}

extension FeatureRenderer.UniqueValues {
    fileprivate func check() throws(Failure) {
        guard 1...3 ~= fields.count else {
            throw Failure(.invalidParameter, "a uniqueValue renderer names field1, field2, field3")
        }
        guard 1...16 ~= delimiter.utf8.count else {
            throw Failure(.invalidParameter, "fieldDelimiter: expected 1 to 16 bytes")
        }
        var seen: Set<String> = []
        for each in values {
            guard FeatureRenderer.isShort(each.value), seen.insert(each.value).inserted else {
                throw Failure(
                    .invalidParameter,
                    "uniqueValueInfos: the value '\(each.value.prefix(40))' occurs twice, or "
                        + "has more than \(LayerDrawing.textByteBound) bytes")
            }
        }
    }
}

extension FeatureRenderer.ClassBreaks {
    fileprivate func check() throws(Failure) {
        let ends = (least.map { [$0] } ?? []) + breaks.map(\.greatest)
        guard !breaks.isEmpty, zip(ends, ends.dropFirst()).allSatisfy(<) else {
            throw Failure(
                .invalidParameter,
                "classBreakInfos: expected one at least, minValue and each classMaxValue greater "
                    + "than the one before")
        }
    }
}
