// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import GDAL
import Geometry
import PROJ
import TestKit
import Testing

@Suite struct DatasetBuilderTests {
    private let scratch = Scratch()

    @Test func `points keep their ids, attributes and coordinates`() throws {
        let path = try scratch.write(
            "towns.geojson",
            """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","id":7,"properties":{"name":"Å","n":3,"big":9007199254740993,\
            "r":1.5,"t":"2020-02-29T12:30:00.250+01:00","b":true,"none":null},
             "geometry":{"type":"Point","coordinates":[10.5,60.25,99]}},
            {"type":"Feature","id":3,"properties":{"name":"B","n":null,"big":1,"r":2,\
            "t":null,"b":false,"none":null},
             "geometry":{"type":"Point","coordinates":[-10,0]}}]}
            """)

        let layers = try DatasetBuilder.importFile(path: path, into: scratch.datasets)

        #expect(layers.count == 1)
        let layer = try #require(layers.first)
        #expect(layer.name == "towns" && layer.featureCount == 2 && layer.rejectedCount == 0)
        let dataset = try scratch.dataset(layer)
        #expect(dataset.properties == layer.properties)
        #expect(dataset.properties.geometryType == .point)
        #expect(dataset.properties.spatialReference == .wgs84)
        #expect(dataset.properties.extent == Envelope(minX: -10, minY: 0, maxX: 10.5, maxY: 60.25))
        #expect(
            dataset.properties.fields.map(\.type) == [
                .objectID, .string, .integer, .bigInteger, .double, .date, .smallInteger, .string,
            ])
        var found: [Int64: (Shape?, Attributes)] = [:]
        try dataset.forEach { feature in
            found[feature.objectID] = (
                try dataset.shape(of: feature), try dataset.attributes(of: feature)
            )
        }
        #expect(found.count == 2)
        #expect(found[7]?.0 == .point(Coordinate(x: 10.5, y: 60.25)))
        #expect(
            found[7]?.1.entries.map(\.value) == [
                .integer(7), .string("Å"), .integer(3), .integer(9_007_199_254_740_993),
                .real(1.5), .date(1_582_975_800_250), .integer(1), .null,
            ])
        #expect(found[3]?.1["N"] == .null && found[3]?.1["r"] == .real(2))
    }

    @Test func `a coordinate beyond all that is measured rightly leaves its feature out`() throws {
        let crs = #""crs":{"type":"name","properties":{"name":"EPSG:3857"}}"#
        let features = ["[1e12,-1e12]", "[1e300,2]", "[3,-1.0000001e12]"].map {
            feature(#"{"type":"Point","coordinates":\#($0)}"#)
        }
        let path = try scratch.write(
            "far.geojson",
            #"{"type":"FeatureCollection",\#(crs),"features":["#
                + features.joined(separator: ",") + "]}")
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 1 && layer.rejectedCount == 2)
        #expect(Set(layer.rejected.map(\.reason)) == ["a coordinate beyond 10¹²"])
    }

    /// An empty shapefile of that type of the format's, with the column NAME.
    private func shapefile(_ type: UInt8) throws -> String {
        let words: [[UInt8]] = [
            [0, 0, 0x27, 0x0A], [UInt8](repeating: 0, count: 20), [0, 0, 0, 50],
            [0xE8, 3, 0, 0], [type, 0, 0, 0], [UInt8](repeating: 0, count: 64),
        ]
        let name = Array("NAME".utf8) + [UInt8](repeating: 0, count: 7) + Array("C".utf8)
        let table: [[UInt8]] = [
            [3, 124, 1, 1], [0, 0, 0, 0], [65, 0, 11, 0], [UInt8](repeating: 0, count: 20), name,
            [0, 0, 0, 0, 10], [UInt8](repeating: 0, count: 15), [0x0D, 0x1A],
        ]
        for (ending, bytes) in [("shp", words), ("shx", words), ("dbf", table)] {
            _ = try scratch.write("empty." + ending, Data(bytes.joined()))
        }
        return scratch.path + "/empty.shp"
    }

    @Test(arguments: [
        (1, GeometryType.point, false, false), (3, .polyline, false, false),
        (15, .polygon, true, true), (25, .polygon, false, true), (18, .multipoint, true, true),
    ])
    func `a layer without features becomes a dataset of the kind that it states`(
        _ type: UInt8, _ kind: GeometryType, _ hasZ: Bool, _ hasM: Bool
    ) throws {
        let path = try shapefile(type)

        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: scratch.datasets).first)

        #expect(layer.featureCount == 0 && layer.properties.featureCount == 0)
        #expect(layer.properties.geometryType == kind && layer.properties.extent == nil)
        #expect(layer.properties.hasZ == hasZ && layer.properties.hasM == hasM)
        #expect(layer.properties.fields.map(\.name) == ["OBJECTID", "NAME"])
        let dataset = try scratch.dataset(layer)
        dataset.forEach { _ in Issue.record("there is a feature") }
        // GDAL reads it as well.
        let file = try VectorSource(path: scratch.datasets + "/\(layer.dataset)/layer.fgb")
        #expect(file.layers.map(\.fields.count) == [2])
        #expect(file.layers.map { $0.geometry?.hasZ } == [hasZ])
        #expect(file.layers.map { $0.geometry?.hasM } == [hasM])
        try file.forEachFeature(inLayer: 0) { _ in Issue.record("there is a feature") }
    }

    @Test func `a layer of no features and no kind is left out with a reason`() throws {
        let path = try scratch.write("none.geojson", #"{"type":"FeatureCollection","features":[]}"#)
        let failure = #expect(throws: Failure.self) {
            try DatasetBuilder.importFile(path: path, into: scratch.datasets)
        }
        #expect(failure?.details.first?.contains("it has no features, and") == true)
    }

    private func feature(_ geometry: String, _ properties: String = "{}", id: Int? = nil) -> String
    {
        let id = id.map { "\"id\":\($0)," } ?? ""
        return "{\"type\":\"Feature\",\(id)\"properties\":\(properties),\"geometry\":\(geometry)}"
    }

    private func imported(_ path: String) throws -> [ImportedLayer] {
        try DatasetBuilder.importFile(path: path, into: scratch.datasets)
    }

    private func refusal(_ path: String) -> Failure? {
        do {
            _ = try DatasetBuilder.importFile(path: path, into: scratch.datasets)
            return nil
        } catch { return error }
    }

    private static let square = "[[0,0],[1,0],[1,1],[0,1],[0,0]]"

    @Test func `a layer of mixed geometry becomes one dataset per kind`() throws {
        let path = try scratch.features(
            "mix.geojson",
            [
                feature("{\"type\":\"Point\",\"coordinates\":[1,2]}", id: 11),
                feature("{\"type\":\"LineString\",\"coordinates\":[[1,2],[3,4]]}", id: 12),
                feature("{\"type\":\"Polygon\",\"coordinates\":[\(Self.square)]}", id: 13),
                feature("{\"type\":\"MultiPoint\",\"coordinates\":[[1,2],[3,4]]}", id: 14),
                feature(
                    "{\"type\":\"MultiPolygon\",\"coordinates\":[[\(Self.square)],[\(Self.square)]]}",
                    id: 15),
            ])

        let layers = try imported(path)

        #expect(layers.map(\.name) == ["mix (points)", "mix (lines)", "mix (polygons)"])
        #expect(
            layers.map(\.properties.geometryType) == [.multipoint, .polyline, .polygon])
        let ids = try layers.map { try scratch.dataset($0).contents().keys.sorted() }
        #expect(ids == [[11, 14], [12], [13, 15]])
        let polygons = try scratch.dataset(layers[2])
        var parts: [Int64: Int] = [:]
        try polygons.forEach { parts[$0.objectID] = try polygons.polygonParts(of: $0).count }
        #expect(parts == [13: 1, 15: 2])
    }

    @Test func `features that cannot be taken are listed with the reason`() throws {
        let path = try scratch.features(
            "odd.geojson",
            [
                feature("null"),
                feature("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1],[0,1]]]}"),
                feature("{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[0,0]]]}"),
                feature("{\"type\":\"LineString\",\"coordinates\":[[0,0]]}"),
                feature("{\"type\":\"Polygon\",\"coordinates\":[]}"),
                feature("{\"type\":\"Polygon\",\"coordinates\":[\(Self.square)]}", "{\"a\":1}"),
                feature(
                    "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\","
                        + "\"coordinates\":[1,2]},{\"type\":\"LineString\",\"coordinates\":"
                        + "[[0,0],[1,1]]}]}"),
                feature(
                    "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Polygon\","
                        + "\"coordinates\":[\(Self.square)]}]}"),
            ])

        let layers = try imported(path)

        let layer = try #require(layers.last)
        #expect(layers.map(\.name) == ["odd (points)", "odd (lines)", "odd (polygons)"])
        #expect(layers.map(\.featureCount) == [1, 1, 2])
        #expect(try scratch.dataset(layers[0]).contents()[7]?.parts == [[[1, 2]]])
        #expect(layer.rejectedCount == 5)
        #expect(
            layer.rejected.map(\.reason) == [
                "no geometry", "a ring that is not closed", "a ring of fewer than four coordinates",
                "a line of one coordinate", "no geometry",
            ])
        #expect(try scratch.dataset(layer).contents().keys.sorted() == [6, 8])
    }

    @Test(arguments: ["Point", "LineString", "Polygon"])
    func `features without geometry are kept where there is one kind`(_ kind: String) throws {
        let coordinates = [
            "Point": "[5,6]", "LineString": "[[5,6],[7,9]]", "Polygon": "[\(Self.square)]",
        ]
        let placed = feature(
            "{\"type\":\"\(kind)\",\"coordinates\":\(coordinates[kind] ?? "")}", "{\"a\":1}")
        let empty = feature("{\"type\":\"\(kind)\",\"coordinates\":[]}", "{\"a\":3}")
        let path = try scratch.features(
            "some.geojson", [feature("null", "{\"a\":2}"), placed, empty, placed])

        let layer = try #require(try imported(path).first)

        #expect(layer.featureCount == 4 && layer.rejectedCount == 0)
        #expect(layer.notes.contains { $0.hasPrefix("2 features have no geometry") })
        let dataset = try scratch.dataset(layer)
        var found: [Int64: (hasShape: Bool, a: AttributeValue?)] = [:]
        var extent = Envelope.empty
        try dataset.forEach {
            let shape = try dataset.shape(of: $0)
            #expect($0.envelope.isEmpty == (shape == nil))
            extent = extent.union($0.envelope)
            found[$0.objectID] = (shape != nil, try dataset.attributes(of: $0)["a"])
        }
        #expect(found.mapValues(\.hasShape) == [1: false, 2: true, 3: false, 4: true])
        #expect(
            found.mapValues(\.a)
                == [2, 1, 3, 1].enumerated().reduce(into: [:]) {
                    $0[Int64($1.offset) + 1] = .integer($1.element)
                })
        // They do not widen the extent, and no rectangle meets them.
        var ids: Set<Int64> = []
        dataset.search(Envelope(minX: -1e300, minY: -1e300, maxX: 1e300, maxY: 1e300)) {
            ids.insert($0.objectID)
        }
        #expect(ids == [2, 4])
        #expect(dataset.properties.extent == extent)
        // GDAL reads them from the dataset's file as they were.
        let file = scratch.datasets + "/\(layer.dataset)/layer.fgb"
        #expect(try imported(file).map(\.dataset) == [layer.dataset])
    }

    @Test func `a layer of nothing but features without geometry is refused`() throws {
        let path = try scratch.features("none.geojson", [feature("null"), feature("null")])
        #expect(refusal(path)?.details.first?.contains("no geometry") == true)
    }

    @Test func `text that spells no geometry is none`() throws {
        let path = try scratch.write(
            "nan.csv", "id,wkt\n1,POINT(nan 1)\n2,\"LINESTRING(0 0,inf 1)\"\n3,POINT(1 1)\n")
        let layer = try #require(try imported(path).first)
        #expect(layer.featureCount == 3 && layer.rejectedCount == 0)
        #expect(layer.notes.contains { $0.hasPrefix("2 features have no geometry") })
    }

    @Test func `a source without spatial reference is refused unless it can be degrees`() throws {
        let degrees = try scratch.write("degrees.csv", "name,lon,lat\na,10,20\nb,-170.5,-89\n")
        let layer = try #require(try imported(degrees).first)
        #expect(layer.properties.spatialReference == .wgs84 && layer.featureCount == 2)
        #expect(layer.notes.contains { $0.contains("4326 was assumed") })

        let metres = try scratch.write("metres.csv", "name,x,y\na,500000,5000000\n")
        let failure = try #require(refusal(metres))
        #expect(failure.code == .unreadable && failure.message.contains("spatial reference"))
        #expect(scratch.entries() == [layer.dataset.rawValue])
    }

    @Test func `a column named like the object id is used when it can be`() throws {
        func layer(_ name: String, _ ids: [String]) throws -> ImportedLayer {
            let path = try scratch.features(
                name,
                ids.map {
                    feature("{\"type\":\"Point\",\"coordinates\":[1,2]}", "{\"ObjectId\":\($0)}")
                })
            return try #require(try imported(path).first)
        }
        let good = try scratch.dataset(try layer("good.geojson", ["40", "7"]))
        #expect(try good.contents().keys.sorted() == [7, 40])
        #expect(good.properties.fields.map(\.name) == ["OBJECTID"])

        for (name, ids) in [
            ("twice.geojson", ["7", "7"]), ("null.geojson", ["7", "null"]),
            ("zero.geojson", ["0", "7"]), ("large.geojson", ["2147483648", "7"]),
        ] {
            let dataset = try scratch.dataset(try layer(name, ids))
            #expect(try dataset.contents().keys.sorted() == [1, 2], "\(name)")
            #expect(dataset.properties.fields.map(\.name) == ["OBJECTID", "ObjectId_1"])
        }
    }

    @Test func `column names stay unique without regard to case`() throws {
        let path = try scratch.write(
            "names.csv", "lon,lat,Name,name,NAME_1,objectid\n1,2,a,b,c,d\n")
        let dataset = try scratch.dataset(try #require(try imported(path).first))
        let names = dataset.properties.fields.map { $0.name.lowercased() }
        #expect(Set(names).count == names.count && names.first == "objectid")
        let contents = try #require(try dataset.contents()[1])
        for text in ["a", "b", "c", "d"] { #expect(contents.values.contains(.string(text))) }
    }

    @Test(
        .slow,
        arguments: [
            ("EPSG:2154", 2154), ("ESRI:102008", 102_008), ("EPSG:3857", 3857),
            ("EPSG:31467", 31467),
            ("EPSG:4326+5773", 4326), ("OGC:CRS84", 4326), ("+proj=laea +lat_0=10 +lon_0=20", nil),
        ])
    func `the spatial reference is kept and PROJ understands it`(
        definition: String, wkid: Int?
    ) throws {
        let source = try scratch.features(
            "place.geojson", [feature("{\"type\":\"Point\",\"coordinates\":[4,46]}")])
        #expect(
            try scratch.run(
                "/usr/bin/ogr2ogr",
                ["-a_srs", definition, "-f", "GPKG", "place.gpkg", source]))
        let layer = try #require(try imported(scratch.path + "/place.gpkg").first)
        let reference = layer.properties.spatialReference
        #expect(reference.wkid == wkid && (reference.wkt == nil) == (wkid != nil))
        _ = try CoordinateTransform(from: reference, to: .wgs84)
        #expect(try scratch.dataset(layer).contents()[1]?.parts == [[[4, 46]]])
    }

    @Test func `latitude before longitude is exchanged`() throws {
        let path = try scratch.write(
            "order.gml",
            """
            <wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:x="http://x"
             xmlns:gml="http://www.opengis.net/gml/3.2"><gml:featureMember><x:place gml:id="p.1">
            <x:at><gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>60 10</gml:pos></gml:Point>
            </x:at></x:place></gml:featureMember></wfs:FeatureCollection>
            """)
        let layer = try #require(try imported(path).first)
        #expect(layer.properties.spatialReference == .wgs84)
        #expect(layer.properties.extent == Envelope(minX: 10, minY: 60, maxX: 10, maxY: 60))
    }

    @Test func `text in another encoding is recoded`() throws {
        var bytes = Data("lon,lat,name\n1,2,Caf".utf8)
        bytes += [0xe9, 0x20, 0x80]
        let path = try scratch.write("latin.csv", bytes)
        let dataset = try scratch.dataset(try #require(try imported(path).first))
        #expect(try dataset.contents()[1]?.values.last == .string("Café €"))
    }

    @Test func `curves become chains`() throws {
        let path = try scratch.write(
            "curves.csv",
            """
            id,wkt
            1,"CIRCULARSTRING(0 0,1 1,2 0)"
            2,"LINESTRING (0 0,1 1)"
            3,"COMPOUNDCURVE((0 0,1 0),CIRCULARSTRING(1 0,2 1,3 0))"

            """)
        let layer = try #require(try imported(path).first)
        #expect(layer.properties.geometryType == .polyline && layer.featureCount == 3)
        let contents = try scratch.dataset(layer).contents()
        #expect(contents[2]?.parts == [[[0, 0], [1, 1]]])
        let arc = try #require(contents[1]?.parts.first)
        #expect(arc.count > 10)
        for point in arc {
            let radius = ((point[0] - 1) * (point[0] - 1) + point[1] * point[1]).squareRoot()
            #expect(abs(radius - 1) < 1e-9)
        }
    }

    @Test func `the same source gives the same dataset, packed or not`() throws {
        let features = (0..<500).map { index in
            feature(
                "{\"type\":\"Point\",\"coordinates\":[\(index % 25),\(index / 25)]}",
                "{\"name\":\"n\(index)\"}")
        }
        let path = try scratch.features("grid.geojson", features)
        let first = try imported(path)
        let second = try imported(path)
        #expect(first == second)
        #expect(scratch.entries() == first.map(\.dataset.rawValue))

        try scratch.run("/usr/bin/gzip", ["-k", path])
        /// What is imported, apart from the name of its file.
        func packed(_ path: String) throws -> [ImportedLayer] {
            try imported(path).map { layer in
                var layer = layer
                layer.provenance.part = first[0].provenance.part
                return layer
            }
        }
        #expect(try packed(path + ".gz") == first)
        #expect(
            try scratch.run(
                "/usr/bin/python3",
                ["-c", "import zipfile;zipfile.ZipFile('grid.zip','w').write('grid.geojson')"]))
        #expect(try packed(scratch.path + "/grid.zip") == first)
    }

    @Test(arguments: [
        "missing.geojson", "empty.geojson", "text.geojson", "none.geojson", "table.csv",
        "remote.vrt",
    ])
    func `a source without features is refused and leaves nothing`(name: String) throws {
        let texts = [
            "empty.geojson": "", "text.geojson": "hello",
            "none.geojson": "{\"type\":\"FeatureCollection\",\"features\":[]}",
            "table.csv": "a,b\n1,2\n",
            "remote.vrt": "<OGRVRTDataSource><OGRVRTLayer name='x'><SrcDataSource>/etc/passwd"
                + "</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>",
        ]
        if let text = texts[name] { _ = try scratch.write(name, text) }
        let failure = try #require(refusal(scratch.path + "/" + name))
        #expect(failure.message.contains(name))
        #expect(scratch.entries().isEmpty)
    }
}
