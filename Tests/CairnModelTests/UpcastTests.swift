// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Testing

/// An event whose form has changed three times: a name in two parts, then in one, then a list of
/// names, then one that may have a rank.
private struct Named: EventPayload {
    static let eventType = "test.named"
    static let schema = 4
    static let upcasts: [Upcast] = [
        .rewritten { members throws(Failure) in
            guard case .string(let first)? = members["first"],
                case .string(let last)? = members["last"]
            else { throw Failure(.corrupt, "schema 1 has 'first' and 'last'") }
            var rest = members
            rest["first"] = nil
            rest["last"] = nil
            return rest.merging(["name": .string("\(first) \(last)")]) { $1 }
        },
        .rewritten { members throws(Failure) in
            guard let name = members["name"] else { throw Failure(.corrupt, "schema 2 has 'name'") }
            var rest = members
            rest["name"] = nil
            return rest.merging(["names": .array([name])]) { $1 }
        },
        .unchanged,
    ]
    var names: [String]
    var age: Double
    var number: Int64
    var rank: Int?
    var writtenSchema: Int { rank == nil ? 3 : 4 }
}

@Suite struct UpcastTests {
    private func decode(_ schema: Int, _ text: String) throws(Failure) -> Named {
        try Named.decode(
            NewEvent(
                id: UUID(), type: Named.eventType, schema: schema, data: Data(text.utf8),
                metadata: EventMetadata()))
    }

    private func refusal(_ schema: Int, _ text: String) -> Failure? {
        do throws(Failure) {
            _ = try decode(schema, text)
            return nil
        } catch {
            return error
        }
    }

    /// Numbers at the limits of JSON readers, which a careless rewriting would round.
    private let others = #""age":0.1,"number":9223372036854775807"#

    @Test(arguments: [
        (1, #""first":"Ada","last":"L""#), (2, #""name":"Ada L""#), (3, #""names":["Ada L"]"#),
        (4, #""names":["Ada L"]"#),
    ])
    func `every schema ever written reads as the newest`(schema: Int, text: String) throws {
        let read = try decode(schema, "{\(text),\(others),\"unknown\":[null,true]}")
        #expect(read == Named(names: ["Ada L"], age: 0.1, number: .max))
        let again = try read.newEvent(id: UUID(), metadata: EventMetadata())
        #expect(again.schema == 3)
        #expect(try Named.decode(again) == read)
    }

    @Test func `an event not in its schema's form, or of a newer schema, is refused by a sentence`()
    {
        #expect(refusal(4, #"{"names":["A"],"rank":3,\#(others)}"#) == nil)
        let old = refusal(1, #"{"first":"Ada",\#(others)}"#)
        #expect(old?.code == .corrupt && old?.message.contains("'first' and 'last'") == true)
        #expect(refusal(2, #"{"first":"Ada",\#(others)}"#)?.code == .corrupt)
        #expect(refusal(3, "[]")?.code == .corrupt)
        #expect(refusal(1, "[]")?.code == .corrupt)
        #expect(refusal(0, #"{"names":["A"],\#(others)}"#)?.code == .corrupt)
        let newer = refusal(5, #"{"names":["A"],\#(others)}"#)
        #expect(newer?.code == .newerVersion)
        #expect(newer?.message.contains("has schema 5; this build knows schema 4") == true)
    }
}
