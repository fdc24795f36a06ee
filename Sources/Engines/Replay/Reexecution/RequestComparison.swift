// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import MapState
public import Recording

/// Compares recorded answers with those of an engine, field by field.
public struct RequestComparison: Sendable {
    private let engine: any AnswerEngine
    private let tolerance: Double
    private let build: @Sendable (_ process: String) -> String?
    private let isOfThisLog: @Sendable (_ sequence: Int64, _ incarnation: UUID) -> Bool

    /// - Parameters:
    ///   - engine: Re-executes the requests.
    ///   - tolerance: Tolerance of numbers, absolutely or relative to the greater one.
    ///   - isOfThisLog: Whether the engine's log has the events up to a sequence number of an
    ///     incarnation.
    ///   - build: The build of a process's program here; nil where this build has no such program.
    public init(
        engine: any AnswerEngine, tolerance: Double,
        isOfThisLog: @escaping @Sendable (_ sequence: Int64, _ incarnation: UUID) -> Bool = {
            _, _ in true
        },
        build: @escaping @Sendable (_ process: String) -> String?
    ) {
        self.engine = engine
        self.tolerance = tolerance
        self.build = build
        self.isOfThisLog = isOfThisLog
    }

    /// The outcome of one request.
    public enum Outcome: Hashable, Sendable {
        /// The same answer.
        case same
        /// Another answer, or a failure.
        case differs(Difference)
        /// It cannot be compared: one sentence.
        case incomparable(String)
        /// It was answered on this incarnation of the log, whose events are not all in the present
        /// one.
        case ofAnotherLog(UUID)
    }

    /// Re-executes a request; throws `Failure` for an answer that JSON cannot represent.
    ///
    /// A locator's answer depends on no event: the recording names its file.
    public func compare(_ record: RecordedRequest) throws(Failure) -> Outcome {
        if record.locator == nil, let incarnation = record.incarnation,
            !isOfThisLog(record.sequence, incarnation)
        {
            return .ofAnotherLog(incarnation)
        }
        let again: any RecordedAnswer
        do throws(Failure) {
            switch try engine.answer(record) {
            case .answer(let answer): again = answer
            case .incomparable(let reason): return .incomparable(reason)
            }
        } catch {
            return .differs(difference(record, failure: error))
        }
        let hasDigest = try again.has(digest: record.answerDigest)
        let known = record.answer?.losses ?? []
        if !hasDigest, let loss = again.losses.first(where: { !known.contains($0) }) {
            return .differs(difference(record, failure: loss))
        }
        guard let before = record.answer else {
            if hasDigest { return .same }
            return .differs(
                difference(
                    record, "the answer has another digest; it was too long to be kept whole", []))
        }
        guard try before.has(digest: record.answerDigest) else {
            return .differs(try changedRecording(record, before, again, hasDigest: hasDigest))
        }
        if hasDigest { return .same }
        let changes = try changes(before, again)
        guard let first = changes.first else { return .same }
        return .differs(
            difference(
                record, "\(changes.count) fields differ, first '\(first.pointer)'",
                Array(changes.prefix(Difference.changeLimit))))
    }

    /// The difference of a kept answer that does not match the recorded digest.
    private func changedRecording(
        _ record: RecordedRequest, _ before: any RecordedAnswer,
        _ again: any RecordedAnswer, hasDigest: Bool
    ) throws(Failure) -> Difference {
        let changes = try changes(before, again)
        let which =
            if hasDigest { "the digest is that of this build's answer" } else if changes.isEmpty {
                "the kept answer is this build's"
            } else { "this build's answer is neither" }
        var difference = difference(
            record, "the kept answer does not have the recorded digest; \(which)",
            Array(changes.prefix(Difference.changeLimit)))
        difference.cause = .recordingChanged
        return difference
    }

    private func changes(
        _ before: any RecordedAnswer, _ again: any RecordedAnswer
    ) throws(Failure) -> [FieldChange] {
        FieldChange.between(
            try before.compared(), try again.compared(), tolerance: tolerance)
    }

    private func difference(_ record: RecordedRequest, failure: Failure) -> Difference {
        let isMissing = [.notFound, .unreadable, .corrupt].contains(failure.code)
        var difference = difference(record, failure.description, [])
        difference.cause = isMissing ? .dataMissing : .failed
        return difference
    }

    private func difference(
        _ record: RecordedRequest, _ message: String, _ changes: [FieldChange]
    ) -> Difference {
        let build = build(record.process)
        return Difference(
            kind: .request, sequence: record.sequence, operation: record.operation,
            cause: .between(recorded: record.build, build), message: message, at: record.at,
            job: nil, chunk: nil, recordedBuild: record.build,
            build: build, changes: changes)
    }
}
