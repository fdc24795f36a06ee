// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import TestKit
import Testing

/// Styles of QGIS, of SLD and of Esri that come with a source.
@Suite struct ImportedStyleTests {
    private let scratch = Scratch()

    private func source(_ name: String, _ geometry: String) throws -> String {
        try scratch.features(
            name,
            [
                #"{"type":"Feature","properties":{"kind":"river","pop":5},"geometry":\#(geometry)}"#
            ])
    }

    private static let line = #"{"type":"LineString","coordinates":[[1,2],[3,4]]}"#
    private static let point = #"{"type":"Point","coordinates":[1,2]}"#
    private static let square =
        #"{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0],[0,0]]]}"#

    private func style(_ path: String) throws -> ImportedStyle? {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets).first?.style
    }

    private static func qml(_ renderer: String, _ rest: String = "") -> String {
        """
        <!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
        <qgis version="3.22" labelsEnabled="1">\(renderer)\(rest)</qgis>
        """
    }

    private static func line(_ name: String, _ color: String, width: Double) -> String {
        """
        <symbol name="\(name)" type="line" alpha="1"><layer class="SimpleLine" enabled="1">
        <Option type="Map"><Option name="line_color" value="\(color)"/>
        <Option name="line_width" value="\(width)"/><Option name="line_style" value="dash"/>
        </Option></layer></symbol>
        """
    }

    @Test func `a single symbol of QGIS, its opacity and its labels are taken`() throws {
        let path = try source("roads.geojson", Self.line)
        _ = try scratch.write(
            "roads.qml",
            Self.qml(
                """
                <renderer-v2 type="singleSymbol"><symbols>
                \(Self.line("0", "200,10,20,128,rgb:0.7,0,0,0.5", width: 0.508))
                </symbols></renderer-v2>
                """,
                """
                <labeling type="simple"><settings><text-style fieldName="kind" fontSize="9"
                fontItalic="1" fontWeight="75" textColor="1,2,3,255"/>
                <rendering scaleVisibility="1" scaleMin="1000" scaleMax="50000"/></settings>
                </labeling><layerOpacity>0.75</layerOpacity>
                """))

        let style = try #require(try style(path))

        #expect(style.origin == "roads.qml" && style.notes.isEmpty)
        let drawing = try #require(style.drawing)
        #expect(drawing.transparency == 25)
        guard case .simple(let entry)? = drawing.renderer,
            case .line(let stroke) = entry.symbol.form
        else {
            Issue.record("\(String(describing: drawing.renderer))")
            return
        }
        #expect(stroke.color == .init(200, 10, 20, alpha: 128) && stroke.style == .dash)
        #expect(abs(stroke.widthPoints - 1.44) < 1e-9)
        let label = try #require(drawing.labels.first)
        #expect(label.expression.fields == ["kind"])
        #expect(label.symbol.isBold && label.symbol.isItalic && label.symbol.sizePoints == 9)
        #expect(label.scaleRange == ScaleRange(minScale: 50_000, maxScale: 1000))
    }

    @Test func `categories, ranges and rules of QGIS become values and class breaks`() throws {
        let symbols =
            "<symbols>" + Self.line("0", "1,0,0,255", width: 1)
            + Self.line("1", "2,0,0,255", width: 1) + "</symbols>"
        let path = try source("roads.geojson", Self.line)
        func renderer(_ text: String) throws -> (FeatureRenderer?, [String]) {
            _ = try scratch.write("roads.qml", Self.qml(text))
            let style = try style(path)
            return (style?.drawing?.renderer, style?.notes ?? [])
        }

        let (categories, _) = try renderer(
            """
            <renderer-v2 type="categorizedSymbol" attr="&quot;kind&quot;"><categories>
            <category value="river" label="Rivers" symbol="0" render="true"/>
            <category value="" label="Other" symbol="1" render="true"/>
            </categories>\(symbols)</renderer-v2>
            """)
        guard case .uniqueValues(let values)? = categories else {
            Issue.record("\(String(describing: categories))")
            return
        }
        #expect(values.fields == ["kind"] && values.values.map(\.value) == ["river"])
        #expect(values.values[0].entry.label == "Rivers" && values.others?.label == "Other")

        let (ranges, _) = try renderer(
            """
            <renderer-v2 type="graduatedSymbol" attr="pop"><ranges>
            <range lower="0" upper="10" label="few" symbol="0" render="true"/>
            <range lower="10" upper="20" label="many" symbol="1" render="true"/>
            </ranges>\(symbols)</renderer-v2>
            """)
        guard case .classBreaks(let classes)? = ranges else {
            Issue.record("\(String(describing: ranges))")
            return
        }
        #expect(classes.field == "pop" && classes.least == 0)
        #expect(classes.breaks.map(\.greatest) == [10, 20])

        let (rules, notes) = try renderer(
            """
            <renderer-v2 type="RuleRenderer"><rules>
            <rule filter="&quot;kind&quot; IN ('river', 'canal')" label="water" symbol="0"/>
            <rule filter="buffer($geometry, 3)" label="odd" symbol="1"/>
            <rule filter="ELSE" label="rest" symbol="1"/>
            </rules>\(symbols)</renderer-v2>
            """)
        guard case .uniqueValues(let ruled)? = rules else {
            Issue.record("\(String(describing: rules))")
            return
        }
        #expect(ruled.values.map(\.value) == ["river", "canal"] && ruled.others?.label == "rest")
        #expect(
            notes == [
                "rule 'odd' is left out: its filter 'buffer($geometry, 3)' is not understood"
            ])
    }

    @Test func `rules of SLD become a renderer, and what is not understood is noted`() throws {
        let path = try source("areas.geojson", Self.square)
        _ = try scratch.write(
            "areas.sld",
            """
            <StyledLayerDescriptor xmlns:ogc="http://www.opengis.net/ogc"><NamedLayer><UserStyle>
            <FeatureTypeStyle><Rule><Title>Water</Title><ogc:Filter><ogc:PropertyIsEqualTo>
            <ogc:PropertyName>kind</ogc:PropertyName><ogc:Literal>river</ogc:Literal>
            </ogc:PropertyIsEqualTo></ogc:Filter><PolygonSymbolizer>
            <Fill><CssParameter name="fill">#0a0B0c</CssParameter>
            <CssParameter name="fill-opacity">0.5</CssParameter></Fill>
            <Stroke><CssParameter name="stroke">#ff0000</CssParameter>
            <CssParameter name="stroke-width">2</CssParameter></Stroke></PolygonSymbolizer></Rule>
            <Rule><Name>hills</Name><RasterSymbolizer/></Rule>
            </FeatureTypeStyle></UserStyle></NamedLayer></StyledLayerDescriptor>
            """)

        let style = try #require(try style(path))

        #expect(style.notes == ["a 'RasterSymbolizer' is not understood"])
        guard case .uniqueValues(let values)? = style.drawing?.renderer,
            case .fill(let fill)? = values.values.first?.entry.symbol.form
        else {
            Issue.record("\(String(describing: style.drawing))")
            return
        }
        #expect(values.values[0].value == "river" && values.values[0].entry.label == "Water")
        #expect(fill.color == .init(10, 11, 12, alpha: 128))
        #expect(fill.outline == .init(.init(255, 0, 0), widthPoints: 1.5))
    }

    @Test func `Esri's drawingInfo is taken from the file and from metadata beside it`() throws {
        let drawing =
            #""drawingInfo":{"renderer":{"type":"simple","symbol":{"type":"esriSMS","#
            + #""style":"esriSMSSquare","color":[1,2,3,255],"size":6}},"transparency":10}"#
        let path = try source("towns.geojson", Self.point)
        let plain = try String(contentsOfFile: path, encoding: .utf8)
        _ = try scratch.write("towns.geojson", "{\(drawing)," + plain.dropFirst())
        #expect(try style(path)?.origin == "drawingInfo")
        #expect(try style(path)?.drawing?.transparency == 10)

        let other = try source("cities.geojson", Self.point)
        #expect(try style(other) == nil)
        _ = try scratch.write("cities.json", "{\"id\":0,\(drawing)}")
        #expect(try style(other)?.origin == "cities.json")
        #expect(try style(other)?.drawing?.transparency == 10)
    }

    @Test func `a GeoPackage has styles of its layers, of which the default one is taken`() throws {
        _ = try source("towns.geojson", Self.point)
        #expect(
            try scratch.run("/usr/bin/ogr2ogr", ["-f", "GPKG", "towns.gpkg", "towns.geojson"]))
        func symbol(_ color: String) -> String {
            Self.qml(
                """
                <renderer-v2 type="singleSymbol"><symbols><symbol name="0" type="marker">
                <layer class="SimpleMarker"><prop k="color" v="\(color)"/><prop k="name" v="star"/>
                </layer></symbol></symbols></renderer-v2>
                """
            ).replacing("'", with: "''")
        }
        #expect(
            try scratch.run(
                "/usr/bin/ogrinfo",
                [
                    "towns.gpkg", "-sql",
                    "CREATE TABLE layer_styles (id INTEGER PRIMARY KEY, f_table_name TEXT, "
                        + "styleQML TEXT, styleSLD TEXT, useAsDefault BOOLEAN)",
                ]))
        for (color, isDefault) in [("9,9,9,255", 0), ("1,2,3,255", 1)] {
            #expect(
                try scratch.run(
                    "/usr/bin/ogrinfo",
                    [
                        "towns.gpkg", "-sql",
                        "INSERT INTO layer_styles (f_table_name, styleQML, useAsDefault) VALUES "
                            + "('towns', '\(symbol(color))', \(isDefault))",
                    ]))
        }

        let style = try #require(try style(scratch.path + "/towns.gpkg"))

        #expect(style.origin == "layer_styles")
        #expect(style.notes == ["a marker 'star' is not understood: it is a circle"])
        guard case .simple(let entry)? = style.drawing?.renderer,
            case .marker(let marker) = entry.symbol.form
        else {
            Issue.record("\(String(describing: style.drawing))")
            return
        }
        #expect(marker.color == .init(1, 2, 3) && marker.style == .circle)
    }

    @Test func `a style for other geometries or fields, and a broken one, are noted`() throws {
        let path = try source("towns.geojson", Self.point)
        _ = try scratch.write(
            "towns.qml",
            Self.qml(
                "<renderer-v2 type=\"singleSymbol\"><symbols>"
                    + Self.line("0", "1,2,3,255", width: 1) + "</symbols></renderer-v2>"))
        let wrong = try #require(try style(path))
        #expect(wrong.drawing == nil)
        #expect(wrong.notes.first?.hasPrefix("it does not fit the layer") == true)

        _ = try scratch.write("towns.qml", "<qgis><renderer-v2>")
        let broken = try #require(try style(path))
        #expect(broken.drawing == nil && broken.notes.first?.hasPrefix("it cannot be read") == true)
    }
}
