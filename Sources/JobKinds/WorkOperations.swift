// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The operations of every kind that need neither a map nor a locator.
public enum WorkOperations {
    /// All of them, by the name under which they are leased.
    public static let all: [String: ChunkOperation] = [
        Batch.workOperations, BatchGeocode.workOperations, BatchIdentify.workOperations,
    ].reduce(into: [:]) { all, kind in all.merge(kind) { first, _ in first } }
}
