// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@Suite struct UploadLedgerTests {
    private let files: TestSite
    private let site: Site

    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
    }

    private func put(_ text: String) throws -> BlobReference {
        try site.blobs.put(Data(text.utf8), mediaType: "text/plain")
    }

    @Test(arguments: [".", "..", "anonymous.", "user-a", "a@b.c"])
    func `every user's name has a folder of its own below the ledger's`(name: String) throws {
        let blob = try put("a")
        try site.uploads.note(blob.id, of: .user(name))

        #expect(site.uploads.find(blob.id, of: .user(name)) == site.blobs.find(blob.id))
        #expect(site.uploads.find(blob.id, of: .anonymous) == nil)
        let ledger = files.path + "/uploads"
        #expect(try FileManager.default.contentsOfDirectory(atPath: ledger) == ["user-" + name])
        try site.uploads.forget(.user(name))
        #expect(site.uploads.find(blob.id, of: .user(name)) == nil)
        #expect(site.blobs.contains(blob.id))
    }

    @Test func `an upload noted twice counts once, and a small one as the least size`()
        throws
    {
        let (small, large) = (try put("a"), try put(String(repeating: "b", count: 100_000)))
        for id in [small.id, large.id, small.id] { try site.uploads.note(id, of: .anonymous) }
        #expect(
            try site.uploads.byteCount(of: .anonymous) == UploadLedger.leastByteCount + 100_000)
        #expect(try site.uploads.byteCount(of: .user("anna")) == 0)
    }

    @Test func `a sweep's end takes the old entries whose blobs have gone`() throws {
        let (gone, kept) = (try put("gone"), try put("kept"))
        for owner in [UploadLedger.Owner.anonymous, .user("anna")] {
            for id in [gone.id, kept.id] { try site.uploads.note(id, of: owner) }
        }
        try FileManager.default.removeItem(atPath: site.blobs.path(gone.id))
        try site.uploads.forgetSwept(before: Timestamp(microseconds: 0))
        _ = try put("gone")
        #expect(site.uploads.find(gone.id, of: .anonymous) != nil, "the entry was young")

        try FileManager.default.removeItem(atPath: site.blobs.path(gone.id))
        try site.uploads.forgetSwept(before: Timestamp(microseconds: .max / 2))
        _ = try put("gone")
        for owner in [UploadLedger.Owner.anonymous, .user("anna")] {
            #expect(site.uploads.find(gone.id, of: owner) == nil)
            #expect(site.uploads.find(kept.id, of: owner) != nil)
        }
    }
}

@Suite struct QuotaRuleTests {
    @Test func `rules from before there were quotas are read, and have the standard limits`() throws
    {
        let text = """
            {"anonymous":[],"formatVersion":1,"users":[{"grants":[{"operation":"jobs",\
            "service":"*"}],"name":"anna","passwordHash":"x"}]}
            """
        let rules = try CairnJSON.decode(AccessRules.self, from: Data(text.utf8))
        #expect(rules.limits(of: "anna") == .standard && rules.limits(of: nil) == .standard)
        #expect(String(decoding: try CairnJSON.encode(rules), as: UTF8.self) == text)
    }

    @Test func `a user's own limit comes before the site's, and that before the standard`() throws {
        var rules = AccessRules()
        rules.users = [
            .init(name: "anna", passwordHash: "", grants: []),
            .init(name: "bert", passwordHash: "", grants: []),
        ]
        rules.users[0].quota = Quota(jobs: 7)
        rules.quota = Quota(bytes: 9, jobs: 8)
        rules.anonymousQuota = Quota(uploads: 0)
        let standard = Quota.Limits.standard

        let (anna, bert, nobody) = (
            rules.limits(of: "anna"), rules.limits(of: "bert"), rules.limits(of: nil)
        )
        #expect((anna.bytes, anna.jobs, anna.uploads) == (9, 7, standard.uploads))
        #expect((bert.bytes, bert.jobs, bert.uploads) == (9, 8, standard.uploads))
        #expect((nobody.bytes, nobody.jobs, nobody.uploads) == (9, 8, 0))
        rules.users[1].quota = Quota(bytes: -1)
        #expect(throws: Failure.self) { try rules.check() }
    }
}
