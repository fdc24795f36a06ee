// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Testing

@testable import Gateway

@Suite struct ParametersTests {
    private func parse(_ query: String, _ form: String = "") throws -> Parameters {
        try Parameters(query: query.utf8, form: form.utf8)
    }

    @Test func `parameter names match in any letter case, values are decoded`() throws {
        let parameters = try parse("SingleLine=12+rue%20de+la+Paix%2C+Pa%72is&outSr=4326")
        #expect(parameters["singleLine"] == "12 rue de la Paix, Paris")
        #expect(parameters["outSR"] == "4326")
    }

    @Test func `empty, bare and undefined values are absent`() throws {
        let parameters = try parse("time=&inSR&layerdefs=&SingleLine=undefined&&=5&%3D=x")
        for name in ["time", "inSR", "layerDefs", "singleLine", ""] {
            #expect(parameters[name] == nil)
        }
    }

    @Test func `the body adds to the query string, which wins`() throws {
        let parameters = try parse("f=json", "f=html&tolerance=3")
        #expect(parameters["f"] == "json")
        #expect(parameters["tolerance"] == "3")
    }

    @Test(arguments: [
        ("a=%", "%"), ("a=%4", "%4"), ("a=%zz", "%zz"), ("a=50%+off", "50% off"),
        ("a=name+LIKE+'a%'", "name LIKE 'a%'"), ("a=%u0141%u00f3d%u017A", "Łódź"),
        ("a=%uD83D%uDE00!", "😀!"), ("a=%uD83D", "\u{FFFD}"), ("a=%u12", "%u12"),
        ("a=%ff%fe", "ÿþ"), ("a=Hauptstra%DFe", "Hauptstraße"), ("a=%80", "€"),
        ("a=Z%C3%BCrich", "Zürich"), ("a=a%2Bb%20c+d", "a+b c d"), ("a=50%2525", "50%25"),
        ("a=Z\u{FC}rich", "Zürich"),
    ])
    func `escapes are undone as browsers write them`(_ query: String, _ expected: String) throws {
        #expect(try parse(query)["a"] == expected)
        #expect(try parse("", query)["a"] == expected)
    }

