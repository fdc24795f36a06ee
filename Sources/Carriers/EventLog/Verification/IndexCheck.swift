// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// Compares the file's indexes with neighbouring events as a verification reads them.
///
/// It runs while a statement of the verification stands at a row, so both see the same snapshot.
struct IndexCheck: ~Copyable {
    /// The columns that a statement must select beyond those of records.
    static let columns = "event.category"
    private static let idColumn = 4
    private static let categoryColumn = 10

    /// The last event that is in the indexes; nil before the first is taken.
    private var through: Int64?
    /// The runs of the indexed events taken, computed from the events.
    private var runs = EventRuns()
    private var window: ClosedRange<Int64>?
    /// The categories of streams that were met.
    private var categories: [Int64: Int64] = [:]
    /// The one met last: neighbours often are of one.
    private var last: (stream: Int64, category: Int64)?
    private let path: String
    private var ids: IDCheck
    private var findIndexed: Statement
    private var findStream: Statement
    private var findNext: Statement
    private var readCategories: Statement
    private var readStreamRuns: Statement
    private var readCategoryRuns: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        let findIndexed = try connection.prepare("SELECT through FROM indexed")
        let findStream = try connection.prepare(
            "SELECT stream.name, category.number, category.name FROM stream LEFT JOIN category "
                + "ON category.number = stream.category WHERE stream.number = ?1")
        let findNext = try connection.prepare(
            "SELECT stream, category FROM event WHERE position = ?1")
        // Categories whose runs are read although no event at hand belongs to them.
        let readCategories = try connection.prepare(
            "SELECT number FROM category LIMIT \(AppendLimits.categoryCount)")
        let readStreamRuns = try connection.prepare(Self.runs(of: "stream"))
        let readCategoryRuns = try connection.prepare(Self.runs(of: "category"))
        ids = try IDCheck(connection)
        path = connection.path
        self.findIndexed = findIndexed
        self.findStream = findStream
        self.findNext = findNext
        self.readCategories = readCategories
        self.readStreamRuns = readStreamRuns
        self.readCategoryRuns = readCategoryRuns
    }

    /// The rows of ?1 that begin at or before ?3, from the row that contains ?2.
    ///
    /// No `RowScan`: in a file of version 1 or 2 they have to be sorted.
    private static func runs(of kind: String) -> String {
        """
        SELECT first, count FROM \(kind)_run WHERE \(kind) = ?1 AND first <= ?3
        AND first >= coalesce((SELECT first FROM \(kind)_run WHERE \(kind) = ?1 AND first <= ?2
            ORDER BY first DESC LIMIT 1), ?2)
        ORDER BY first
        """
    }

    // MARK: One event

    /// Takes an event that follows on the one taken before; throws where its category is not that
    /// of its stream.
    mutating func take(
        _ row: borrowing RowScan, of stream: Int64, at position: Int64
    ) throws(LogFault) {
        let category = row.integer(Self.categoryColumn)
        guard try self.category(of: stream, at: position) == category else {
            throw LogFault(position: position, message: "its category is not that of its stream")
        }
        try ids.take(row, Self.idColumn, at: position)
        guard try position <= indexedThrough(at: position) else { return }
        runs.append(stream: stream, category: category, first: position, count: 1)
        window = (window?.lowerBound ?? position)...position
    }

    private mutating func indexedThrough(at position: Int64) throws(LogFault) -> Int64 {
        if let through { return through }
        do throws(SQLiteError) {
            defer { findIndexed.reset() }
            let found = try findIndexed.step() ? findIndexed.integer(0) : 0
            through = found
            return found
        } catch {
            throw LogFault(near: position, in: path, error)
        }
    }

    /// The category of a stream, which has the name that the stream's begins with.
    private mutating func category(
        of stream: Int64, at position: Int64
    ) throws(LogFault) -> Int64 {
        if stream == last?.stream, let last { return last.category }
        if let known = categories[stream] {
            last = (stream, known)
            return known
        }
        let found: (stream: String, number: Int64, name: String)
        do throws(SQLiteError) {
            defer { findStream.reset() }
            try findStream.bind(1, stream)
            guard try findStream.step() else {
                throw SQLiteError(
                    extendedCode: 11, operation: "verify", reason: "the event's stream has no name")
            }
            found = (findStream.text(0), findStream.integer(1), findStream.text(2))
        } catch {
            throw LogFault(near: position, in: path, error)
        }
        guard found.stream.prefix(while: { $0 != "-" }) == found.name else {
            throw LogFault(
                position: position,
                message: found.name.isEmpty
                    ? "the category of its stream '\(found.stream)' has no name"
                    : "the category of its stream '\(found.stream)' is called '\(found.name)'")
        }
        categories[stream] = found.number
        return found.number
    }

    // MARK: Neighbours

    /// The first event taken that the indexes contradict.
    ///
    /// - Parameter isOpen: Whether the event after the last one taken is checked too: a run must
    ///   not continue into another stream or category.
    mutating func fault(isOpen: Bool) throws(SQLiteError) -> LogFault? {
        guard let through else { return nil }
        var first = try ids.fault(through: through)
        guard let window else { return first }
        var next: (stream: Int64, category: Int64)?
        if window.upperBound < through, isOpen {
            defer { findNext.reset() }
            try findNext.bind(1, window.upperBound + 1)
            if try findNext.step() { next = (findNext.integer(0), findNext.integer(1)) }
        }
        let looksOn = isOpen || window.upperBound == through
        func note(_ fault: LogFault?) {
            if let fault, fault.position < first?.position ?? .max { first = fault }
        }
        for (number, held) in Self.byNumber(runs.streams) {
            let named = try Self.named(number, window, &readStreamRuns)
            note(named.fault("streams", held, in: window))
            note(looksOn ? named.fault("streams", after: window, next?.stream == number) : nil)
        }
        var categories = Self.byNumber(runs.categories)
        defer { readCategories.reset() }
        while try readCategories.step() {
            let number = readCategories.integer(0)
            if categories[number] == nil { categories[number] = [] }
        }
        for (number, held) in categories {
            let named = try Self.named(number, window, &readCategoryRuns)
            note(named.fault("categories", held, in: window))
            note(looksOn ? named.fault("categories", after: window, next?.category == number) : nil)
        }
        return first
    }

    private static func byNumber(_ runs: [EventRuns.Run]) -> [Int64: [ClosedRange<Int64>]] {
        var held: [Int64: [ClosedRange<Int64>]] = [:]
        for run in runs {
            held[run.number, default: []].append(run.first...run.first + run.count - 1)
        }
        return held
    }

    private static func named(
        _ number: Int64, _ window: ClosedRange<Int64>, _ rows: inout Statement
    ) throws(SQLiteError) -> NamedRuns {
        defer { rows.reset() }
        try rows.bind(1, number)
        try rows.bind(2, window.lowerBound)
        try rows.bind(3, window.upperBound)
        var named = NamedRuns()
        while named.malformed == nil, try rows.step() {
            named.append(first: rows.integer(0), count: rows.integer(1), in: window)
        }
        return named
    }
}

