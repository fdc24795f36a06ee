// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// Random places through the SDK, by a service and by its locator's file.
extension SDKProcessTests {
    @Test
    func `random geocodes, suggestions and reverse geocodes are the REST's and the file's`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let running = try await SDKSite(withLocator: true)
        defer { running.remove() }
        let service = LocatorTask(url: running.services.appending(path: "World/GeocodeServer"))
        let file = LocatorTask(locatorFileURL: try running.locatorFile())
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        let seed = random.seed
        let text = try String(contentsOfFile: running.site.folder + "/cities.tsv", encoding: .utf8)
        let cities = text.split(separator: "\n").dropFirst().map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        var (hitCount, changedCount) = (0, 0)
        for number in 0..<200 {
            let city = try #require(cities.randomElement(using: &random))
            let answers: [[String]]
            switch number % 4 {
            case 0, 1: answers = try await geocodes(running, service, file, city, &random)
            case 2: answers = try await suggestions(running, service, file, city, &random)
            default: answers = try await reverse(running, service, file, city, &random)
            }
            try #require(answers[0] == answers[1], "seed \(seed), question \(number): \(city)")
            try #require(answers[0] == answers[2], "seed \(seed), question \(number): \(city)")
            guard var mine = answers.first, !mine.isEmpty else { continue }
            hitCount += 1
            mine[0] += "1"
            if mine != answers[1], mine != answers[2] { changedCount += 1 }
        }
        #expect(hitCount > 100, "seed \(seed)")
        #expect(changedCount == hitCount, "seed \(seed)")
    }

    private func geocodes(
        _ running: SDKSite, _ service: LocatorTask, _ file: LocatorTask, _ city: [String],
        _ random: inout SeededGenerator
    ) async throws -> [[String]] {
        let parameters = GeocodeParameters()
        parameters.addResultAttributeName("*")
        var text = city[1]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text = city[2].lowercased()
        case 1: text += ", " + city[5]
        case 2:
            let index = text.indices.randomElement(using: &random) ?? text.startIndex
            text.replaceSubrange(index...index, with: "x")
        default: break
        }
        var query = ["SingleLine": text, "outFields": "*"]
        if Bool.random(using: &random) {
            parameters.maxResults = Int.random(in: 1...10, using: &random)
            query["maxLocations"] = "\(parameters.maxResults)"
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            parameters.countryCode = city[5]
            query["countryCode"] = city[5]
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            let (x, y) = (try #require(Double(city[4])), try #require(Double(city[3])))
            parameters.preferredSearchLocation = Point(latitude: y, longitude: x)
            query["location"] = "\(x),\(y)"
            parameters.searchArea = Envelope(
                xMin: x - 9, yMin: y - 9, xMax: x + 9, yMax: y + 9, spatialReference: .wgs84)
            query["searchExtent"] = "\(x - 9),\(y - 9),\(x + 9),\(y + 9)"
        }
        let answer = try await running.answer("World/GeocodeServer/findAddressCandidates", query)
        let list = try #require(answer["candidates"] as? [[String: Any]], "\(answer)")
        return [
            try await service.geocode(forSearchText: text, using: parameters).map(Self.text),
            try list.map { candidate in
                try Self.text(
                    candidate["address"], candidate["score"], candidate["location"],
                    candidate["extent"], candidate["attributes"])
            },
            try await file.geocode(forSearchText: text, using: parameters).map(Self.text),
        ]
    }

    private static func text(_ result: GeocodeResult) throws -> String {
        func object(_ geometry: Geometry?) throws -> Any? {
            try geometry.map { try ExactJSON.object(Data($0.toJSON().utf8)) as Any }
        }
        return try text(
            result.label, result.score, try object(result.displayLocation),
            try object(result.extent), result.attributes)
    }

    private static func text(
        _ label: Any?, _ score: Any?, _ place: Any?, _ extent: Any?, _ attributes: Any?
    ) throws -> String {
        let values = PlainValue.attributes(attributes as? [String: Any])
        return [
            PlainValue.text(label), PlainValue.text(score),
            try PlainValue.coordinates(place as? [String: Any]),
            try PlainValue.coordinates(extent as? [String: Any]),
            "\(values.sorted { $0.key < $1.key })",
        ].compactMap { $0 }.joined(separator: " | ")
    }

    private func suggestions(
        _ running: SDKSite, _ service: LocatorTask, _ file: LocatorTask, _ city: [String],
        _ random: inout SeededGenerator
    ) async throws -> [[String]] {
        let parameters = SuggestParameters()
        let text = String(city[1].prefix(Int.random(in: 1...6, using: &random)))
        var query = ["text": text]
        if Bool.random(using: &random) {
            parameters.maxResults = Int.random(in: 1...10, using: &random)
            query["maxSuggestions"] = "\(parameters.maxResults)"
        }
        if Bool.random(using: &random) {
            parameters.countryCode = city[5]
            query["countryCode"] = city[5]
        }
        let answer = try await running.answer("World/GeocodeServer/suggest", query)
        let list = try #require(answer["suggestions"] as? [[String: Any]], "\(answer)")
        // The key of a suggestion is tried by what it leads to.
        func texts(_ task: LocatorTask) async throws -> [String] {
            var texts: [String] = []
            for suggestion in try await task.suggest(forSearchText: text, parameters: parameters) {
                let places = try await task.geocode(forSuggestResult: suggestion)
                let labels = places.map(\.label).joined(separator: ", ")
                texts.append("\(suggestion.label) \(suggestion.isCollection) \(labels)")
            }
            return texts
        }
        var theirs: [String] = []
        for suggestion in list {
            let label = try #require(suggestion["text"] as? String)
            let found = try await running.answer(
                "World/GeocodeServer/findAddressCandidates",
                ["SingleLine": label, "magicKey": suggestion["magicKey"] as? String ?? ""])
            let places = try #require(found["candidates"] as? [[String: Any]], "\(found)")
            let labels = places.map { $0["address"] as? String ?? "" }.joined(separator: ", ")
            theirs.append("\(label) \(suggestion["isCollection"] as? Bool ?? true) \(labels)")
        }
        return [try await texts(service), theirs, try await texts(file)]
    }

    private func reverse(
        _ running: SDKSite, _ service: LocatorTask, _ file: LocatorTask, _ city: [String],
        _ random: inout SeededGenerator
    ) async throws -> [[String]] {
        let parameters = ReverseGeocodeParameters()
        parameters.maxDistance = Double(Int.random(in: 1...50_000, using: &random))
        let x = try #require(Double(city[4])) + .random(in: -0.2...0.2, using: &random)
        let y = try #require(Double(city[3])) + .random(in: -0.2...0.2, using: &random)
        let place = Point(latitude: y, longitude: x)
        let answer = try await running.answer(
            "World/GeocodeServer/reverseGeocode",
            ["location": "\(x),\(y)", "distance": "\(parameters.maxDistance)"])
        func text(_ result: GeocodeResult) throws -> String {
            let values = PlainValue.attributes(result.attributes)
            return "\(result.label) "
                + "\(try PlainValue.coordinates(result.displayLocation) ?? "") "
                + "\(values.sorted { $0.key < $1.key })"
        }
        var theirs: [String] = []
        if answer["error"] == nil {
            let values = PlainValue.attributes(answer["address"] as? [String: Any])
            let found = try PlainValue.coordinates(answer["location"] as? [String: Any])
            let label = (answer["address"] as? [String: Any])?["LongLabel"] as? String ?? ""
            theirs.append("\(label) \(found ?? "") \(values.sorted { $0.key < $1.key })")
        }
        return [
            try await service.reverseGeocode(forLocation: place, parameters: parameters).map(text),
            theirs,
            try await file.reverseGeocode(forLocation: place, parameters: parameters).map(text),
        ]
    }
}