    @Test(arguments: [
        // As sent by QGIS: texts are encoded, the JSON around them is not.
        (#"Z%C3%BCrich%20S%C3%BCd"#, "Zürich Süd"), ("A%2BB%20%26%20C", "A+B & C"),
        (#"say%20%5C%22hi%5C%22"#, #"say "hi""#), ("50%25", "50%"), ("a%22b", #"a"b"#),
        (#"two%5Cnlines"#, "two\nlines"), ("two%0Alines", "two\nlines"), ("plain", "plain"),
        ("%F0%9F%98%80", "😀"), (#"C%3A%5C%5Cdata"#, #"C:\data"#), ("Stra%DFe", "Straße"),
        // As sent by scripts: nothing is encoded.
        ("A+B & C", "A+B & C"), ("50% off", "50% off"), ("A+B", "A+B"), ("100%", "100%"),
        ("Zürich 50%20", "Zürich 50%20"), (#"\u00e9%"#, "é%"),
    ])
    func `JSON that is not encoded keeps its texts`(_ text: String, _ expected: String) throws {
        let form =
            "f=json&features=[\n {\"attributes\":{\"a b\":\"\(text)\",\"n\":1e+2}}\n]&rest=1+2"
        let parameters = try parse("", form)
        #expect(parameters["rest"] == "1 2")
        let value = try RelaxedJSON.parse(try #require(parameters["features"]))
        #expect(
            value
                == .array([
                    .object(["attributes": .object(["a b": .string(expected), "n": .number(100)])])
                ]))
    }

    @Test func `the number of parameters is bounded`() {
        let many = (0...Parameters.countLimit).map { "p\($0)=1" }.joined(separator: "&")
        #expect(throws: Failure.self) { try parse(many) }
    }

    @Test(arguments: ["1e999", "nan", "inf", "0x10", "1,2", "--1", ""])
    func `a parameter that is no finite decimal number is refused`(_ text: String) {
        #expect(Parameters.number(text) == nil)
    }
}

@Suite struct RelaxedJSONTests {
    @Test func `keys need no quotes, as QGIS sends them`() throws {
        let value = try RelaxedJSON.parse("{x: -181081.000000, y: 6714729.000000}")
        #expect(value == .object(["x": .number(-181081), "y": .number(6_714_729)]))
    }

    @Test func `strict JSON is read as JSON`() throws {
        let value = try RelaxedJSON.parse(
            #" {"a":[1,-2.5e3,true,false,null,"\"\\\/\u00e9\ud83d\ude00\n"],"b":{}} "#)
        #expect(
            value
                == .object([
                    "a": .array([
                        .number(1), .number(-2500), .bool(true), .bool(false), .null,
                        .string("\"\\/é😀\n"),
                    ]), "b": .object([:]),
                ]))
    }

    @Test(arguments: [
        "", "{", "}", "{x}", "{x:}", "{x:1,}", "[1", "[1,]", "{\"x:1}", "nul", "1 2", "{x:1e999}",
        "\"\\u12g4\"", "\"\\u+123\"", "\"\\", "{:1}", String(repeating: "[", count: 100_000),
    ])
    func `broken JSON is refused with a place`(_ text: String) {
        do throws(Failure) {
            _ = try RelaxedJSON.parse(text)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .invalidParameter)
            #expect(error.message.contains("byte"))
        }
    }

    @Test func `random bytes are answered with a value or a failure`() {
        var seed: UInt64 = 42
        let alphabet = Array("{}[]:,\"'\\ux01-+.eE \n".utf8) + [0xFF, 0x80, 0]
        for _ in 0..<5_000 {
            var bytes: [UInt8] = []
            for _ in 0..<40 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(alphabet[Int(seed >> 33) % alphabet.count])
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let first = try? RelaxedJSON.parse(text)
            #expect(first == (try? RelaxedJSON.parse(text)), "\(bytes)")
        }
    }
}

@Suite struct GeometryParameterTests {
    @Test(
        arguments: [
            ("{x:1,y:2,z:3,m:null}", [3], nil),
            ("{x:1,y:2,z:'NaN',m:4}", nil, [4]),
            ("{points:[[1,2,3],[4,5]]}", [3, nil], nil),
            ("{points:[[1,2,3,4],[4,5,null,6]]}", [3, nil], [4, 6]),
            ("{hasM:true,points:[[1,2,3],[4,5,6]]}", nil, [3, 6]),
            ("{hasZ:false,hasM:false,points:[[1,2,3,4]]}", nil, nil),
            ("{hasZ:true,paths:[[[1,2,3],[4,5,6]],[[7,8,9],[1,1,0]]]}", [3, 6, 9, 0], nil),
            // The closing position of a ring repeats all of the first.
            (
                "{hasZ:true,hasM:true,rings:[[[0,0,1,2],[0,1,3,4],[1,1,5,6]],[[2,2,7,8],[2,3,9,1],[3,3,2,3],[2,2,7,8]]]}",
                [1, 3, 5, 1, 7, 9, 2, 7], [2, 4, 6, 2, 8, 1, 3, 8]
            ),
        ] as [(String, [Double?]?, [Double?]?)])
    func `positions keep their Z and M`(
        _ text: String, _ z: [Double?]?, _ m: [Double?]?
    ) throws {
        let geometry = try GeometryParameter(text, kind: nil)
        #expect(geometry.ordinates == FurtherOrdinates(z: z, m: m))
        let form = GeometryForm(geometry.shape, geometry.ordinates)
        #expect(form.shape == geometry.shape && form.ordinates == geometry.ordinates)
    }

    @Test(arguments: ["{points:[[1,2,'a']]}", "{hasZ:3,points:[[1,2,3]]}", "{x:1,y:2,z:[]}"])
    func `a Z that is no number is refused`(_ text: String) {
        #expect(throws: Failure.self) { try GeometryParameter(text, kind: nil) }
    }

    @Test func `the simple forms of a geometry are read`() throws {
        #expect(
            try GeometryParameter("1.5,-2", kind: nil).shape == .point(.init(x: 1.5, y: -2)))
        #expect(
            try GeometryParameter("4,3,2,1", kind: .envelope).shape
                == .envelope(.init(minX: 2, minY: 1, maxX: 4, maxY: 3)))
        #expect(
            try GeometryParameter("1,2;3,4", kind: .multipoint).shape
                == .multipoint([.init(x: 1, y: 2), .init(x: 3, y: 4)]))
    }

    @Test func `JSON brings its own spatial reference`() throws {
        let parameter = try GeometryParameter(
            #"{"x":1,"y":2,"spatialReference":{"wkid":102100,"latestWkid":3857}}"#, kind: .point)
        #expect(parameter.spatialReference == .webMercator)
    }

    @Test func `an open ring is closed`() throws {
        let shape = try GeometryParameter("{rings:[[[0,0],[0,1],[1,1]]]}", kind: nil).shape
        guard case .polygon(let rings) = shape else {
            Issue.record("\(shape)")
            return
        }
        #expect(rings[0].count == 4)
        #expect(rings[0].first == rings[0].last)
    }

    @Test(arguments: [
        "1", "1,2,3", "a,b", "{x:1}", "{x:1,y:NaN}", #"{x:1,y:"2"}"#, "{rings:[]}",
        "{rings:[[[0,0]]]}", "{rings:[[0,0]]}", "{paths:[[[0,0]]]}", "{points:[]}",
        "{xmin:1,ymin:2,xmax:3}", "{curveRings:[]}", "{x:1,y:2,spatialReference:{wkid:-3}}",
        "{x:1,y:2,spatialReference:7.5}",
    ])
    func `a parameter that is no geometry is refused`(_ text: String) {
        #expect(throws: Failure.self) { try GeometryParameter(text, kind: nil) }
    }

    @Test func `the JSON must be of the type that is stated`() {
        #expect(throws: Failure.self) { try GeometryParameter("{x:1,y:2}", kind: .polygon) }
        #expect(throws: Failure.self) { try GeometryParameter.Kind("esriGeometryBox") }
    }

    @Test func `a geometry of too many coordinates is refused`() {
        let points = Array(repeating: "[1,2]", count: GeometryParameter.coordinateLimit + 1)
        #expect(throws: Failure.self) {
            try GeometryParameter("{points:[\(points.joined(separator: ","))]}", kind: nil)
        }
    }
}

@Suite struct IdentifyParameterTests {
    static let qgis = [
        "geometryType": "esriGeometryPoint", "geometry": "{x: -181081.000000, y: 6714729.000000}",
        "layers": "all:1", "imageDisplay": "800,600,96", "tolerance": "10",
        "mapExtent": "-200000.000000,6600000.000000,200000.000000,6900000.000000",
    ]

