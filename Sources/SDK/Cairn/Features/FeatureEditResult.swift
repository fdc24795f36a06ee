// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// The outcome of one edit.
public struct FeatureEditResult: Sendable {
    /// What was done.
    public enum Operation: String, Sendable { case add, update, delete }

    /// What was done.
    public let operation: Operation
    /// The object id; -1 for a feature that was not added.
    public let objectID: Int64
    /// The global id; nil where the layer has none.
    public let globalID: UUID?
    /// Why it was refused; nil where it was done.
    public let error: ServiceError?
    /// The outcomes of the edits of its attachments.
    public internal(set) var attachmentResults: [EditResult] = []
    /// Whether it, or an edit of its attachments, was refused.
    public var didCompleteWithErrors: Bool {
        error != nil || attachmentResults.contains(where: \.didCompleteWithErrors)
    }
}

/// The outcome of an edit of an attachment.
public struct EditResult: Sendable {
    /// What was done.
    public let operation: FeatureEditResult.Operation
    /// The attachment's number; -1 for one that was not added.
    public let objectID: Int64
    /// The global id; nil where the service gives none.
    public let globalID: UUID?
    /// Why it was refused, or did not arrive; nil where it was done.
    public let error: (any Error)?
    /// Whether it was not done.
    public var didCompleteWithErrors: Bool { error != nil }
}
