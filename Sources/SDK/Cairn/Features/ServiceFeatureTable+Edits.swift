// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

extension ServiceFeatureTable {
    /// Whether edits wait to be applied.
    public var hasLocalEdits: Bool {
        pending.withLock { $0.areOfFeatures || !$0.attachments.isEmpty }
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

    /// Applies the edits that wait: those of features in one request, then those of attachments,
    /// each in a request of its own; returns the outcome of each.
    ///
    /// A request is sent once: where its answer is lost, its edits stay pending and the error is
    /// thrown. Where that befalls an attachment after other edits were applied, the error is among
    /// the ``FeatureEditResult/attachmentResults``, and the attachments from there on stay pending;
    /// a cancelled task gets `CancellationError` all the same. Edits that the service refuses are
    /// let go. Features and attachments that were added have their ids afterwards.
    @discardableResult
    public func applyEdits() async throws -> [FeatureEditResult] {
        let edits = pending.current
        guard hasLocalEdits else { return [] }
        guard asOf == nil else {
            throw CairnError(
                .invalidState, "table '\(tableName)' shows a past moment: it cannot be edited")
        }
        var results = edits.areOfFeatures ? try await applyFeatures(edits) : []
        var places: [ObjectIdentifier: Int] = [:]
        for (features, operation) in [
            (edits.adds, FeatureEditResult.Operation.add), (edits.updates, .update),
        ] {
            let numbers = results.indices.filter { results[$0].operation == operation }
            for (feature, place) in zip(features, numbers) {
                places[ObjectIdentifier(feature)] = place
            }
        }
        try await applyAttachments(edits.attachments, &results, places: places)
        return results
    }

    private func applyFeatures(_ edits: Edits) async throws -> [FeatureEditResult] {
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

    func result(
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
