// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// What has the attachments of its features: a service, or a geodatabase.
protocol AttachmentKeeper: FeatureTable {
    func canEditAttachments(of feature: ArcGISFeature) -> Bool
    func attachments(of feature: ArcGISFeature) async throws -> [Attachment]
    func add(_ content: Attachment.Content, to feature: ArcGISFeature) async throws -> Attachment
    func update(
        _ attachment: Attachment, to content: Attachment.Content, of feature: ArcGISFeature
    ) async throws
    func delete(_ attachments: [Attachment], of feature: ArcGISFeature) async throws
}

extension ArcGISFeature {
    private func keeper() throws -> any AttachmentKeeper {
        guard let keeper = featureTable as? any AttachmentKeeper else {
            throw CairnError(
                .unsupported,
                featureTable.map {
                    "'\($0.tableName)' has no attachments: a ServiceFeatureTable or a "
                        + "GeodatabaseFeatureTable may have some"
                } ?? "the feature is of no table, or of one that has gone: it has no attachments")
        }
        return keeper
    }

    /// Whether attachments can be added, changed and deleted; false before the table is loaded.
    public var canEditAttachments: Bool {
        (featureTable as? any AttachmentKeeper)?.canEditAttachments(of: self) ?? false
    }

    /// Its attachments, with the edits that were made here.
    ///
    /// A ``ServiceFeatureTable`` asks its service each time, a ``GeodatabaseFeatureTable`` its
    /// file. Throws ``CairnError``: `unsupported` for a table without attachments,
    /// `invalidArgument` for a feature without an object id; ``ServiceError``, ``TransportError``.
    public var attachments: [Attachment] {
        get async throws { try await keeper().attachments(of: self) }
    }

    /// Adds an attachment: `named` is the name of its file, `contentType` its media type.
    ///
    /// In a ``GeodatabaseFeatureTable`` it is in the file when the call returns, and goes to the
    /// service with the next synchronisation. In a ``ServiceFeatureTable`` it goes there with the
    /// next ``ServiceFeatureTable/applyEdits()``, also for a feature that is added by that. Throws
    /// ``CairnError``: `unsupported` for a table without attachments or without edits of them,
    /// `invalidArgument` for a name that is none of a file, a media type of another form, more
    /// bytes than ``CairnEnvironment/memoryLimit``, and a feature that is not in the table.
    @discardableResult
    public func addAttachment(
        named name: String, contentType: String, data: Data
    ) async throws -> Attachment {
        try await keeper().add(
            Attachment.Content(named: name, contentType: contentType, data: data), to: self)
    }

    /// Changes an attachment as a whole; goes and throws as
    /// ``addAttachment(named:contentType:data:)``.
    public func updateAttachment(
        _ attachment: Attachment, named name: String, contentType: String, data: Data
    ) async throws {
        try await keeper().update(
            attachment,
            to: Attachment.Content(named: name, contentType: contentType, data: data), of: self)
    }

    /// Deletes an attachment; goes and throws as ``addAttachment(named:contentType:data:)``.
    public func deleteAttachment(_ attachment: Attachment) async throws {
        try await keeper().delete([attachment], of: self)
    }

    /// Deletes attachments; goes and throws as ``addAttachment(named:contentType:data:)``.
    public func deleteAttachments(_ attachments: [Attachment]) async throws {
        try await keeper().delete(attachments, of: self)
    }
}
