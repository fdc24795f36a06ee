// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@Suite struct JobPublicStateTests {
    static let statuses: [JobStatus] = [
        .submitted, .waiting, .executing, .succeeded, .failed, .timedOut, .cancelling, .cancelled,
    ]

    @Test(arguments: [
        (JobStatus.submitted, false, JobClientState.started), (.submitted, true, .paused),
        (.waiting, false, .started), (.waiting, true, .paused),
        (.executing, false, .started), (.executing, true, .paused),
        (.cancelling, false, .canceling), (.cancelling, true, .canceling),
        (.succeeded, false, .succeeded), (.succeeded, true, .succeeded),
        (.failed, false, .failed), (.failed, true, .failed),
        (.timedOut, false, .failed), (.timedOut, true, .failed),
        (.cancelled, false, .failed), (.cancelled, true, .failed),
    ])
    func `every state of a job has one client state`(
        status: JobStatus, isPaused: Bool, expected: JobClientState
    ) {
        #expect(JobClientState(status, isPaused: isPaused) == expected)
        #expect(JobClientState(status, isPaused: isPaused).isTerminal == status.isTerminal)
        // A client that reads ArcGIS's status concludes the same, except for the pause, which has
        // none.
        let heard = JobClientState(JobServerState(status))
        #expect(heard == expected || (expected == .paused && heard == .started))
    }

    @Test func `a job that is not recorded is not started`() {
        #expect(JobClientState(nil) == .notStarted)
        #expect(JobServerState(nil) == .new)
        #expect(JobClientState(JobServerState(nil)) == .notStarted)
    }

    @Test func `the eleven server states have ArcGIS's numbers and words`() {
        let words = [
            "esriJobNew", "esriJobSubmitted", "esriJobWaiting", "esriJobExecuting",
            "esriJobSucceeded", "esriJobFailed", "esriJobTimedOut", "esriJobCancelling",
            "esriJobCancelled", "esriJobDeleting", "esriJobDeleted",
        ]
        #expect(JobServerState.allCases.map(\.rawValue) == Array(0...10))
        #expect(JobServerState.allCases.map(\.esriName) == words)
        #expect(words.map { JobServerState(esriName: $0)?.rawValue } == Array(0...10))
        #expect(JobServerState(esriName: "esriJobDancing") == nil)
    }

    @Test func `the wire sees the states up to cancelled, each from one job state`() {
        let seen = Self.statuses.map { JobServerState($0) } + [JobServerState(nil)]
        #expect(Set(seen) == Set(JobServerState.allCases.prefix(9)))
        #expect(Set(seen).count == seen.count)
    }

    @Test func `every client state of a job is reached`() {
        let reached = Self.statuses.flatMap { status in
            [true, false].map { JobClientState(status, isPaused: $0) }
        }
        #expect(Set(reached + [JobClientState(nil)]) == Set(JobClientState.allCases))
    }

    @Test func `messages have ArcGIS's types`() {
        let types = [JobMessage.Severity.informative, .warning, .error].map(\.esriName)
        #expect(
            types == [
                "esriJobMessageTypeInformative", "esriJobMessageTypeWarning",
                "esriJobMessageTypeError",
            ])
    }
}