    private func request(_ changes: [String: String] = [:]) throws -> IdentifyRequest {
        var parameters = Parameters(Self.qgis.merging(changes) { $1 })
        parameters.sight = .whole
        return try IdentifyResource.request(map: try MapName(parsing: "World"), parameters)
    }

    @Test func `an identify as QGIS sends it is understood`() throws {
        let request = try request()
        #expect(request.geometry == .point(.init(x: -181_081, y: 6_714_729)))
        #expect(request.layers == LayerSelection(.all, ids: [1]))
        #expect(request.tolerance == 10)
        #expect(request.imageDisplay == ImageDisplay(width: 800, height: 600, dpi: 96))
        #expect(request.spatialReference == nil)
        #expect(request.returnGeometry)
    }

    static let selections: [(String, LayerSelection)] = [
        ("top", .init(.top)), ("visible", .init(.visible)), ("ALL", .init(.all)),
        ("all:", .init(.all)), ("visible:2,5", .init(.visible, ids: [2, 5])),
        ("1, 2", .init(.top, ids: [1, 2])), ("show:14", .init(.top, ids: [14])),
        ("something", .init(.top)), ("visible:-1", .init(.visible, ids: [-1])),
    ]

    @Test(arguments: selections)
    func `the layers parameter is read as Esri's servers read it`(
        _ text: String, _ expected: LayerSelection
    ) throws {
        #expect(try LayerSelection(parsing: text) == expected)
    }

