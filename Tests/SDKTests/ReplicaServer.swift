// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Synchronization

/// A feature service of a stub that makes and synchronises replicas, as Esri's servers do: layer 0
/// has points, layer 1 is a table.
final class ReplicaServer: Sendable {
    /// A feature as it is compared.
    struct Row: Equatable, Sendable {
        var name: String?
        var size: Int64?
        var day: Int64?
        var x: Double?
        var y: Double?
    }

    struct Stored: Sendable {
        var row: Row
        var objectID: Int64
        var generation: Int64
        var isDeleted = false
    }

    /// An attachment as it is compared.
    struct Attached: Equatable, Sendable {
        var parent: UUID
        var name: String
        var type = "image/jpeg"
        var data: Data
    }

    struct StoredAttachment: Sendable {
        var file: Attached
        var generation: Int64
        var isDeleted = false
    }

    /// How answers travel.
    enum Style: CaseIterable, Sendable { case embedded, file, asynchronous }

    struct State: Sendable {
        var layers: [[UUID: Stored]] = [[:], [:]]
        /// Those of layer 0.
        var attachments: [UUID: StoredAttachment] = [:]
        var hasAttachments = false
        /// Where the bytes of attachments are: in the answer, or below `/attached/`.
        var areEmbedded = false
        var attachmentDirection = "none"
        var hasAttachmentDirections = true
        var generation: Int64 = 100
        var nextObject: Int64 = 1
        var files: [String: String] = [:]
        var style = Style.asynchronous
        var isPerLayer = false
        var hasDirections = true
        /// Answers that are lost after they were made.
        var losesAnswers = 0
        /// What the next answers have in the place of the edits of the model.
        var extra: String?
        /// Holds the next answers.
        var gate: StubGate?
        /// Takes global ids apart as other servers write them.
        var spelling: @Sendable (UUID) -> String = { "{\($0.uuidString)}" }
    }

    let stub = StubServer()
    let state = Mutex(State())

    var url: URL { stub.url.appending(path: "City/FeatureServer") }

