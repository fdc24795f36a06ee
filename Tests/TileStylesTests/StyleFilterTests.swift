// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import Platform
import TestKit
import Testing
import TileStyles

/// Which features the layers of a style take, against the symbols that renderers choose.
@Suite struct StyleFilterTests {
    private static let fields = [
        FieldDescription(name: "OBJECTID", type: .objectID),
        FieldDescription(name: "Word", type: .string),
        FieldDescription(name: "Whole", type: .integer),
        FieldDescription(name: "Real", type: .double),
        FieldDescription(name: "Seen", type: .date),
    ]

    private struct Row {
        var values: [AttributeValue]

        init(_ random: inout SeededGenerator) {
            func pick(_ items: [AttributeValue]) -> AttributeValue {
                Int.random(in: 0..<5, using: &random) == 0
                    ? .null : items[Int.random(in: 0..<items.count, using: &random)]
            }
            values = [
                .integer(Int64.random(in: 1...4, using: &random)),
                pick(["a", "b", "it's", "<Null>", "5", ""].map { .string($0) }),
                pick([1, 2, 5, -3].map { .integer($0) }), pick([1, 2.5, 5, -3].map { .real($0) }),
                pick([0, 86_400_000, 1_000_000_000_000].map { .date($0) }),
            ]
        }

        func value(_ name: String) -> AttributeValue {
            StyleFilterTests.fields.firstIndex { $0.name.lowercased() == name.lowercased() }
                .map { values[$0] } ?? .null
        }

        var evaluator: MapLibreEvaluator {
            guard case .integer(let id) = values[0] else { return .init(id: 0) { _ in .null } }
            return MapLibreEvaluator(id: id, attribute: value)
        }
    }

    private func symbol(_ number: Int) -> LayerSymbol {
        LayerSymbol(.marker(.init(.circle, .init(UInt8(number), 0, 0), sizePoints: 5)))
    }

