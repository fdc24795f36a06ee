// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Identify

/// The style of one layer's features at one scale.
struct LayerStyle {
    /// Transparency of the layer, in percent.
    let transparency: Int
    /// Whether all its features of one kind look the same.
    let isUniform: Bool
    private let chooser: Chooser
    /// Default symbols by kind of shape, for features without a renderer.
    private let standard: [LayerSymbol]

    /// Selects a symbol by renderer; the values of its fields come first in a feature's values.
    private enum Chooser {
        case none
        case simple(LayerSymbol)
        case byText([String: LayerSymbol], delimiter: String, others: LayerSymbol?)
        case byRange(least: Double?, [FeatureRenderer.Break], others: LayerSymbol?)
    }

    /// The style at a scale of the map; a denominator, nil for none.
    init(_ layer: LayerDescription, scale: Double?) {
        let drawing = layer.shownDrawing ?? LayerDrawing()
        transparency = drawing.transparency
        standard = [GeometryType.point, .polyline, .polygon].map {
            LayerSymbol(standard: layer.id, $0)
        }
        rendererFieldCount = drawing.renderer?.fields.count ?? 0
        labels = drawing.labels.filter { each in
            scale.map { each.scaleRange.contains(scale: $0) } ?? true
        }
        fields = (drawing.renderer?.fields ?? []) + labels.flatMap(\.expression.fields)
        places = Dictionary(zip(fields, fields.indices), uniquingKeysWith: { first, _ in first })
        conditions = labels.compactMap(\.condition)
        switch drawing.renderer {
        case nil: chooser = .none
        case .simple(let entry): chooser = .simple(entry.symbol)
        case .uniqueValues(let unique):
            chooser = .byText(
                Dictionary(
                    unique.values.map { ($0.value, $0.entry.symbol) },
                    uniquingKeysWith: { first, _ in first }),
                delimiter: unique.delimiter, others: unique.others?.symbol)
        case .classBreaks(let classes):
            chooser = .byRange(
                least: classes.least, classes.breaks, others: classes.others?.symbol)
        }
        let symbols = drawing.renderer?.entries.map(\.symbol) ?? []
        isUniform = symbols.count <= 1
        reachPoints = (symbols + standard).reduce(0) { max($0, $1.reachPoints) }
    }

    /// The labels at this scale, by precedence.
    let labels: [LabelClass]
    /// The fields of its renderer, then those of its labels.
    let fields: [String]
    /// The clauses of its labels.
    let conditions: [String]
    private let rendererFieldCount: Int
    private let places: [String: Int]
    /// Maximum distance of its symbols from their shapes, in points.
    let reachPoints: Double

    /// The symbol of a feature; nil for a feature that is not drawn.
    func symbol(of feature: DrawnFeature) -> LayerSymbol? {
        let type: GeometryType =
            switch feature.shape {
            case .positions: .point
            case .paths: .polyline
            case .areas: .polygon
            }
        let chosen: LayerSymbol?
        switch chooser {
        case .none: chosen = standard.first { $0.fits(type) }
        case .simple(let symbol): chosen = symbol
        case .byText(let symbols, let delimiter, let others):
            let text = feature.values.prefix(rendererFieldCount).map(FeatureRenderer.text)
                .joined(separator: delimiter)
            chosen = symbols[text] ?? others
        case .byRange(let least, let breaks, let others):
            chosen = Self.symbol(feature.values.first, least, breaks) ?? others
        }
        // Graphics may be of any kind, unlike their layer's symbols.
        return chosen.flatMap { $0.fits(type) ? $0 : standard.first { $0.fits(type) } }
    }

    /// The label of a feature, with its index in ``labels``: the first whose clause holds; nil for
    /// none.
    func label(of feature: DrawnFeature) -> (Int, String)? {
        var condition = 0
        for (number, each) in labels.enumerated() {
            if each.condition != nil {
                condition += 1
                guard feature.holds[condition - 1] else { continue }
            }
            return each.expression.label { places[$0].map { feature.values[$0] } ?? .null }
                .map { (number, $0) }
        }
        return nil
    }

    private static func symbol(
        _ value: AttributeValue?, _ least: Double?, _ breaks: [FeatureRenderer.Break]
    ) -> LayerSymbol? {
        let number: Double
        switch value {
        case .integer(let integer), .date(let integer): number = Double(integer)
        case .real(let real): number = real
        case .null, .string, nil: return nil
        }
        if let least, number < least { return nil }
        return breaks.first { number <= $0.greatest }?.entry.symbol
    }
}
