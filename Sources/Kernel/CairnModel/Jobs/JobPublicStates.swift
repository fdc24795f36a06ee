// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The six states that a program holding a job sees, as Esri's client libraries name them.
public enum JobClientState: String, Hashable, Sendable, Codable, CaseIterable {
    /// The job is prepared; the site has not recorded it.
    case notStarted
    /// Recorded and not ended.
    case started
    /// Recorded, and no further chunk is started.
    case paused
    /// Ended with its product.
    case succeeded
    /// Ended without a product; the error says why, `cancelled` after a cancellation.
    case failed
    /// Cancellation was requested; chunks may still run.
    case canceling

    /// The state of a job; `description` is nil for one that is not recorded.
    public init(_ description: JobDescription?) {
        guard let description else {
            self = .notStarted
            return
        }
        self.init(description.status, isPaused: description.isPaused)
    }

    /// The state from the two figures it depends on.
    public init(_ status: JobStatus, isPaused: Bool) {
        switch status {
        case .submitted, .waiting, .executing: self = isPaused ? .paused : .started
        case .cancelling: self = .canceling
        case .succeeded: self = .succeeded
        case .failed, .timedOut, .cancelled: self = .failed
        }
    }

    /// The client-side state for each of an ArcGIS server's eleven states.
    public init(_ state: JobServerState) {
        switch state {
        case .new: self = .notStarted
        case .submitted, .waiting, .executing: self = .started
        case .succeeded: self = .succeeded
        case .failed, .timedOut, .cancelled, .deleted: self = .failed
        case .cancelling, .deleting: self = .canceling
        }
    }

    /// Whether the state is final.
    public var isTerminal: Bool { self == .succeeded || self == .failed }
}

/// The eleven states of a job in ArcGIS REST; raw values are ArcGIS's numbers.
///
/// A pause has no state there: a paused job waits or executes.
public enum JobServerState: Int, Hashable, Sendable, CaseIterable {
    /// Made, not submitted.
    case new
    /// Submitted.
    case submitted
    /// Waiting for a worker.
    case waiting
    /// At work.
    case executing
    /// Done.
    case succeeded
    /// Ended with an error.
    case failed
    /// Took too long.
    case timedOut
    /// Cancellation was requested.
    case cancelling
    /// Ended by its user's wish.
    case cancelled
    /// Being deleted; never used here, where jobs are not deleted.
    case deleting
    /// Deleted; never used here.
    case deleted

    /// The state of a job; `status` is nil for one that is not recorded.
    public init(_ status: JobStatus?) {
        switch status {
        case nil: self = .new
        case .submitted: self = .submitted
        case .waiting: self = .waiting
        case .executing: self = .executing
        case .succeeded: self = .succeeded
        case .failed: self = .failed
        case .timedOut: self = .timedOut
        case .cancelling: self = .cancelling
        case .cancelled: self = .cancelled
        }
    }

    /// The word on the wire, `esriJobTimedOut`.
    public var esriName: String {
        let name = "\(self)"
        return "esriJob" + name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Reads the word on the wire; nil for any other text.
    public init?(esriName: String) {
        guard let state = Self.allCases.first(where: { $0.esriName == esriName }) else {
            return nil
        }
        self = state
    }
}

extension JobMessage.Severity {
    /// The type of an ArcGIS job message, `esriJobMessageTypeWarning`.
    public var esriName: String {
        "esriJobMessageType" + rawValue.prefix(1).uppercased() + rawValue.dropFirst()
    }
}
