// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

extension ServiceFeatureTable: AttachmentKeeper {
    /// An edit of an attachment that waits to be applied.
    struct AttachmentEdit: Sendable {
        enum Operation: Sendable {
            case add(Attachment.Content)
            case update(Attachment.Content)
            case delete

            var name: FeatureEditResult.Operation {
                switch self {
                case .add: .add
                case .update: .update
                case .delete: .delete
                }
            }
        }

        var operation: Operation
        var attachment: Attachment
        var feature: ArcGISFeature
        /// Another one after each change.
        var revision = UUID()
        /// Whether it is on its way.
        var isSent = false
    }

    /// Whether its features may have attachments; false before it is loaded.
    public var hasAttachments: Bool { layerInfo?.hasAttachments ?? false }

    private func requireAttachments() async throws {
        try await load()
        guard hasAttachments else { throw CairnError.unsupported("attachments", by: url) }
    }

    private func requireEdits(_ feature: ArcGISFeature) async throws {
        try await requireAttachments()
        guard isEditable else {
            throw CairnError.unsupported("editing of attachments", by: url)
        }
        guard asOf == nil else {
            throw CairnError(
                .invalidState, "table '\(tableName)' shows a past moment: it cannot be edited")
        }
        let isNew = pending.withLock { $0.adds.contains { $0 === feature } }
        if !isNew { _ = try objectID(feature) }
    }

    func canEditAttachments(of feature: ArcGISFeature) -> Bool {
        hasAttachments && canUpdate(feature)
    }

    // MARK: Reading

    func attachments(of feature: ArcGISFeature) async throws -> [Attachment] {
        try await requireAttachments()
        let isNew = pending.withLock { $0.adds.contains { $0 === feature } }
        let found = isNew ? [] : try await readAttachments(of: objectID(feature))
        let waiting = pending.current
        let edits = waiting.attachments.filter {
            waiting.areSame($0.feature, feature, objectIDField)
        }
        var all = found.compactMap { attachment -> Attachment? in
            guard let edit = edits.last(where: { $0.attachment.id == attachment.id }) else {
                return attachment
            }
            if case .delete = edit.operation { return nil }
            return edit.attachment
        }
        for edit in edits { if case .add = edit.operation { all.append(edit.attachment) } }
        return all
    }

    /// What the service has, by a query of attachments where it offers one.
    private func readAttachments(of id: Int64) async throws -> [Attachment] {
        if described.current.queriesAttachments {
            var question = Question(
                url.below("queryAttachments"), ["objectIds": String(id)])
            question.credential = credential
            asOf?.add(to: &question)
            let json = try await Requester.json(question)
            guard let groups = json.member("attachmentGroups") else {
                throw fault("queryAttachments", "expected attachmentGroups in the answer")
            }
            if json["exceededTransferLimit"]?.flag != true {
                return try groups.elements.flatMap { group in
                    try list(group["attachmentInfos"], id, "queryAttachments")
                }
            }
            // A part; the resource has the whole.
        }
        var question = Question(url.below("\(id)/attachments"))
        question.credential = credential
        asOf?.add(to: &question)
        let json = try await Requester.json(question)
        guard let infos = json.member("attachmentInfos") else {
            throw fault("\(id)/attachments", "expected attachmentInfos in the answer")
        }
        return try list(infos, id, "\(id)/attachments")
    }

    private func fault(_ resource: String, _ what: String) -> TransportError {
        TransportError(
            .invalidAnswer, "\(url.withoutQuery.absoluteString)/\(resource): \(what)")
    }

    private func list(_ infos: JSON?, _ id: Int64, _ resource: String) throws -> [Attachment] {
        try (infos?.elements ?? []).map { info in
            guard let number = info["id"]?.int else {
                throw fault(resource, "an attachment has no id")
            }
            let name = info.text("name") ?? ""
            let type = info.text("contentType").flatMap(\.orNil) ?? "application/octet-stream"
            var question = Question(url.below("\(id)/attachments/\(number)"))
            question.credential = credential
            asOf?.add(to: &question)
            return Attachment(
                Attachment.Values(
                    id: number, globalID: info.text("globalId").flatMap { UUID(globalID: $0) },
                    name: name, contentType: type, size: info["size"]?.int ?? 0)
            ) { [question] in
                try await AttachmentFiles.bytes(of: question, named: name, type)
            }
        }
    }

