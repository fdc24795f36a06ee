// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Curl
import Dataset
import EsriForms
import FeatureQuery
import Foundation
import Geometry
import Identify
import Platform
import Synchronization
import TestKit

@testable import Remote

/// A layer of features, queried locally, and queried as a layer of another server with the same
/// features: its questions become requests, which the engine answers as the oracle, and its answers
/// are decoded again.
final class ServedLayer: Sendable {
    /// The server's abilities.
    struct Abilities: Sendable {
        /// The most features of an answer.
        var recordLimit = 2_000
        /// Whether it supports paging.
        var hasPages = true
        /// Whether it reports further features only for a request without a limit.
        var isModest = false
    }

    let directory: String
    /// The map with the layer as an imported one, and as one of the server.
    let here: MapDescription
    let there: MapDescription
    let abilities: Abilities
    private let local: QueryEngine
    private let clicks: IdentifyEngine
    private let remote = QueryEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }
    private let asked = Mutex<[[String: String]]>([])
    /// Number of features returned.
    let givenCount = Atomic<Int>(0)

    /// Imports features from GeoJSON, whose positions have after x and y the `dimensions`: `Z`,
    /// `M`, `ZM` or none.
    init(
        _ features: [String], dimensions: String = "", wkid: Int = 4326, mapWkid: Int? = nil,
        abilities: Abilities = Abilities(),
        change: (inout LayerDescription) -> Void = { _ in }
    ) throws {
        let directory = NSTemporaryDirectory() + "cairn-served-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory + "/datasets", withIntermediateDirectories: true)
        var path = directory + "/features.geojson"
        let crs = #""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::\#(wkid)"}}"#
        try
            #"{"type":"FeatureCollection",\#(crs),"features":[\#(features.joined(separator: ","))]}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        if !dimensions.isEmpty { path = try Self.converted(path, dimensions) }
        let imported = try DatasetBuilder.importFile(path: path, into: directory + "/datasets")[0]
        let shelf = DatasetCache(directory: directory + "/datasets")
        clicks = IdentifyEngine { id throws(Failure) in try shelf.dataset(id) }
        local = QueryEngine { id throws(Failure) in try shelf.dataset(id) }
        self.directory = directory
        self.abilities = abilities

        func map(_ source: LayerSource, _ properties: LayerProperties) throws -> MapDescription {
            var layer = LayerDescription(
                id: 0, name: "features", parent: nil, children: [], kind: .layer(source: source),
                isVisible: true, scaleRange: .unlimited, definitionExpression: nil,
                displayField: nil, loadStatus: .loaded, loadError: nil, properties: properties)
            change(&layer)
            return MapDescription(
                name: try MapName(parsing: "World"), sequence: 42, rootLayers: [0], layers: [layer],
                basemap: 0, spatialReference: SpatialReference(wkid: mapWkid ?? wkid),
                initialExtent: nil)
        }
        here = try map(LayerSource(dataset: imported.dataset), imported.properties)
        let source = ArcGISSource(url: "http://there/FeatureServer/0")
        let described = Self.description(imported.properties, abilities)
        there = try map(
            .featureService(source),
            try FeatureServiceLayer(source: source).describe { _ in
                WebResponse(status: 200, contentType: "application/json", body: described)
            })
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// GeoJSON has no M: so the file is made by way of a table with WKT.
    private static func converted(_ path: String, _ dimensions: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: path))
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        func text(_ value: Any) -> String {
            guard let list = value as? [Any] else {
                return "\((value as? NSNumber)?.doubleValue ?? .nan)"
            }
            let isPosition = list.first is NSNumber
            let parts = list.map(text).joined(separator: isPosition ? " " : ",")
            return isPosition ? parts : "(\(parts))"
        }
        var kind = ""
        var rows = ["name,pop,size,seen,wkt"]
        for feature in json?["features"] as? [[String: Any]] ?? [] {
            let values = feature["properties"] as? [String: Any] ?? [:]
            let geometry = feature["geometry"] as? [String: Any] ?? [:]
            kind = (geometry["type"] as? String ?? "").uppercased()
            var place = text(geometry["coordinates"] ?? [])
            if kind == "POINT" { place = "(\(place))" }
            let columns = ["name", "pop", "size", "seen"].map { name in
                values[name].map { $0 is NSNull ? "" : "\"\($0)\"" } ?? ""
            }
            rows.append((columns + ["\"\(kind) \(dimensions) \(place)\""]).joined(separator: ","))
        }
        let table = path + ".csv"
        try rows.joined(separator: "\n").write(toFile: table, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ogr2ogr", "-f", "GPKG", path + ".gpkg", table, "-oo", "AUTODETECT_TYPE=YES",
            "-oo", "GEOM_POSSIBLE_NAMES=wkt", "-oo", "KEEP_GEOM_COLUMNS=NO",
            "-a_srs", "EPSG:4326", "-nlt", kind + dimensions,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path + ".gpkg"
    }

    private static func description(
        _ properties: LayerProperties, _ abilities: Abilities
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("type", "Feature Layer")
            json.member(
                "geometryType", "esriGeometry" + (properties.geometryType?.rawValue ?? "Point"))
            json.member("capabilities", "Query")
            json.member("hasZ", properties.hasZ)
            json.member("hasM", properties.hasM)
            json.member("maxRecordCount", abilities.recordLimit)
            json.member("advancedQueryCapabilities") {
                $0.member("supportsPagination", abilities.hasPages)
            }
            json.extent(
                "extent", properties.extent ?? Envelope(minX: 0, minY: 0, maxX: 0, maxY: 0),
                in: properties.spatialReference)
            json.fields(properties.fields, aliases: properties.fields.map(\.shownName))
        }
        return json.bytes
    }

    // MARK: Asking

    func request(_ change: (inout QueryRequest) -> Void = { _ in }) -> QueryRequest {
        var request = QueryRequest(map: here.name, layer: 0)
        change(&request)
        return request
    }

    /// The oracle's answer, all parts joined; or its sentence.
    func answerHere(_ request: QueryRequest) -> Result<String, Failure> {
        answer(request) { request throws(Failure) in try local.answer(request, in: here) }
    }

    /// The answer by way of the server; or the sentence.
    func answerThere(_ request: QueryRequest) -> Result<String, Failure> {
        answer(request) { request throws(Failure) in
            try remote.answer(request, in: there, remotes: provider)
        }
    }

    private func answer(
        _ request: QueryRequest, _ ask: (QueryRequest) throws(Failure) -> QueryAnswer
    ) -> Result<String, Failure> {
        var request = request
        var body: [UInt8] = []
        do throws(Failure) {
            repeat {
                let answer = try ask(request)
                body += answer.body
                request.part = answer.next
            } while request.part != nil
            return .success(String(decoding: body, as: UTF8.self))
        } catch {
            return .failure(error)
        }
    }

    func findHere(_ request: FindRequest) throws -> String {
        String(decoding: try local.find(request, in: here).body, as: UTF8.self)
    }

    func findThere(_ request: FindRequest) throws -> String {
        String(decoding: try remote.find(request, in: there, remotes: provider).body, as: UTF8.self)
    }

    /// A click with a tolerance in degrees.
    func identify(at place: Coordinate, within distance: Double) -> IdentifyRequest {
        IdentifyRequest(
            map: here.name, geometry: .point(place), layers: LayerSelection(.all), tolerance: 10,
            mapExtent: Envelope(
                minX: place.x, minY: place.y, maxX: place.x + distance * 40,
                maxY: place.y + distance * 30),
            imageDisplay: ImageDisplay(width: 400, height: 300))
    }

    /// A line for each result, the geometry as Esri's JSON.
    func identifyHere(_ request: IdentifyRequest) throws -> [String] {
        try lines(clicks.identify(request, in: here))
    }

    /// Identifies through the server; throws its failure.
    func identifyThere(_ request: IdentifyRequest) throws -> [String] {
        let answer = try clicks.identify(
            request, in: there,
            remotes: { [self] questions in
                { index in
                    Result { () throws(Failure) in
                        let question = questions[index]
                        guard case .featureService(let source) = question.source else {
                            throw Failure(.internal, "another source")
                        }
                        let layer = FeatureServiceLayer(source: source)
                        guard var rounds = try layer.search(question) else {
                            throw Failure(.internal, "nothing is asked")
                        }
                        while true {
                            let answers = try rounds.calls.map { call throws(Failure) in
                                WebAnswers.Element.success(try self.served(call))
                            }
                            if let answer = try rounds.take(answers) { return answer }
                        }
                    }
                }
            })
        if let failure = answer.failures?.first { throw failure.error }
        return try lines(answer)
    }

    private func lines(_ answer: IdentifyAnswer) throws -> [String] {
        answer.results.map { result in
            var json = JSONWriter()
            json.object { json in
                if let shape = result.geometry {
                    json.geometry(
                        shape, z: result.zValues, m: result.mValues, in: answer.spatialReference)
                }
            }
            return
                "\(result.layerID) \(result.objectID) \(result.displayFieldName) \(result.value) "
                + "\(result.attributes.entries) \(result.geometryType) \(result.distance) "
                + String(decoding: json.bytes, as: UTF8.self)
        }
    }

    private func served(_ call: RemoteCall) throws(Failure) -> WebResponse {
        let form = Dictionary(
            call.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        asked.withLock { $0.append(form) }
        return WebResponse(
            status: 200, contentType: "application/json", body: try serve(form))
    }

    /// The forms that were sent since the last look.
    func takeAsked() -> [[String: String]] {
        asked.withLock { asked in
            defer { asked = [] }
            return asked
        }
    }

    private var provider: QueryEngine.RemoteProvider {
        { [self] question throws(Failure) in
            guard case .featureService(let source) = question.source else {
                throw Failure(.internal, "another source")
            }
            let layer = FeatureServiceLayer(source: source)
            return try layer.answer(try self.served(layer.call(question)), to: question)
        }
    }

    // MARK: The server

    private func serve(_ form: [String: String]) throws(Failure) -> [UInt8] {
        var request = QueryRequest(map: here.name, layer: 0)
        request.clause = form["where"]
        request.outFields = form["outFields"]?.split(separator: ",").map(String.init)
        request.returnGeometry = form["returnGeometry"] == "true"
        request.returnZ = form["returnZ"] == "true"
        request.returnM = form["returnM"] == "true"
        request.outReference = form["outSR"].flatMap { Int($0) }.map { SpatialReference(wkid: $0) }
        request.objectIDs = form["objectIds"]?.split(separator: ",").compactMap { Int64($0) }
        if form["returnCountOnly"] == "true" { request.result = .count }
        if form["returnIdsOnly"] == "true" { request.result = .objectIDs }
        if let order = form["orderByFields"]?.split(separator: " ") {
            request.order = [
                QueryOrder(field: String(order[0]), isDescending: order.last == "DESC")
            ]
        }
        let wanted = form["resultRecordCount"].flatMap { Int($0) }
        guard abilities.hasPages || wanted == nil && form["resultOffset"] == nil else {
            throw Failure(.invalidParameter, "there are no pages")
        }
        if request.result == .features {
            request.limit = min(wanted ?? .max, abilities.recordLimit)
        }
        request.offset = form["resultOffset"].flatMap { Int($0) } ?? 0
        if let text = form["geometry"], let tree = JSONTree(Array(text.utf8)) {
            let sides = ["xmin", "ymin", "xmax", "ymax"].compactMap { tree[$0]?.number }
            guard sides.count == 4, form["geometryType"] == "esriGeometryEnvelope" else {
                throw Failure(.invalidParameter, "another geometry")
            }
            request.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(
                    Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])),
                spatialReference: form["inSR"].flatMap { Int($0) }.map {
                    SpatialReference(wkid: $0)
                },
                relation: form["spatialRel"] == "esriSpatialRelEnvelopeIntersects"
                    ? .envelopeIntersects : .intersects)
        }
        var map = here
        map.layers[0].definitionExpression = nil
        map.layers[0].isQueryable = true
        let answer = try local.answer(request, in: map)
        guard answer.next == nil else { throw Failure(.tooLarge, "the answer has several parts") }
        var text = String(decoding: answer.body, as: UTF8.self)
        if request.result == .features {
            givenCount.add(text.split(separator: #""attributes""#).count - 1, ordering: .relaxed)
        }
        if abilities.isModest, wanted != nil {
            text = text.replacing(#","exceededTransferLimit":true"#, with: "")
        }
        return Array(text.utf8)
    }
}
