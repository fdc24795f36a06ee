// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A worker pool: processes of one kind, any number of them, each of which does any of the pool's
/// work.
///
/// Messages and logs hold its number; a number without a pool is refused.
public struct WorkerPool: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt8

    private init(_ number: UInt8) { rawValue = number }

    /// Nil for a number without a pool.
    public init?(rawValue: UInt8) {
        guard Self.allCases.contains(WorkerPool(rawValue)) else { return nil }
        self = WorkerPool(rawValue)
    }

    /// Nil for a name without a pool.
    public init?(name: String) {
        guard let pool = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = pool
    }

    /// Maps: identify, query, find, export, legends.
    public static let identify = WorkerPool(1)
    /// Locators: geocode, suggest, reverse geocode.
    public static let locator = WorkerPool(2)
    /// Plans and products of jobs.
    public static let work = WorkerPool(3)

    /// Road networks: routes, tables, reaches.
    public static let router = WorkerPool(4)

    /// The program of every pool's processes.
    public static let program = "cairn-worker"
}

extension WorkerPool {
    /// The process settings of a pool.
    public struct Settings: Sendable {
        /// The pool.
        public let pool: WorkerPool
        /// The value of `cairn-worker --pool`; a site's processes are called after it:
        /// `identify-2`.
        public let name: String
        /// The workers' task, for help texts: `answer identify`.
        public let work: String
        /// The option of `cairn up` that sets the number of processes, without the dashes.
        public let countOption: String
        /// Default number of processes that `cairn up` starts on so many processors.
        public let standardCount: @Sendable (_ processorCount: Int) -> Int
        /// The name of its processes in recordings; nil where they record no requests.
        ///
        /// The name is older than the one program of all pools.
        public let recordedName: String?
    }

    /// The settings of every pool, in the order in which a site starts their processes.
    public static let table: [Settings] = [
        Settings(
            pool: .identify, name: "identify", work: "answer identify",
            countOption: "identify-workers",
            // One worker computes on one processor; with two, one may die.
            standardCount: { min(max($0, 2), 8) }, recordedName: "cairn-identify"),
        Settings(
            pool: .locator, name: "locator", work: "answer geocode", countOption: "locators",
            standardCount: { _ in 1 }, recordedName: "cairn-locator"),
        Settings(
            pool: .work, name: "work", work: "make the products of jobs", countOption: "workers",
            standardCount: { _ in 1 }, recordedName: nil),
        Settings(
            pool: .router, name: "router", work: "answer routes", countOption: "routers",
            standardCount: { _ in 1 }, recordedName: "cairn-router"),
    ]

    /// Its line of the table.
    public var settings: Settings {
        guard let settings = Self.table.first(where: { $0.pool == self }) else {
            preconditionFailure("the worker pool \(rawValue) is missing in WorkerPool.table")
        }
        return settings
    }

    /// `identify`.
    public var name: String { settings.name }

    /// The command line of its workers: `cairn-worker --pool identify`.
    public var processName: String { "\(Self.program) --pool \(name)" }

    /// The program of a process that a recording names.
    public static func program(ofRecorded process: String) -> String {
        table.contains { $0.recordedName == process } ? program : process
    }
}

extension WorkerPool: CaseIterable {
    /// Every pool.
    public static let allCases = table.map(\.pool)
}

extension WorkerPool: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}

extension WorkerPool: Codable {
    /// Reads the number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try container.decode(UInt8.self)
        guard let pool = WorkerPool(rawValue: number) else {
            let pools = Self.table.map { "\($0.pool.rawValue) (\($0.name))" }
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "worker pool \(number): expected one of "
                    + pools.joined(separator: ", "))
        }
        self = pool
    }

    /// Writes the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
