// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// A running site of `cairn up` with the map `Grid` (squares, points and lines), which the SDK
/// asks.
struct SDKSite: Sendable {
    let site: SmallSite
    let services: URL
    private let port: Int

    /// Begins one; with a locator `World` of big cities where that is asked for.
    init(withLocator: Bool = false) async throws {
        site = try SmallSite()
        try Self.write(into: site)
        let imported = try await site.run(
            "import \(site.folder)/squares.geojson \(site.folder)/points.geojson "
                + "\(site.folder)/lines.geojson --map Grid")
        try #require(imported.status == 0, "\(imported.errors)")
        if withLocator {
            let built = try await site.run(
                "locator build World \(try JobSite.bigCities(in: site.folder))")
            try #require(built.status == 0, "\(built.errors)")
        }
        port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        services = try #require(URL(string: "http://127.0.0.1:\(port)/arcgis/rest/services"))
    }

    private static func write(into site: SmallSite) throws {
        var random = SeededGenerator(seed: 42)
        func feature(_ number: Int, _ type: String, _ coordinates: String) -> String {
            let name = number % 11 == 5 ? "null" : "\"n\(number)\""
            let height = Double(number % 23) * 1.37
            let day = String(format: "%02d", 1 + number % 28)
            return
                #"{"type":"Feature","properties":{"name":\#(name),"size":\#(number % 7),"#
                + #""height":\#(height),"seen":"2026-03-\#(day)T12:00:00Z"},"#
                + #""geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
        }
        func place() -> String {
            let x = Double.random(in: 0...20, using: &random)
            return "[\(x),\(Double.random(in: 0...20, using: &random))]"
        }
        try site.write(
            "squares",
            (0..<400).map { number in
                let (x, y) = (Double(number % 20), Double(number / 20))
                return feature(
                    number, "Polygon",
                    "[[[\(x),\(y)],[\(x + 1),\(y)],[\(x + 1),\(y + 1)],[\(x),\(y + 1)],"
                        + "[\(x),\(y)]]]")
            })
        try site.write("points", (0..<300).map { feature($0, "Point", place()) })
        try site.write(
            "lines",
            (0..<80).map { feature($0, "LineString", "[\(place()),\(place()),\(place())]") })
    }

    func remove() { site.remove() }

    /// The path of the locator's file.
    func locatorFile() throws -> URL {
        let folder = URL(filePath: site.path + "/locators")
        let built = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return folder.appending(path: try #require(built.first)).appending(path: "locator.bin")
    }

    // MARK: The REST

    /// The answer of the REST, errors as they are.
    func answer(_ path: String, _ query: [String: String] = [:]) async throws -> [String: Any] {
        var parts = try #require(
            URLComponents(url: services.appending(path: path), resolvingAgainstBaseURL: false))
        parts.queryItems =
            query.map { URLQueryItem(name: $0.key, value: $0.value) }
            + [URLQueryItem(name: "f", value: "json")]
        let response = try await CurlTransport().send(Request(.get, try #require(parts.url)))
        var bytes = Data()
        for try await piece in response.body { bytes += piece }
        return try #require(try ExactJSON.object(bytes))
    }

    /// The number of a layer of the map.
    func layer(_ name: String) async throws -> Int {
        let layers = try await answer("Grid/MapServer")["layers"] as? [[String: Any]] ?? []
        return try #require(layers.first { $0["name"] as? String == name }?["id"] as? Int)
    }

    /// The jobs that were submitted, without those that a job began.
    func submittedJobs() async throws -> [[String: Any]] {
        let list = try await site.run("job list --json")
        try #require(list.status == 0, "\(list.errors)")
        return list.objects.filter { $0["parent"] == nil }
    }

    // MARK: The gateway

    /// The running gateway's process number; nil while none runs.
    func gateway() async throws -> Int32? {
        try await site.run("status --json").objects.first {
            $0["role"] as? String == "gateway" && $0["state"] as? String == "running"
        }.flatMap { $0["pid"] as? Int }.map(Int32.init)
    }

    /// Kills the gateway and waits until `cairn up` has begun another, which answers.
    func replaceGateway() async throws {
        let first = try #require(try await gateway())
        try #require(kill(first, SIGKILL) == 0)
        try await waitUntil("another gateway answers") {
            guard let second = try await gateway(), second != first,
                let connection = Loopback(port: port)
            else { return false }
            connection.get("/healthz")
            return connection.answer()?.contains("\"healthy\":true") == true
        }
    }
}

/// JSON whose numbers are those of the text: `JSONSerialization` reads the last digits of some
/// wrongly.
struct ExactJSON: Decodable {
    private let value: Any

    /// The members of an object; nil for another value.
    static func object(_ bytes: Data) throws -> [String: Any]? {
        try JSONDecoder().decode(ExactJSON.self, from: bytes).value as? [String: Any]
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = NSNull()
        } else if let number = try? container.decode(Double.self) {
            value = NSNumber(value: number)
        } else if let text = try? container.decode(String.self) {
            value = text
        } else if let elements = try? container.decode([ExactJSON].self) {
            value = elements.map(\.value)
        } else if let members = try? container.decode([String: ExactJSON].self) {
            value = members.mapValues(\.value)
        } else {
            value = NSNumber(value: try container.decode(Bool.self))
        }
    }
}

/// Values as text, whichever way they came: numbers by their value, moments as milliseconds.
enum PlainValue {
    /// Nil for null.
    static func text(_ value: Any?) -> String? {
        switch value {
        case nil, is NSNull: nil
        case let text as String: "'\(text)'"
        case let date as Date: String(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
        case let number as Int32: String(number)
        case let number as Int64: String(number)
        case let number as Int: String(number)
        case let number as Double: text(number)
        default: "\(value ?? "")"
        }
    }

    static func text(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? number.description
    }

    /// Attributes without nulls.
    static func attributes(_ attributes: [String: Any]?) -> [String: String] {
        (attributes ?? [:]).compactMapValues { text($0) }
    }

    /// The coordinates of a geometry of the REST, without its reference; nil for none.
    static func coordinates(_ geometry: [String: Any]?) throws -> String? {
        let names = ["x", "y", "points", "paths", "rings", "xmin", "ymin", "xmax", "ymax"]
        guard let geometry = geometry?.filter({ names.contains($0.key) }) else { return nil }
        return String(
            decoding: try JSONSerialization.data(withJSONObject: geometry, options: .sortedKeys),
            as: UTF8.self)
    }

    /// The coordinates of a geometry of the SDK.
    static func coordinates(_ geometry: Geometry?) throws -> String? {
        guard let geometry else { return nil }
        return try coordinates(try ExactJSON.object(Data(geometry.toJSON().utf8)))
    }
}

/// A feature that was found, by its layer.
struct FoundFeature: Hashable, Sendable {
    var id: Int64
    var attributes: [String: String]
}
