// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

extension ServiceFeatureTable {
    /// Whether edits wait to be applied.
    public var hasLocalEdits: Bool {
        pending.withLock { !$0.adds.isEmpty || !$0.updates.isEmpty || !$0.deletes.isEmpty }
    }

    /// Drops the edits that wait to be applied; features keep what was set in them.
    public func undoLocalEdits() async throws { pending.current = Edits() }

    func objectID(_ feature: Feature) throws -> Int64 {
        guard let id = LocalQuery.objectID(feature, in: objectIDField) else {
            throw CairnError(
                .invalidArgument, "the feature has no object id in '\(objectIDField)'")
        }
        return id
    }

    /// Applies the edits that wait, in one request; returns the outcome of each.
    ///
    /// A request is sent once: where its answer is lost, the edits stay pending and the error is
    /// thrown. Features that were added have their object ids afterwards.
    @discardableResult
    public func applyEdits() async throws -> [FeatureEditResult] {
        let edits = pending.current
        guard hasLocalEdits else { return [] }
        guard asOf == nil else {
            throw CairnError(
                .invalidState, "table '\(tableName)' shows a past moment: it cannot be edited")
        }
        func list(_ features: [Feature], isNew: Bool) -> String? {
            guard !features.isEmpty else { return nil }
            return JSON.array(
                features.map { feature in
                    var attributes = feature.attributes
                    if isNew { attributes[objectIDField] = nil }
                    return .object(of: [
                        "geometry": feature.geometry?.json,
                        "attributes": JSON(attribute: attributes),
                    ])
                }
            ).jsonText
        }
        var question = Question(
            url.below("applyEdits"),
            [
                "adds": list(edits.adds, isNew: true),
                "updates": list(edits.updates, isNew: false),
                "deletes": edits.deletes.isEmpty
                    ? nil
                    : try edits.deletes.map { String(try objectID($0)) }.joined(separator: ","),
                "rollbackOnFailure": "false",
            ])
        (question.isPost, question.isIdempotent) = (true, false)
        question.credential = credential
        let json = try await Requester.json(question)
        var results: [FeatureEditResult] = []
        for (name, operation) in [
            ("addResults", FeatureEditResult.Operation.add), ("updateResults", .update),
            ("deleteResults", .delete),
        ] {
            results += (json[name]?.elements ?? []).map { result(of: $0, operation) }
        }
        let added = results.filter { $0.operation == .add }
        for (feature, result) in zip(edits.adds, added) where result.error == nil {
            feature.setAttributeValue(result.objectID, forKey: objectIDField)
        }
        // What was kept for pictures is not what the service has now.
        kept.withLock { ($0.area, $0.drawn) = (nil, []) }
        pending.withLock { left in
            left.adds.removeAll { feature in edits.adds.contains { $0 === feature } }
            left.updates.removeAll { feature in edits.updates.contains { $0 === feature } }
            left.deletes.removeAll { feature in edits.deletes.contains { $0 === feature } }
        }
        return results
    }

    private func result(
        of json: JSON, _ operation: FeatureEditResult.Operation
    ) -> FeatureEditResult {
        let error = json.member("error")
        let isDone = json["success"]?.flag ?? (error == nil)
        return FeatureEditResult(
            operation: operation, objectID: json["objectId"]?.whole ?? -1,
            globalID: json.text("globalId").flatMap { UUID(globalID: $0) },
            error: isDone
                ? nil
                : ServiceError(
                    code: error?["code"]?.int ?? 0,
                    message: error?.text("description") ?? error?.text("message")
                        ?? "no reason is given", url: url))
    }
}
