// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Geometry
import JobKinds
import Locator
import Site
import Synchronization
import TestKit
import Testing

@testable import Worker
@testable import WorkerPools

/// A site with locators, and the file of each name.
private final class Names: Sendable {
    let site: Site
    let published = Mutex<[String: LocatorPublished]>([:])

    init() throws {
        site = try Site(
            openingOrCreating: NSTemporaryDirectory() + "cairn-shelf-" + UUID().uuidString)
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }

    /// Builds a locator with one town, and publishes it.
    @discardableResult
    func publish(_ name: String, town: String) throws -> ContentID {
        let source = site.path + "/\(town).tsv"
        let text = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\t\(town)\t48.5\t2.25\tFR\t1000
            """
        try text.write(toFile: source, atomically: true, encoding: .utf8)
        let built = try LocatorBuilder.build(sources: [source], into: site.locatorsDirectory)
        published.withLock {
            $0[name] = LocatorPublished(
                name: name, locator: built.id, placeCount: built.placeCount)
        }
        return built.id
    }

    func shelf() -> LocatorShelf {
        LocatorShelf(site: site) { [self] name in published.withLock { $0[name] } }
    }
}

@Suite struct LocatorOperationsTests {
    private let names: Names
    private let shelf: LocatorShelf

    init() throws {
        names = try Names()
        shelf = names.shelf()
    }

    private func answer(
        _ name: String, _ request: some Encodable, contentType: UInt8
    ) throws -> Data {
        let handlers = LocatorOperations(on: shelf).handlers(blobs: names.site.blobs)
        let operation = try #require(handlers.handlers[name])
        let context = OperationContext(
            metadata: RequestMetadata(operation: name), contentType: contentType,
            deadline: nil, control: WorkControl())
        return try operation(context, CairnJSON.encode(request))
    }

    private func run<Answer: Decodable>(
        _ name: String, _ request: some Encodable, as type: Answer.Type
    ) throws -> Answer {
        try CairnJSON.decode(
            type, from: answer(name, request, contentType: MessageHeader.json))
    }

    private func geocode(_ text: String, locator: String = "World") throws -> GeocodeAnswer {
        try run(
            "geocode", GeocodeRequest(locator: locator, singleLine: text), as: GeocodeAnswer.self)
    }

    @Test func `each operation answers from the locator it names`() throws {
        let id = try names.publish("World", town: "Melun")
        let location = Coordinate(x: 2.25, y: 48.5)

        #expect(try geocode("melun").candidates.map(\.address) == ["Melun, FR"])
        #expect(try geocode("melun").locator == id)
        #expect(
            try run("suggest", SuggestRequest(text: "me"), as: SuggestAnswer.self)
                .suggestions.map(\.text) == ["Melun, FR"])
        #expect(
            try run(
                "reverse", ReverseGeocodeRequest(location: location), as: ReverseGeocodeAnswer.self
            ).candidate?.address == "Melun, FR")
    }

    @Test func `an answer has the form that is asked for, and says the same`() throws {
        try names.publish("World", town: "Melun")
        func fixed(_ name: String, _ request: some Encodable) throws -> Data {
            try answer(name, request, contentType: MessageHeader.fixedLayout)
        }
        let geocode = GeocodeRequest(singleLine: "melun")
        #expect(
            try FixedLayout.geocodeAnswer(fixed("geocode", geocode))
                == run("geocode", geocode, as: GeocodeAnswer.self))
        let suggest = SuggestRequest(text: "me")
        #expect(
            try FixedLayout.suggestAnswer(fixed("suggest", suggest))
                == run("suggest", suggest, as: SuggestAnswer.self))
        let reverse = ReverseGeocodeRequest(location: Coordinate(x: 2.25, y: 48.5))
        #expect(
            try FixedLayout.reverseAnswer(fixed("reverse", reverse))
                == run("reverse", reverse, as: ReverseGeocodeAnswer.self))
    }

    @Test func `a name moves on to the file published last`() throws {
        let first = try names.publish("World", town: "Melun")
        #expect(try geocode("melun").locator == first)

        let second = try names.publish("World", town: "Provins")
        #expect(try geocode("provins").locator == second)
        #expect(try geocode("melun").candidates == [])
    }

    @Test func `locators beside each other do not mix, however many there are`() throws {
        let towns = (0..<LocatorShelf.capacity + 3).map {
            "Town\(Character(Unicode.Scalar(65 + UInt8($0))))"
        }
        for town in towns { try names.publish(town, town: town) }

        for town in towns + towns.reversed() {
            let answer = try geocode(town, locator: town)
            #expect(answer.candidates.first?.address == "\(town), FR")
        }
    }

    @Test func `an unknown name, a lost file and a damaged one are told apart`() throws {
        #expect {
            try geocode("x", locator: "Nowhere")
        } throws: {
            ($0 as? Failure)?.code == .notFound
                && ($0 as? Failure)?.message.contains("Nowhere") == true
        }
        let id = try names.publish("World", town: "Melun")
        let path = names.site.locatorPath(id)
        let whole = try Data(contentsOf: URL(filePath: path))
        try FileManager.default.removeItem(atPath: path)
        #expect {
            try geocode("melun")
        } throws: {
            ($0 as? Failure)?.code == .notFound && ($0 as? Failure)?.message.contains(path) == true
        }
        try whole.dropLast().write(to: URL(filePath: path))
        #expect {
            try geocode("melun")
        } throws: {
            ($0 as? Failure)?.code == .corrupt && ($0 as? Failure)?.message.contains(path) == true
        }
        try whole.write(to: URL(filePath: path))
        #expect(try geocode("melun").candidates.count == 1)
    }

    @Test func `a payload that is no request is refused in a sentence`() throws {
        try names.publish("World", town: "Melun")
        for name in ["geocode", "suggest", "reverse"] {
            #expect {
                try run(name, ["neither": 1], as: GeocodeAnswer.self)
            } throws: {
                ($0 as? Failure)?.code == .invalidParameter
            }
        }
    }

    @Test func `a bad row is not found and does not end the job`() throws {
        try names.publish("World", town: "Melun")
        let locator = try shelf.locator(named: "World")
        func find(_ text: String, _ countries: [String] = []) throws -> String? {
            try locator.bestCandidate(for: text, in: countries, asking: "World")?.address
        }

        #expect(try find("Melun") == "Melun, FR")
        #expect(try find("Melun", ["fr"]) == "Melun, FR")
        #expect(try find("") == nil)
        #expect(try find("!?") == nil)
        #expect(try find("Melun", ["QQ"]) == nil)
        #expect(try find(String(repeating: "x", count: 5_000)) == nil)
    }

    @Test func `many threads may ask while names move on`() async throws {
        try names.publish("World", town: "Melun")
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    for round in 0..<20 {
                        if number == 0 { _ = try? names.publish("World", town: "Town\(round)") }
                        guard (try? geocode("melun")) != nil else { return false }
                    }
                    return true
                }
            }
            for await isAnswered in group { #expect(isAnswered) }
        }
    }
}
