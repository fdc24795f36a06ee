// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dispatch
import Foundation
import Site
import Synchronization
import TestKit
import Testing

/// A sweep removes old blobs, and never one that is put again meanwhile.
@Suite struct BlobSweepTests {
    private let scratch: Scratch
    private let blobs: BlobStore
    private let anHourAgo = Timestamp(
        microseconds: Int64((Date().timeIntervalSince1970 - 3_600) * 1e6))

    init() throws {
        scratch = try Scratch()
        blobs = BlobStore(directory: scratch.path)
    }

    private func age(_ id: ContentID, hours: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -3_600 * hours)],
            ofItemAtPath: blobs.path(id))
    }

    @Test func `a sweep removes only blobs older than the moment`() throws {
        let old = try blobs.put(Data("old".utf8), mediaType: "text/plain")
        let young = try blobs.put(Data("young".utf8), mediaType: "text/plain")
        try age(old.id, hours: 2)
        try Data().write(to: URL(filePath: scratch.path + "/.staged-1-x"))
        #expect(Set(try blobs.entries().map(\.id)) == [old.id, young.id])

        #expect(try blobs.remove(old.id, unlessRenewedSince: anHourAgo))
        #expect(try !blobs.remove(young.id, unlessRenewedSince: anHourAgo))
        #expect(try !blobs.remove(old.id, unlessRenewedSince: anHourAgo))

        #expect(try blobs.entries().map(\.id) == [young.id])
        #expect(failure { _ = try blobs.read(old) }?.code == .notFound)
        #expect(try scratch.names(scratch.path) == [".staged-1-x", young.id.rawValue].sorted())
    }

    @Test func `a blob that is named or put again is young`() throws {
        let named = try blobs.put(Data("named".utf8), mediaType: "text/plain")
        let put = try blobs.put(Data("put".utf8), mediaType: "text/plain")
        for blob in [named, put] { try age(blob.id, hours: 2) }

        #expect(blobs.renew(named.id))
        _ = try blobs.put(Data("put".utf8), mediaType: "text/plain")

        for blob in [named, put] {
            #expect(try !blobs.remove(blob.id, unlessRenewedSince: anHourAgo))
        }
        try FileManager.default.removeItem(atPath: blobs.path(put.id))
        #expect(!blobs.renew(put.id))
    }

    @Test func `blobs that a killed sweep has taken aside come back`() throws {
        let blob = try blobs.put(Data("aside".utf8), mediaType: "text/plain")
        try FileManager.default.moveItem(
            atPath: blobs.path(blob.id), toPath: scratch.path + "/.swept-" + blob.id.rawValue)

        try blobs.restoreAside()

        #expect(try blobs.read(blob) == Data("aside".utf8))
        #expect(try scratch.names(scratch.path) == [blob.id.rawValue])
    }

    /// Both at once, a few hundred times: a blob that was put is found.
    @Test(.slow) func `a blob that is put while it is swept is there afterwards`() throws {
        var removedCount = 0
        for number in 0..<300 {
            let bytes = Data("number \(number)".utf8)
            let blob = try blobs.put(bytes, mediaType: "text/plain")
            try age(blob.id, hours: 2)
            let outcomes = Outcomes()

            DispatchQueue.concurrentPerform(iterations: 2) { [blobs, anHourAgo] side in
                if side == number % 2 {
                    outcomes.note(put: Result { try blobs.put(bytes, mediaType: "text/plain") })
                } else {
                    outcomes.note(
                        swept: Result { try blobs.remove(blob.id, unlessRenewedSince: anHourAgo) })
                }
            }

            let (put, swept) = outcomes.both
            #expect(try put?.get() == blob)
            if try swept?.get() == true { removedCount += 1 }
            #expect(try blobs.read(blob) == bytes, "round \(number)")
        }
        #expect(try blobs.entries().count == 300)
        #expect(try scratch.names(scratch.path).count == 300)
        #expect(removedCount < 300)
    }
}

private final class Outcomes: Sendable {
    private typealias Both = (
        put: Result<BlobReference, any Error>?, swept: Result<Bool, any Error>?
    )
    private let state = Mutex<Both>((nil, nil))

    func note(put: Result<BlobReference, any Error>) { state.withLock { $0.put = put } }
    func note(swept: Result<Bool, any Error>) { state.withLock { $0.swept = swept } }
    var both: (Result<BlobReference, any Error>?, Result<Bool, any Error>?) {
        state.withLock { ($0.put, $0.swept) }
    }
}
