// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Curl
import EsriForms
import Expression
import FeatureQuery
import Foundation
import Geometry
import Identify
import Platform
import Synchronization

@testable import Remote

/// A server of points that complies with its description, or does not; without a network.
final class OddServer: Sendable {
    enum Mark: Sendable {
        /// As the interface has it: true where there are more.
        case honest
        /// Never.
        case none
    }

    struct Ways: Sendable {
        /// The limit stated in its description.
        var statedLimit = 1_000
        /// The actual limit of an answer.
        var limit = 1_000
        var mark = Mark.honest
        var hasPages = true
        var knowsOffset = true
        var knowsOrder = true
        var knowsClauses = true
        /// Limit of object ids in an answer.
        var idLimit = Int.max
        /// Excess of its count over the actual number; nil where it does not count.
        var miscount: Int? = 0
        /// Number of copies of each feature.
        var copies = 1
        /// Writes whole numbers as text.
        var writesText = false
        var keyType = "OID"
        var key = "OBJECTID"
    }

    let ids: [Int64]
    let ways: Ways
    let map: MapDescription
    private let engine = QueryEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }
    private let clicks = IdentifyEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }
    private let source = ArcGISSource(url: "http://odd/FeatureServer/0")
    let askedCount = Atomic<Int>(0)

    /// Points on a line, 1/100 of a degree apart, in the order of `ids`.
    init(_ ids: [Int64], _ ways: Ways = Ways()) throws {
        self.ids = ids
        self.ways = ways
        let described = Self.description(ways)
        let properties = try FeatureServiceLayer(source: source).describe { _ in
            WebResponse(status: 200, contentType: "application/json", body: described)
        }
        let layer = LayerDescription(
            id: 0, name: "odd", parent: nil, children: [],
            kind: .layer(source: .featureService(source)), isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: properties)
        map = MapDescription(
            name: try MapName(parsing: "Odd"), sequence: 1, rootLayers: [0], layers: [layer],
            basemap: 0, spatialReference: .wgs84, initialExtent: nil)
    }

    private static func description(_ ways: Ways) -> [UInt8] {
        let text = """
            {"geometryType":"esriGeometryPoint","capabilities":"Query","objectIdField":"\(ways.key)",
            "maxRecordCount":\(ways.statedLimit),
            "advancedQueryCapabilities":{"supportsPagination":\(ways.hasPages)},
            "extent":{"xmin":0,"ymin":0,"xmax":90,"ymax":1,"spatialReference":{"wkid":4326}},
            "fields":[{"name":"\(ways.key)","type":"esriFieldType\(ways.keyType)"},
            {"name":"NAME","type":"esriFieldTypeString"}]}
            """
        return Array(text.utf8)
    }

    // MARK: Asking

    func query(_ change: (inout QueryRequest) -> Void = { _ in }) throws -> RelaxedAnswer {
        var request = QueryRequest(map: map.name, layer: 0)
        request.outFields = ["*"]
        change(&request)
        let answer = try engine.answer(
            request, in: map,
            remotes: provider)
        return RelaxedAnswer(tree: JSONTree(answer.body) ?? .null)
    }

    private var provider: QueryEngine.RemoteProvider {
        { [self] question throws(Failure) in
            let layer = FeatureServiceLayer(source: source)
            return try layer.answer(served(layer.call(question)), to: question)
        }
    }

    func find(_ text: String) throws -> JSONTree {
        let answer = try engine.find(
            FindRequest(map: map.name, text: text), in: map,
            remotes: provider)
        return JSONTree(answer.body) ?? .null
    }

    /// A rectangle around all of them.
    func identify() throws -> IdentifyLayerResult {
        let box = Envelope(minX: -1, minY: -1, maxX: 90, maxY: 1)
        var request = IdentifyRequest(
            map: map.name, geometry: .envelope(box), layers: LayerSelection(.all), tolerance: 0,
            mapExtent: box, imageDisplay: ImageDisplay(width: 400, height: 300))
        request.maximumResultsPerLayer = 1_000
        let answer = try clicks.identify(
            request, in: map,
            remotes: { [self] questions in
                { index in
                    Result { () throws(Failure) in
                        let layer = FeatureServiceLayer(source: self.source)
                        guard let rounds = try layer.search(questions[index]) else {
                            throw Failure(.internal, "nothing is asked")
                        }
                        return try self.run(rounds)
                    }
                }
            })
        if let failure = answer.failures?.first { throw failure.error }
        return answer.layers[0]
    }

    func draw() throws -> (ids: [Int64], isSaid: Bool) {
        guard let properties = map.layers[0].properties else { return ([], false) }
        let question = RemotePictureQuestion(
            source: .featureService(source), properties: properties, spatialReference: .wgs84,
            extent: Envelope(minX: -1, minY: -1, maxX: 90, maxY: 1), width: 100, height: 100,
            unitsPerPixel: 1, dpi: 96)
        let picture = try run(FeaturePages(question, url: source.url + "/query"))
        guard case .features(let features) = picture.content else { return ([], false) }
        return (features.compactMap(\.id), picture.shortfall != nil)
    }

    private func run<Outcome>(
        _ rounds: any RemoteRounds<Outcome>
    ) throws(Failure) -> Outcome {
        var rounds = rounds
        while true {
            let answers = rounds.calls.map { WebAnswers.Element.success(served($0)) }
            if let outcome = try rounds.take(answers) { return outcome }
        }
    }

    // MARK: The server

    private func served(_ call: RemoteCall) -> WebResponse {
        askedCount.add(1, ordering: .relaxed)
        let form = Dictionary(
            call.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return WebResponse(
            status: 200, contentType: "application/json", body: Array(answer(form).utf8))
    }

    private func answer(_ form: [String: String]) -> String {
        var ids = self.ids
        if let list = form["objectIds"] {
            let wanted = Set(list.split(separator: ",").compactMap { Int64($0) })
            ids = ids.filter { wanted.contains($0) }
        }
        if ways.knowsClauses, let text = form["where"] {
            let fields = map.layers[0].properties?.fields ?? []
            guard let clause = try? WhereClause(parsing: text).bound(to: fields) else {
                return #"{"error":{"code":400,"message":"where \#(text.prefix(100))"}}"#
            }
            ids = ids.filter { id in
                clause.evaluate { $0 == 0 ? .integer(id) : .string("n\(id)") } == true
            }
        }
        if form["returnCountOnly"] != nil {
            guard let miscount = ways.miscount else {
                return #"{"error":{"code":400,"message":"no counts"}}"#
            }
            return "{\"count\":\(ids.count + miscount)}"
        }
        func number(_ id: Int64) -> String { ways.writesText ? "\"\(id)\"" : "\(id)" }
        if form["returnIdsOnly"] != nil {
            let told = ids.prefix(ways.idLimit).map(number).joined(separator: ",")
            return "{\"objectIdFieldName\":\"\(ways.key)\",\"objectIds\":[\(told)]}"
        }
        if ways.knowsOrder, let order = form["orderByFields"] {
            ids.sort()
            if order.hasSuffix("DESC") { ids.reverse() }
        }
        if ways.knowsOffset, let offset = form["resultOffset"].flatMap({ Int($0) }) {
            ids = Array(ids.dropFirst(offset))
        }
        ids = ids.flatMap { Array(repeating: $0, count: ways.copies) }
        let most = min(ways.limit, form["resultRecordCount"].flatMap { Int($0) } ?? .max)
        let hasMore = ids.count > most
        let features = ids.prefix(most).map { id in
            let x = Double(self.ids.firstIndex(of: id) ?? 0) / 100
            return "{\"attributes\":{\"\(ways.key)\":\(number(id)),\"NAME\":\"n\(id)\"},"
                + "\"geometry\":{\"x\":\(x),\"y\":0}}"
        }
        return "{\"spatialReference\":{\"wkid\":4326},"
            + (ways.mark == .honest && hasMore ? "\"exceededTransferLimit\":true," : "")
            + "\"features\":[\(features.joined(separator: ","))]}"
    }
}

/// The answer to a query.
struct RelaxedAnswer {
    let tree: JSONTree

    var ids: [Int64] {
        if let ids = tree["objectIds"] { return ids.elements.compactMap(\.whole) }
        return tree["features"]?.elements.compactMap { feature in
            (feature["attributes"]?.members.first?.value ?? feature["id"])?.whole
        } ?? []
    }
    var count: Int64? { tree["count"]?.whole }
    var isCut: Bool { tree["exceededTransferLimit"]?.isTrue ?? false }
}
