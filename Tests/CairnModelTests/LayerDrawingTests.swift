// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

@Suite struct LayerDrawingTests {
    private func read(_ text: String) throws -> LayerDrawing {
        try CairnJSON.decode(LayerDrawing.self, from: Data(text.utf8))
    }

    private static let point = #""symbol":{"type":"esriSMS","style":"esriSMSCircle","size":4}"#

    // MARK: Both ways

    private static func drawing(_ random: inout SeededGenerator) -> LayerDrawing {
        func color() -> LayerSymbol.Color {
            let parts = (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }
            return LayerSymbol.Color(parts[0], parts[1], parts[2], alpha: parts[3])
        }
        func size() -> Double { Double(Int.random(in: 0...800, using: &random)) / 4 }
        func any<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        func stroke() -> LayerSymbol.Stroke {
            .init(color(), widthPoints: size(), style: any(LayerSymbol.LineStyle.allCases))
        }
        func symbol() -> LayerSymbol {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                LayerSymbol(
                    .marker(
                        .init(
                            any(LayerSymbol.MarkerStyle.allCases), color(), sizePoints: size(),
                            angleDegrees: size(), outline: any([nil, stroke()]))))
            case 1: LayerSymbol(.line(stroke()))
            default:
                LayerSymbol(
                    .fill(
                        .init(
                            color(), style: any(LayerSymbol.FillStyle.allCases),
                            outline: any([nil, stroke()]))))
            }
        }
        func entry() -> FeatureRenderer.Entry {
            .init(symbol(), label: any(["", "Größe \"1\""]), description: any(["", "x"]))
        }
        // A default symbol has a label, but no description.
        func others() -> FeatureRenderer.Entry? {
            any([nil, .init(symbol(), label: any(["", "other"]))])
        }
        let count = Int.random(in: 1...6, using: &random)
        let renderer: FeatureRenderer? =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .simple(entry())
            case 1:
                .uniqueValues(
                    .init(
                        fields: Array(
                            ["A", "B", "C"].prefix(Int.random(in: 1...3, using: &random))),
                        delimiter: any([",", " | "]),
                        values: (0..<count).map { .init("value \($0)", entry()) },
                        others: others()))
            case 2:
                .classBreaks(
                    .init(
                        field: "N", least: any([nil, -3.5]),
                        breaks: (0..<count).map { .init(upTo: Double($0), entry()) },
                        others: others()))
            default: nil
            }
        let labels = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            LabelClass(
                LabelExpression(any([[.field("A")], [.text("a "), .field("B C"), .text("\n")]])),
                placement: any([nil] + LabelPlacement.allCases), condition: any([nil, "A > 3"]),
                scaleRange: any([.unlimited, ScaleRange(minScale: 5e6, maxScale: 1_000)]),
                symbol: TextSymbol(
                    color: color(), family: any(["DejaVu Sans", "Serif"]), sizePoints: size(),
                    isBold: any([true, false]), isItalic: any([true, false]),
                    haloColor: any([nil, color()]), haloPoints: 0))
        }
        return LayerDrawing(
            renderer, transparency: Int.random(in: 0...100, using: &random), labels: labels)
    }

    @Test(arguments: Seeds.chosen(4))
    func `drawing info reads back equal, by either reader`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let drawing = Self.drawing(&random)
            let data = try CairnJSON.encode(drawing)

            #expect(try CairnJSON.decode(LayerDrawing.self, from: data) == drawing, "seed \(seed)")
            #expect(try JSONDecoder().decode(LayerDrawing.self, from: data) == drawing)
        }
    }

    // MARK: Esri's own

    @Test func `drawing info as Esri's services write it is read`() throws {
        let drawing = try read(
            #"""
            {"renderer":{"type":"uniqueValue","field1":"TYPE","field2":null,"field3":null,"fieldDelimiter":", ",
             "defaultSymbol":null,"defaultLabel":null,"uniqueValueInfos":[
              {"symbol":{"type":"esriSFS","style":"esriSFSNull","color":null,
                "outline":{"type":"esriSLS","style":"esriSLSDash","color":[0,0,0,255],"width":0.4}},
               "value":7,"label":"seven","description":""}]},
             "scaleSymbols":true,"transparency":30,
             "labelingInfo":[{"labelPlacement":"esriServerPolygonPlacementAlwaysHorizontal",
              "labelExpressionInfo":{"expression":"$feature.NAME + TextFormatting.NewLine + '(' + $feature[\"POP\"] + ')';"},
              "useCodedValues":true,"symbol":{"type":"esriTS","color":[38,115,0,255],"backgroundColor":null,
              "xoffset":0,"font":{"family":"Arial","size":10,"style":"normal","weight":"bold","decoration":"none"}},
              "minScale":50000,"maxScale":0,"where":null}]}
            """#)

        guard case .uniqueValues(let unique)? = drawing.renderer,
            case .fill(let fill)? = unique.values.first?.entry.symbol.form
        else {
            Issue.record("not unique values of areas: \(drawing)")
            return
        }
        #expect(unique.fields == ["TYPE"] && unique.delimiter == ", " && unique.others == nil)
        #expect(unique.values[0].value == "7" && unique.values[0].entry.label == "seven")
        #expect(fill.style == .null && fill.outline?.style == .dash && fill.color == .clear)
        let label = try #require(drawing.labels.first)
        #expect(drawing.transparency == 30 && label.scaleRange.minScale == 50_000)
        #expect(
            label.expression.parts == [
                .field("NAME"), .text("\n"), .text("("), .field("POP"), .text(")"),
            ])
        #expect(label.symbol.isBold && label.symbol.sizePoints == 10)
        #expect(label.symbol.haloColor == nil && label.condition == nil)
    }

    static let wrong: [(String, String)] = [
        (#"{"renderer":{"type":"heatmap"}}"#, "at 'renderer.type': a renderer of type 'heatmap'"),
        (#"{"renderer":{"type":"simple"}}"#, "'symbol' is missing"),
        (
            #"{"renderer":{"type":"simple","symbol":{"type":"esriPMS"}}}"#,
            "at 'renderer.symbol.type': a symbol of type 'esriPMS'"
        ),
        (
            #"{"renderer":{"type":"simple","symbol":{"type":"esriSMS","style":"esriSMSStar"}}}"#,
            "at 'renderer.symbol.style': 'esriSMSStar': expected one of esriSMSCircle"
        ),
        (
            #"{"renderer":{"type":"simple","symbol":{"type":"esriSLS","width":-1}}}"#,
            "at 'renderer.symbol.width': -1.0: expected points, 0 to 200"
        ),
        (
            #"{"renderer":{"type":"simple","symbol":{"type":"esriSLS","color":[1,2,300,4]}}}"#,
            "at 'renderer.symbol.color': expected [red, green, blue, alpha]"
        ),
        (
            #"{"labelingInfo":[{"labelExpression":"[NAME"}]}"#,
            "at 'labelingInfo.[0].labelExpression': a label expression has"
        ),
        (
            #"{"labelingInfo":[{"labelExpressionInfo":{"expression":"Round($feature.X)"}}]}"#,
            "a label expression has 'Round($feature.X)' where"
        ),
        (
            #"{"labelingInfo":[{"labelExpression":"[A]","labelPlacement":"nowhere"}]}"#,
            "at 'labelingInfo.[0].labelPlacement': 'nowhere': expected one of"
        ),
    ]

    @Test(arguments: wrong)
    func `drawing info that cannot be read is named with its place`(text: String, sentence: String)
    {
        let failure = #expect(throws: Failure.self) { try read(text) }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }

    // MARK: Bounds and fit

    private static let fields = [
        FieldDescription(name: "OBJECTID", type: .objectID),
        FieldDescription(name: "NAME", type: .string),
    ]

    static let misfits: [(String, String)] = [
        (#"{"transparency":101}"#, "transparency 101"),
        (#"{"renderer":{"type":"simple","symbol":{"type":"esriSLS"}}}"#, "does not fit"),
        (#"{"renderer":{"type":"uniqueValue","uniqueValueInfos":[]}}"#, "names field1"),
        (
            #"{"renderer":{"type":"uniqueValue","field1":"KIND","uniqueValueInfos":[]}}"#,
            "'KIND', which is not a field"
        ),
        (
            #"{"renderer":{"type":"uniqueValue","field1":"NAME","uniqueValueInfos":[{"value":"1",\#(point)},{"value":1,\#(point)}]}}"#,
            "the value '1' occurs twice"
        ),
        (
            #"{"renderer":{"type":"classBreaks","field":"NAME","classBreakInfos":[{"classMaxValue":2,\#(point)},{"classMaxValue":2,\#(point)}]}}"#,
            "classBreakInfos"
        ),
        (#"{"labelingInfo":[{"labelExpression":"[KIND]"}]}"#, "'KIND', which is not a field"),
        (
            #"{"labelingInfo":[{"labelExpression":"[NAME]","labelPlacement":"esriServerLinePlacementAboveAlong"}]}"#,
            "labelPlacement"
        ),
    ]

    @Test(arguments: misfits)
    func `drawing info that does not fit the layer is refused`(text: String, sentence: String)
        throws
    {
        let drawing = try read(text)
        let failure = #expect(throws: Failure.self) { try drawing.check(Self.fields, .point) }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }

    @Test func `a renderer has a thousand values and no more`() throws {
        func drawing(_ count: Int) -> LayerDrawing {
            LayerDrawing(
                .uniqueValues(
                    .init(
                        fields: ["name"],
                        values: (0..<count).map {
                            .init("\($0)", .init(LayerSymbol(standard: 0, .point)))
                        })))
        }
        try drawing(1_000).check(Self.fields, .point)
        #expect(throws: Failure.self) { try drawing(1_001).check(Self.fields, .point) }
    }

    // MARK: Expressions

    @Test func `a label is its parts, without blanks around its lines`() throws {
        let values: [String: AttributeValue] = [
            "A": .string(" Ulm "), "N": .integer(3), "X": .null,
        ]
        func label(_ text: String) throws -> String? {
            try LabelExpression(parsing: text).label { values[$0] ?? .null }
        }
        #expect(try label("[A]") == "Ulm")
        #expect(try label(#"[N] CONCAT ": " & [A] + "!""#) == "3:  Ulm !")
        #expect(try label("[A] CONCAT NEWLINE CONCAT [N]") == "Ulm\n3")
        #expect(try label("$feature.A + ' ' + $feature['N'];") == "Ulm  3")
        #expect(try label("[X]") == nil)
        #expect(try label("[X] concat newline concat [X]") == nil)
    }

    @Test(arguments: [
        "", "[]", "[A", "A", "[A] [B]", "[A] +", "\"a", "$feature.", "$feature['A'", "[A]]",
        String(repeating: "[A]+", count: 600) + "[A]",
    ])
    func `a label expression of another form is refused`(text: String) {
        #expect(throws: Failure.self) { try LabelExpression(parsing: text) }
    }
}
