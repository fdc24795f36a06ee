// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry

/// A server that answers the seeded questions.
protocol Contender: AnyObject {
    /// Its protocol, `http` or `bus`, or the peer's name and version.
    var name: String { get }
    /// Asks everything once and keeps the answers, which every later one must equal.
    func answers() async throws -> [[Hit]]
    /// Asks for that long, in closed loops.
    func run(clients: Int, seconds: Double) async throws -> Measured
    /// The processor time of its processes so far.
    func processTimes() -> ProcessTimes
}

/// A server over HTTP.
final class HTTPContender: Contender {
    let name: String
    private var load: HTTPLoad
    private let times: () -> ProcessTimes
    private let hits: ([UInt8]) throws -> [Hit]

    private init(
        name: String, paths: [String], port: Int, times: @escaping () -> ProcessTimes,
        hits: @escaping ([UInt8]) throws -> [Hit]
    ) {
        self.name = name
        self.times = times
        self.hits = hits
        load = HTTPLoad(paths: paths, port: port)
    }

    static func cairn(
        _ question: Question, port: Int, site: String, name: String = "http"
    ) -> HTTPContender {
        HTTPContender(
            name: name, paths: question.points.map(question.path), port: port,
            times: { .site(site) }, hits: identifyHits)
    }

    static func mapServer(
        _ question: Question, name: String, port: Int, processes: [Int32]
    ) -> HTTPContender {
        HTTPContender(
            name: name, paths: question.points.map(question.featureInfoPath), port: port,
            times: { .trees(processes) }, hits: featureInfoHits)
    }

    func answers() throws -> [[Hit]] {
        try load.collect()
        return try load.bodies.map(hits)
    }

    func run(clients: Int, seconds: Double) throws -> Measured {
        try load.run(clients: clients, seconds: seconds)
    }

    func processTimes() -> ProcessTimes { times() }

    private static func identifyHits(_ body: [UInt8]) throws -> [Hit] {
        struct Body: Decodable {
            struct Result: Decodable {
                var layerName: String
                var attributes: [String: String?]
            }
            var results: [Result]
        }
        return try JSONDecoder().decode(Body.self, from: Data(body)).results.map { result in
            Hit(
                layer: result.layerName,
                id: (result.attributes["OBJECTID"] ?? nil).flatMap { Int($0) } ?? -1)
        }.sorted()
    }

    /// `Layer 'name'`, then `id = '17'` for every feature.
    private static func featureInfoHits(_ body: [UInt8]) -> [Hit] {
        var hits: [Hit] = []
        var layer = ""
        for line in String(decoding: body, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: "'")
            guard words.count > 1 else { continue }
            if line.hasPrefix("Layer '") { layer = String(words[1]) }
            if line.drop(while: { $0 == " " }).hasPrefix("id = "), let id = Int(words[1]) {
                hits.append(Hit(layer: layer, id: id))
            }
        }
        return hits.sorted()
    }
}

/// Cairn over its bus.
final class BusContender: Contender {
    let name = "bus"
    private let client: CairnClient
    private let site: String
    private let requests: [IdentifyRequest]
    private var expected: [IdentifyAnswer] = []

    init(_ requests: [IdentifyRequest], client: CairnClient, site: String) {
        self.requests = requests
        self.client = client
        self.site = site
    }

    func answers() async throws -> [[Hit]] {
        expected = []
        for request in requests { expected.append(try await client.ask(.identify, request)) }
        return expected.map { answer in
            answer.results.map { Hit(layer: $0.layerName, id: Int($0.objectID)) }.sorted()
        }
    }

    func run(clients: Int, seconds: Double) async -> Measured {
        await BusLoad(
            client: client, requests: requests, answers: expected,
            end: HTTPLoad.now() + Int64(seconds * 1e9)
        ).run(clients: clients)
    }

    func processTimes() -> ProcessTimes { .site(site) }
}
