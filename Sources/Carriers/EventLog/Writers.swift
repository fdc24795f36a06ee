// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import SQLite

/// The current writer of each category: its newest claim.
///
/// It fences a process that was suspended and replaced meanwhile.
struct Writers {
    /// Claims remembered of one category.
    static let claimBound = 100
    static let categoryByteCount = 100
    static let holderByteCount = 200

    /// In the order of their epochs.
    private var claims: [String: [WriterClaim]] = [:]

    /// Refuses an append under any other epoch than the newest of each of its categories.
    func admit(_ request: AppendBytes) throws(Failure) {
        if claims.isEmpty, request.epochs == nil { return }
        for append in request.parts {
            let category = append.stream.category
            let (asked, newest) = (request.epochs?[category], claims[category]?.last)
            guard asked != newest?.epoch else { continue }
            let writer = asked.map { "a writer of epoch \($0)" } ?? "a writer without an epoch"
            let holder =
                newest.map { "epoch \($0.epoch) (\($0.holder)) writes '\(category)'" }
                ?? "the category '\(category)' is not claimed"
            throw Failure(
                .fenced, "the append to '\(append.stream)' comes from \(writer), but \(holder) now",
                details: ["epoch=" + (newest.map { "\($0.epoch)" } ?? "none")])
        }
    }

    /// The claim that answers a request: the instance's own of earlier, or a new one.
    func claim(for request: ClaimRequest, after head: Int64) throws(Failure) -> WriterClaim {
        let category = request.category
        guard 1...Self.categoryByteCount ~= category.utf8.count, !category.contains("-") else {
            throw Failure(
                .invalidParameter,
                "a category has 1 to \(Self.categoryByteCount) bytes and no '-'")
        }
        guard request.holder.utf8.count <= Self.holderByteCount else {
            throw Failure(.tooLarge, "a holder has at most \(Self.holderByteCount) bytes")
        }
        let earlier = claims[category] ?? []
        if let own = earlier.first(where: { $0.instance == request.instance }) { return own }
        guard !earlier.isEmpty || claims.count < AppendLimits.categoryCount else {
            throw Failure(
                .tooLarge, "\(AppendLimits.categoryCount) categories have writers already")
        }
        return WriterClaim(
            category: category, epoch: (earlier.last?.epoch ?? 0) + 1, instance: request.instance,
            holder: request.holder, after: head)
    }

    /// Makes a claim the newest of its category; idempotent.
    mutating func keep(_ claim: WriterClaim) {
        var kept = claims[claim.category] ?? []
        guard claim.epoch > kept.last?.epoch ?? 0 else { return }
        kept.append(claim)
        if kept.count > Self.claimBound { kept.removeFirst() }
        claims[claim.category] = kept
    }
}

// MARK: In the file

extension Writers {
    /// The claims that the file holds.
    init(stored connection: Connection) throws(SQLiteError) {
        var rows = try connection.prepare(
            "SELECT category, epoch, instance, holder, after FROM writer ORDER BY category, epoch")
        while try rows.step() {
            guard let instance = UUID(bytes: rows.bytes(2)) else {
                throw SQLiteError(
                    extendedCode: 11, operation: "open",
                    reason: "a claim on '\(rows.text(0))' has an instance that is not an id")
            }
            keep(
                WriterClaim(
                    category: rows.text(0), epoch: rows.integer(1), instance: instance,
                    holder: rows.text(3), after: rows.integer(4)))
        }
    }

    /// Stores a claim, unless present, and removes those beyond `claimBound`.
    static func store(_ claim: WriterClaim, in connection: Connection) throws(SQLiteError) {
        var insert = try connection.prepare(
            """
            INSERT OR IGNORE INTO writer (category, epoch, instance, holder, after) \
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        try insert.bind(1, claim.category)
        try insert.bind(2, claim.epoch)
        try insert.bind(3, claim.instance.bytes)
        try insert.bind(4, claim.holder)
        try insert.bind(5, claim.after)
        try insert.run()
        var forget = try connection.prepare(
            "DELETE FROM writer WHERE category = ?1 AND epoch <= ?2")
        try forget.bind(1, claim.category)
        try forget.bind(2, claim.epoch - Int64(claimBound))
        try forget.run()
    }
}
