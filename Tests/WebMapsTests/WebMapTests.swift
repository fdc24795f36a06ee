// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import FoundationEssentials
import Geometry
import MapState
import Testing

@testable import WebMaps

/// Documents of maps, out and in again.
@Suite struct WebMapTests {
    private static let site = UUID(words: (1, 2))

    private static func content(_ digit: Character) throws -> ContentID {
        try #require(ContentID(rawValue: String(repeating: digit, count: 64)))
    }

    private static func features(_ id: LayerID, _ name: String) throws -> LayerDescription {
        LayerDescription(
            id: id, name: name, parent: nil, children: [],
            kind: .layer(source: .dataset(try content("a"))), isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 20), spatialReference: .wgs84,
                geometryType: .point,
                fields: [
                    FieldDescription(name: "OBJECTID", type: .objectID),
                    FieldDescription(name: "POP", type: .integer),
                    FieldDescription(name: "NAME", type: .string),
                ], featureCount: 3))
    }

    /// A tiled basemap, a group of two layers, and one on top, with all that a layer can have.
    private static func city() throws -> MapDescription {
        var tiles = try features(4, "Tiles")
        tiles.kind = .layer(source: .tiles(TileSource(url: "https://t.example/{z}/{x}/{y}.png")))
        tiles.drawing = LayerDrawing(transparency: 30)
        tiles.properties?.fields = []
        var roads = try features(7, "Roads")
        roads.parent = 2
        roads.isVisible = false
        roads.scaleRange = ScaleRange(minScale: 50_000, maxScale: 1_000)
        roads.definitionExpression = "POP > 5"
        roads.displayField = "POP"
        roads.fieldAliases = ["NAME": "Name of the road"]
        roads.drawing = LayerDrawing(
            .simple(FeatureRenderer.Entry(LayerSymbol(standard: 3, .point))), transparency: 45)
        roads.info = LayerInfo(description: "d", attribution: "a")
        var wells = try features(9, "Wells")
        wells.parent = 2
        wells.isPopupEnabled = false
        wells.isQueryable = false
        wells.edits = LayerEdits(isOpen: true)
        let group = LayerDescription(
            id: 2, name: "Group", parent: nil, children: [7, 9], kind: .group, isVisible: false,
            scaleRange: ScaleRange(minScale: 9_000, maxScale: 0), definitionExpression: nil,
            displayField: nil, loadStatus: .loaded, loadError: nil, properties: nil)
        var far = try features(0, "Far")
        far.kind = .layer(
            source: .featureService(
                ArcGISSource(url: "https://far.example/FeatureServer/3", credential: "secret")))
        var map = MapDescription(
            name: try MapName(parsing: "Planning/City"), sequence: 42, rootLayers: [4, 2, 0],
            layers: [tiles, group, roads, wells, far], basemap: 4, spatialReference: .wgs84,
            initialExtent: Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
        map.properties = MapProperties(
            title: "The city", description: "All of it", attribution: "Us",
            initialExtent: Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4),
            bookmarks: [
                MapBookmark(name: "here", extent: Envelope(minX: 1, minY: 1, maxX: 2, maxY: 2)),
                MapBookmark(name: "all", extent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 20)),
            ])
        return map
    }

    private static func read(
        _ text: String, _ maps: [MapDescription] = [], origins: [String] = []
    ) throws -> WebMapReader.Outcome {
        try read(Array(text.utf8), maps, origins: origins)
    }

    private static func read(
        _ bytes: [UInt8], _ maps: [MapDescription], origins: [String] = []
    ) throws -> WebMapReader.Outcome {
        let reader = try WebMapReader(bytes, site: site, origins: origins)
        var known: [WebMapReader.Source: MapDescription] = [:]
        for source in reader.sources {
            known[source] = maps.first {
                $0.name == source.map && (source.moment == nil || $0.sequence == source.moment)
            }
        }
        return reader.map(named: try MapName(parsing: "New"), from: known)
    }

    @Test(arguments: ["", "https://maps.example.org"], [nil, 42 as Int64?])
    func `a document out and in again is the same map`(_ origin: String, _ moment: Int64?) throws {
        let map = try Self.city()
        let document = WebMapWriter(
            map, origin: origin, site: Self.site, moment: moment, showsInside: true
        ).document()

        let outcome = try Self.read(document, [map])

        #expect(outcome.notes == [])
        #expect(outcome.content == MapRestored(copyOf: map))
    }

    @Test(arguments: [
        #"{"title":"Road {NAME}"}"#,
        #"{"title":"","fieldInfos":[{"fieldName":"POP","visible":false}]}"#,
        #"{"title":"{NAME}","fieldInfos":[{"fieldName":"POP","format":{"places":1}}]}"#,
        #"{"title":"","popupElements":[{"type":"text","text":"Road {NAME}"}]}"#,
    ])
    func `a popup that says more than the fields is kept as it is, out and in again`(
        _ popup: String
    ) throws {
        var map = try Self.city()
        let roads = try #require(map.layers.firstIndex { $0.name == "Roads" })
        map.layers[roads].info = LayerInfo(description: "d", popup: popup)
        let document = WebMapWriter(map, origin: "", site: Self.site, showsInside: true).document()
        let again = try Self.read(document, [map])
        #expect(again.notes == [])
        #expect(again.content == MapRestored(copyOf: map))

        let foreign = try Self.read(
            #"{"operationalLayers":[{"layerType":"ArcGISFeatureLayer","#
                + #""url":"https://a.example/FeatureServer/0","popupInfo":\#(popup)}]}"#)
        #expect(foreign.notes == [])
        #expect(foreign.content.layers.compactMap { $0.description?.info?.popup } == [popup])
    }

    @Test func `a map made from a document is accepted`() throws {
        let map = try Self.city()
        let document = WebMapWriter(map, origin: "", site: Self.site, showsInside: true).document()
        let outcome = try Self.read(document, [map])
        let name = try MapName(parsing: "New")

        let events = try MapsState().decide(
            MapCommandRequest(id: UUID(), map: name, command: .installMap(outcome.content)))

        #expect(events.count == 2)
    }

    @Test func `a reader's document has no clause and no URL of another server`() throws {
        let text = String(
            decoding: WebMapWriter(
                try Self.city(), origin: "https://maps.example.org", site: Self.site,
                showsInside: false
            ).document(), as: UTF8.self)

        for secret in ["POP > 5", "far.example", "t.example", "secret"] {
            #expect(!text.contains(secret), "\(secret)")
        }
        #expect(
            text.contains(
                "https://maps.example.org/arcgis/rest/services/Planning/City/FeatureServer/0"))
    }

    @Test func `a clause of the document is added to that of the layer`() throws {
        let map = try Self.city()
        let outcome = try Self.read(
            """
            {"operationalLayers":[{"layerType":"ArcGISFeatureLayer","title":"R",
             "url":"https://own.example/arcgis/rest/services/Planning/City/FeatureServer/7",
             "layerDefinition":{"definitionExpression":"NAME = 'x'"}}],"baseMap":{}}
            """, [map], origins: ["https://OWN.example/"])

        let layer = try #require(outcome.content.layers.first?.description)
        #expect(layer.definitionExpression == "(POP > 5) AND (NAME = 'x')")
        #expect(layer.isVisible && layer.scaleRange.minScale == 50_000)
        #expect(outcome.notes == [])
    }

    @Test func `layers of other servers have their sources`() throws {
        let outcome = try Self.read(
            """
            {"baseMap":{"title":"Base","baseMapLayers":[
              {"layerType":"WebTiledLayer","templateUrl":"https://{subDomain}.t.example/{level}/{row}/{col}.png",
               "subDomains":["a"]},
              {"layerType":"ArcGISTiledMapServiceLayer","url":"https://s.example/Ref/MapServer",
               "title":"Labels","isReference":true}]},
             "operationalLayers":[
              {"layerType":"ArcGISFeatureLayer","url":"http://s.example/F/FeatureServer/3/","title":"F",
               "opacity":0.25,"visibility":false,
               "layerDefinition":{"minScale":100000,"maxScale":0,"definitionExpression":"A = 1"}},
              {"layerType":"ArcGISMapServiceLayer","url":"http://s.example/M/MapServer","title":"M",
               "visibleLayers":[3,5]},
              {"layerType":"WMS","url":"http://w.example/wms?","title":"W","version":"1.3.0",
               "layers":[{"name":"a"},{"name":"b"},{"name":"c"}],"visibleLayers":["c","a"]}]}
            """)

        let layers = outcome.content.layers.compactMap(\.description)
        let order = outcome.content.order.first?.children
        #expect(
            order?.compactMap { id in layers.first { $0.id == id }?.name }
                == ["Base", "F", "M", "W", "Labels"])
        func source(_ name: String) -> LayerSource? {
            layers.first { $0.name == name }?.kind.source
        }
        #expect(
            source("Base") == .tiles(TileSource(url: "https://a.t.example/{z}/{y}/{x}.png")))
        #expect(source("Labels") == .tiles(TileSource(url: "https://s.example/Ref/MapServer")))
        #expect(
            source("F")
                == .featureService(ArcGISSource(url: "http://s.example/F/FeatureServer/3")))
        #expect(
            source("M")
                == .mapService(ArcGISSource(url: "http://s.example/M/MapServer", layers: [3, 5])))
        #expect(
            source("W")
                == .wms(
                    WMSSource(
                        url: "http://w.example/wms", layers: ["a", "c"], version: "1.3.0")))
        let features = layers.first { $0.name == "F" }
        #expect(features?.drawing?.transparency == 75 && features?.isVisible == false)
        #expect(features?.definitionExpression == "A = 1")
        #expect(features?.scaleRange == ScaleRange(minScale: 100_000, maxScale: 0))
        #expect(outcome.notes == [])
    }

    /// Parts of documents, and a word of the note about each.
    private static let lost: [(layer: String, word: String)] = [
        (#"{"layerType":"VectorTileLayer","title":"x","styleUrl":"https://a.example"}"#, "Vector"),
        (#"{"layerType":"ArcGISFeatureLayer","title":"x","itemId":"ab"}"#, "item"),
        (
            #"{"layerType":"ArcGISFeatureLayer","title":"x","featureCollection":{"layers":[]}}"#,
            "URL"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0?token=1"}"#,
            "secret"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0","effect":"blur(2px)"}"#,
            "'effect'"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"/arcgis/rest/services/None/FeatureServer/0"}"#,
            "no map 'None'"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"/arcgis/rest/services/Planning/City/FeatureServer/99"}"#,
            "no layer 99"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0","layerDefinition":{"featureReduction":{"type":"cluster"}}}"#,
            "'featureReduction'"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0","layerDefinition":{"drawingInfo":{"renderer":{"type":"heatmap"}}}}"#,
            "heatmap"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0","layerDefinition":{"drawingInfo":{"renderer":{"type":"simple","symbol":{"type":"esriSMS","xoffset":3},"visualVariables":[{"type":"sizeInfo"}]}}}}"#,
            "renderer.visualVariables"
        ),
        (
            #"{"layerType":"ArcGISFeatureLayer","url":"https://a.example/FeatureServer/0","popupInfo":{"mediaInfos":[{"type":"image"}]}}"#,
            "the popup is not kept: popupInfo: expected"
        ),
        (
            #"{"layerType":"ArcGISMapServiceLayer","url":"https://a.example/MapServer","layers":[{"id":1,"popupInfo":{"title":"t"}}]}"#,
            "single layers"
        ),
        (#"{"layerType":"GroupLayer","title":"g","opacity":0.5,"layers":[]}"#, "opacity"),
    ]

    @Test(arguments: lost) func `what a map cannot keep is listed`(
        _ layer: String, _ word: String
    ) throws {
        let outcome = try Self.read(
            #"{"operationalLayers":[\#(layer)],"baseMap":{}}"#, [try Self.city()])

        #expect(outcome.notes.contains { $0.contains(word) }, "\(outcome.notes)")
    }

    @Test func `tables, presentations and bookmarks without a place are listed`() throws {
        let outcome = try Self.read(
            #"{"operationalLayers":[],"bookmarks":[{"name":"b"}],"tables":[{"id":"t"}],"ground":{"x":1}}"#
        )

        #expect(outcome.notes.contains("the web map: 'tables', 'ground' not kept"))
        #expect(outcome.notes.contains { $0.hasPrefix("the bookmark 'b' is not kept") })
        #expect(outcome.notes.count == 2)
    }

    @Test func `bookmarks are kept in the reference of the map, once each`() throws {
        func place(_ wkid: Int) -> String {
            #"{"xmin":1,"ymin":2,"xmax":3,"ymax":4,"spatialReference":{"wkid":\#(wkid)}}"#
        }
        let outcome = try Self.read(
            #"{"operationalLayers":[],"spatialReference":{"wkid":4326},"bookmarks":["#
                + #"{"name":"a","extent":\#(place(4326))},"#
                + #"{"name":"b","viewpoint":{"targetGeometry":\#(place(4326))}},"#
                + #"{"name":"c","extent":\#(place(3857))},{"name":"a","extent":\#(place(4326))}]}"#)
        #expect(outcome.content.properties?.bookmarks?.map(\.name) == ["a", "b"])
        #expect(outcome.notes.count == 2)
    }

    @Test func `names that occur twice get numbers`() throws {
        let layer =
            #"{"layerType":"ArcGISMapServiceLayer","url":"https://a.example/MapServer","title":"A"}"#
        let outcome = try Self.read(#"{"operationalLayers":[\#(layer),\#(layer)]}"#)

        #expect(outcome.content.layers.compactMap(\.description?.name) == ["A", "A 2"])
        #expect(outcome.notes == ["layer 'A' is named 'A 2'"])
    }

    @Test(arguments: ["", "{", "[]", #"{"error":{"message":"Token Required"}}"#])
    func `a text that is no web map is refused`(_ text: String) {
        #expect(throws: Failure.self) {
            try WebMapReader(Array(text.utf8), site: Self.site, origins: [])
        }
    }
}