    init(_ change: (inout State) -> Void = { _ in }) {
        state.withLock { change(&$0) }
        stub.on("/City/FeatureServer") { [weak self] _ in .json(self?.description ?? "") }
        stub.on("/City/FeatureServer/0") { [weak self] _ in
            .json(Self.layer(0, self?.state.withLock { $0.hasAttachments } ?? false))
        }
        stub.on("/attached/*") { [weak self] asked in
            let id = UUID(uuidString: String(asked.path.dropFirst(10)))
            let stored = self?.state.withLock { state in id.flatMap { state.attachments[$0] } }
            return stored.map { .bytes($0.file.data, type: $0.file.type) }
                ?? .error(404, "no such attachment")
        }
        stub.on("/City/FeatureServer/1", json: Self.layer(1))
        stub.on("/City/FeatureServer/createReplica") { [weak self] in
            self?.create($0) ?? .unreachable
        }
        stub.on("/City/FeatureServer/synchronizeReplica") { [weak self] in
            self?.synchronize($0) ?? .unreachable
        }
        stub.on("/City/FeatureServer/jobs/*") { [weak self] in
            let name = $0.path.split(separator: "/").last ?? ""
            return .json(
                #"{"status":"Completed","replicaID":"R1","resultUrl":"\#(self?.stub.url.absoluteString ?? "")/files/\#(name).json"}"#
            )
        }
        stub.on("/files/*") { [weak self] asked in
            let name = String(asked.path.dropFirst(7))
            return self?.state.withLock { $0.files[name] }.map { .json($0) } ?? .unreachable
        }
        stub.on("/City/FeatureServer/unRegisterReplica", json: #"{"success":true}"#)
    }

    private var description: String {
        let state = state.withLock { $0 }
        return """
            {"syncEnabled":true,"capabilities":"Query,Sync","spatialReference":{"wkid":102100},
            "layers":[{"id":0,"name":"Places"}],"tables":[{"id":1,"name":"Remarks"}],
            "syncCapabilities":{"supportsAsync":\(state.style == .asynchronous),
            "supportsSyncDirectionControl":\(state.hasDirections),"supportsPerLayerSync":true,
            "supportsPerReplicaSync":\(!state.isPerLayer),
            "supportsAttachmentsSyncDirection":\(state.hasAttachmentDirections),"supportsRollbackOnFailure":true}}
            """
    }

    private static func layer(_ id: Int, _ hasAttachments: Bool = false) -> String {
        let shape =
            id == 0
            ? #""geometryType":"esriGeometryPoint","extent":{"xmin":0,"ymin":0,"xmax":1,"ymax":1,"spatialReference":{"wkid":102100}},"#
            : ""
        return """
            {"id":\(id),"name":"\(id == 0 ? "Places" : "Remarks")",\(shape)
            "hasAttachments":\(hasAttachments),
            "objectIdField":"OBJECTID","globalIdField":"GlobalID","fields":[
            {"name":"OBJECTID","type":"esriFieldTypeOID","editable":false},
            {"name":"GlobalID","type":"esriFieldTypeGlobalID","length":38,"editable":false},
            {"name":"name","alias":"Name of it","type":"esriFieldTypeString","length":40,"editable":true},
            {"name":"size","type":"esriFieldTypeBigInteger","editable":true},
            {"name":"day","type":"esriFieldTypeDate","editable":true},
            {"name":"kept","type":"esriFieldTypeDouble","editable":false}]}
            """
    }

    // MARK: The service's own side

    /// Adds a feature, or changes the one of the id.
    @discardableResult
    func put(_ row: Row, _ id: UUID = UUID(), in layer: Int = 0) -> UUID {
        state.withLock { Self.put(row, id, layer, &$0) }
        return id
    }

    private static func put(_ row: Row, _ id: UUID, _ layer: Int, _ state: inout State) {
        var row = row
        if layer == 1 { (row.x, row.y) = (nil, nil) }
        state.generation += 1
        let known = state.layers[layer][id]
        if known == nil { state.nextObject += 1 }
        state.layers[layer][id] = Stored(
            row: row, objectID: known?.objectID ?? state.nextObject - 1,
            generation: state.generation)
    }

    func delete(_ id: UUID, in layer: Int = 0) { state.withLock { Self.delete(id, layer, &$0) } }

    private static func delete(_ id: UUID, _ layer: Int, _ state: inout State) {
        state.generation += 1
        state.layers[layer][id]?.isDeleted = true
        state.layers[layer][id]?.generation = state.generation
        for (attachment, stored) in state.attachments where stored.file.parent == id {
            state.attachments[attachment]?.isDeleted = true
            state.attachments[attachment]?.generation = state.generation
        }
    }

    /// Adds an attachment, or changes the one of the id.
    @discardableResult
    func attach(_ file: Attached, _ id: UUID = UUID()) -> UUID {
        state.withLock { Self.attach(file, id, &$0) }
        return id
    }

    private static func attach(_ file: Attached, _ id: UUID, _ state: inout State) {
        state.generation += 1
        state.attachments[id] = StoredAttachment(file: file, generation: state.generation)
    }

    func detach(_ id: UUID) { state.withLock { Self.detach(id, &$0) } }

    private static func detach(_ id: UUID, _ state: inout State) {
        state.generation += 1
        state.attachments[id]?.isDeleted = true
        state.attachments[id]?.generation = state.generation
    }

    /// The attachments that are there.
    func attached() -> [UUID: Attached] {
        state.withLock { $0.attachments.filter { !$0.value.isDeleted }.mapValues(\.file) }
    }

    /// The features that are there.
    func rows(_ layer: Int = 0) -> [UUID: Row] {
        state.withLock { $0.layers[layer].filter { !$0.value.isDeleted }.mapValues(\.row) }
    }

    var requests: [[String: String]] {
        stub.requests("/City/FeatureServer/synchronizeReplica").map(\.parameters)
    }

    // MARK: JSON

    private static func text(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func read(_ text: String?) -> Any? {
        text.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
    }

    private static func feature(_ id: UUID, _ stored: Stored, _ state: State) -> [String: Any] {
        func value(_ given: Any?) -> Any { given ?? NSNull() }
        let row = stored.row
        var feature: [String: Any] = [
            "attributes": [
                "OBJECTID": stored.objectID, "GlobalID": state.spelling(id),
                "name": value(row.name), "size": value(row.size), "day": value(row.day),
                "kept": 1.5,
            ]
        ]
        if let x = row.x, let y = row.y {
            feature["geometry"] = ["x": x, "y": y]
        } else {
            feature["geometry"] = NSNull()
        }
        return feature
    }

    private func attachment(
        _ id: UUID, _ stored: StoredAttachment, _ state: State
    ) -> [String: Any] {
        let file = stored.file
        var json: [String: Any] = [
            "attachmentId": stored.generation, "globalId": state.spelling(id),
            "parentGlobalId": state.spelling(file.parent), "name": file.name,
            "contentType": file.type, "size": file.data.count,
        ]
        if state.areEmbedded {
            json["data"] = file.data.base64EncodedString()
        } else {
            json["url"] = "\(stub.url)/attached/\(id.uuidString)"
        }
        return json
    }

    private static func row(_ feature: [String: Any]) -> (id: UUID?, row: Row) {
        let attributes = feature["attributes"] as? [String: Any] ?? [:]
        let geometry = feature["geometry"] as? [String: Any]
        func whole(_ name: String) -> Int64? { (attributes[name] as? NSNumber)?.int64Value }
        return (
            id(attributes["GlobalID"] as? String),
            Row(
                name: attributes["name"] as? String, size: whole("size"), day: whole("day"),
                x: (geometry?["x"] as? NSNumber)?.doubleValue,
                y: (geometry?["y"] as? NSNumber)?.doubleValue)
        )
    }

    private static func id(_ text: String?) -> UUID? {
        text.flatMap {
            UUID(uuidString: $0.trimmingCharacters(in: CharacterSet(charactersIn: "{}")))
        }
    }

    // MARK: Operations

    private func deliver(_ json: [String: Any], _ state: inout State) -> StubAnswer {
        let text = Self.text(json)
        let name = "f\(state.files.count)"
        state.files[name + ".json"] = text
        let answer: StubAnswer =
            switch state.style {
            case .embedded: .json(text)
            case .file:
                .json(
                    #"{"transportType":"esriTransportTypeUrl","URL":"\#(stub.url)/files/\#(name).json"}"#
                )
            case .asynchronous: .json(#"{"statusUrl":"\#(url)/jobs/\#(name)"}"#)
            }
        if state.losesAnswers > 0 {
            state.losesAnswers -= 1
            return .unreachable
        }
        return state.gate.map { answer.held(by: $0) } ?? answer
    }

    private func create(_ asked: StubRequest) -> StubAnswer {
        state.withLock { state in
            let model = asked.parameters["syncModel"] ?? ""
            state.attachmentDirection = asked.parameters["attachmentsSyncDirection"] ?? "none"
            let isAttaching = asked.parameters["returnAttachments"] == "true"
            let attached =
                isAttaching
                ? state.attachments.filter { !$0.value.isDeleted }
                    .sorted { $0.value.generation < $1.value.generation }
                    .map { attachment($0.key, $0.value, state) } : []
            var json: [String: Any] = [
                "replicaName": "r", "replicaID": "R1", "syncModel": model,
                "responseType": "esriReplicaResponseTypeData",
                "layers": (0...1).map { layer in
                    [
                        "id": layer,
                        "features": state.layers[layer].filter { !$0.value.isDeleted }
                            .sorted { $0.value.objectID < $1.value.objectID }
                            .map { Self.feature($0.key, $0.value, state) },
                        "attachments": layer == 0 ? attached : [],
                    ] as [String: Any]
                },
            ]
            Self.state(state.generation, model == "perLayer", &json)
            return deliver(json, &state)
        }
    }

    private static func state(
        _ generation: Int64, _ isPerLayer: Bool, _ json: inout [String: Any]
    ) {
        if isPerLayer {
            json["layerServerGens"] = (0...1).map { ["id": $0, "serverGen": generation] }
        } else {
            json["replicaServerGen"] = generation
        }
    }

    private func synchronize(_ asked: StubRequest) -> StubAnswer {
        state.withLock { state in
            let syncLayers = Self.read(asked.parameters["syncLayers"]) as? [[String: Any]]
            let oldest =
                asked.parameters["replicaServerGen"].flatMap { Int64($0) }
                ?? (syncLayers?.first?["serverGen"] as? NSNumber)?.int64Value
            guard let oldest, oldest <= state.generation, asked.parameters["replicaID"] == "R1"
            else { return .error(400, "no such moment or replica") }
            let direction = asked.parameters["syncDirection"] ?? "bidirectional"
            var edits = (0...1).map { ["id": $0] as [String: Any] }
            var own: Set<UUID> = []
            if direction != "download" {
                let before = state
                var hasFailure = false
                for layer in Self.read(asked.parameters["edits"]) as? [[String: Any]] ?? [] {
                    guard let number = layer["id"] as? Int, number < 2 else { continue }
                    let features = layer["features"] as? [String: Any] ?? [:]
                    let results = Self.take(features, number, &state, &own)
                    edits[number].merge(results.json) { $1 }
                    hasFailure = hasFailure || results.hasFailure
                    guard number == 0, let sent = layer["attachments"] as? [String: Any] else {
                        continue
                    }
                    let attached = Self.takeAttachments(sent, &state, &own)
                    edits[number]["attachments"] = attached.json
                    hasFailure = hasFailure || attached.hasFailure
                }
                if hasFailure, asked.parameters["rollbackOnFailure"] == "true" {
                    state = before
                    return .error(1003, "an edit failed, all were rolled back")
                }
            }
            if direction != "upload" {
                for layer in 0...1 {
                    let changed = state.layers[layer].filter {
                        $0.value.generation > oldest && !own.contains($0.key)
                    }.sorted { $0.value.objectID < $1.value.objectID }
                    let there = changed.filter { !$0.value.isDeleted }
                    // Servers know which were added since; here each second one is called so.
                    let split = there.map { (Self.feature($0.key, $0.value, state), $0.value) }
                    edits[layer]["features"] = [
                        "adds": split.filter { $0.1.objectID % 2 == 0 }.map(\.0),
                        "updates": split.filter { $0.1.objectID % 2 != 0 }.map(\.0),
                        "deleteIds": changed.filter(\.value.isDeleted).map {
                            state.spelling($0.key)
                        },
                    ]
                }
                if state.attachmentDirection == "bidirectional" {
                    let changed = state.attachments.filter {
                        $0.value.generation > oldest && !own.contains($0.key)
                    }.sorted { $0.value.generation < $1.value.generation }
                    let there = changed.filter { !$0.value.isDeleted }
                    var lists = edits[0]["attachments"] as? [String: Any] ?? [:]
                    lists["adds"] = there.enumerated().filter { $0.offset % 2 == 0 }.map {
                        attachment($0.element.key, $0.element.value, state)
                    }
                    lists["updates"] = there.enumerated().filter { $0.offset % 2 != 0 }.map {
                        attachment($0.element.key, $0.element.value, state)
                    }
                    lists["deleteIds"] = changed.filter(\.value.isDeleted).map {
                        state.spelling($0.key)
                    }
                    edits[0]["attachments"] = lists
                }
            }
            var json: [String: Any] = [
                "replicaID": "R1", "responseType": "esriReplicaResponseTypeEdits", "edits": edits,
            ]
            if let extra = state.extra, let given = Self.read(extra) { json["edits"] = given }
            Self.state(state.generation, syncLayers != nil, &json)
            return deliver(json, &state)
        }
    }

    private static func takeAttachments(
        _ sent: [String: Any], _ state: inout State, _ own: inout Set<UUID>
    ) -> (json: [String: Any], hasFailure: Bool) {
        var hasFailure = false
        var results: [String: Any] = [:]
        for (list, name) in [("adds", "addResults"), ("updates", "updateResults")] {
            results[name] = (sent[list] as? [[String: Any]] ?? []).map { json in
                let id = id(json["globalId"] as? String)
                let parent = id.flatMap { _ in Self.id(json["parentGlobalId"] as? String) }
                let data = (json["data"] as? String).flatMap { Data(base64Encoded: $0) }
                guard let id, let parent, let data, let file = json["name"] as? String,
                    let type = json["contentType"] as? String, file != "bad",
                    state.layers[0][parent]?.isDeleted == false,
                    list == "adds" || state.attachments[id]?.isDeleted == false
                else {
                    hasFailure = true
                    return [
                        "globalId": json["globalId"] ?? "", "success": false,
                        "error": ["code": 400, "description": "it is not taken"],
                    ] as [String: Any]
                }
                let attached = Attached(parent: parent, name: file, type: type, data: data)
                // The same again changes nothing, as of features.
                let known = state.attachments[id]
                if known == nil || list == "updates" && known?.file != attached {
                    attach(attached, id, &state)
                    own.insert(id)
                }
                return [
                    "objectId": 7, "globalId": state.spelling(id), "success": true,
                ]
            }
        }
        results["deleteResults"] = (sent["deleteIds"] as? [String] ?? []).map { text in
            if let id = id(text), state.attachments[id]?.isDeleted == false {
                detach(id, &state)
                own.insert(id)
            }
            return ["globalId": text, "success": true] as [String: Any]
        }
        return (results, hasFailure)
    }

    private static func take(
        _ features: [String: Any], _ layer: Int, _ state: inout State, _ own: inout Set<UUID>
    ) -> (json: [String: Any], hasFailure: Bool) {
        var hasFailure = false
        func refused(_ id: UUID?, _ reason: String) -> [String: Any] {
            hasFailure = true
            return [
                "globalId": id?.uuidString.lowercased() ?? "", "success": false,
                "error": ["code": 1019, "description": reason],
            ]
        }
        func done(_ id: UUID, _ state: State) -> [String: Any] {
            [
                "objectId": state.layers[layer][id]?.objectID ?? -1,
                "globalId": state.spelling(id), "success": true,
            ]
        }
        var results: [String: Any] = [:]
        results["addResults"] = (features["adds"] as? [[String: Any]] ?? []).map { feature in
            let (id, row) = row(feature)
            guard let id, row.name != "bad" else { return refused(id, "it is bad") }
            // The same add again changes nothing.
            if state.layers[layer][id] == nil {
                put(row, id, layer, &state)
                own.insert(id)
            }
            return done(id, state)
        }
        results["updateResults"] = (features["updates"] as? [[String: Any]] ?? []).map { feature in
            let (id, row) = row(feature)
            guard let id, row.name != "bad" else { return refused(id, "it is bad") }
            guard let stored = state.layers[layer][id], !stored.isDeleted else {
                return refused(id, "it is not there")
            }
            if stored.row != row {
                put(row, id, layer, &state)
                own.insert(id)
            }
            return done(id, state)
        }
        results["deleteResults"] = (features["deleteIds"] as? [String] ?? []).map { text in
            guard let id = id(text) else { return refused(nil, "no id") }
            if state.layers[layer][id]?.isDeleted == false {
                delete(id, layer, &state)
                own.insert(id)
            }
            return done(id, state)
        }
        return (results, hasFailure)
    }
}

extension ReplicaServer {
    /// Answers with the files that were made.
    static func files(_ server: ReplicaServer) -> @Sendable (StubRequest) -> StubAnswer {
        { [weak server] asked in
            let name = String(asked.path.dropFirst(7))
            return server?.state.withLock { $0.files[name] }.map { .json($0) } ?? .unreachable
        }
    }
}
