// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Popups of what is identified, and what they show.
@Suite struct PopupTests {
    private let server = StubServer()

    private static let popup = #"""
        "popupInfo":{"title":"House of {owner}","fieldInfos":[
        {"fieldName":"owner","label":"Owner","visible":true},
        {"fieldName":"OBJECTID","label":"Number","visible":true,
        "format":{"places":1,"digitSeparator":true}},
        {"fieldName":"floors","label":"Floors","visible":false}],
        "popupElements":[{"type":"text","text":"<b>{owner}</b> {expression/e1}"},
        {"type":"fields","title":"All","description":"of it"},{"type":"media"}],
        "expressionInfos":[{"name":"e1","expression":"1 + 1"}]}
        """#

    init() {
        server.on("/City/MapServer", json: Sample.mapService)
        for id in [0, 2] {
            let layer = Sample.layer(id, "L\(id)", "esriGeometryPoint")
            server.on(
                "/City/MapServer/\(id)",
                json: id == 0 ? String(layer.dropLast()) + "," + Self.popup + "}" : layer)
        }
        let found = [0, 2].map {
            #"""
            {"layerId":\#($0),"layerName":"x","value":"Ada","attributes":
            {"OBJECTID":"1234567","owner":"Ada","floors":3,"built":1000},
            "geometryType":"esriGeometryPoint","geometry":{"x":500,"y":500}}
            """#
        }
        server.on(
            "/City/MapServer/identify", json: #"{"results":[\#(found.joined(separator: ","))]}"#)
    }

    private func identified(popupsOnly: Bool) async throws -> [IdentifyLayerResult] {
        let map = Map(basemapStyle: .arcGISTopographic)
        map.initialViewpoint = Viewpoint(
            center: Point(x: 500, y: 500, spatialReference: .webMercator), scale: 10_000)
        map.addOperationalLayer(
            ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer")))
        return try await MapViewProxy(map: map, size: CGSize(width: 400, height: 300))
            .identifyLayers(
                screenPoint: CGPoint(x: 200, y: 150), tolerance: 6, returnPopupsOnly: popupsOnly)
    }

    @Test func `for popups only, popups alone come, and layers without popups are left out`()
        async throws
    {
        let both = try await identified(popupsOnly: false)[0]
        #expect(both.sublayerResults.map(\.layerContent.name) == ["Places", "Ground"])
        #expect(both.sublayerResults[0].geoElements.count == 1)
        #expect(both.sublayerResults[0].popups.count == 1)
        let alone = try await identified(popupsOnly: true)[0]
        #expect(alone.sublayerResults.map(\.layerContent.name) == ["Places"])
        #expect(alone.sublayerResults[0].geoElements.isEmpty)
        #expect(alone.sublayerResults[0].popups.map(\.title) == ["House of Ada"])
    }

    @Test func `a popup has its elements, fields as they are to be written`() async throws {
        let popup = try #require(
            await identified(popupsOnly: true)[0].sublayerResults[0].popups.first)
        let evaluations = try await popup.evaluateExpressions()
        #expect(evaluations.map(\.name) == ["e1"])
        #expect((evaluations[0].error as? CairnError)?.kind == .unsupported)
        #expect(popup.evaluatedElements.count == 2)
        let text = try #require(popup.evaluatedElements.first as? TextPopupElement)
        #expect(text.text == "<b>Ada</b> {expression/e1}")
        let fields = try #require(popup.evaluatedElements.last as? FieldsPopupElement)
        #expect(fields.title == "All" && fields.description == "of it")
        #expect(fields.labels == ["Owner", "Number"])
        #expect(fields.formattedValues == ["Ada", "1,234,567.0"])
    }

    @Test func `a popup without elements has its text, else its fields`() throws {
        let graphic = Graphic(attributes: [
            "name": "Ada", "n": -1_234.5, "many": 1e300, "big": Int64.max,
            "at": Date(timeIntervalSince1970: 0),
        ])
        var definition = PopupDefinition(title: "{name} {n}", description: "at {at}")
        let text = Popup(geoElement: graphic, definition: definition)
        #expect(text.title == "Ada -1234.5")
        #expect(
            (text.evaluatedElements.first as? TextPopupElement)?.text
                == "at 1970-01-01T00:00:00.000Z")
        definition = PopupDefinition(
            title: "", description: nil,
            fields: ["n", "many", "big", "gone"].map {
                PopupDefinition.PopupField(
                    fieldName: $0, label: $0, isVisible: true,
                    format: PopupFieldFormat(decimalPlaces: 99, usesThousandsSeparator: true))
            })
        let fields = try #require(
            Popup(geoElement: graphic, definition: definition).evaluatedElements.first
                as? FieldsPopupElement)
        #expect(fields.formattedValues[0] == "-1,234.500000000000000")
        #expect(fields.formattedValues[3] == "")
        #expect(fields.formattedValues.count == 4)
    }

    @Test func `a popup has the attachments of its feature`() async throws {
        let path = "/City/FeatureServer/0"
        let layer = Sample.layer(0, "Houses", "esriGeometryPoint").dropLast()
        server.on(
            path,
            json: layer + #"""
                ,"hasAttachments":true,"popupInfo":{"title":"House","popupElements":[
                {"type":"attachments","title":"Files","displayType":"list"}]}}
                """#)
        server.on(path + "/query", json: #"{"features":[{"attributes":{"OBJECTID":1}}]}"#)
        server.on(
            path + "/1/attachments",
            json: #"{"attachmentInfos":[{"id":5,"name":"a.jpg","contentType":"image/jpeg"}]}"#)
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
        let houses = FeatureLayer(featureTable: table)
        try await houses.load()
        let definition = try #require(houses.popupDefinition)
        let found = try await table.queryFeatures(using: QueryParameters()).features()
        func element(_ of: any GeoElement) throws -> AttachmentsPopupElement {
            try #require(
                Popup(geoElement: of, definition: definition).evaluatedElements.first
                    as? AttachmentsPopupElement)
        }
        let files = try element(found[0])
        #expect(files.title == "Files" && files.displayType == .list)
        #expect(try await files.attachments.map(\.name) == ["a.jpg"])
        let none = try element(Graphic(attributes: [:]))
        let error = await #expect(throws: CairnError.self) { try await none.attachments }
        #expect(error?.kind == .unsupported)
    }

    @Test func `popups that are off stay off through a web map, and changes are kept`() throws {
        let map = Map(spatialReference: .webMercator)
        let table = ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
        let layer = FeatureLayer(featureTable: table)
        var definition = PopupDefinition(title: "old", fields: [])
        definition.title = "new"
        layer.popupDefinition = definition
        layer.isPopupEnabled = false
        map.addOperationalLayer(layer)
        let again = try #require(
            Map.fromJSON(map.toJSON()).operationalLayers.first as? FeatureLayer)
        #expect(!again.isPopupEnabled && again.popupDefinition?.title == "new")
        again.popupDefinition?.title = "newer"
        again.isPopupEnabled = true
        let other = Map(spatialReference: .webMercator)
        other.addOperationalLayer(again)
        let last = try #require(
            Map.fromJSON(other.toJSON()).operationalLayers.first as? FeatureLayer)
        #expect(last.isPopupEnabled && last.popupDefinition?.title == "newer")
    }
}
