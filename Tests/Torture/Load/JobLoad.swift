// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit

extension Load {
    /// Inputs of jobs, the same in every run, so that their products must be too.
    static let tableCount = 3

    private static func table(_ number: Int) -> Data {
        var random = SeededGenerator(seed: UInt64(number))
        let names = [
            "Paris", "London", "Nairobi", "Springfield", "São Paulo", "Tokyo, Japan", "Köln",
            "Nowhereville Xyz", "", "Berlin, Germany", "New York", "Lomdon", "Quito",
        ]
        var text = "id,query\n"
        for row in 0..<[40, 400, 1_500][number % 3] {
            text += "\(row),\"\(names.randomElement(using: &random) ?? "")\"\n"
        }
        return Data(text.utf8)
    }

    func submitJobs(_ number: Int) async {
        var random = generator("jobs", number)
        while !history.isOver {
            let disturbance = JobDisturbance.allCases.randomElement(using: &random)
            await submit(
                table: Int.random(in: 0..<Self.tableCount, using: &random),
                disturbing: Bool.random(using: &random) ? disturbance : nil)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
        }
    }

    /// A user's action on a running job.
    enum JobDisturbance: CaseIterable { case pause, cancel, submitAgain }

    /// Submits a job and stays until it has ended.
    func submit(table number: Int, disturbing disturbance: JobDisturbance?) async {
        guard let input = try? site.blobs.put(Self.table(number), mediaType: "text/csv") else {
            return history.note(
                "failure", ["operation": "blob", "code": "noSpace", "isRetriable": true])
        }
        let submission = JobSubmission(
            id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode, parameters: [:], input: input)
        guard await submitted(submission, number) else { return }
        var isCancelled = false
        switch disturbance {
        case .pause:
            if await command(submission.id, .pause) {
                try? await Task.sleep(for: .milliseconds(300))
                _ = await command(submission.id, .resume)
            }
        case .cancel:
            await wait(untilWorkersHave: submission.id)
            isCancelled = await command(submission.id, .cancel)
        case .submitAgain: _ = await submitted(submission, number)
        case nil: break
        }
        await watch(submission.id, table: number, isCancelled)
    }

    private func submitted(_ submission: JobSubmission, _ table: Int) async -> Bool {
        let job = await insist("submit") { () async throws(Failure) in
            try await client.submit(submission, timeout: .seconds(20))
        }
        guard let job else { return false }
        history.note(
            "submitted",
            ["job": job.id.description, "table": table, "sequence": job.sequence])
        return true
    }

    /// Waits until a worker must be notified of the cancel; a second at most.
    private func wait(untilWorkersHave id: JobID) async {
        let end = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < end {
            let job = try? await client.job(id, timeout: .seconds(1))
            if let job, job.status == .executing || job.status.isTerminal { return }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    private func command(_ job: JobID, _ command: JobCommand) async -> Bool {
        let id = UUID.timeOrdered()
        let answer = await insist("job command") { () async throws(Failure) in
            try await client.command(job: job, command, id: id, timeout: .seconds(20))
        }
        guard answer != nil else { return false }
        history.note(
            "jobCommand", ["job": job.description, "command": "\(command)", "id": id.text])
        return true
    }

    private func watch(_ id: JobID, table: Int, _ isCancelled: Bool) async {
        var lastProgress = 0.0
        let end = ContinuousClock.now + .seconds(240)
        while ContinuousClock.now < end {
            let job = await insist("job") { () async throws(Failure) in
                try await client.job(id, timeout: .seconds(20))
            }
            guard let job else { return }
            if job.progress < lastProgress {
                history.note(
                    "progressFell",
                    ["job": id.description, "from": lastProgress, "to": job.progress])
            }
            lastProgress = job.progress
            if job.status.isTerminal {
                return history.note(
                    "ended",
                    [
                        "job": id.description, "table": table, "status": job.status.rawValue,
                        "isCancelled": isCancelled, "lost": job.lostAttemptCount,
                        "result": job.result.map(\.id.rawValue) ?? "",
                        "failure": job.failure?.description ?? "",
                    ])
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        history.note("notEnded", ["job": id.description])
    }
}
