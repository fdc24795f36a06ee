// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The resources used by the jobs of one actor.
public struct JobUsage: Hashable, Sendable, Codable {
    /// Jobs that have not ended, those that a job has started left out.
    public var openCount: Int
    /// The products, sub-jobs included, the newest first.
    public var products: [BlobReference]
    /// The bytes of further ones, which are older.
    public var olderByteCount: Int64

    /// The most ``products``.
    public static let productBound = 10_000

    /// Makes one.
    public init(openCount: Int, products: [BlobReference], olderByteCount: Int64) {
        self.openCount = openCount
        self.products = products
        self.olderByteCount = olderByteCount
    }
}
