// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import Platform

/// An operation on the features of a layer.
enum EditOperation: Hashable {
    case add, update, delete, apply
}

/// `FeatureServer/{id}/addFeatures` and similar: converts Esri's parameters to edits, and their
/// results to bodies.
enum EditResource {
    /// The edits of one layer.
    struct Request {
        var edits: FeatureEdits
        /// Whether the answer includes the moment of the edit.
        var returnsMoment = false
        /// Whether the answer to a deletion lists each feature.
        var returnsDeletions = true
        /// Query of features to delete beside the listed ones; nil for none.
        var deletion: QueryRequest?
    }

    /// Parses the parameters of an operation; throws `Failure` naming the offending one.
    static func request(
        _ operation: EditOperation, map: MapName, layer: LayerID, _ parameters: Parameters
    ) throws(Failure) -> Request {
        for flag in [Known.useGlobalIds, Known.async] where try parameters.flag(flag) {
            throw Failure(.invalidParameter, "parameter '\(flag.name)' is not supported")
        }
        var edits = FeatureEdits(
            isAtomic: try parameters.flag(Known.rollbackOnFailure))
        var deletion: QueryRequest?
        switch operation {
        case .add: edits.adds = try drafts(Known.features.name, parameters, isRequired: true)
        case .update:
            edits.updates = try drafts(
                Known.features.name, parameters, isRequired: true, areUpdates: true)
        case .delete:
            if parameters[Known.where] == nil, parameters[Known.geometry] == nil {
                edits.deletes = try ids(Known.objectIds.name, parameters)
                guard !edits.deletes.isEmpty else {
                    throw Failure(
                        .invalidParameter, "parameter 'objectIds', 'where' or 'geometry' is missing"
                    )
                }
            } else {
                var query = try QueryResource.request(map: map, layer: layer, parameters)
                query.result = .objectIDs
                query.form = .esri
                deletion = query
            }
        case .apply:
            edits.adds = try drafts(Known.adds.name, parameters)
            edits.updates = try drafts(Known.updates.name, parameters, areUpdates: true)
            edits.deletes = try ids(Known.deletes.name, parameters)
        }
        let returnsDeletions = try parameters.flag(Known.returnDeleteResults)
        return Request(
            edits: edits, returnsMoment: try parameters.flag(Known.returnEditMoment),
            returnsDeletions: returnsDeletions || operation != .delete, deletion: deletion)
    }

