// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@Suite struct PartialUploadTests {
    private let files: TestSite
    private let site: Site
    private let anna = UploadLedger.Owner.user("anna")

    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
    }

    private func put(_ text: String, _ number: Int, of id: String) throws {
        let writer = try BlobWriter(partOf: id, of: anna, in: site.uploads)
        try writer.write(Array(text.utf8))
        try writer.keep(asPart: number)
    }

    private func commit(_ id: String, _ parts: [Int]? = nil) throws -> BlobReference {
        try site.uploads.commit(id, parts: parts, of: anna, byteLimit: 100).blob
    }

    private func refusal(_ body: () throws -> Void) -> Failure.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Failure)?.code
        }
    }

    @Test func `parts are joined in their order, and a commit that is repeated is the same`()
        throws
    {
        let id = try site.uploads.register("a.csv", of: anna)
        for (number, text) in [(10, "c"), (2, "x"), (1, "a"), (2, "b")] {
            try put(text, number, of: id)
        }
        // Another process has the same.
        let again = try Site(openingOrCreating: files.path)
        #expect(try again.uploads.parts(of: id, anna) == [1, 2, 10])
        #expect(try site.uploads.byteCount(of: anna) == 3 * UploadLedger.leastByteCount)

        let blob = try again.uploads.commit(id, parts: nil, of: anna, byteLimit: 100).blob
        #expect(try site.blobs.read(blob) == Data("abc".utf8))
        #expect(site.uploads.find(blob.id, of: anna) != nil)
        #expect(site.uploads.committed(id, of: anna) == blob.id)
        #expect(try site.uploads.byteCount(of: anna) == UploadLedger.leastByteCount)
        #expect(try commit(id, [2]) == blob)
        #expect(refusal { try put("d", 3, of: id) } == .conflict)

        let other = try site.uploads.register("b.csv", of: anna)
        for number in 1...3 { try put("\(number)", number, of: other) }
        #expect(try site.blobs.read(try commit(other, [3, 1])) == Data("31".utf8))
    }

    @Test func `an upload is its owner's alone, and an id is no path`() throws {
        let id = try site.uploads.register("a.csv", of: anna)
        for owner in [UploadLedger.Owner.user("bert"), .anonymous, .everybody] {
            #expect(refusal { _ = try site.uploads.parts(of: id, owner) } == .notFound)
            #expect(
                refusal { _ = try BlobWriter(partOf: id, of: owner, in: site.uploads) }
                    == .notFound)
        }
        for id in ["", "..", "../user-anna", "00000000-0000-4000-8000-000000000000"] {
            #expect(refusal { _ = try site.uploads.partial(id, of: anna) } == .notFound)
        }
    }

    @Test func `a commit names parts that are here, each once, within the bytes`() throws {
        let id = try site.uploads.register("a.csv", of: anna)
        #expect(refusal { _ = try commit(id) } == .invalidParameter)
        try put("a", 1, of: id)
        try put(String(repeating: "b", count: 100), 2, of: id)
        #expect(refusal { _ = try commit(id, [1, 1]) } == .invalidParameter)
        #expect(refusal { _ = try commit(id, [1, 3]) } == .notFound)
        #expect(refusal { _ = try commit(id) } == .tooLarge)
        #expect(try site.uploads.parts(of: id, anna) == [1, 2])
        #expect(try commit(id, [2]).byteCount == 100)
    }

    @Test func `a sweep takes an upload that was abandoned before its moment`() throws {
        let id = try site.uploads.register("a.csv", of: anna)
        try put("a", 1, of: id)
        try site.uploads.forgetSwept(before: Timestamp(microseconds: 0))
        #expect(try site.uploads.parts(of: id, anna) == [1])
        try site.uploads.forgetSwept(before: Timestamp(microseconds: .max / 2))
        #expect(refusal { _ = try site.uploads.parts(of: id, anna) } == .notFound)
        #expect(try site.uploads.byteCount(of: anna) == 0)
    }

    @Test func `an owner has a bounded number of uploads, and committed ones give way`() throws {
        let first = try site.uploads.register("a.csv", of: anna)
        for _ in 1..<UploadLedger.partialLimit { _ = try site.uploads.register("b", of: anna) }
        #expect(refusal { _ = try site.uploads.register("c", of: anna) } == .tooLarge)
        _ = try site.uploads.register("c", of: .user("bert"))
        try put("a", 1, of: first)
        let blob = try commit(first)
        _ = try site.uploads.register("c", of: anna)
        #expect(site.uploads.committed(first, of: anna) == nil)
        #expect(site.uploads.find(blob.id, of: anna) != nil)
    }
}
