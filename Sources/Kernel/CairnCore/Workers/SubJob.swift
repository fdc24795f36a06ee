// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A job that does a chunk of another one.
public struct SubJob: Hashable, Sendable, Codable {
    /// Its kind.
    public var kind: JobKind
    /// Its parameters.
    public var parameters: [String: String]
    /// The bytes it works on, in the site's blobs.
    public var input: BlobReference?
    /// Whether its failure is a warning to the parent, whose chunk then has no blob; otherwise the
    /// parent fails with it, and the other sub-jobs are cancelled.
    public var mayFail: Bool
    /// Most open sub-jobs of the parent when this one is started, itself included; 1 for one after
    /// the other.
    public var sideBySide: Int

    /// Describes a sub-job.
    public init(
        kind: JobKind, parameters: [String: String], input: BlobReference? = nil,
        mayFail: Bool = false, sideBySide: Int = 4
    ) {
        self.kind = kind
        self.parameters = parameters
        self.input = input
        self.mayFail = mayFail
        self.sideBySide = sideBySide
    }
}
