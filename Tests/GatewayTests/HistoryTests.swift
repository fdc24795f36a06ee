// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import FoundationEssentials
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// A map whose layer 0 was imported, and then edited twice, with a site that shows it.
private struct Edited {
    let site: SimulatedSite
    let service: GatewayService

    static func feature(_ id: Int64, _ name: String) -> EditedFeature {
        EditedFeature(
            id: id, shape: .point(Coordinate(x: 1, y: 2)),
            attributes: Attributes([.init(name: "NAME", value: .string(name))]))
    }

    init(access: AccessControl = .none) throws {
        site = SimulatedSite(map: try Samples.map())
        let map = try MapName(parsing: "City")
        let properties = LayerProperties(
            extent: nil, spatialReference: .webMercator, geometryType: .point,
            fields: [
                FieldDescription(name: "OBJECTID", type: .objectID),
                FieldDescription(name: "NAME", type: .string),
            ], featureCount: 1)
        func edit(_ name: String) -> FeaturesEdited {
            FeaturesEdited(
                layer: 0, added: [], changed: [Self.feature(7, name)], deleted: [], nextID: 8,
                refused: nil)
        }
        let payloads: [any EventPayload] = [
            MapCreated(name: map),
            LayerAdded(
                layer: 0, name: "Base",
                kind: .layer(source: LayerSource(dataset: try Samples.hash())),
                parent: nil, index: 0),
            LayerLoadStarted(layer: 0), LayerLoaded(layer: 0, properties: properties),
            LayerEditableChanged(layer: 0, isEditable: true),
            edit("wrong"), edit("worse"),
        ]
        var events: [RecordedEvent] = []
        for (index, payload) in payloads.enumerated() {
            let event = try payload.newEvent(
                id: UUID(), metadata: EventMetadata(actor: index < 5 ? "root" : "user:ben"))
            events.append(
                RecordedEvent(
                    globalPosition: Int64(index + 1), stream: .map(map),
                    streamPosition: Int64(index),
                    recordedAt: Timestamp(microseconds: Int64(index) * 1_000_000), event: event))
        }
        let recorded = events
        site.change { inner in
            inner.events = recorded
            inner.features = [7: Self.feature(7, "right")]
        }
        service = GatewayService(backend: site, access: access)
    }

    func ask(
        _ path: String, form: String? = nil, page: Bool = false
    ) async -> (response: GatewayResponse, text: String) {
        let parts = path.split(separator: "?", maxSplits: 1)
        let response = await service.answer(
            GatewayRequest(
                path: Array("/arcgis/rest/services/City/\(parts[0])".utf8),
                query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array((form ?? "").utf8), isPost: form != nil, wantsPage: page,
                client: RequestClient(address: "127.0.0.1", isPrivate: true)))
        return (response, String(decoding: response.body, as: UTF8.self))
    }

    func page(_ path: String, form: String? = nil) async throws -> XMLElement {
        let text = await ask(path, form: form, page: true).text
        return try XMLReader.read(Array(text.drop { $0 != "\n" }.utf8))
    }
}

extension XMLElement {
    fileprivate var all: [XMLElement] { [self] + children.flatMap(\.all) }
    fileprivate func all(_ name: String) -> [XMLElement] { all.filter { $0.name == name } }
}