    /// The layers of a style: the red of their circles, and their filters.
    private func style(
        _ renderer: FeatureRenderer, labels: [LabelClass] = []
    ) throws -> (circles: [(Int, JSONTree?)], labels: [JSONTree]) {
        let dataset = try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
        let layer = LayerDescription(
            id: 0, name: "places", parent: nil, children: [],
            kind: .layer(source: LayerSource(dataset: dataset)), isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            drawing: LayerDrawing(renderer, labels: labels), loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: nil, spatialReference: .webMercator, geometryType: .point,
                fields: Self.fields, featureCount: 0))
        let style = MapStyle(title: "", [TileLayer(layer: layer, levels: 0...23)])
        let json = try #require(JSONTree(style.json(.relative)))
        let layers = json["layers"]?.elements ?? []
        return (
            layers.filter { $0["type"]?.text == "circle" }.map { layer in
                let color = layer["paint"]?["circle-color"]?.text ?? ""
                return (Int(color.dropFirst(4).prefix { $0 != "," }) ?? -1, layer["filter"])
            }, layers.filter { $0["layout"]?["text-field"] != nil }
        )
    }

    private func check(
        _ renderer: FeatureRenderer, _ random: inout SeededGenerator,
        wanted: (Row) -> LayerSymbol?
    ) throws -> Int {
        let label = LabelClass(try LabelExpression(parsing: "[WORD]"))
        let (circles, labels) = try style(renderer, labels: [label])
        var drawn = 0
        for _ in 0..<40 {
            let row = Row(&random)
            let found = circles.filter { $0.1.map(row.evaluator.holds) ?? true }.map(\.0)
            var reds: [Int] = []
            if case .marker(let marker)? = wanted(row)?.form { reds = [Int(marker.color.red)] }
            #expect(found == reds, "\(row) by \(renderer): \(circles.map { $0.1?.jsonText })")
            let isLabelled = labels.contains { $0["filter"].map(row.evaluator.holds) ?? true }
            #expect(isLabelled == !reds.isEmpty, "\(row) by \(renderer)")
            drawn += reds.count
        }
        return drawn
    }

    @Test func `features have the symbol of their value`() throws {
        var random = SeededGenerator(seed: 21)
        let values = [
            "a", "b", "it's", "<Null>", "5", "1", "01", "2.5", "-3", "1970-01-02T00:00:00Z",
        ]
        var drawn = 0
        for _ in 0..<300 {
            let names = ["WORD", "whole", "Real", "seen", "objectid", "none"]
            let fields = (0..<Int.random(in: 1...3, using: &random) / 2 + 1).map { _ in
                names[Int.random(in: 0..<names.count, using: &random)]
            }
            let own = (0..<Int.random(in: 1...5, using: &random)).map { number in
                FeatureRenderer.Value(
                    fields.map { _ in values[Int.random(in: 0..<values.count, using: &random)] }
                        .joined(separator: ", "), .init(symbol(number + 1)))
            }
            let others = Bool.random(using: &random) ? FeatureRenderer.Entry(symbol(99)) : nil
            let unique = FeatureRenderer.UniqueValues(
                fields: fields, delimiter: ", ", values: own, others: others)
            drawn += try check(.uniqueValues(unique), &random) { row in
                let text = fields.map { FeatureRenderer.text(of: row.value($0)) }
                    .joined(separator: ", ")
                return (own.first { $0.value == text }?.entry ?? others)?.symbol
            }
        }
        #expect(drawn > 2_000 && drawn < 11_000)
    }

    @Test func `features have the symbol of their range`() throws {
        var random = SeededGenerator(seed: 22)
        var drawn = 0
        for _ in 0..<300 {
            let field = ["WORD", "whole", "Real", "seen", "objectid", "none"][
                Int.random(in: 0..<6, using: &random)]
            let scale = field == "seen" ? 86_400_000.0 : 1
            var bound = Double(Int.random(in: -3...2, using: &random))
            let least = Bool.random(using: &random) ? bound * scale : nil
            let breaks = (0..<Int.random(in: 1...3, using: &random)).map { number in
                bound += Double(Int.random(in: 1...3, using: &random))
                return FeatureRenderer.Break(upTo: bound * scale, .init(symbol(number + 1)))
            }
            let others = Bool.random(using: &random) ? FeatureRenderer.Entry(symbol(99)) : nil
            let classes = FeatureRenderer.ClassBreaks(
                field: field, least: least, breaks: breaks, others: others)
            drawn += try check(.classBreaks(classes), &random) { row in
                let number: Double
                switch row.value(field) {
                case .integer(let whole), .date(let whole): number = Double(whole)
                case .real(let real): number = real
                case .null, .string: return others?.symbol
                }
                if let least, number < least { return others?.symbol }
                return (breaks.first { number <= $0.greatest }?.entry ?? others)?.symbol
            }
        }
        #expect(drawn > 2_000 && drawn < 11_000)
    }

    @Test func `labels of a feature are those of the first class that takes it`() throws {
        var random = SeededGenerator(seed: 23)
        let clauses = [
            "whole > 1", "word = 'a'", "word IS NULL", "whole IN (1, 5)", "real BETWEEN 1 AND 3",
            "NOT (whole = 1 OR word = 'b')", "word LIKE '%t%'",
        ]
        var (first, second) = (0, 0)
        for _ in 0..<100 {
            let wheres = (0..<2).map { _ in clauses[Int.random(in: 0..<7, using: &random)] }
            let classes = try wheres.map {
                LabelClass(try LabelExpression(parsing: "[WORD]"), condition: $0)
            }
            let layers = try style(.simple(.init(symbol(1))), labels: classes).labels
            for _ in 0..<30 {
                let row = Row(&random)
                let holds = try wheres.map { clause in
                    try WhereClause(parsing: clause).evaluate { row.value($0) } == true
                }
                let found = layers.map { $0["filter"].map(row.evaluator.holds) ?? true }
                #expect(found.count { $0 } == (holds[0] || holds[1] ? 1 : 0), "\(wheres) \(row)")
                // The first class is above the others.
                #expect(found.last == holds[0] || wheres[0] == wheres[1])
                first += holds[0] ? 1 : 0
                second += !holds[0] && holds[1] ? 1 : 0
            }
        }
        #expect(first > 300 && second > 100)
    }

    /// Filters in which QGIS 3.22 has every operator: `!` before `has` alone.
    private func isPlain(_ filter: JSONTree) -> Bool {
        let parts = filter.elements
        switch parts.first?.text {
        case "has", "get": return parts.count == 2
        case "!": return parts.count == 2 && parts[1].elements.first?.text == "has"
        case "all", "any": return parts.count > 2 && parts.dropFirst().allSatisfy(isPlain)
        case "==", "!=", "<", "<=", ">", ">=":
            return parts[1].elements.first?.text == "get" && parts[2].elements.isEmpty
        case "match":
            return parts.count == 5 && parts[1].elements.first?.text == "get"
                && !parts[2].elements.isEmpty
        default: return false
        }
    }

    @Test func `QGIS reads the filters of attributes too`() throws {
        let values = ["a", "<Null>", "5"].enumerated().map { number, value in
            FeatureRenderer.Value(value, .init(symbol(number + 1)))
        }
        let pairs = ["a, 5", "<Null>, 1"].map { FeatureRenderer.Value($0, .init(symbol(1))) }
        let classes = FeatureRenderer.ClassBreaks(
            field: "real", least: 1, breaks: [.init(upTo: 4, .init(symbol(1)))],
            others: .init(symbol(9)))
        let renderers: [FeatureRenderer] = [
            .uniqueValues(.init(fields: ["word"], values: values, others: .init(symbol(9)))),
            .uniqueValues(.init(fields: ["whole"], values: values)),
            .uniqueValues(
                .init(
                    fields: ["word", "whole"], delimiter: ", ", values: pairs,
                    others: .init(symbol(9)))),
            .classBreaks(classes),
        ]
        let labels = [
            LabelClass(
                try LabelExpression(parsing: "[WORD] CONCAT \" (\" CONCAT [whole] CONCAT \")\""),
                condition: "whole > 3 AND NOT (word = 'x' OR real IS NULL)"),
            LabelClass(try LabelExpression(parsing: "[WORD]")),
        ]
        for renderer in renderers {
            let style = try style(renderer, labels: labels)
            let filters = style.circles.compactMap(\.1) + style.labels.compactMap { $0["filter"] }
            #expect(filters.count >= 3)
            for filter in filters { #expect(isPlain(filter), "\(filter.jsonText)") }
            let texts = style.labels.compactMap { $0["layout"]?["text-field"]?.text }
            #expect(texts == ["{Word}", "{Word} ({Whole})"])
        }
    }
}