    static let definitions: [(String, [LayerID: String])] = [
        ("1:POP>0;2:X='a;b:c'", [1: "POP>0", 2: "X='a;b:c'"]),
        (#"{"1":"POP>10","2":""}"#, [1: "POP>10"]), ("false", [:]),
    ]

    @Test(arguments: definitions)
    func `layer definitions come in two syntaxes`(
        _ text: String, _ expected: [LayerID: String]
    ) throws {
        #expect(try request(["layerDefs": text]).layerDefinitions == expected)
    }

    static let references: [(String, SpatialReference?)] = [
        ("4326", .wgs84), (#"{"wkid":102100,"latestWkid":3857}"#, .webMercator),
        ("{wkid: 54009}", SpatialReference(wkid: 54_009)),
        (#"{"wkt":"PROJCS[]"}"#, SpatialReference(wkt: "PROJCS[]")),
        (#"{"wkt2":"PROJCRS[]"}"#, SpatialReference(wkt: "PROJCRS[]")), ("{}", nil),
    ]

    @Test(arguments: references)
    func `a reference is a number or Esri's object, also of the geometry alone`(
        _ text: String, _ expected: SpatialReference?
    ) throws {
        #expect(try request(["sr": text]).spatialReference == expected)
        let own = try request([
            "sr": "2154", "geometry": "{\"x\":1,\"y\":2,\"spatialReference\":\(text)}",
        ])
        #expect(own.geometrySpatialReference == expected)
        #expect(own.spatialReference == SpatialReference(wkid: 2154))
    }

    static let times: [(String, TimeExtent?)] = [
        ("1000", TimeExtent(instant: 1000)), ("-5, 7", TimeExtent(from: -5, to: 7)),
        ("null,7", TimeExtent(from: nil, to: 7)), ("7,null", TimeExtent(from: 7, to: nil)),
        ("null,null", nil), ("false", nil),
        (
            "1199145600000,1230768000000.0",
            TimeExtent(from: 1_199_145_600_000, to: 1_230_768_000_000)
        ),
    ]

    @Test(arguments: times)
    func `a time is an instant or two bounds`(_ text: String, _ expected: TimeExtent?) throws {
        #expect(try request(["time": text]).time == expected)
    }

    @Test func `every further parameter of Esri's reaches the request`() throws {
        let request = try request([
            "returnZ": "true", "returnM": "TRUE", "returnFieldName": "1",
            "timeRelation": "esritimerelationwithin", "maximumResultsPerLayer": "7",
            "returnPopupsOnly": "true", "explain": "true", "at": "2026-11-21T09:30:00Z",
            "layerTimeOptions":
                "{0: {useTime: false}, '2': {timeOffset: -1.5, timeOffsetUnits: "
                + "'esriTimeUnitsYears', timeDataCumulative: true, other: 3}}",
        ])

        #expect(request.returnZ && request.returnM && request.returnFieldName && request.explain)
        #expect(request.timeRelation == .within && request.maximumResultsPerLayer == 7)
        #expect(request.returnPopupsOnly && request.at == nil)
        #expect(request.atTime == Timestamp(iso: "2026-11-21T09:30:00Z")?.endOfMillisecond)
        #expect(
            request.layerTimeOptions == [
                0: LayerTimeOptions(useTime: false),
                2: LayerTimeOptions(
                    timeDataCumulative: true, timeOffset: -1.5, timeOffsetUnits: .years),
            ])
        let plain = try self.request()
        #expect(!plain.returnZ && !plain.explain && plain.time == nil && plain.asOf == nil)
        let moment = try self.request(["historicMoment": "1500"])
        #expect(moment.atTime == Timestamp(microseconds: 1_500_000))
    }

    static let refused: [(String, String)] = [
        ("tolerance", "-1"), ("tolerance", "x"), ("imageDisplay", "800"),
        ("imageDisplay", "-1,2,96"), ("mapExtent", "1,2,3"), ("sr", "abc"), ("sr", "0"),
        ("layers", "all:x"), ("layers", "all:-2"), ("layerDefs", "POP>0"),
        ("layerDefs", #"{"3":"#),
        ("returnGeometry", "maybe"), ("maxAllowableOffset", "-5"), ("geometryPrecision", "99"),
        ("geometryType", "esriGeometryCurve"), ("dynamicLayers", "[{}]"), ("at", "-3"),
        ("at", "yesterday"), ("historicMoment", "1e300"), ("historicMoment", "x"), ("time", "x"),
        ("time", "1,2,3"), ("time", ","), ("time", "1e99"), ("time", "nan,1"),
        ("timeRelation", "before"), ("layerTimeOptions", "[]"), ("layerTimeOptions", "{"),
        ("layerTimeOptions", #"{"x":{}}"#), ("layerTimeOptions", #"{"0":{"useTime":1}}"#),
        ("layerTimeOptions", #"{"0":{"timeOffsetUnits":"fortnights"}}"#), ("returnZ", "2"),
        ("maximumResultsPerLayer", "-1"), ("maximumResultsPerLayer", "all"), ("explain", "why"),
    ]

    @Test(arguments: refused)
    func `a parameter that makes no sense is named`(_ name: String, _ value: String) {
        do {
            _ = try request([name: value])
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains(name), "\(error)")
        }
    }

    @Test(arguments: ["geometry", "tolerance", "mapExtent", "imageDisplay"])
    func `a required parameter that is missing is named`(_ name: String) throws {
        var parameters = Self.qgis
        parameters[name] = nil
        do {
            _ = try IdentifyResource.request(
                map: try MapName(parsing: "World"), Parameters(parameters))
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains("'\(name)' is missing"), "\(error)")
        }
    }

    @Test func `an extent may name the spatial reference of the request, and no other`() throws {
        func request(_ wkid: Int, _ sr: String?) throws -> IdentifyRequest {
            var parameters = Self.qgis
            parameters["mapExtent"] =
                #"{"xmin":4,"ymin":3,"xmax":2,"ymax":1,"spatialReference":{"wkid":\#(wkid)}}"#
            parameters["sr"] = sr
            return try IdentifyResource.request(
                map: try MapName(parsing: "World"), Parameters(parameters))
        }
        let expected = Envelope(minX: 2, minY: 1, maxX: 4, maxY: 3)
        #expect(try request(4326, "4326").mapExtent == expected)
        #expect(try request(102_100, "3857").mapExtent == expected)
        let error = #expect(throws: Failure.self) { try request(4326, "3857") }
        #expect(error?.message.contains("'mapExtent'") == true)
        // Without `sr` the extent supplies it.
        #expect(try request(2154, nil).spatialReference == SpatialReference(wkid: 2154))
    }
}
