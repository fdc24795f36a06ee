// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import Testing

@testable import Cairn

/// Expressions, filters and colors of styles, by what MapLibre's specification says of each.
///
/// The outcomes of the table were compared with those of MapLibre Native 11 once; it differs in
/// lengths of texts, which it counts in bytes, and in how it writes numbers of 1e20 and more.
@Suite struct StyleExpressionTests {
    private static let feature = #"""
        {"name":"Main St","n":12.5,"class":"wood","flag":true,"zero":0,"empty":"","text":"42"}
        """#

    /// The scope of a polygon with those attributes and the number 7, at a zoom.
    private static func scope(zoom: Double = 3) throws -> StyleScope {
        let json = try #require(JSON(Array(feature.utf8)))
        var layer = VectorTile.Layer()
        var own = VectorTile.Feature(id: 7, kind: .polygon)
        for (place, member) in json.members.enumerated() {
            layer.keys[member.name] = place
            layer.values.append(StyleValue(member.value))
            own.tags.append((place, place))
        }
        return StyleScope(zoom: zoom, layer: layer, feature: own, budget: DrawingBudget())
    }

    private static func json(_ text: String) throws -> JSON {
        try #require(JSON(Array(text.utf8)), "\(text) is no JSON")
    }

    /// The text of a value; nil where there is none.
    private static func outcome(
        _ text: String, _ kind: StyleKind = .any, zoom: Double = 3
    ) throws -> String? {
        var compiler = StyleCompiler()
        let expression = try compiler.property(try json(text), kind)
        var scope = try scope(zoom: zoom)
        return (try? expression.evaluate(&scope))?.shownText
    }

    /// Expressions, and their values as text; nil for none.
    private static let table: [(expression: String, text: String?)] = [
        (#"["get","name"]"#, "Main St"),
        (#"["get","missing"]"#, ""),
        (#"["has","name"]"#, "true"),
        (#"["has","missing"]"#, "false"),
        (#"["id"]"#, "7"),
        (#"["zoom"]"#, "3"),
        (#"["geometry-type"]"#, "Polygon"),
        (#"["get","a",["literal",{"a":5}]]"#, "5"),
        (#"["has","b",["literal",{"a":5}]]"#, "false"),
        (#"["length",["literal",[1,2,3]]]"#, "3"),
        (#"["length","héllo"]"#, "5"),
        (#"["at",1,["literal",["a","b"]]]"#, "b"),
        (#"["in","St",["string",["get","name"]]]"#, "true"),
        (#"["in",2,["literal",[1,2]]]"#, "true"),
        (#"["in",["get","class"],["literal",["park"]]]"#, "false"),
        (#"["index-of","n",["string",["get","name"]]]"#, "3"),
        (#"["index-of","x","abc"]"#, "-1"),
        (#"["index-of","a","abca",1]"#, "3"),
        (#"["slice","abcdef",1,3]"#, "bc"),
        (#"["slice","abcdef",-2]"#, "ef"),
        (#"["slice",["literal",[1,2,3]],1]"#, "[2,3]"),
        (#"["+",1,2,3]"#, "6"),
        (#"["*",2,3,4]"#, "24"),
        (#"["-",5]"#, "-5"),
        (#"["-",5,7]"#, "-2"),
        (#"["/",1,4]"#, "0.25"),
        (#"["%",7,3]"#, "1"),
        (#"["%",-7,3]"#, "-1"),
        (#"["^",2,10]"#, "1024"),
        (#"["min",3,1,2]"#, "1"),
        (#"["max",3,1,2]"#, "3"),
        (#"["abs",-4.5]"#, "4.5"),
        (#"["ceil",1.2]"#, "2"),
        (#"["floor",-1.2]"#, "-2"),
        (#"["round",2.5]"#, "3"),
        (#"["round",-2.5]"#, "-3"),
        (#"["sqrt",9]"#, "3"),
        (#"["ln",1]"#, "0"),
        (#"["log10",1000]"#, "3"),
        (#"["log2",8]"#, "3"),
        (#"["sin",0]"#, "0"),
        (#"["cos",0]"#, "1"),
        (#"["atan",0]"#, "0"),
        (#"["==",["pi"],["acos",-1]]"#, "true"),
        (#"["==",["ln2"],["ln",2]]"#, "true"),
        (#"["number",["get","n"]]"#, "12.5"),
        (#"["number",["get","name"]]"#, nil),
        (#"["number",["get","name"],3]"#, "3"),
        (#"["string",["get","n"]]"#, nil),
        (#"["boolean",["get","flag"]]"#, "true"),
        (#"["string",["get","n"],"x"]"#, "x"),
        (#"["to-string",12.0]"#, "12"),
        (#"["to-string",["get","missing"]]"#, ""),
        (#"["to-string",true]"#, "true"),
        (#"["to-string",1e21]"#, "1e+21"),
        (#"["to-string",1e20]"#, "100000000000000000000"),
        (#"["to-string",0.000001]"#, "0.000001"),
        (#"["to-string",1e-7]"#, "1e-7"),
        (#"["to-string",["literal",[1,"a"]]]"#, #"[1,"a"]"#),
        (#"["to-number","3.5"]"#, "3.5"),
        (#"["to-number",["get","text"]]"#, "42"),
        (#"["to-number",["get","missing"]]"#, "0"),
        (#"["to-number","abc",9]"#, "9"),
        (#"["to-number",true]"#, "1"),
        (#"["to-number","abc"]"#, nil),
        (#"["to-boolean",["get","empty"]]"#, "false"),
        (#"["to-boolean","0"]"#, "true"),
        (#"["to-boolean",["get","zero"]]"#, "false"),
        (##"["to-string",["to-color","#f00"]]"##, "rgba(255,0,0,1)"),
        (#"["to-string",["to-color","nope","blue"]]"#, "rgba(0,0,255,1)"),
        (#"["to-string",["rgb",255,128,0]]"#, "rgba(255,128,0,1)"),
        (#"["to-string",["rgba",255,0,0,0.5]]"#, "rgba(255,0,0,0.5)"),
        (#"["rgb",300,0,0]"#, nil),
        (#"["to-rgba",["to-color","rgb(10,20,30)"]]"#, "[10,20,30,1]"),
        (#"["typeof",["get","n"]]"#, "number"),
        (#"["typeof",["get","name"]]"#, "string"),
        (#"["typeof",["get","flag"]]"#, "boolean"),
        (#"["typeof",["get","missing"]]"#, "null"),
        (#"["typeof",["literal",[1,2]]]"#, "array<number, 2>"),
        (#"["concat","a",["get","n"],true,["get","missing"]]"#, "a12.5true"),
        (#"["upcase","straße"]"#, "STRASSE"),
        (#"["downcase","ABC"]"#, "abc"),
        (#"["==",["get","class"],"wood"]"#, "true"),
        (#"["!=",["get","class"],"wood"]"#, "false"),
        (#"["==",["get","n"],"12.5"]"#, "false"),
        (#"["==",["get","missing"],null]"#, "true"),
        (#"["<",["get","n"],13]"#, "true"),
        (#"["<",["get","name"],3]"#, nil),
        (#"[">=","b","a"]"#, "true"),
        (#"["<=",["get","n"],12.5]"#, "true"),
        (#"["<","Z","a"]"#, "true"),
        (#"["all",true,["==",1,1]]"#, "true"),
        (#"["all",true,false]"#, "false"),
        (#"["any",false,true]"#, "true"),
        (#"["any"]"#, "false"),
        (#"["all"]"#, "true"),
        (#"["!",true]"#, "false"),
        (#"["case",["==",["get","class"],"wood"],"w",["has","name"],"n","z"]"#, "w"),
        (#"["case",false,1,false,2,3]"#, "3"),
        (#"["match",["get","class"],"wood","a","park","b","c"]"#, "a"),
        (#"["match",["get","class"],["park","wood"],1,2]"#, "1"),
        (#"["match",["get","missing"],"x",1,2]"#, "2"),
        (#"["match",["get","name"],5,1,2]"#, "2"),
        (#"["coalesce",["get","missing"],["get","class"]]"#, "wood"),
        (#"["coalesce",["get","missing"],["get","gone"]]"#, ""),
        (#"["step",["get","n"],"a",10,"b",12.5,"c",20,"d"]"#, "c"),
        (#"["step",["zoom"],0,3,1,4,2]"#, "1"),
        (#"["step",["get","n"],"a",100,"b"]"#, "a"),
        (#"["step",["get","name"],0,1,2]"#, nil),
        (#"["interpolate",["linear"],["zoom"],2,10,4,20]"#, "15"),
        (#"["interpolate",["linear"],["get","n"],0,0,10,100]"#, "100"),
        (#"["interpolate",["exponential",2],["zoom"],2,0,4,30]"#, "10"),
        (#"["interpolate",["linear"],["get","n"],20,1,30,2]"#, "1"),
        (
            #"""
            ["to-string",
            ["interpolate",["linear"],["zoom"],2,["to-color","black"],4,["to-color","white"]]]
            """#,
            "rgba(128,128,128,1)"
        ),
        (#"["let","x",["get","n"],["+",["var","x"],["var","x"]]]"#, "25"),
        (#"["let","x",1,["let","x",["+",["var","x"],1],["var","x"]]]"#, "2"),
        (#"["array","string",["literal",["a"]]]"#, #"["a"]"#),
        (#"["array","number",2,["get","name"]]"#, nil),
        (#"["literal",[1,2]]"#, "[1,2]"),
        (#"["format","a",{},["get","class"],{"font-scale":0.8}]"#, "awood"),
    ]

    @Test func `every expression has the value that the specification gives it`() throws {
        for (expression, text) in Self.table {
            #expect(try Self.outcome(expression) == text, "\(expression)")
        }
    }

    @Test func `what is no expression is refused by name`() throws {
        for (text, name) in [
            (#"["spin",1]"#, "spin"), (#"["get"]"#, "get with 0 arguments"),
            (#"["case",true]"#, "case with 1 arguments"), (#"["var","x"]"#, #"["var","x"]"#),
            (#"["interpolate",["cubic-bezier",0,0,1,1],["zoom"],1,2,3,4]"#, "cubic-bezier"),
            (#"["step",["zoom"],0,5,1,4,2]"#, "do not rise"), (#"[1,2]"#, "[1,2]"),
            (#"["==",["get","a"],["collator",{}]]"#, "collator"),
            (#"["interpolate",["exponential",-1],["zoom"],1,2,3,4]"#, "exponential"),
        ] {
            var compiler = StyleCompiler()
            let error = #expect(throws: StyleUnknown.self) {
                try compiler.property(try Self.json(text), .any)
            }
            #expect(error?.what.contains(name) == true, "\(text): \(error?.what ?? "")")
        }
        var compiler = StyleCompiler()
        #expect(throws: StyleUnknown.self) {
            try compiler.property(.string("#12"), .color)
        }
        #expect(throws: StyleUnknown.self) { try compiler.property(.string("wide"), .number) }
    }

    @Test func `filters of either form hold where they say`() throws {
        for (text, holds) in [
            (#"["==","class","wood"]"#, true), (#"["!=","class","wood"]"#, false),
            (#"["!=","gone","wood"]"#, true), (#"["==","n","12.5"]"#, false),
            (#"["<","n",13]"#, true), (#"["<","name",13]"#, false), (#"[">","gone",1]"#, false),
            (#"["<=","class","wood"]"#, true), (#"[">","class","wooc"]"#, true),
            (#"["in","class","park","wood"]"#, true), (#"["!in","class","park","wood"]"#, false),
            (#"["in","gone","x"]"#, false), (#"["!in","gone","x"]"#, true),
            (#"["has","name"]"#, true), (#"["!has","name"]"#, false), (#"["!has","gone"]"#, true),
            (#"["==","$type","Polygon"]"#, true), (#"["in","$type","Point","LineString"]"#, false),
            (#"["==","$id",7]"#, true), (#"["has","$id"]"#, true), (#"["==","flag",true]"#, true),
            (#"["all",["==","class","wood"],[">","n",12]]"#, true), (#"["all"]"#, true),
            (#"["any",["==","class","park"],["has","gone"]]"#, false), (#"["any"]"#, false),
            (#"["none",["==","class","park"],["has","gone"]]"#, true),
            (#"["all",["==","class","wood"],["==",["get","n"],12.5]]"#, true),
            (#"["all",["==",["get","class"],"wood"],[">=",["zoom"],3]]"#, true),
            (#"["==",["get","class"],["literal","wood"]]"#, true), ("true", true),
            ("false", false), (#"["get","name"]"#, false), (#"["<",["get","name"],3]"#, false),
        ] {
            var compiler = StyleCompiler()
            let filter = try compiler.filter(try Self.json(text))
            var scope = try Self.scope()
            #expect(((try? filter.evaluate(&scope)) == .flag(true)) == holds, "\(text)")
        }
    }

    @Test func `functions of stops are curves, steps, classes and attributes`() throws {
        let curve = #"{"stops":[[2,10],[4,20],[6,100]]}"#
        for (zoom, text) in [(0.0, "10"), (2, "10"), (3, "15"), (4, "20"), (5, "60"), (9, "100")] {
            #expect(try Self.outcome(curve, .number, zoom: zoom) == text, "zoom \(zoom)")
        }
        #expect(
            try Self.outcome(#"{"base":2,"stops":[[2,0],[4,30]]}"#, .number) == "10")
        #expect(
            try Self.outcome(##"{"stops":[[2,"#000"],[4,"#f00"]]}"##, .color)
                == "rgba(128,0,0,1)")
        #expect(try Self.outcome(#"{"stops":[[2,"a"],[4,"b"]]}"#, .text, zoom: 3.9) == "a")
        #expect(
            try Self.outcome(#"{"property":"n","stops":[[10,1],[20,11]]}"#, .number) == "3.5")
        let classes = #"{"property":"class","type":"categorical","default":"blue","stops":"#
        #expect(
            try Self.outcome(classes + #"[["wood","lime"]]}"#, .color) == "rgba(0,255,0,1)")
        #expect(
            try Self.outcome(classes + #"[["park","lime"]]}"#, .color) == "rgba(0,0,255,1)")
        #expect(
            try Self.outcome(
                #"{"property":"class","stops":[[1,5]],"default":2}"#, .number) == "2")
        #expect(try Self.outcome(#"{"property":"n","type":"identity"}"#, .number) == "12.5")
        #expect(
            try Self.outcome(#"{"property":"name","type":"identity","default":4}"#, .number) == "4"
        )
        let both = #"""
            {"property":"n","stops":[[{"zoom":2,"value":0},0],[{"zoom":2,"value":25},10],
            [{"zoom":4,"value":0},0],[{"zoom":4,"value":25},30]]}
            """#
        #expect(try Self.outcome(both, .number) == "10")
        #expect(try Self.outcome(#""{name} ({class})""#, .template) == "Main St (wood)")
        #expect(try Self.outcome(#"{"stops":[[0,"{gone}{n}"]]}"#, .template) == "12.5")
        #expect(try Self.outcome(#"["get","n"]"#, .template) == "12.5")
    }

    @Test func `colors are read as CSS writes them`() {
        for (text, wanted) in [
            ("#f80", "rgba(255,136,0,1)"), ("#ff8000", "rgba(255,128,0,1)"),
            ("#00000000", "rgba(0,0,0,0)"), ("#f00f", "rgba(255,0,0,1)"),
            ("rgb(1, 2, 3)", "rgba(1,2,3,1)"), ("rgba(1,2,3,0.25)", "rgba(1,2,3,0.25)"),
            ("rgb(100% 0% 50%)", "rgba(255,0,128,1)"), ("RED", "rgba(255,0,0,1)"),
            ("hsl(120,100%,50%)", "rgba(0,255,0,1)"), ("hsl(-120, 100%, 25%)", "rgba(0,0,128,1)"),
            ("hsla(0,0%,50%,0.5)", "rgba(128,128,128,0.5)"), ("transparent", "rgba(0,0,0,0)"),
            ("rebeccapurple", "rgba(102,51,153,1)"),
        ] {
            guard let color = StyleColor(css: text) else {
                Issue.record("\(text) is no color")
                continue
            }
            let parts = [color.red, color.green, color.blue].map { Int(($0 * 255).rounded()) }
            #expect(
                "rgba(\(parts[0]),\(parts[1]),\(parts[2]),\(color.alpha.scriptText))" == wanted,
                "\(text)")
        }
        for text in ["", "#", "#12", "#ggg", "rgb(1,2)", "hsl(1,2,3)", "rgb(a,b,c)", "reddish"] {
            #expect(StyleColor(css: text) == nil, "\(text)")
        }
    }

    @Test func `an expression that would grow without end has no value`() throws {
        // Each name is twice the one before.
        var text = #"["var","x40"]"#
        for number in (1...40).reversed() {
            let twice = #"["concat",["var","x\#(number - 1)"],["var","x\#(number - 1)"]]"#
            text = #"["let","x\#(number)",\#(twice),\#(text)]"#
        }
        text = #"["let","x0","0123456789",\#(text)]"#
        #expect(try Self.outcome(text) == nil)
        // Work that is spent is spent.
        var compiler = StyleCompiler()
        let sum = try compiler.property(try Self.json(#"["+",1,1,1,1,1,1,1,1,1,1]"#), .any)
        var scope = try Self.scope()
        scope = StyleScope(
            zoom: 0, layer: scope.layer, feature: scope.feature, budget: DrawingBudget(5))
        #expect(throws: StyleFault.self) { try sum.evaluate(&scope) }
        #expect(scope.budget.isSpent)
    }
}