/// The index's runs of one stream or category, within a range of events.
private struct NamedRuns {
    /// Apart from each other, in the order of the log.
    var runs: [ClosedRange<Int64>] = []
    /// The last event that a row names, within or behind.
    var reach = Int64.min
    /// Position of a row that names no event, or one that another row names.
    var malformed: Int64?

    mutating func append(first: Int64, count: Int64, in window: ClosedRange<Int64>) {
        let start = max(first, window.lowerBound)
        let (sum, isBeyond) = first.addingReportingOverflow(max(count, 0) - 1)
        let last = isBeyond ? Int64.max : sum
        guard last >= start else {
            if first >= window.lowerBound { malformed = start }
            return
        }
        let end = min(last, window.upperBound)
        switch runs.last {
        case let before? where before.upperBound >= start: malformed = start
        case let before? where before.upperBound + 1 == start:
            runs[runs.count - 1] = before.lowerBound...end
        default: runs.append(start...end)
        }
        reach = max(reach, last)
    }

    /// The first event that is named and not held, or held and not named.
    func fault(
        _ kind: String, _ held: [ClosedRange<Int64>], in window: ClosedRange<Int64>
    ) -> LogFault? {
        let strange = malformed.map { Self.strange(kind, $0) }
        guard
            let index = (0..<max(held.count, runs.count)).first(where: { index in
                index >= held.count || index >= runs.count || held[index] != runs[index]
            })
        else { return strange }
        let (held, named) = (Self.run(held, index), Self.run(runs, index))
        // The first difference: at the one's beginning, or behind the shorter one's end.
        let isLeftOut =
            held.lowerBound == named.lowerBound
            ? held.upperBound > named.upperBound : held.lowerBound < named.lowerBound
        let position =
            held.lowerBound == named.lowerBound
            ? min(held.upperBound, named.upperBound) + 1
            : min(held.lowerBound, named.lowerBound)
        if let strange, strange.position <= position { return strange }
        return isLeftOut
            ? LogFault(position: position, message: "the index of \(kind) leaves it out")
            : Self.strange(kind, position)
    }

    /// A run that extends behind the events at hand, though the next one is not of its kind.
    func fault(
        _ kind: String, after window: ClosedRange<Int64>, _ isSame: Bool
    ) -> LogFault? {
        reach > window.upperBound && !isSame ? Self.strange(kind, window.upperBound + 1) : nil
    }

    private static func run(_ runs: [ClosedRange<Int64>], _ index: Int) -> ClosedRange<Int64> {
        index < runs.count ? runs[index] : .max ... .max
    }

    private static func strange(_ kind: String, _ position: Int64) -> LogFault {
        LogFault(
            position: position,
            message: "the index of \(kind) names it where it does not belong")
    }
}
