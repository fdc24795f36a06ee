// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Curl
import Foundation
import Geometry
import Identify
import Site
import Synchronization
import TestKit
import Testing

@testable import Remote

@Suite(.timeLimit(.minutes(2))) struct WMSTests {
    private func number(_ value: AttributeValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .string(let text): Double(text)
        default: nil
        }
    }

    @Test func `a service tells what it is`() throws {
        let fixture = try RemoteFixture()

        let later = try #require(try fixture.wms(0, "/wms", ["roads", "ns:towns"]).properties)
        #expect(later.spatialReference.wkid == 3857 && later.geometryType == nil)
        #expect(later.geographicExtent == Envelope(minX: -5, minY: 41, maxX: 10, maxY: 52))
        #expect(later.service?.version == "1.3.0")
        #expect(later.service?.infoFormat == "application/json")
        #expect(later.service?.queryable == ["roads", "ns:towns"])
        #expect(later.service?.spatialReferences == [4326, 3857, 2154])
        let extent = try #require(later.extent)
        #expect(abs(extent.minX + 556_597.45) < 0.01 && abs(extent.maxY - 6_800_125.45) < 0.01)

        let earlier = try #require(try fixture.wms(0, "/wms111").properties)
        #expect(earlier.service?.version == "1.1.1" && earlier.service?.title == "Straßen")
        #expect(earlier.spatialReference.wkid == 4326)
        #expect(earlier.extent == Envelope(minX: -5, minY: 41, maxX: 10, maxY: 52))
    }

    @Test(arguments: [
        ("/wms", 4326, 2.25, 48.5, 0.001), ("/wms", 3857, 250_000, 6_200_000, 100),
        ("/wms", 2154, 650_000, 6_860_000, 100), ("/wms111", 4326, 2.25, 48.5, 0.001),
    ])
    func `the service is asked for the very place, in its order of axes`(
        path: String, wkid: Int, x: Double, y: Double, pixel: Double
    ) throws {
        let fixture = try RemoteFixture()
        let map = try fixture.map([try fixture.wms(0, path)], wkid: wkid)

        let answer = try fixture.identify(
            try fixture.request(x, y, pixel: pixel), in: map)

        let result = try #require(answer.results.first)
        let names = path == "/wms" ? ("x", "y") : ("X", "Y")
        #expect(abs(try #require(number(result.attributes[names.0])) - x) < pixel / 1000)
        #expect(abs(try #require(number(result.attributes[names.1])) - y) < pixel / 1000)
        if path == "/wms" {
            #expect(result.attributes["crs"] == .string("EPSG:\(wkid)"))
            #expect(abs(try #require(number(result.attributes["pixel"])) - pixel) < pixel / 1000)
            #expect(result.attributes.entries.map(\.name).first == "z")
            #expect(result.displayFieldName == "name" && result.objectID == 10)
            #expect(result.distance < pixel / 1000)
        } else {
            #expect(result.attributes["NAME"] == .string("A & B"))
            #expect(result.attributes.entries.map(\.name) == ["NAME", "X", "Y"])
        }
        #expect(answer.failures == nil)
    }

    @Test func `a map in a reference the service lacks is asked in the service's own`() throws {
        let fixture = try RemoteFixture()
        let map = try fixture.map([try fixture.wms(0)], wkid: 32631)

        let answer = try fixture.identify(
            try fixture.request(450_000, 5_400_000, pixel: 100), in: map)

        let result = try #require(answer.results.first)
        #expect(result.attributes["crs"] == .string("EPSG:3857"))
        // The feature is at the place of the request, so its distance in the map is zero.
        #expect(result.distance < 0.1)
        let geometry = try #require(result.geometry?.envelope)
        #expect(abs(geometry.minX - 450_000) < 0.1 && abs(geometry.minY - 5_400_000) < 0.1)
    }

    @Test func `several layers of a service are sublayers`() throws {
        let fixture = try RemoteFixture()
        let map = try fixture.map([try fixture.wms(0, "/wms", ["roads", "ns:towns", "paper"])])

        let layer = try #require(
            try fixture.identify(try fixture.request(2, 48), in: map).layers.first)

        #expect(layer.sublayerResults.map(\.layerName) == ["roads", "ns:towns"])
        #expect(layer.results.isEmpty && layer.totalHitCount == 2)
        #expect(layer.flattened.map(\.objectID) == [10, 11])
    }

    @Test func `more than a hundred features are cut, and said so`() throws {
        let fixture = try RemoteFixture()
        let map = try fixture.map([try fixture.wms(0, "/wms/many")])

        let answer = try fixture.identify(try fixture.request(2, 48), in: map)

        #expect(answer.results.count == 100 && answer.transferLimitExceeded)
    }

    @Test func `a layer that may not be asked has nothing to say`() throws {
        let fixture = try RemoteFixture()
        let map = try fixture.map([try fixture.wms(0, "/wms", ["paper"])])

        let answer = try fixture.identify(try fixture.request(2, 48), in: map)

        #expect(answer.results.isEmpty && answer.failures == nil)
        #expect(try fixture.server.log().allSatisfy { !$0.contains("GetFeatureInfo") })
    }

    @Test(arguments: ["null", "{}", "[]", #"{"type":"FeatureCollection"}"#])
    func `JSON without features is no answer`(_ text: String) throws {
        let fixture = try RemoteFixture()
        let question = try fixture.question(try fixture.wms(0))
        let response = WebResponse(
            status: 200, contentType: "application/json", body: Array(text.utf8))
        #expect(throws: Failure(.unreadable, "its answer has no features")) {
            _ = try FeatureInfo(response, question, ["roads"])
        }
    }

    @Test func `a page is read as what it shows`() throws {
        let fixture = try RemoteFixture()
        let page =
            "<html><head><title>x</title></head><body><b>R&amp;D &lt;3</b> caf&#233; &#x20AC;5 "
            + "&quot;q&quot; &unknown; a & b &amp;lt; &#0; &#xD800;</body></html>"
        let response = WebResponse(status: 200, contentType: "text/html", body: Array(page.utf8))

        let info = try FeatureInfo(response, try fixture.question(try fixture.wms(0)), ["roads"])

        #expect(
            info.features.map { $0.attributes["Text"] } == [
                .string("R&D <3 café €5 \"q\" &unknown; a & b &lt; &#0; &#xD800;")
            ])
    }

    @Test func `plain text is one result, unless it says there is nothing`() throws {
        let fixture = try RemoteFixture()
        let nothing = try fixture.map([try fixture.wms(0, "/text", ["roads"])])
        let something = try fixture.map([try fixture.wms(0, "/text", ["ns:towns"])])
        let request = try fixture.request(2, 48)

        #expect(try fixture.identify(request, in: nothing).results.isEmpty)
        let result = try #require(
            try fixture.identify(request, in: something).results.first)
        #expect(
            result.attributes == Attributes([.init(name: "Text", value: .string("height = 12"))]))
        #expect(result.geometry == .point(Coordinate(x: 2, y: 48)))
    }

    @Test(.slow) func `a service that fails is an explained failure beside what is found here`()
        throws
    {
        let fixture = try RemoteFixture(askTimeout: .seconds(4))
        let layers = [
            fixture.drawn(0), try fixture.wms(1, "/half"), try fixture.wms(2, "/exception"),
            try fixture.wms(3),
        ]
        let map = try fixture.map(layers)

        for option in [LayerSelection.Option.all, .visible] {
            let answer = try fixture.identify(
                try fixture.request(2, 48, option: option), in: map)
            #expect(answer.results.map(\.layerID) == [3, 0])
            #expect(answer.failures?.map(\.layerID) == [2, 1])
            let sentences = answer.failures?.map(\.error.message) ?? []
            #expect(sentences[0].contains("LayerNotDefined: No such layer"))
            #expect(sentences.allSatisfy { $0.hasPrefix(fixture.server.url) })
            let explained = try #require(answer.explanation?.layers)
            #expect(explained.map(\.status) == [.searched, .failed, .failed, .searched])
            #expect(explained[1].reason == .remoteFailed)
        }

        var below = try fixture.map(Array(layers.prefix(3)))
        below.layers[0].isVisible = true
        let top = try fixture.identify(
            try fixture.request(2, 48, option: .top), in: below)
        #expect(top.results.map(\.layerID) == [0] && top.failures?.count == 2)
    }

    @Test func `a server that does not answer is left alone for a while`() throws {
        let fixture = try RemoteFixture(askTimeout: .milliseconds(300))
        let map = try fixture.map([try fixture.wms(0, "/half")])

        _ = try fixture.identify(try fixture.request(2, 48), in: map)
        let second = try fixture.identify(try fixture.request(2, 48), in: map)

        let message = second.failures?.first?.error.message ?? ""
        #expect(message.contains("requests are paused"), "\(message)")
        #expect(try fixture.server.log().count { $0.contains("GetFeatureInfo") } == 1)
    }

    @Test func `servers are asked all at once, while the site's own layers are searched`() throws {
        let fixture = try RemoteFixture(askTimeout: .seconds(100))
        // Answered together or not at all.
        let layers = try (0..<8).map { try fixture.wms($0, "/together") }
        let map = try fixture.map([fixture.drawn(8)] + layers)
        let steps = Mutex<[String]>([])

        let note: @Sendable (String) -> Void = { step in steps.withLock { $0.append(step) } }

        let answer = try fixture.engine.identify(
            try fixture.request(2, 48), in: map,
            remotes: { questions in
                let inquiry = fixture.services.ask(questions)
                note("asked")
                return { index in
                    note("collected")
                    return inquiry.features(at: index)
                }
            },
            isCancelled: {
                // Recorded by the search of a layer.
                note("searched")
                return false
            })

        #expect(answer.failures == nil && answer.results.count == 9)
        #expect(steps.withLock { $0.prefix(2) } == ["asked", "searched"])
        #expect(steps.withLock { $0.contains("collected") })
    }

    @Test func `an abandoned request makes room for others`() throws {
        let fixture = try RemoteFixture(askTimeout: .seconds(300))
        let map = try fixture.map([try fixture.wms(0)])
        let question = try fixture.question(try fixture.wms(1, "/half"))

        for _ in 0..<3 {
            _ = fixture.services.ask([RemoteQuestion](repeating: question, count: 50))
        }

        let answer = try fixture.identify(try fixture.request(2, 48), in: map)
        #expect(answer.failures == nil && answer.results.count == 1)
    }

    @Test func `a cancelled request ends, and one without time for it too`() throws {
        let fixture = try RemoteFixture(askTimeout: .seconds(100))
        let map = try fixture.map([fixture.drawn(0), try fixture.wms(1, "/half")])
        let request = try fixture.request(2, 48)

        do throws(Failure) {
            _ = try fixture.identify(request, in: map) { true }
            Issue.record("it answered")
        } catch {
            #expect(error.code == .cancelled)
        }
        let late = try fixture.identify(request, in: map, until: .now + .milliseconds(200))
        #expect(late.results.map(\.layerID) == [0])
        #expect(late.failures?.first?.error.code == .timedOut)
        #expect(late.failures?.first?.error.message.contains("that its caller waits") == true)
    }

    @Test func `a load that fails names the reason and the server`() throws {
        let fixture = try RemoteFixture()
        func refusal(_ path: String, _ layers: [String] = ["roads"]) -> Failure? {
            do {
                _ = try fixture.wms(0, path, layers)
                return nil
            } catch {
                return error as? Failure
            }
        }

        for path in ["/denied", "/huge", "/break", "/loop", "/ok", "/nowhere"] {
            let failure = refusal(path)
            #expect(failure?.message.hasPrefix(fixture.server.url + path) == true, "\(path)")
        }
        #expect(refusal("/wms", ["streets"])?.message.contains("'roads'") == true)
        #expect(refusal("/denied")?.message.contains("401") == true)
    }

    @Test func `a credential is sent to its server alone, and shown nowhere`() throws {
        let fixture = try RemoteFixture()
        #expect(throws: Failure.self) { try fixture.wms(0, "/guarded", credential: "geo") }
        try fixture.credentials.set(Credential(user: "user", secret: "falsch"), as: "geo")
        do {
            _ = try fixture.wms(0, "/guarded", credential: "geo")
            Issue.record("it loaded")
        } catch {
            #expect(!"\(error)".contains("falsch") && "\(error)".contains("401"))
        }
        try fixture.credentials.set(Credential(user: "user", secret: "geheim"), as: "geo")

        let layer = try fixture.wms(0, "/guarded", credential: "geo")
        let answer = try fixture.identify(
            try fixture.request(2, 48), in: try fixture.map([layer]))

        #expect(answer.results.count == 1)
        let told = String(decoding: try JSONEncoder().encode(answer), as: UTF8.self)
        #expect(!told.contains("geheim") && !"\(layer)".contains("geheim"))
        let file = fixture.directory + "/geo.json"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        #expect(fixture.credentials.names == ["geo"])
        for name in ["", "../x", "a b", String(repeating: "a", count: 65)] {
            #expect(throws: Failure.self) {
                try fixture.credentials.set(Credential(secret: "x"), as: name)
            }
        }
    }

    @Test func `a token stands in no url`() throws {
        let fixture = try RemoteFixture()
        try fixture.credentials.set(Credential(secret: "geheim"), as: "geo")

        _ = try fixture.wms(0, "/wms", credential: "geo")

        let log = try fixture.server.log()
        #expect(log.contains { $0.contains("| Bearer geheim |") })
        #expect(log.allSatisfy { !$0.split(separator: "|")[0].contains("geheim") })
    }
}