    // MARK: Edits

    func add(
        _ content: Attachment.Content, to feature: ArcGISFeature
    ) async throws -> Attachment {
        try await requireEdits(feature)
        let attachment = Attachment(content)
        pending.withLock {
            $0.attachments.append(
                AttachmentEdit(
                    operation: .add(content), attachment: attachment, feature: feature))
        }
        return attachment
    }

    func update(
        _ attachment: Attachment, to content: Attachment.Content, of feature: ArcGISFeature
    ) async throws {
        try await requireEdits(feature)
        let idField = objectIDField
        try pending.withLock { edits in
            if let place = edits.place(of: attachment, feature, idField) {
                switch edits.attachments[place].operation {
                case .add: edits.attachments[place].operation = .add(content)
                case .update: edits.attachments[place].operation = .update(content)
                case .delete: throw missing(attachment)
                }
                edits.attachments[place].revision = UUID()
                edits.attachments[place].attachment.take(content)
            } else {
                guard attachment.id >= 0 else { throw missing(attachment) }
                edits.attachments.append(
                    AttachmentEdit(
                        operation: .update(content), attachment: attachment, feature: feature))
            }
        }
        attachment.take(content)
    }

    func delete(_ attachments: [Attachment], of feature: ArcGISFeature) async throws {
        try await requireEdits(feature)
        let idField = objectIDField
        try pending.withLock { edits in
            var left = edits
            for attachment in attachments {
                if let place = left.place(of: attachment, feature, idField) {
                    let edit = left.attachments.remove(at: place)
                    switch edit.operation {
                    case .add where !edit.isSent: continue
                    case .add, .update: break
                    case .delete: throw missing(attachment)
                    }
                } else {
                    guard attachment.id >= 0 else { throw missing(attachment) }
                }
                left.attachments.append(
                    AttachmentEdit(operation: .delete, attachment: attachment, feature: feature))
            }
            edits = left
        }
    }

    private func missing(_ attachment: Attachment) -> CairnError {
        CairnError(
            .invalidArgument,
            "the feature has no attachment '\(attachment.name)' (\(attachment.id))")
    }

    /// Sends the edits of attachments, one after the other; adds their outcomes to those of the
    /// features.
    func applyAttachments(
        _ edits: [AttachmentEdit], _ results: inout [FeatureEditResult],
        places: [ObjectIdentifier: Int]
    ) async throws {
        var places = places
        /// Why nothing is sent any more.
        var loss: (any Error)?
        var isFirst = results.isEmpty
        for edit in edits {
            guard let edit = note(edit, isSent: loss == nil) else { continue }
            var id: Int64 = Int64(edit.attachment.id)
            var global = edit.attachment.globalID
            var failure = loss
            let feature = ObjectIdentifier(edit.feature)
            if loss == nil {
                do {
                    if let place = places[feature], results[place].operation == .add,
                        results[place].error != nil
                    {
                        throw withoutFeature(edit)
                    }
                    let outcome = try await apply(edit)
                    (failure, id) = (outcome.error, outcome.objectID >= 0 ? outcome.objectID : id)
                    global = outcome.globalID ?? global
                    letGo(edit)
                } catch let error where !Self.isRefusal(error) {
                    _ = note(edit, isSent: false)
                    if isFirst || error is CancellationError { throw error }
                    (loss, failure) = (error, error)
                } catch {
                    failure = error
                    letGo(edit)
                }
            }
            isFirst = false
            let result = EditResult(
                operation: edit.operation.name, objectID: id, globalID: global, error: failure)
            if let place = places[feature] {
                results[place].attachmentResults.append(result)
            } else {
                places[feature] = results.count
                results.append(
                    FeatureEditResult(
                        operation: .update, objectID: (try? objectID(edit.feature)) ?? -1,
                        globalID: nil, error: nil, attachmentResults: [result]))
            }
        }
    }

