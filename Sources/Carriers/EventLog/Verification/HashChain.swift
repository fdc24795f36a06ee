// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// The hash chain over commit batches: each value is SHA-256 of the value before it and of the
/// batch's canonical records in order.
struct HashChain {
    /// 32 bytes; zeroes before the first batch.
    private(set) var value = [UInt8](repeating: 0, count: 32)

    init() {}
    init(value: [UInt8]) { self.value = value }

    /// Extends the chain by a batch.
    mutating func add(_ batch: CanonicalRecords) {
        var hash = SHA256()
        hash.update(value)
        batch.withBytes { hash.update($0) }
        value = hash.finish().bytes
    }
}