@Suite struct HistoryTests {
    @Test func `the history of a feature has every change, with fields before and after`()
        async throws
    {
        let edited = try Edited()

        let text = await edited.ask("MapServer/0/7/history?f=json").text
        let answer = try RelaxedJSON.parse(text)

        guard case .array(let changes)? = answer["changes"] else {
            Issue.record("\(text)")
            return
        }
        #expect(
            changes.map { $0["change"] } == [
                .string("added"), .string("changed"), .string("changed"),
            ])
        #expect(changes.map { $0["event"]?["sequence"]?.number } == [2, 6, 7])
        #expect(text.contains(#""after":"wrong","before":"right","path":["NAME"]"#), "\(text)")
        #expect(text.contains(#""actor":"user:ben""#))
    }

    @Test func `a feature that never was has no history`() async throws {
        let text = await (try Edited()).ask("MapServer/0/99/history?f=json").text

        #expect(text.contains("\"code\":404") && text.contains("never had a feature"), "\(text)")
    }

    @Test func `the page of a feature leads to its history, whose page shows the changes`()
        async throws
    {
        let edited = try Edited()
        edited.site.change { inner in
            inner.answerToQuery = { _ in
                #"{"objectIdFieldName":"OBJECTID","fields":[{"name":"OBJECTID"}],"#
                    + #""features":[{"attributes":{"OBJECTID":7}}]}"#
            }
        }

        let links = try await edited.page("MapServer/0/7").all("a").compactMap {
            $0.attributes["href"]
        }
        #expect(links.contains("/arcgis/rest/services/City/MapServer/0/7/history"))
        let words = try await edited.page("MapServer/0/7/history").all.map(\.text).joined(
            separator: " ")
        for word in ["wrong", "worse", "by user:ben", "added"] {
            #expect(words.contains(word), "\(word)")
        }
    }

    @Test func `a comparison names the differing feature and the event that made it so`()
        async throws
    {
        let edited = try Edited()
        func answer(_ name: String) -> IdentifyAnswer {
            var answer = Samples.answer(geometry: nil)
            answer.layers[0].layerID = 0
            answer.layers[0].results[0].layerID = 0
            answer.layers[0].results[0].objectID = 7
            answer.layers[0].results[0].attributes = Attributes([
                .init(name: "NAME", value: .string(name))
            ])
            return answer
        }
        let answers: [Int64: IdentifyAnswer] = [5: answer("right"), 6: answer("wrong")]
        edited.site.change { $0.pastAnswers = answers }
        let place = "geometry=1,2&tolerance=1&mapExtent=0,0,1,1&imageDisplay=1,1,96"

        let text = await edited.ask(
            "MapServer/identify/compare?f=json&first=6&second=5&" + place
        ).text
        let result = try RelaxedJSON.parse(text)
        #expect(result["first"]?.number == 5 && result["second"]?.number == 6, "\(text)")
        #expect(text.contains(#""change":"changed","events":[6],"feature":7"#), "\(text)")

        let page = try await edited.page("MapServer/identify/compare?first=5&second=6&" + place)
        #expect(page.all("td").map(\.text).contains("wrong"))
        let missing = await edited.ask("MapServer/identify/compare?f=json&first=5&" + place).text
        #expect(missing.contains("'second'"), "\(missing)")
        let ahead = await edited.ask(
            "MapServer/identify/compare?f=json&first=5&second=9999&" + place
        ).text
        #expect(ahead.contains("a sequence number up to 42"), "\(ahead)")
    }

    @Test
    func `the changes of a map are offered for an undo, which is shown before it is confirmed`()
        async throws
    {
        let edited = try Edited()
        let dependent = UndoReport.Dependent(
            change: .init(sequence: 7, type: "map.features.edited", actor: "user:ben"),
            dependsOn: 6, subject: "feature 7 of layer 0")
        edited.site.change { $0.dependents = [dependent] }

        let list = try await edited.page("MapServer/history")
        let form = try #require(
            list.all("form").first {
                $0.attributes["action"]?.hasSuffix("FeatureServer/undo") == true
            })
        let radios = form.all("input").filter { $0.attributes["type"] == "radio" }
        #expect(radios.map { $0.attributes["value"] } == ["7", "7", "6", "6"])
        #expect(form.attributes["method"] == "post")

        let shown = try await edited.page("FeatureServer/undo", form: "from=6&dryRun=true")
        #expect(edited.site.inner.withLock { $0.undos.map(\.isDryRun) } == [true])
        #expect(shown.all("li").contains { $0.text.contains("builds on 6") })
        let confirming = shown.all("form").filter { form in
            form.all("input").contains { $0.attributes["name"] == "policy" }
        }
        #expect(
            confirming.map { form in
                form.all("input").first { $0.attributes["name"] == "policy" }?.attributes["value"]
            } == ["also", "merge"])
        #expect(
            confirming.allSatisfy { form in
                !form.all("input").contains { $0.attributes["name"] == "dryRun" }
            })

        _ = try await edited.page("FeatureServer/undo", form: "from=6&policy=also")
        let last = try #require(edited.site.inner.withLock { $0.undos.last })
        #expect(!last.isDryRun && last.policy == .also && last.from == 6)
    }

    @Test func `the changes of a map come in pages, newest first`() async throws {
        let edited = try Edited()

        let first = try RelaxedJSON.parse(
            await edited.ask("MapServer/history?f=json&resultRecordCount=2").text)
        #expect(first["before"]?.number == 6)
        let rest = try RelaxedJSON.parse(
            await edited.ask("MapServer/history?f=json&before=6").text)
        guard case .array(let changes)? = rest["changes"] else {
            Issue.record("there are no changes before 6")
            return
        }
        #expect(changes.map { $0["event"]?["sequence"]?.number } == [5, 4, 3, 2, 1])
        #expect(rest["before"] == nil)
    }
}
