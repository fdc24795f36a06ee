// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import Testing
import TileStyles

@Suite struct MapStyleTests {
    private static let fields = [
        FieldDescription(name: "OBJECTID", type: .objectID),
        FieldDescription(name: "Name", type: .string),
        FieldDescription(name: "POP", type: .integer),
    ]
    private static let red = LayerSymbol.Color(200, 0, 0)

    private func layer(
        _ name: String = "places", _ type: GeometryType = .point,
        levels: ClosedRange<Int> = 0...23, scales: ScaleRange = .unlimited,
        drawing: LayerDrawing? = nil
    ) throws -> TileLayer {
        let dataset = try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
        let layer = LayerDescription(
            id: 0, name: name, parent: nil, children: [],
            kind: .layer(source: LayerSource(dataset: dataset)), isVisible: true,
            scaleRange: scales, definitionExpression: nil, displayField: nil, drawing: drawing,
            loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: nil, spatialReference: .webMercator, geometryType: type,
                fields: Self.fields, featureCount: 0))
        return TileLayer(
            layer: layer, levels: levels, labelName: type == .polygon ? "\(name)/label" : nil)
    }

    private func made(_ layers: TileLayer...) throws -> (style: MapStyle, json: JSONTree) {
        let style = MapStyle(title: "Title", layers)
        return (style, try #require(JSONTree(style.json(.relative))))
    }

    private func labels(_ json: JSONTree) -> [JSONTree] {
        (json["layers"]?.elements ?? []).filter { $0["layout"]?["text-field"] != nil }
    }

    private func label(
        _ text: String, where condition: String? = nil, _ scales: ScaleRange = .unlimited,
        placement: LabelPlacement? = nil, symbol: TextSymbol = TextSymbol()
    ) throws -> LabelClass {
        LabelClass(
            try LabelExpression(parsing: text), placement: placement, condition: condition,
            scaleRange: scales, symbol: symbol)
    }

    @Test func `addresses are relative to the style, or those that are given`() throws {
        let style = try made(layer()).style
        let own = try #require(JSONTree(style.json(.relative)))
        #expect(own["sprite"]?.text == "../sprites/sprite")
        #expect(own["glyphs"]?.text == "../fonts/{fontstack}/{range}.pbf")
        #expect(own["sources"]?["esri"]?["url"]?.text == "../../")
        let given = try #require(
            JSONTree(style.json(.absolute(tiles: "t", glyphs: "g", sprite: "s"))))
        #expect(given["sprite"]?.text == "s" && given["glyphs"]?.text == "g")
        #expect(given["sources"]?["esri"]?["tiles"]?.elements.map(\.text) == ["t"])
    }

    @Test func `a label has its text, font, size, colours and zooms`() throws {
        let symbol = TextSymbol(
            color: .init(1, 2, 3), family: "Arial,DejaVu Sans", sizePoints: 9, isBold: true,
            haloColor: .init(4, 5, 6, alpha: 51), haloPoints: 1.5)
        let drawing = LayerDrawing(labels: [
            try label(
                #"[NAME] CONCAT " {" CONCAT [pop] CONCAT "}" CONCAT NEWLINE CONCAT [objectid]"#,
                ScaleRange(
                    minScale: TileLayer.rootScale / 4, maxScale: TileLayer.rootScale / 64),
                symbol: symbol)
        ])
        let (style, json) = try made(layer(drawing: drawing))
        let layer = try #require(labels(json).first)
        #expect(layer["type"]?.text == "symbol" && layer["source-layer"]?.text == "places")
        #expect(layer["minzoom"]?.number == 2 && layer["maxzoom"]?.number == 6)
        let text = try #require(layer["layout"])
        #expect(
            text["text-field"]?.jsonText
                == #"["concat",["to-string",["get","Name"]]," {",["to-string",["get","POP"]],"}","#
                + #""\n",["to-string",["id"]]]"#)
        #expect(text["text-font"]?.elements.map(\.text) == ["Arial Bold", "DejaVu Sans Bold"])
        #expect(text["text-size"]?.number == 12)
        #expect(text["text-variable-anchor"]?.elements.first?.text == "bottom-left")
        #expect(text["text-variable-anchor"]?.elements.count == 8)
        let offset = (text["text-offset"]?.elements ?? []).compactMap(\.number)
        #expect(offset.count == 2 && offset[0] > 0 && offset[1] == -offset[0])
        #expect(layer["paint"]?["text-color"]?.text == "rgba(1,2,3,1.0)")
        #expect(layer["paint"]?["text-halo-color"]?.text == "rgba(4,5,6,0.2)")
        #expect(layer["paint"]?["text-halo-width"]?.number == 2)
        #expect(style.fonts.map(\.name) == ["Arial Bold,DejaVu Sans Bold"])
        #expect(style.labels.keys.sorted() == ["places"])
        // Above every symbol.
        #expect(json["layers"]?.elements.last?["layout"]?["text-field"] != nil)
    }

    @Test func `placements are anchors of points and offsets of lines`() throws {
        func layout(_ type: GeometryType, _ placement: LabelPlacement?) throws -> JSONTree {
            let drawing = LayerDrawing(
                .simple(.init(LayerSymbol(standard: 0, type))),
                labels: [try label("[NAME]", placement: placement)])
            let json = try made(layer("a", type, drawing: drawing)).json
            return try #require(labels(json).first?["layout"])
        }
        #expect(try layout(.point, .belowLeft)["text-anchor"]?.text == "top-right")
        #expect(try layout(.point, .center)["text-variable-anchor"]?.elements.count == 1)
        #expect(try layout(.point, .center)["text-radial-offset"]?.number == 0)
        let above = try layout(.polyline, nil)
        #expect(above["symbol-placement"]?.text == "line")
        let rise = try #require(above["text-offset"]?.elements.last?.number)
        // Half of 1.2 points of line in ems of 8 points, besides half a line of text.
        #expect(rise == -0.675)
        #expect(
            try layout(.polyline, .belowAlong)["text-offset"]?.elements.last?.number == 0.675)
        #expect(try layout(.polyline, .centerAlong)["text-offset"]?.elements.last?.number == 0)
        #expect(try layout(.polygon, nil)["symbol-placement"] == nil)
        #expect(try layout(.point, .belowCenter)["text-offset"]?.elements[0].number == 0)
    }

    @Test func `a feature has the label of the first class that takes it`() throws {
        let near = ScaleRange(minScale: TileLayer.rootScale / 16, maxScale: 0)
        let drawing = LayerDrawing(labels: [
            try label("[NAME]", where: "POP > 5"), try label("[POP]", where: "POP > 1", near),
            try label("[OBJECTID]"),
        ])
        let found = labels(try made(layer(drawing: drawing)).json)
        // The last class between the second one's zooms and below them; the first on top.
        #expect(found.map { $0["minzoom"]?.number } == [0, 4, 4, 0])
        #expect(found.map { $0["maxzoom"]?.number } == [4, 24, 24, 24])
        func more(_ number: Int) -> String { #"["has","POP"],[">",["get","POP"],\#(number)]"# }
        func notMore(_ number: Int) -> String {
            #"["any",["!",["has","POP"]],["<=",["get","POP"],\#(number)]]"#
        }
        #expect(
            found.map { $0["filter"]?.jsonText } == [
                notMore(5), #"["all",\#(notMore(5)),\#(notMore(1))]"#,
                #"["all",\#(more(1)),\#(notMore(5))]"#, #"["all",\#(more(5))]"#,
            ])
        #expect(Set(found.compactMap { $0["id"]?.text }).count == 4)

        // Behind a class of all features none is left.
        let hidden = LayerDrawing(labels: [try label("[NAME]"), try label("[POP]")])
        #expect(labels(try made(layer(drawing: hidden)).json).count == 1)
    }

    @Test func `classes without a filter are left out and counted`() throws {
        let drawing = LayerDrawing(labels: [
            try label("[NAME]", where: "UPPER(NAME) = 'A'"), try label("[NAME]", where: "POP ="),
            try label("[POP]"),
        ])
        let (style, json) = try made(layer(drawing: drawing))
        #expect(style.labelClassesLeftOut == 2)
        #expect(json["metadata"]?["cairn:labelClassesLeftOut"]?.whole == 2)
        #expect(labels(json).count == 1)
    }

    @Test func `labels outside the zooms of their layer are none`() throws {
        let scales = ScaleRange(
            minScale: TileLayer.rootScale / 4, maxScale: TileLayer.rootScale / 16)
        let drawing = LayerDrawing(labels: [
            try label("[NAME]", ScaleRange(minScale: 0, maxScale: TileLayer.rootScale)),
            try label("[POP]"),
        ])
        let found = labels(
            try made(layer(levels: 2...4, scales: scales, drawing: drawing)).json)
        #expect(found.count == 1)
        #expect(found[0]["minzoom"]?.number == 2 && found[0]["maxzoom"]?.number == 4)
    }

    @Test func `features that are not drawn have no label`() throws {
        let entry = FeatureRenderer.Entry(
            LayerSymbol(.marker(.init(.square, Self.red, sizePoints: 8))))
        let values = FeatureRenderer.UniqueValues(fields: ["name"], values: [.init("x", entry)])
        let unique = LayerDrawing(.uniqueValues(values), labels: [try label("[NAME]")])
        #expect(
            labels(try made(layer(drawing: unique)).json).map { $0["filter"]?.jsonText }
                == [#"["match",["get","Name"],["x"],true,false]"#])
        let breaks = FeatureRenderer.ClassBreaks(
            field: "POP", least: 1, breaks: [.init(upTo: 2, entry), .init(upTo: 5, entry)])
        let ranges = LayerDrawing(.classBreaks(breaks), labels: [try label("[NAME]")])
        let number = #"["get","POP"]"#
        #expect(
            labels(try made(layer(drawing: ranges)).json).map { $0["filter"]?.jsonText }
                == [#"["all",["has","POP"],["<=",\#(number),5],[">=",\#(number),1]]"#])
    }

    @Test func `markers are circles where that is exact, else pictures`() throws {
        func look(_ marker: LayerSymbol.Marker) throws -> (MapStyle, JSONTree) {
            let drawing = LayerDrawing(.simple(.init(LayerSymbol(.marker(marker)))))
            let (style, json) = try made(layer(drawing: drawing))
            return (style, try #require(json["layers"]?.elements.first))
        }
        let outline = LayerSymbol.Stroke(.init(0, 0, 0), widthPoints: 3)
        let (_, circle) = try look(.init(.circle, Self.red, sizePoints: 9, outline: outline))
        #expect(circle["type"]?.text == "circle")
        // The outline's middle is 6 pixels from the centre.
        #expect(circle["paint"]?["circle-radius"]?.number == 4)
        #expect(circle["paint"]?["circle-stroke-width"]?.number == 4)
        let (style, square) = try look(.init(.square, Self.red, sizePoints: 9, outline: outline))
        #expect(square["type"]?.text == "symbol")
        let name = try #require(square["layout"]?["icon-image"]?.text)
        let index = try #require(JSONTree(style.sprites.index(scale: 1)))
        #expect(index.members.map(\.name) == [name])
        #expect(square["layout"]?["icon-allow-overlap"]?.isTrue == true)
    }

    @Test func `hatched fills are patterns, with their outline`() throws {
        let fill = LayerSymbol.Fill(
            Self.red, style: .cross, outline: .init(Self.red, widthPoints: 1, style: .dash))
        let (style, json) = try made(
            layer(
                "areas", .polygon, drawing: LayerDrawing(.simple(.init(LayerSymbol(.fill(fill)))))))
        let layers = json["layers"]?.elements ?? []
        #expect(layers.map { $0["type"]?.text } == ["fill", "line"])
        let index = try #require(JSONTree(style.sprites.index(scale: 2)))
        #expect(layers[0]["paint"]?["fill-pattern"]?.text == index.members.first?.name)
        #expect(layers[1]["paint"]?["line-dasharray"]?.elements.count == 2)
    }

    @Test func `areas have their labels at the places of a layer of their own`() throws {
        let drawing = LayerDrawing(labels: [try label("[NAME]")])
        let area = try made(layer("areas", .polygon, drawing: drawing)).json
        #expect(labels(area).map { $0["source-layer"]?.text } == ["areas/label"])
        #expect(area["layers"]?.elements.first?["source-layer"]?.text == "areas")
        let point = try made(layer("points", .point, drawing: drawing)).json
        #expect(labels(point).map { $0["source-layer"]?.text } == ["points"])
    }

    @Test func `every layer of a style has an id of its own`() throws {
        let fill = LayerSymbol.Fill(Self.red, outline: .init(Self.red, widthPoints: 1))
        let drawing = LayerDrawing(.simple(.init(LayerSymbol(.fill(fill)))))
        let labelled = LayerDrawing(labels: [try label("[NAME]")])
        let json = try made(
            layer("a", .polygon, drawing: drawing), layer("a/1", .polygon, drawing: drawing),
            layer("a/label", .point, drawing: labelled), layer("b", .point, drawing: labelled)
        ).json
        let ids = (json["layers"]?.elements ?? []).compactMap { $0["id"]?.text }
        #expect(ids.count == 8 && Set(ids).count == 8)
    }
}
