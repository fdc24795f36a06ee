// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// `cairn job sweep` on a site whose log's clock is three hours behind.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct SweepProcessTests {
    private static let hour = 3_600.0

    private func makeOld(_ site: JobSite) throws {
        for entry in try site.site.blobs.entries() {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3 * Self.hour)],
                ofItemAtPath: site.site.blobs.path(entry.id))
        }
        let uploads = site.site.path + "/uploads"
        for entry in try FileManager.default.subpathsOfDirectory(atPath: uploads) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3 * Self.hour)],
                ofItemAtPath: uploads + "/" + entry)
        }
    }

    private func submit(_ site: JobSite, _ table: Data) async throws -> JobDescription {
        let input = try site.site.blobs.put(table, mediaType: "text/csv")
        return try await site.client.submit(
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode,
                parameters: ["locator": "World"], input: input))
    }

    private func end(_ site: JobSite, _ id: JobID) async throws -> JobDescription {
        try await site.end(of: id)
    }

    private func sweep(_ site: JobSite, _ more: String...) async throws -> [String: Any] {
        let moment = ISO8601DateFormatter().string(
            from: Date(timeIntervalSinceNow: -1.5 * Self.hour))
        let outcome = try await Programs.run(
            ["job", "sweep", "--before", moment, "--json"] + more, site: site.files.path)
        #expect(outcome.status == 0, "\(outcome)")
        return try #require(outcome.objects.first)
    }

    private func ids(_ site: JobSite) throws -> Set<ContentID> {
        Set(try site.site.blobs.entries().map(\.id))
    }

    @Test func `parts go, then inputs and products, and a job that is open loses nothing`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await JobSite(logClockOffset: Int(-3 * Self.hour))
        for program in ["cairn-worker --pool work", "cairn-worker --pool locator"] {
            try site.start(program)
        }
        try await site.waitForWorkers(2)
        let table = JobSite.table(rows: 1_200, seed: 5)
        let over = try await end(site, try await submit(site, table).id)
        #expect(over.status == .succeeded, "\(over)")
        let (input, product) = (try #require(over.input).id, try #require(over.result).id)
        let orphan = try site.site.blobs.put(Data("never submitted".utf8), mediaType: "text/plain")
        for id in [input, orphan.id] { try site.site.uploads.note(id, of: .user("anna")) }
        // Open, and with parts of its own.
        let open = try await submit(site, JobSite.table(rows: 5_000, seed: 6))
        try await waitUntil("three chunks are done") {
            try await site.client.job(open.id).completedChunkCount >= 3
        }
        _ = try await site.client.command(job: open.id, .pause)
        try await waitUntil("no worker holds a chunk") {
            try await site.client.workers().allSatisfy { $0.held.isEmpty }
        }
        let openInput = try #require(open.input).id
        try makeOld(site)
        let young = try site.site.blobs.put(Data("put just now".utf8), mediaType: "text/plain")
        let before = try ids(site)
        let head = try await LogReader(site.client).head().head

        let dry = try await sweep(site, "--dry-run")
        #expect(try ids(site) == before && dry["isDone"] as? Bool == false)
        #expect(try await LogReader(site.client).head().head == head)
        let parts = try await sweep(site)
        let afterParts = try ids(site)
        #expect(parts["blobCount"] as? Int == dry["blobCount"] as? Int)
        #expect(before.count - afterParts.count == parts["blobCount"] as? Int)
        #expect(afterParts.isSuperset(of: [input, product, openInput, young.id]))
        #expect(!afterParts.contains(orphan.id))
        func uploads() throws -> [String] {
            try FileManager.default.contentsOfDirectory(
                atPath: site.site.path + "/uploads/user-anna")
        }
        #expect(try uploads() == [input.rawValue], "an entry keeps nothing and goes with its blob")
        #expect(afterParts.count < before.count - 1, "the parts of the job that is over stayed")

        let products = try await sweep(site, "--with-products")
        #expect(products["blobCount"] as? Int == 2, "\(products)")
        #expect(try ids(site) == afterParts.subtracting([input, product]))
        #expect(try uploads().isEmpty)
        let result = try await Programs.run(
            ["job", "result", "\(over.id)"], site: site.files.path)
        #expect(result.status != 0 && result.errors.contains("has been swept"), "\(result)")
        #expect(try await site.client.job(over.id).status == .succeeded)

        _ = try await site.client.command(job: open.id, .resume)
        #expect(try await end(site, open.id).status == .succeeded)
        let again = try await end(site, try await submit(site, table).id)
        #expect(again.result == over.result)
        #expect(try ids(site).isSuperset(of: [input, product]))

        let swept = try await LogReader(site.client).events(stream: .siteBlobs)
        let told = try swept.map { try SiteBlobsSwept.decode($0.event) }
        #expect(told.map(\.keepsProducts) == [true, false])
        #expect(told.map(\.blobCount) == [parts["blobCount"] as? Int, 2])
        let verified = try await Programs.run(["log", "verify"], site: site.files.path)
        #expect(verified.status == 0, "\(verified)")
    }

    @Test func `a moment less than an hour ago is refused`() async throws {
        guard Programs.areBuilt() else { return }
        let files = try TestSite()
        defer { files.end() }
        _ = try Site(openingOrCreating: files.path)
        for moment in ["2999-01-01T00:00:00Z", ISO8601DateFormatter().string(from: Date()), "soon"]
        {
            let outcome = try await Programs.run(
                ["job", "sweep", "--before", moment], site: files.path)
            #expect(outcome.status == 64, "\(moment): \(outcome)")
        }
    }
}
