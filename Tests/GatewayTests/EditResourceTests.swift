// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Testing

@testable import Gateway

@Suite struct EditResourceTests {
    private let map: MapName

    init() throws { map = try #require(MapName(rawValue: "City")) }

    private func edits(
        _ operation: EditOperation, _ name: String, _ json: String
    ) throws(Failure) -> FeatureEdits {
        try EditResource.request(
            operation, map: map, layer: 0, Parameters([name: json])
        ).edits
    }

    private func refusal(
        _ operation: EditOperation, _ name: String, _ json: String
    ) -> String? {
        do throws(Failure) {
            _ = try edits(operation, name, json)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `an object id may be text`() throws {
        let some =
            #"[{"attributes":{"OBJECTID":"12","NAME":"7"}},{"attributes":{"objectid":" 13 "}},"#
            + #"{"attributes":{"OBJECTID":14}},{"attributes":{"OBJECTID":null}},"#
            + #"{"attributes":{"OBJECTID":""}},{"attributes":{}}]"#
        for (operation, name) in [(EditOperation.update, "features"), (.apply, "updates")] {
            let updates = try edits(operation, name, some).updates
            #expect(updates.map(\.id) == [12, 13, 14, nil, nil, nil])
            // A field that is text stays text.
            #expect(updates[0].attributes["NAME"] == .string("7"))
        }
        let all = try EditResource.requests(
            Parameters(["edits": #"[{"id":2,"updates":\#(some)}]"#]))
        #expect(all.first?.edits.updates.map(\.id) == [12, 13, 14, nil, nil, nil])
        #expect(try edits(.apply, "deletes", #"["7",8]"#).deletes == [7, 8])
        #expect(try edits(.delete, "objectIds", #"7,"8""#).deletes == [7, 8])
    }

    @Test(arguments: [
        (#""twelve""#, "twelve"), (#""1 2""#, "1 2"), ("12.5", "12.5"), (#""12.5""#, "12.5"),
        (#""99999999999999999999""#, "99999999999999999999"),
    ])
    func `an object id that is no whole number is the fault of its feature`(
        _ written: String, _ told: String
    ) throws {
        let some = #"[{"attributes":{"OBJECTID":1}},{"attributes":{"OBJECTID":\#(written)}}]"#
        let faults = [nil, "the object id '\(told)' is no whole number"]
        #expect(try edits(.update, "features", some).updates.map(\.fault?.message) == faults)
        #expect(try edits(.apply, "updates", some).updates.map(\.fault?.message) == faults)
        // New features get an id, whatever the request has.
        #expect(refusal(.add, "features", some) == nil)
        #expect(refusal(.apply, "deletes", "[1,\(written)]") != nil)
    }

    @Test func `an answer has the moment and the deletions where they are wanted`() throws {
        let results = FeatureEditResults(
            adds: [FeatureEditResult(id: 9)], updates: [],
            deletes: [FeatureEditResult(id: 7), FeatureEditResult(id: 8)])
        func answer(
            _ operation: EditOperation, _ values: [String: String],
            _ results: FeatureEditResults
        ) throws -> RelaxedValue {
            let name = operation == .add ? "features" : operation == .apply ? "adds" : "objectIds"
            let request = try EditResource.request(
                operation, map: map, layer: 0,
                Parameters(values.merging([name: operation == .delete ? "7,8" : "[{}]"]) { $1 }))
            let body = EditResource.body(operation, results, to: request)
            return try RelaxedJSON.parse(String(decoding: body, as: UTF8.self))
        }
        for operation in [EditOperation.add, .apply, .delete] {
            #expect(try answer(operation, [:], results)["editMoment"] == nil)
            let before = Date.now.timeIntervalSince1970 * 1000
            let moment = try answer(operation, ["returnEditMoment": "true"], results)["editMoment"]
            let after = Date.now.timeIntervalSince1970 * 1000
            #expect((before - 1...after).contains(try #require(moment?.number)))
        }
        guard case .array(let all)? = try answer(.delete, [:], results)["deleteResults"] else {
            Issue.record("no results")
            return
        }
        #expect(all.map { $0["objectId"] } == [.number(7), .number(8)])
        let short = try answer(.delete, ["returnDeleteResults": "false"], results)
        #expect(short == .object(["success": .bool(true)]))
        var failed = results
        failed.deletes[1].failure = Failure(.notFound, "there is no feature 8")
        #expect(
            try answer(.delete, ["returnDeleteResults": "false"], failed)
                == .object(["success": .bool(false)]))
        // It is about deletions alone.
        let whole = try answer(.apply, ["returnDeleteResults": "false"], results)
        #expect(whole["addResults"] != nil && whole["deleteResults"] != nil)
    }

    @Test func `a geometry that is none is the fault of its feature alone`() throws {
        let some =
            #"[{"attributes":{"NAME":"a"},"geometry":{"x":1,"y":2}},"#
            + #"{"attributes":{"NAME":"b"},"geometry":{"x":"north","y":1}},"#
            + #"{"attributes":{"NAME":"c"},"geometry":{"rings":[[[0,0]]]}}]"#
        let adds = try edits(.add, "features", some).adds
        #expect(adds.map { $0.fault == nil } == [true, false, false])
        #expect(adds.dropFirst().allSatisfy { $0.fault?.message.hasPrefix("geometry: ") == true })
        #expect(refusal(.add, "features", "[1]")?.hasPrefix("parameter 'features[0]': ") == true)
    }

    @Test(arguments: [
        "null", #"{"x":null,"y":null}"#, #"{"x":"NaN","y":"NaN"}"#, #"{"points":[]}"#,
        #"{"paths":[]}"#, #"{"rings":[],"spatialReference":{"wkid":4326}}"#,
    ])
    func `Esri's empty geometries are none, which is not the same as none given`(
        _ geometry: String
    ) throws {
        let some =
            #"[{"attributes":{"OBJECTID":7},"geometry":\#(geometry)},{"attributes":{"OBJECTID":8}}]"#
        for (operation, name) in [
            (EditOperation.add, "features"), (.update, "features"), (.apply, "updates"),
        ] {
            let edits = try edits(operation, name, some)
            let drafts = edits.adds + edits.updates
            #expect(drafts.allSatisfy { $0.fault == nil && $0.geometry == nil })
            #expect(drafts.map(\.clearsGeometry) == [true, nil])
        }
    }
}
