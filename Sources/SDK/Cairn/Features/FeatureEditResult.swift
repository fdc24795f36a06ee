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
    /// Whether it was refused.
    public var didCompleteWithErrors: Bool { error != nil }
}
