// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Platform
import Site
import TestKit
import Testing

/// Tickets, batches, cancels and autopsies with real processes and the command line.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct JobHandOverTests {
    private func site(locators: Int = 2) async throws -> JobSite {
        let site = try await JobSite()
        try site.start("cairn-worker --pool work")
        for _ in 0..<locators { try site.start("cairn-worker --pool locator") }
        try await site.waitForWorkers(1 + locators)
        return site
    }

    private func cairn(_ site: JobSite, _ arguments: [String]) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: site.files.path)
    }

    /// The texts of the `news` of every line.
    private func news(_ outcome: Programs.Outcome) -> [String] {
        outcome.objects.flatMap { line in
            (line["news"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
        }
    }

    @Test func `a job under an id of its submitter's is one job, and a wrong one is none`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await site()
        let table = site.files.path + "/in.csv"
        try JobSite.table(rows: 20, seed: 3).write(to: URL(filePath: table))
        func submit(_ more: String...) async throws -> Programs.Outcome {
            try await cairn(
                site, ["job", "submit", "BatchGeocode", "--input", table] + more)
        }
        let first = try await submit("--id", "nightly_1")
        #expect(first.status == 0, "\(first)")
        let again = try await submit("--id", "nightly_1")
        #expect(again.status == 0 && again.output == first.output, "\(again)")

        for (arguments, cause) in [
            (["--id", "nightly_1", "--param", "query=query"], "choose another id"),
            (["--id", "a b"], "--id 'a b': expected 1 to 64 letters"),
            (["--param", "querry=query"], "did you mean 'query'?"),
            (["--param", "query=nothing"], "has no column 'nothing'"),
        ] {
            let refused = try await cairn(
                site, ["job", "submit", "BatchGeocode", "--input", table] + arguments)
            #expect(refused.status != 0)
            #expect(refused.errors.contains(cause), "\(refused)")
        }
        let listed = try await cairn(site, ["job", "list", "--json"])
        #expect(listed.output.split(separator: "\n").count == 1, "\(listed)")
    }

    @Test
    func `a job goes from program to program by its ticket, and no message is lost or doubled`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await site()
        let (table, ticket) = (site.files.path + "/in.csv", site.files.path + "/ticket.json")
        try JobSite.table(rows: 4_000, seed: 3).write(to: URL(filePath: table))

        let submitted = try await cairn(
            site, ["job", "submit", "BatchGeocode", "--input", table, "--ticket", ticket])
        #expect(submitted.status == 0, "\(submitted)")
        let id = try #require(
            JobID(submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        var told: [String] = []
        for part in ["10", "30", "60"] {
            let watched = try await cairn(
                site, ["job", "watch", "--from", ticket, "--until", part, "--json"])
            #expect(watched.status == 0, "\(watched)")
            told += news(watched)
            try site.replace("cairn-worker --pool locator")
        }
        // Another machine: the ticket comes by a pipe, and stays where it is.
        let kept = try String(contentsOfFile: ticket, encoding: .utf8)
        let last = try await Programs.run(
            ["job", "watch", "--from", "-", "--json"], site: site.files.path, input: kept)
        #expect(last.status == 0, "\(last)")
        told += news(last)

        let job = try await site.end(of: id)
        #expect(job.status == .succeeded)
        #expect(told == job.messages.map(\.text))
        #expect(!told.isEmpty)
        #expect(last.objects.last?["clientState"] as? String == "succeeded")
        #expect(last.objects.last?["serverState"] as? String == "esriJobSucceeded")
        // Once more with the same ticket: the same messages again, and with the last one: none.
        let end = try #require(last.objects.last?["ticket"])
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: end), as: UTF8.self)
        let nothing = try await Programs.run(
            ["job", "watch", "--from", "-", "--json"], site: site.files.path, input: text)
        #expect(nothing.status == 0 && nothing.output.isEmpty, "\(nothing)")
    }

    @Test func `a ticket whose job was never submitted submits it, and a strange one is refused`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await site(locators: 1)
        let blob = try site.site.blobs.put(JobSite.table(rows: 20, seed: 1), mediaType: "text/csv")
        let submission = JobSubmission(
            id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode, parameters: [:], input: blob)
        let ticket = JobTicket(site: site.site.identity.siteID, submitting: submission)
        let text = String(decoding: try CairnJSON.encode(ticket), as: UTF8.self)

        for _ in 1...2 {
            let watched = try await Programs.run(
                ["job", "watch", "--from", "-"], site: site.files.path, input: text)
            #expect(watched.status == 0, "\(watched)")
        }
        #expect(try await site.client.jobs().map(\.id) == [submission.id])

        let other = JobTicket(site: UUID(), jobID: submission.id)
        let strange = try await Programs.run(
            ["job", "watch", "--from", "-"], site: site.files.path,
            input: String(decoding: try CairnJSON.encode(other), as: UTF8.self))
        #expect(strange.status == 1 && strange.errors.contains("the ticket is of site"))
        let broken = try await Programs.run(
            ["job", "watch", "--from", "-"], site: site.files.path, input: "{}")
        #expect(broken.status == 1 && broken.errors.contains("'version' is missing"), "\(broken)")
    }

    @Test func `a batch of files ends with every product, though supervisors are killed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let site = try await site()
        var lines = ""
        for number in 0..<4 {
            try JobSite.table(rows: 300 + number, seed: UInt64(number)).write(
                to: URL(filePath: site.files.path + "/\(number).csv"))
            lines += "{\"kind\":\"BatchGeocode\",\"input\":\"\(number).csv\"}\n"
        }
        let list = site.files.path + "/jobs.jsonl"
        try lines.write(toFile: list, atomically: true, encoding: .utf8)

        let submitted = try await cairn(
            site, ["job", "submit", "Batch", "--input", list, "--param", "sideBySide=2"])
        #expect(submitted.status == 0, "\(submitted)")
        let id = try #require(
            JobID(submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        for _ in 0..<6 {
            try await pauseBeforeKill(milliseconds: 10...300, using: &random)
            try site.replace("cairn-supervisor")
        }
        let job = try await site.end(of: id)

        #expect(job.status == .succeeded, "seed \(seed): \(job) \(site.files.output())")
        struct Product: Decodable { var number: Int; var result: BlobReference? }
        let text = try site.site.blobs.read(try #require(job.result))
        let products = try text.split(separator: UInt8(ascii: "\n")).map {
            try CairnJSON.decode(Product.self, from: Data($0))
        }
        #expect(products.map(\.number) == [0, 1, 2, 3], "seed \(seed)")
        for product in products {
            let rows = try site.site.blobs.read(try #require(product.result))
                .split(separator: UInt8(ascii: "\n"))
            #expect(rows.count == 301 + product.number, "seed \(seed)")
        }
        let children = try await site.client.jobs().filter { $0.parent == id }
        #expect(children.count == 4, "seed \(seed)")
    }

    /// Names, sizes and times of everything in the site's blobs.
    private func listing(_ site: JobSite) throws -> [String] {
        let folder = site.files.path + "/blobs"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            let time = (facts[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return "\(name) \(facts[.size] ?? 0) \(time)"
        }
    }

    @Test(arguments: [false, true])
    func `a cancelled job writes no byte more, though a worker was frozen`(
        isGivenUpFirst: Bool
    ) async throws {
        guard Programs.areBuilt() else { return }
        let site = try await site()
        let id = try await site.submit(JobSite.table(rows: 20_000, seed: 5))
        var victim: Int32?
        try await waitUntil("a locator holds a chunk", every: .milliseconds(1)) {
            victim = try await site.client.workers().first {
                $0.pool == .locator && !$0.held.isEmpty
            }?.processID
            return victim != nil
        }
        let frozen = try #require(victim)
        site.files.signal(frozen, SIGSTOP)
        if isGivenUpFirst {
            try await waitUntil("the frozen worker's attempt is lost") {
                try await site.client.job(id).lostAttemptCount > 0
            }
        }

        _ = try await site.client.command(job: id, .cancel)
        let job = try await site.end(of: id)
        let after = try listing(site)
        site.files.signal(frozen, SIGCONT)
        // The frozen one was ended before the job was: it cannot wake up.
        #expect(site.files.waitForExit(frozen) == -SIGKILL)
        // Whatever might still write has time for it: another job passes through every worker.
        try site.start("cairn-worker --pool locator")
        let before = try site.site.blobs.put(Data("x".utf8), mediaType: "text/plain").id
        let other = try await site.end(of: site.submit(JobSite.table(rows: 10, seed: 9)))

        #expect(job.status == .cancelled)
        #expect(job.failure?.code == .cancelled)
        #expect(other.status == .succeeded)
        let events = try await site.events(id)
        #expect(events.last?.event.type == JobCancelled.eventType)
        let allowed = try await made(by: other.id, site) + [before.rawValue]
        let late = try listing(site).filter { line in
            !after.contains(line) && !allowed.contains { line.hasPrefix($0) }
        }
        #expect(late.isEmpty, "\(late)")
    }

    /// The blobs a job read or made.
    private func made(by id: JobID, _ site: JobSite) async throws -> [String] {
        try await site.events(id).flatMap { record -> [String] in
            switch try JobEvent(record.event) {
            case .submitted(let payload): [payload.submission.input?.id.rawValue ?? ""]
            case .chunkCompleted(let payload): [payload.blob?.id.rawValue].compactMap(\.self)
            default: []
            }
        }.filter { !$0.isEmpty }
    }

    @Test func `an autopsy shows each death and does the chunk alone`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await JobSite()
        try site.start("cairn-worker --pool work")
        let poison = "worker.chunkTaken:kill"
        var victim = try site.start("cairn-worker --pool locator", failpoint: poison)
        let id = try await site.submit(JobSite.table(rows: 100, seed: 4))
        var dead = [victim]
        for _ in 1...2 {
            victim = try site.replaceWhenDead(
                "cairn-worker --pool locator", victim, failpoint: poison)
            dead.append(victim)
        }
        _ = try site.replaceWhenDead("cairn-worker --pool locator", victim)
        _ = try await site.end(of: id)

        let list = try await cairn(site, ["job", "autopsy", "\(id)", "--json"])
        #expect(list.objects.count == 1 && list.objects[0]["chunk"] as? Int == 1, "\(list)")
        #expect(list.objects[0]["isQuarantined"] as? Bool == true)
        #expect(list.objects[0]["deaths"] as? Int == 3)

        let keep = site.files.path + "/autopsy"
        let one = try await cairn(
            site, ["job", "autopsy", "\(id)", "1", "--json", "--keep", keep])
        #expect(one.objects.compactMap { $0["pid"] as? Int }.map(Int32.init) == dead, "\(one)")
        #expect(one.objects.dropLast().allSatisfy { $0["end"] as? String == "lost" })
        #expect(
            (one.objects.last?["command"] as? String)?.contains("cairn-worker --pool locator")
                == true)

        let run = try await cairn(
            site, ["job", "autopsy", "\(id)", "1", "--run", "--keep", keep])
        #expect(run.status == 0, "\(run)")
        #expect(run.output.contains("completed: a blob of"))
        let made = try FileManager.default.contentsOfDirectory(atPath: keep + "/blobs")
        #expect(made.count == 2)

        let absent = try await cairn(site, ["job", "autopsy", "\(id)", "7"])
        #expect(absent.status == 1 && absent.errors.contains("no chunk 7"))
    }
}
