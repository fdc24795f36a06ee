// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension GeodatabaseFeatureTable: AttachmentKeeper {
    /// Whether its features may have attachments: whether the geodatabase was made with them.
    public var hasAttachments: Bool { attachmentDirection != nil }

    private var attachmentDirection: AttachmentSyncDirection? {
        opened.flatMap { try? $0.store.attachmentDirection($0.description) }
    }

    func canEditAttachments(of feature: ArcGISFeature) -> Bool {
        canUpdate(feature) && (attachmentDirection ?? .none) != .none
    }

    /// The file, and the global id of a feature in it.
    private func place(
        of feature: ArcGISFeature, isEdit: Bool
    ) async throws -> (table: Found, id: UUID) {
        let table = try await open()
        let path = table.store.url.path(percentEncoded: false)
        guard let direction = try table.store.attachmentDirection(table.description) else {
            throw CairnError(
                .unsupported,
                "'\(name)' in '\(path)' has no attachments: its service has none, or the "
                    + "geodatabase was made without")
        }
        guard !isEdit || direction != .none else {
            throw CairnError(
                .unsupported,
                "'\(name)' in '\(path)' takes no edits of attachments: its "
                    + "attachmentSyncDirection is none")
        }
        let row = try objectID(feature, table)
        guard let id = try table.store.globalID(of: row, in: table.description) else {
            throw CairnError(
                .invalidArgument, "'\(name)' has no feature \(row) with a global id")
        }
        return (table, id)
    }

    func attachments(of feature: ArcGISFeature) async throws -> [Attachment] {
        let (table, id) = try await place(of: feature, isEdit: false)
        return try table.store.attachments(of: id, in: table.description)
    }

    func add(
        _ content: Attachment.Content, to feature: ArcGISFeature
    ) async throws -> Attachment {
        let (table, parent) = try await place(of: feature, isEdit: true)
        let (row, id) = try table.store.addAttachment(content, to: parent, in: table.description)
        let attachment = Attachment(content)
        attachment.know(id: row, id)
        return attachment
    }

    func update(
        _ attachment: Attachment, to content: Attachment.Content, of feature: ArcGISFeature
    ) async throws {
        let (table, parent) = try await place(of: feature, isEdit: true)
        try table.store.updateAttachment(
            attachment, to: content, of: parent, in: table.description)
        attachment.take(content)
    }

    func delete(_ attachments: [Attachment], of feature: ArcGISFeature) async throws {
        let (table, parent) = try await place(of: feature, isEdit: true)
        try table.store.deleteAttachments(attachments, of: parent, in: table.description)
    }
}
