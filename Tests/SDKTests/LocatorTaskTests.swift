// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

@Suite struct LocatorTaskTests {
    private let server = StubServer()
    private var task: LocatorTask {
        LocatorTask(url: server.url.appending(path: "World/GeocodeServer"))
    }

    init() {
        server.on(
            "/World/GeocodeServer",
            json: #"""
                {"singleLineAddressField":{"name":"SingleLine"},"addressFields":[{"name":"Address",
                "type":"esriFieldTypeString","alias":"Street"}],"candidateFields":[{"name":"Score",
                "type":"esriFieldTypeDouble"},{"name":"Rank","type":"esriFieldTypeInteger"}],
                "spatialReference":{"wkid":4326},"capabilities":"Geocode,ReverseGeocode,Suggest"}
                """#)
        server.on(
            "/World/GeocodeServer/findAddressCandidates",
            json: #"""
                {"spatialReference":{"wkid":4326},"candidates":[{"address":"Paris, France",
                "location":{"x":2.35,"y":48.85},"score":100,"attributes":{"Score":100,"Rank":1},
                "extent":{"xmin":2,"ymin":48,"xmax":3,"ymax":49}},{"address":"Paris, Texas",
                "location":{"x":-95.5,"y":33.6},"score":90,"attributes":{"Score":90}}]}
                """#)
    }

    @Test func `places come best first, typed, in the service's reference`() async throws {
        let task = task
        let found = try await task.geocode(forSearchText: "Paris")
        #expect(found.map(\.label) == ["Paris, France", "Paris, Texas"])
        #expect(found[0].displayLocation?.spatialReference == .wgs84)
        #expect(found[0].extent?.width == 1)
        #expect(found[0].attributes["Rank"] as? Int32 == 1)
        #expect(found[0].attributes["Score"] as? Double == 100)
        #expect(task.locatorInfo?.supportsSuggestions == true)
        #expect(task.locatorInfo?.supportsAddresses == true)
        let asked = try #require(
            server.requests("/World/GeocodeServer/findAddressCandidates").last
        ).parameters
        #expect(asked["SingleLine"] == "Paris" && asked["outFields"] == "*")
    }

    @Test func `parameters go into the request, and a copy of them`() async throws {
        let parameters = GeocodeParameters()
        parameters.countryCode = "France"
        parameters.maxResults = 1
        parameters.minScore = 95
        parameters.outputLanguageCode = "fr"
        parameters.addCategory("Populated Place")
        parameters.addResultAttributeName("Score")
        parameters.preferredSearchLocation = Point(latitude: 48, longitude: 2)
        parameters.outputSpatialReference = .webMercator
        let found = try await task.geocode(forSearchText: "Paris", using: parameters)
        #expect(found.count == 1)
        let asked = try #require(server.requests.last).parameters
        #expect(asked["countryCode"] == "France" && asked["maxLocations"] == "1")
        #expect(asked["langCode"] == "fr" && asked["category"] == "Populated Place")
        #expect(asked["outFields"] == "Score" && asked["outSR"] == "102100")
        #expect(asked["location"]?.contains("\"wkid\":4326") == true)
    }

    @Test func `a suggestion is geocoded by its key`() async throws {
        server.on(
            "/World/GeocodeServer/suggest",
            json: #"{"suggestions":[{"text":"Paris","magicKey":"k1","isCollection":false}]}"#)
        let task = task
        let suggestions = try await task.suggest(forSearchText: "Par")
        let first = try #require(suggestions.first)
        #expect(first.label == "Paris")
        _ = try await task.geocode(forSuggestResult: first)
        #expect(server.requests.last?.parameters["magicKey"] == "k1")
    }

    @Test func `no address near by is an empty answer, another error is thrown`() async throws {
        server.on(
            "/World/GeocodeServer/reverseGeocode",
            .error(
                400, "Cannot perform query. Invalid query parameters.",
                details: ["Unable to find address for the specified location."]))
        let task = task
        let place = Point(latitude: 0, longitude: 0)
        #expect(try await task.reverseGeocode(forLocation: place).isEmpty)
        server.on("/World/GeocodeServer/reverseGeocode", .error(403, "not yours"))
        await #expect(throws: ServiceError.self) {
            try await task.reverseGeocode(forLocation: place)
        }
    }

    @Test func `kinds of places say what a locator finds`() async throws {
        let server = StubServer()
        func info(_ categories: String) async throws -> LocatorInfo {
            let place = "/L\(UUID().uuidString)/GeocodeServer"
            server.on(
                place,
                json: #"{"currentVersion":11.1,"addressFields":[],"categories":\#(categories)}"#)
            let task = LocatorTask(url: server.url.appending(path: String(place.dropFirst())))
            try await task.load()
            return try #require(task.locatorInfo)
        }
        let whole = try await info(
            #"[{"name":"Address","categories":[{"name":"Intersection"}]},{"name":"POI"}]"#)
        #expect(whole.supportsAddresses && whole.supportsPOI && whole.supportsIntersections)
        #expect(whole.version == "11.1")
        let names = try await info(#"[{"name":"POI","categories":[{"name":"Food"}]}]"#)
        #expect(!names.supportsAddresses && names.supportsPOI && !names.supportsIntersections)
        let plain = try await info("[]")
        #expect(plain.supportsAddresses && !plain.supportsPOI)
    }
}