    /// Parses `edits` of the whole service: `[{"id":0,"adds":[…],"updates":[…],"deletes":[…]}]`.
    static func requests(_ parameters: Parameters) throws(Failure) -> [LayerFeatureEdits] {
        let name = "edits"
        let isAtomic = try parameters.flag(Known.rollbackOnFailure)
        guard case .array(let items) = try json(name, try parameters.required(name)) else {
            throw Parameters.unexpected(name, "", #"[{"id":0,"adds":[…]}]"#)
        }
        var requests: [LayerFeatureEdits] = []
        for (index, item) in items.enumerated() {
            let place = "\(name)[\(index)]"
            guard let id = item["id"]?.number.flatMap({ Int(exactly: $0) }) else {
                throw Failure(
                    .invalidParameter, "parameter '\(place).id': expected a layer's number")
            }
            requests.append(
                LayerFeatureEdits(
                    id,
                    FeatureEdits(
                        adds: try drafts(item["adds"] ?? .null, place + ".adds"),
                        updates: try drafts(
                            item["updates"] ?? .null, place + ".updates", areUpdates: true),
                        deletes: try ids(item["deletes"] ?? .null, place + ".deletes"),
                        isAtomic: isAtomic)))
        }
        return requests
    }

    /// The object ids in the answer to a query.
    static func ids(ofAnswer body: [UInt8]) throws(Failure) -> [Int64] {
        let answer = try RelaxedJSON.parse(String(decoding: body, as: UTF8.self))
        return try ids(answer["objectIds"] ?? .null, "objectIds")
    }

    // MARK: Parameters

    private static func json(_ name: String, _ text: String) throws(Failure) -> RelaxedValue {
        do throws(Failure) { return try RelaxedJSON.parse(text) } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
    }

    private static func drafts(
        _ name: String, _ parameters: Parameters, isRequired: Bool = false,
        areUpdates: Bool = false
    ) throws(Failure) -> [FeatureDraft] {
        guard let text = parameters[name] else {
            if isRequired { _ = try parameters.required(name) }
            return []
        }
        return try drafts(try json(name, text), name, areUpdates: areUpdates)
    }

    private static func drafts(
        _ value: RelaxedValue, _ name: String, areUpdates: Bool = false
    ) throws(Failure) -> [FeatureDraft] {
        if value == .null { return [] }
        guard case .array(let items) = value else {
            throw Failure(.invalidParameter, "parameter '\(name)': expected an array of features")
        }
        var drafts: [FeatureDraft] = []
        for (index, item) in items.enumerated() {
            do throws(Failure) {
                drafts.append(try draft(item, isUpdate: areUpdates))
            } catch {
                throw Failure(error.code, "parameter '\(name)[\(index)]': \(error.message)")
            }
        }
        return drafts
    }

    private static func draft(
        _ item: RelaxedValue, isUpdate: Bool
    ) throws(Failure) -> FeatureDraft {
        guard case .object = item else {
            throw Failure(
                .invalidParameter, "expected a feature with 'attributes' and 'geometry'")
        }
        var draft = FeatureDraft()
        do throws(Failure) { try read(item, isUpdate: isUpdate, into: &draft) } catch {
            draft.fault = error
        }
        return draft
    }

    private static func read(
        _ item: RelaxedValue, isUpdate: Bool, into draft: inout FeatureDraft
    ) throws(Failure) {
        if case .object(let members)? = item["attributes"] {
            // Sorted, so that errors are deterministic.
            for name in members.keys.sorted() {
                let value = try attribute(name, members[name] ?? .null)
                if name.isEqualIgnoringCase(Dataset.objectIDField) {
                    // A new feature's id is ignored.
                    if isUpdate { draft.id = try objectID(value) }
                } else {
                    draft.attributes.entries.append(.init(name: name, value: value))
                }
            }
        }
        guard let geometry = item["geometry"] else { return }
        if GeometryParameter.isNothing(geometry) {
            draft.clearsGeometry = true
        } else {
            let read: GeometryParameter
            do throws(Failure) { read = try GeometryParameter(json: geometry) } catch {
                throw Failure(error.code, "geometry: " + error.message, details: error.details)
            }
            draft.geometry = GeometryForm(read.shape, read.ordinates)
            draft.spatialReference = read.spatialReference
        }
    }

    /// An integer, also as text; nil if absent.
    private static func objectID(_ value: AttributeValue) throws(Failure) -> Int64? {
        let found: String
        switch value {
        case .null: return nil
        case .integer(let id): return id
        case .real(let number): found = "\(number)"
        case .string(let text):
            let words = text.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { return nil }
            if words.count == 1, let id = Int64(words[0]) { return id }
            found = text
        case .date(let moment): found = "\(moment)"
        }
        throw Failure(
            .invalidParameter, "the object id '\(found.prefix(40))' is no whole number")
    }

    private static func attribute(
        _ name: String, _ value: RelaxedValue
    ) throws(Failure) -> AttributeValue {
        switch value {
        case .null: return .null
        case .bool(let flag): return .integer(flag ? 1 : 0)
        case .number(let number):
            return Int64(exactly: number).map { .integer($0) } ?? .real(number)
        case .string(let text): return .string(text)
        case .array, .object:
            throw Failure(
                .invalidParameter,
                "attribute '\(name.prefix(80))': expected null, a number or text")
        }
    }

    private static func ids(_ name: String, _ parameters: Parameters) throws(Failure) -> [Int64] {
        guard let text = parameters[name] else { return [] }
        let isArray = text.utf8.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "[")
        return try ids(try json(name, isArray ? text : "[\(text)]"), name)
    }

    private static func ids(_ value: RelaxedValue, _ name: String) throws(Failure) -> [Int64] {
        if value == .null { return [] }
        let expected = Failure(.invalidParameter, "parameter '\(name)': expected object ids")
        guard case .array(let items) = value else { throw expected }
        var ids: [Int64] = []
        for item in items {
            var id = item.number.flatMap { Int64(exactly: $0) }
            if case .string(let text) = item { id = Int64(text) }
            guard let id else { throw expected }
            ids.append(id)
        }
        return ids
    }

    // MARK: Answers

    /// The answer to an operation: its own list, or all three.
    static func body(
        _ operation: EditOperation, _ results: FeatureEditResults, to request: Request
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            if request.returnsDeletions {
                write(operation, results, to: &json)
            } else {
                json.member("success", results.deletes.allSatisfy { $0.failure == nil })
            }
            if request.returnsMoment {
                json.member("editMoment", Int(WallClock.microseconds() / 1_000))
            }
        }
        return json.bytes
    }

    /// The answer for several layers.
    static func body(_ results: [(LayerID, FeatureEditResults)]) -> [UInt8] {
        var json = JSONWriter()
        json.array(of: results) { json, result in
            json.object { json in
                json.member("id", result.0)
                write(.apply, result.1, to: &json)
            }
        }
        return json.bytes
    }

    private static func write(
        _ operation: EditOperation, _ results: FeatureEditResults,
        to json: inout JSONWriter
    ) {
        let lists: [(String, [FeatureEditResult], Set<EditOperation>)] = [
            ("addResults", results.adds, [.add, .apply]),
            ("updateResults", results.updates, [.update, .apply]),
            ("deleteResults", results.deletes, [.delete, .apply]),
        ]
        for (name, list, operations) in lists where operations.contains(operation) {
            json.member(name, array: list) { json, result in
                json.object { json in
                    json.member("objectId", Int(result.id ?? -1))
                    json.nullMember("globalId")
                    json.member("success", result.failure == nil)
                    guard let failure = result.failure else { return }
                    json.member("error") { json in
                        json.member("code", code(failure.code))
                        json.member("description", failure.message)
                    }
                }
            }
        }
    }

    /// Esri's error numbers for refused edits.
    private static func code(_ code: Failure.Code) -> Int {
        switch code {
        case .notFound: 1019
        case .conflict: 1003
        default: 1000
        }
    }
}