    /// The edit as it is now, noted as on its way or as not; nil for one that was taken back.
    private func note(_ edit: AttachmentEdit, isSent: Bool) -> AttachmentEdit? {
        pending.withLock { edits in
            let place = edits.attachments.firstIndex { $0.attachment === edit.attachment }
            guard let place else { return nil }
            edits.attachments[place].isSent = isSent
            return edits.attachments[place]
        }
    }

    /// Forgets an edit that the service has answered; what was changed meanwhile stays pending.
    private func letGo(_ edit: AttachmentEdit) {
        pending.withLock { edits in
            let place = edits.attachments.firstIndex { $0.attachment === edit.attachment }
            guard let place else { return }
            let left = edits.attachments[place]
            switch left.operation {
            case _ where left.revision == edit.revision: edits.attachments.remove(at: place)
            case .add(let content) where edit.attachment.id >= 0:
                edits.attachments[place].operation = .update(content)
                edits.attachments[place].isSent = false
            case .delete where edit.attachment.id < 0: edits.attachments.remove(at: place)
            default: break
            }
        }
    }

    private func withoutFeature(_ edit: AttachmentEdit) -> CairnError {
        CairnError(
            .invalidState,
            "the attachment '\(edit.attachment.name)' was not sent: its feature was not added")
    }

    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case let error as ServiceError: !error.isOpen
        case is CairnError: true
        default: false
        }
    }

    /// Sends an edit; the service's outcome.
    private func apply(_ edit: AttachmentEdit) async throws -> FeatureEditResult {
        let isNew = pending.withLock { $0.adds.contains { $0 === edit.feature } }
        guard !isNew, let id = LocalQuery.objectID(edit.feature, in: objectIDField) else {
            throw withoutFeature(edit)
        }
        switch edit.operation {
        case .add(let content):
            let result = try await send(content, id, "addAttachment", nil)
            if result.error == nil {
                edit.attachment.know(id: Int(result.objectID), result.globalID)
            }
            return result
        case .update(let content):
            return try await send(content, id, "updateAttachment", edit.attachment.id)
        case .delete:
            let name = "\(id)/deleteAttachments"
            var question = Question(
                url.below(name), ["attachmentIds": String(edit.attachment.id)])
            (question.isPost, question.isIdempotent) = (true, false)
            question.credential = credential
            let json = try await Requester.json(question)
            guard let result = json["deleteAttachmentResults"]?.elements.first else {
                throw fault(name, "expected deleteAttachmentResults in the answer")
            }
            return self.result(of: result, .delete)
        }
    }

    private func send(
        _ content: Attachment.Content, _ id: Int64, _ operation: String, _ number: Int?
    ) async throws -> FeatureEditResult {
        try await AttachmentFiles.with { files in
            var question = Question(
                url.below("\(id)/\(operation)"),
                ["f": "json", "attachmentId": number.map(String.init)])
            question.file = (try files.file(content), "attachment", content.contentType)
            question.isIdempotent = false
            question.credential = credential
            let json = try await Requester.json(question)
            guard let result = json.member(operation + "Result") else {
                throw fault("\(id)/\(operation)", "expected \(operation)Result in the answer")
            }
            return self.result(of: result, number == nil ? .add : .update)
        }
    }
}

extension ServiceFeatureTable.Edits {
    /// Whether two objects stand for one feature of the service; one that is new there is itself
    /// alone, whatever object id it was given.
    func areSame(_ one: Feature, _ other: Feature, _ idField: String) -> Bool {
        if one === other { return true }
        guard !adds.contains(where: { $0 === one || $0 === other }),
            let id = LocalQuery.objectID(one, in: idField)
        else { return false }
        return id == LocalQuery.objectID(other, in: idField)
    }

    /// Where the edit of an attachment is that waits, also one of another object for it.
    fileprivate func place(
        of attachment: Attachment, _ feature: ArcGISFeature, _ idField: String
    ) -> Int? {
        attachments.firstIndex { edit in
            edit.attachment === attachment
                || attachment.id >= 0 && edit.attachment.id == attachment.id
                    && areSame(edit.feature, feature, idField)
        }
    }
}
