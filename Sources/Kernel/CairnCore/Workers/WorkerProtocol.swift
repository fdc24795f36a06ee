// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// "Here I am": what a worker says until the supervisor answers, and again to a new supervisor.
public struct WorkerHello: Hashable, Sendable, Codable {
    /// What it can do.
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
    /// Tasks that take long which it holds at once, beside the others; nil where it tells none
    /// apart.
    public var longTaskCapacity: Int?
    /// Job chunks it would take now.
    public var chunkCredit: Int
    /// Attempts it works on.
    public var running: [HeldAttempt]
    /// Attempts whose result is not acknowledged yet.
    public var finished: [HeldAttempt]
    /// Whether it takes nothing more.
    public var isDraining: Bool

    /// Says hello.
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

/// How the attempts that a worker runs are getting on; sent every second, and in between when there
/// is news.
public struct WorkerBeat: Hashable, Sendable, Codable {
    /// One attempt.
    public struct Entry: Hashable, Sendable, Codable {
        /// Its lease.
        public var lease: UUID
        /// Grows with every sign of life of the operation itself: a number that stands still
        /// belongs to an operation that hangs.
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
    /// How long an interactive task took it on average since the beat before, in microseconds; nil
    /// where it had none.
    public var taskMicroseconds: Int?

    /// Makes a beat.
    public init(entries: [Entry], taskMicroseconds: Int? = nil) {
        self.entries = entries
        self.taskMicroseconds = taskMicroseconds
    }
}

/// What supervisor and workers have agreed on.
public enum WorkerWire {
    /// The number of the protocol between them, in front of each of its messages; builds before 2
    /// wrote none.
    public static let version: UInt8 = 2
    /// The topic under which a supervisor says that it is there.
    public static let presenceTopic = "supervisor"
    /// How often a worker beats, in milliseconds.
    public static let beatMilliseconds: Int64 = 1_000
    /// After how long a silence a worker counts as lost, in milliseconds.
    public static let silenceMilliseconds: Int64 = 3_000
}
