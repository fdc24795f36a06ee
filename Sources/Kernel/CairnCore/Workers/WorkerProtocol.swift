// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// A worker's registration, repeated until the supervisor answers, and for a new supervisor.
public struct WorkerHello: Hashable, Sendable, Codable {
    /// The worker's pool.
    public var pool: WorkerPool
    /// Its process id.
    public var processID: Int32
    /// The build, `cairn-worker/0.1.0`.
    public var build: String
    /// Interactive tasks it holds at once.
    public var taskCapacity: Int
    /// Interactive tasks it works on at once, the oldest it has, beside those that take long; the
    /// others wait.
    public var taskThreadCount: Int
    /// Interactive tasks it would take now.
    public var taskCredit: Int
    /// Slots for long tasks beside the others; nil for a worker without such a distinction.
    public var longTaskCapacity: Int?
    /// Job chunks it would take now.
    public var chunkCredit: Int
    /// Attempts it works on.
    public var running: [HeldAttempt]
    /// Attempts whose result is not yet acknowledged.
    public var finished: [HeldAttempt]
    /// Whether it accepts no further work.
    public var isDraining: Bool

    /// Describes a worker.
    public init(
        pool: WorkerPool, processID: Int32, build: String, taskCapacity: Int,
        taskThreadCount: Int, taskCredit: Int, longTaskCapacity: Int? = nil, chunkCredit: Int,
        running: [HeldAttempt], finished: [HeldAttempt], isDraining: Bool
    ) {
        self.pool = pool
        self.processID = processID
        self.build = build
        self.taskCapacity = taskCapacity
        self.taskThreadCount = taskThreadCount
        self.taskCredit = taskCredit
        self.longTaskCapacity = longTaskCapacity
        self.chunkCredit = chunkCredit
        self.running = running
        self.finished = finished
        self.isDraining = isDraining
    }
}

/// A heartbeat with the progress of the worker's attempts; sent every second, and on news.
public struct WorkerBeat: Hashable, Sendable, Codable {
    /// One attempt.
    public struct Entry: Hashable, Sendable, Codable {
        /// Its lease.
        public var lease: UUID
        /// Increases with every progress of the operation itself: a constant number reveals a
        /// stalled operation.
        public var counter: Int
        /// 0…1.
        public var fraction: Double

        /// Makes an entry.
        public init(lease: UUID, counter: Int, fraction: Double) {
            self.lease = lease
            self.counter = counter
            self.fraction = fraction
        }
    }

    /// The attempts being worked on.
    public var entries: [Entry]
    /// Mean duration of an interactive task since the last heartbeat, in microseconds; nil without
    /// one.
    public var taskMicroseconds: Int?

    /// Makes a beat.
    public init(entries: [Entry], taskMicroseconds: Int? = nil) {
        self.entries = entries
        self.taskMicroseconds = taskMicroseconds
    }
}

/// Constants of the protocol between supervisor and workers.
public enum WorkerWire {
    /// The number of the protocol between them, in front of each of its messages; builds before 2
    /// wrote none.
    public static let version: UInt8 = 2
    /// The topic of a supervisor's presence messages.
    public static let presenceTopic = "supervisor"
    /// Heartbeat interval of a worker in milliseconds.
    public static let beatMilliseconds: Int64 = 1_000
    /// After how long a silence a worker counts as lost, in milliseconds.
    public static let silenceMilliseconds: Int64 = 3_000
}
