// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A style that came with a source, as far as it was understood.
public struct ImportedStyle: Hashable, Sendable, Codable {
    /// The place that it was read from: `layer_styles`, `roads.qml`.
    public var origin: String
    /// The drawing; nil where nothing was understood.
    public var drawing: LayerDrawing?
    /// A sentence on each part that was not.
    public var notes: [String]
}

/// The rules of a style: symbols by conditions on fields, before they become a renderer.
struct StyleRules {
    /// Which features a rule draws.
    enum Condition: Hashable {
        /// All, or all that no other rule draws.
        case rest
        /// Those with one of these values in a field.
        case values(field: String, [String])
        /// Those with a number in a range, the greatest one included.
        case range(field: String, least: Double?, greatest: Double?)
    }

    private var rules: [(condition: Condition, entry: FeatureRenderer.Entry)] = []
    var labels: [LabelClass] = []
    /// Percent.
    var transparency = 0
    private(set) var notes: [String] = []

    mutating func add(_ condition: Condition, _ entry: FeatureRenderer.Entry) {
        rules.append((condition, entry))
    }

    /// Adds a sentence once.
    mutating func note(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    /// The drawing and the notes on what it lacks.
    func style(from origin: String) -> ImportedStyle {
        var result = ImportedStyle(origin: origin, drawing: nil, notes: notes)
        let renderer = renderer(&result.notes)
        let drawing = LayerDrawing(renderer, transparency: transparency, labels: labels)
        if drawing != LayerDrawing() { result.drawing = drawing }
        return result
    }

    private func renderer(_ notes: inout [String]) -> FeatureRenderer? {
        let others = rules.first { $0.condition == .rest }?.entry
        let special = rules.filter { $0.condition != .rest }
        if rules.count(where: { $0.condition == .rest }) > 1 {
            notes.append("several rules draw the same features: the first one is taken")
        }
        guard let first = special.first else { return others.map { .simple($0) } }
        switch first.condition {
        case .rest: return nil
        case .values(let field, _):
            var values: [FeatureRenderer.Value] = []
            var seen: Set<String> = []
            for rule in special {
                guard case .values(field, let texts) = rule.condition else {
                    notes.append(
                        "rule '\(rule.entry.label.prefix(40))' is left out: its condition is not "
                            + "on values of '\(field)'")
                    continue
                }
                for text in texts where seen.insert(text).inserted {
                    values.append(FeatureRenderer.Value(text, rule.entry))
                }
            }
            return .uniqueValues(
                FeatureRenderer.UniqueValues(fields: [field], values: values, others: others))
        case .range(let field, _, _):
            var ranges: [(least: Double?, greatest: Double, entry: FeatureRenderer.Entry)] = []
            for rule in special {
                guard case .range(field, let least, let greatest) = rule.condition else {
                    notes.append(
                        "rule '\(rule.entry.label.prefix(40))' is left out: its condition is not "
                            + "on a range of '\(field)'")
                    continue
                }
                ranges.append((least, greatest ?? .greatestFiniteMagnitude, rule.entry))
            }
            ranges.sort { $0.greatest < $1.greatest }
            for (lower, upper) in zip(ranges, ranges.dropFirst()) {
                guard let least = upper.least, least > lower.greatest.nextUp else { continue }
                notes.append(
                    "numbers of '\(field)' between \(lower.greatest) and \(least) are drawn as "
                        + "those above")
            }
            return .classBreaks(
                FeatureRenderer.ClassBreaks(
                    field: field, least: ranges.first?.least,
                    breaks: ranges.map { FeatureRenderer.Break(upTo: $0.greatest, $0.entry) },
                    others: others))
        }
    }
}
