// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Testing

/// Every form an event ever had, as stored: `Golden/v1/events/<type>.<schema>[.<variant>].json`.
///
/// A file once released is never changed or removed: logs hold those bytes.
@Suite struct GoldenEventTests {
    struct Golden: CustomStringConvertible {
        var type: String
        var schema: Int
        var bytes: Data
        var description: String { "\(type).\(schema)" }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    static let goldens: [Golden] = {
        let folder = root.appending(path: "Tests/Golden/v1/events")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.sorted().compactMap { name in
            guard let match = name.wholeMatch(of: /([A-Za-z.]+)\.(\d+)(\.[a-z]+)?\.json/),
                let schema = Int(match.2),
                let bytes = try? Data(contentsOf: folder.appending(path: name))
            else { return nil }
            return Golden(type: String(match.1), schema: schema, bytes: bytes)
        }
    }()

    /// The payload as decoded by its category's reader.
    private func payload(_ event: NewEvent) throws -> any EventPayload {
        switch event.type.split(separator: ".").first {
        case "map": try MapEvent(event).payload
        case "job": try JobEvent(event).payload
        case "locator" where event.type == LocatorDeleted.eventType:
            try LocatorDeleted.decode(event)
        case "locator": try LocatorPublished.decode(event)
        case "site": try SiteEvent(event).payload
        case "refresh": try RefreshEvent(event).payload
        case "network": try NetworkEvent(event).payload
        default: throw Failure(.newerVersion, "no reader for \(event.type)")
        }
    }

    @Test(arguments: goldens)
    func `a stored event reads back and is written again with the same bytes`(
        golden: Golden
    ) throws {
        let event = NewEvent(
            id: UUID(), type: golden.type, schema: golden.schema, data: golden.bytes,
            metadata: EventMetadata())

        let payload = try payload(event)

        #expect(type(of: payload).eventType == golden.type)
        #expect(type(of: payload).upcasts.count == type(of: payload).schema - 1)
        let again = try payload.newEvent(id: event.id, metadata: event.metadata)
        if again.schema == golden.schema {
            #expect(
                String(decoding: again.data, as: UTF8.self)
                    == String(decoding: golden.bytes, as: UTF8.self))
        }
    }

    @Test func `every event type and schema of the sources has a golden file`() throws {
        let kept = Set(Self.goldens.map(\.description))
        var found = 0
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path()))
        for case let name as String in files where name.hasSuffix(".swift") {
            let text = try String(
                contentsOf: sources.appending(path: name), encoding: .utf8)
            for match in text.matches(of: /static let eventType = "([A-Za-z.]+)"/) {
                found += 1
                let rest = text[match.range.upperBound...].prefix(200)
                let schema = rest.firstMatch(of: /static let schema = (\d+)/).map { Int($0.1) ?? 1 }
                for number in 1...(schema ?? 1) {
                    #expect(
                        kept.contains("\(match.1).\(number)"),
                        "\(match.1) of schema \(number) in \(name) has no golden file")
                }
            }
        }
        #expect(found >= 31)
    }

    @Test func `a newer schema and an unknown type are refused, a wrong form is named`() {
        func code(_ type: String, _ schema: Int, _ text: String) -> Failure.Code? {
            let event = NewEvent(
                id: UUID(), type: type, schema: schema, data: Data(text.utf8),
                metadata: EventMetadata())
            do {
                _ = try payload(event)
                return nil
            } catch {
                return (error as? Failure)?.code
            }
        }

        #expect(code("map.created", 1, #"{"name":"World"}"#) == nil)
        #expect(code("map.created", 1, #"{"name":"World","later":1}"#) == nil)
        #expect(code("map.created", 2, #"{"name":"World"}"#) == .newerVersion)
        #expect(code("map.created", 0, #"{"name":"World"}"#) == .corrupt)
        #expect(code("map.renamedByNobody", 1, "{}") == .newerVersion)
        #expect(code("map.created", 1, #"{"name":"not a name"}"#) == .corrupt)
        #expect(code("job.progressed", 1, "{}") == .corrupt)
        #expect(code("job.progressed", 1, "{") == .corrupt)
    }
}
