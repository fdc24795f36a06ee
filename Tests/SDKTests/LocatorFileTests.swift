// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Locator
import Testing

/// A task over a locator file, beside the engine on the same file.
@Suite struct LocatorFileTests {
    private let folder: URL
    private let file: URL

    init() throws {
        folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: URL(filePath: NSTemporaryDirectory()), create: true)
        let source = folder.appending(path: "places.txt")
        try """
        id\tname\tlatitude\tlongitude\tcountry\tpopulation
        1\tZürich\t47.3667\t8.55\tCH\t341730
        2\tParis\t48.85341\t2.3488\tFR\t2138551
        3\tParis\t33.66094\t-95.55551\tUS\t25171
        """.write(to: source, atomically: true, encoding: .utf8)
        let built = try LocatorBuilder.build(sources: [source.path], into: folder.path)
        file = folder.appending(path: "cities.bin")
        try FileManager.default.moveItem(
            at: folder.appending(path: "\(built.id)/locator.bin"), to: file)
    }

    private func task() throws -> LocatorTask {
        try #require(LocatorTask(name: folder.path + "/cities"))
    }

    @Test func `a file is found with and without its extension, and not where there is none`() {
        #expect(LocatorTask(name: folder.path + "/cities") != nil)
        #expect(LocatorTask(name: folder.path + "/cities.bin") != nil)
        #expect(LocatorTask(name: folder.path + "/towns") == nil)
        #expect(LocatorTask(name: folder.path) == nil)
    }

    @Test func `a file describes itself as a service does`() async throws {
        let task = try task()
        try await task.load()
        let info = try #require(task.locatorInfo)
        #expect(info.name == "cities")
        #expect(info.supportsSuggestions)
        #expect(info.spatialReference == .wgs84)
        #expect(info.resultAttributes.contains { $0.name == "Population" && $0.type == .int32 })
    }

    @Test func `places have labels, scores, positions and typed attributes`() async throws {
        let task = try task()
        let found = try await task.geocode(forSearchText: "zurich")
        let first = try #require(found.first)
        #expect(first.label.hasPrefix("Zürich"))
        #expect(first.displayLocation?.x == 8.55)
        #expect(first.attributes["Population"] as? Int32 == 341_730)
        let parameters = GeocodeParameters()
        parameters.countryCode = "US"
        parameters.outputSpatialReference = .webMercator
        let texan = try await task.geocode(forSearchText: "Paris", using: parameters)
        #expect(texan.count == 1)
        #expect(texan.first?.displayLocation?.spatialReference == .webMercator)
        #expect(texan.first.map { ($0.displayLocation?.x ?? 0) < -10_000_000 } == true)
        #expect(texan.first?.attributes.isEmpty == true)
    }

    @Test func `an address in fields is found, and fields without one are refused`() async throws {
        let task = try task()
        let found = try await task.geocode(forSearchValues: ["City": "Paris", "CountryCode": "FR"])
        #expect(found.first?.displayLocation?.y == 48.85341)
        await #expect(throws: CairnError.self) {
            try await task.geocode(forSearchValues: ["Town": "Paris"])
        }
    }

    @Test func `a suggestion leads to the place that it names`() async throws {
        let task = try task()
        let suggestions = try await task.suggest(forSearchText: "par")
        #expect(suggestions.count == 2)
        for suggestion in suggestions {
            let found = try await task.geocode(forSuggestResult: suggestion)
            #expect(found.map(\.label) == [suggestion.label])
        }
    }

    @Test func `a place near by is found by its position in Web Mercator`() async throws {
        let task = try task()
        let position: Point = try GeometryEngine.project(
            Point(latitude: 47.3667, longitude: 8.5501), into: .webMercator)
        let parameters = ReverseGeocodeParameters()
        parameters.maxDistance = 10_000
        let found = try await task.reverseGeocode(forLocation: position, parameters: parameters)
        #expect(found.first?.label.hasPrefix("Zürich") == true)
        #expect(found.first?.inputLocation == position)
    }

    @Test func `a file cut short anywhere fails to load with its name`() async throws {
        let bytes = try Data(contentsOf: file)
        let cut = folder.appending(path: "cut.bin")
        for part in 0...20 {
            try bytes.prefix((bytes.count - 1) * part / 20).write(to: cut)
            let task = LocatorTask(locatorFileURL: cut)
            let error = await #expect(throws: CairnError.self) {
                try await task.geocode(forSearchText: "Paris")
            }
            #expect(error?.description.contains(cut.path) == true, "\(part) of 20")
        }
    }
}
