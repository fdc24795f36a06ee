// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
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

/// The column `hash` of a commit batch: the chain's value after it and, where bytes of its records
/// have been erased, the SHA-256 of the records as they are now.
struct BatchHash {
    /// 32 bytes.
    let chain: [UInt8]
    /// 32 bytes; nil where nothing was erased, so that the chain is computed over the records.
    let erased: [UInt8]?

    /// Nil for bytes of another length.
    init?(stored bytes: [UInt8]) {
        guard [32, 64].contains(bytes.count) else { return nil }
        chain = Array(bytes.prefix(32))
        erased = bytes.count == 64 ? Array(bytes.suffix(32)) : nil
    }

    /// The hash of a batch whose records have been replaced.
    init(chain: [UInt8], of records: CanonicalRecords) {
        self.chain = chain
        erased = Self.digest(records)
    }

    /// As it is stored.
    var stored: [UInt8] { chain + (erased ?? []) }

    /// Whether the records are those of the batch that follows a value of the chain.
    func holds(_ records: CanonicalRecords, after previous: HashChain) -> Bool {
        if let erased { return Self.digest(records) == erased }
        var found = previous
        found.add(records)
        return found.value == chain
    }

    private static func digest(_ records: CanonicalRecords) -> [UInt8] {
        records.withBytes { SHA256.digest($0) }.bytes
    }
}
