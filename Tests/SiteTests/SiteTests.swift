// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import Foundation
import Platform
import Site
import Testing

/// A directory that goes away with the test.
final class Scratch {
    let path: String
    init() throws {
        path = NSTemporaryDirectory() + "site-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }
}

func failure(_ body: () throws -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error as? Failure
    }
}

@Suite struct SiteTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    @Test func `a new site keeps its identity when it is opened again`() throws {
        let made = try Site(openingOrCreating: scratch.path + "/a")

        let again = try Site(openingOrCreating: scratch.path + "/a")

        #expect(again == made)
        #expect(
            try scratch.names(made.path)
                == ["blobs", "cairn.json", "datasets", "jobs", "locators", "log", "rasters", "run"])
    }

    @Test func `a site made by eight threads at once has one identity`() async throws {
        let path = scratch.path + "/b"
        let identities = try await withThrowingTaskGroup(of: UUID.self) { group in
            for _ in 0..<8 {
                group.addTask { try Site(openingOrCreating: path).identity.siteID }
            }
            return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
        }

        #expect(identities.count == 1)
        #expect(try scratch.names(path).filter { $0.hasPrefix(".") } == [])
    }

    @Test func `only the owner can enter the directory of sockets`() throws {
        let site = try Site(openingOrCreating: scratch.path + "/c")

        #expect(PrivateDirectory.fault(at: site.runDirectory) == nil)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: site.runDirectory)
        #expect(failure { _ = try Site(opening: site.path) }?.code == .conflict)
    }

    @Test func `a path too long for a socket's name gets a run directory that is not`() throws {
        let site = try Site(
            openingOrCreating: scratch.path + "/" + String(repeating: "long", count: 20))
        defer { try? FileManager.default.removeItem(atPath: site.runDirectory) }

        #expect(site.runDirectory.utf8.count <= 66)
        #expect(try Site(opening: site.path).runDirectory == site.runDirectory)
    }

    @Test(arguments: [
        (#"{"formatVersion":2,"shape":"unknown"}"#, Failure.Code.newerVersion),
        (#"{"formatVersion":1}"#, .corrupt), ("", .corrupt), ("[]", .corrupt),
        (
            #"{"formatVersion":0,"siteID":"8B9A3C0E-5C1F-4B1B-9F58-3C1B0C6E0001","createdAt":1}"#,
            .corrupt
        ),
    ])
    func `a cairn.json of another form is refused by a sentence`(
        text: String, code: Failure.Code
    ) throws {
        let site = try Site(openingOrCreating: scratch.path + "/d")
        try Data(text.utf8).write(to: URL(fileURLWithPath: site.path + "/cairn.json"))

        let refusal = failure { _ = try Site(openingOrCreating: site.path) }

        #expect(refusal?.code == code)
        #expect(refusal?.message.contains(site.path) == true)
    }

    @Test func `a directory that is no site is not taken for one`() throws {
        #expect(failure { _ = try Site(opening: scratch.path) }?.code == .notFound)
    }
}

@Suite struct BlobStoreTests {
    let scratch: Scratch
    let blobs: BlobStore
    init() throws {
        scratch = try Scratch()
        blobs = try Site(openingOrCreating: scratch.path + "/s").blobs
    }

    @Test(arguments: [0, 1, 262_144, 262_145, 1_000_000])
    func `a blob reads back as it was put, from memory or from a file`(byteCount: Int) throws {
        let bytes = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let file = scratch.path + "/input"
        try bytes.write(to: URL(fileURLWithPath: file))

        let first = try blobs.put(bytes, mediaType: "text/csv")
        let second = try blobs.put(file: file, mediaType: "text/csv")

        #expect(first == second)
        #expect(first.id == ContentID(SHA256.digest([UInt8](bytes))))
        #expect(try blobs.read(first) == bytes)
        #expect(try scratch.names(blobs.directory) == [first.id.rawValue])
    }

    @Test func `a put that fails half-way leaves no file and no name`() throws {
        let refusal = failure {
            _ = try blobs.put(file: scratch.path, mediaType: "text/csv")
        }

        #expect(refusal != nil)
        #expect(try scratch.names(blobs.directory) == [])
    }

    @Test func `a full disk is named as such`() throws {
        #expect(Failure(PlatformError(code: 28, operation: "write", subject: "x")).code == .noSpace)
    }

    @Test func `a blob that is too large, missing or cut short is refused`() throws {
        let blob = try blobs.put(Data(repeating: 7, count: 100), mediaType: "text/csv")
        #expect(failure { _ = try blobs.read(blob, maximumByteCount: 99) }?.code == .tooLarge)

        try Data(repeating: 7, count: 99).write(to: URL(fileURLWithPath: blobs.path(blob.id)))
        #expect(failure { _ = try blobs.read(blob) }?.code == .corrupt)

        try FileManager.default.removeItem(atPath: blobs.path(blob.id))
        #expect(failure { _ = try blobs.read(blob) }?.code == .notFound)
    }
    /// Flips a byte where the size stays.
    private func damage(_ blob: BlobReference) throws {
        var bytes = try Data(contentsOf: URL(filePath: blobs.path(blob.id)))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(filePath: blobs.path(blob.id)))
    }

    @Test func `a blob of other bytes is refused by whatever reads it, also after it was right`()
        throws
    {
        let blob = try blobs.put(Data("one,two\n".utf8), mediaType: "text/csv")
        let other = try blobs.put(Data("three\n".utf8), mediaType: "text/csv")
        try blobs.check(blob)
        let joined = try blobs.put(Data("h\n".utf8), then: [blob, other], mediaType: "text/csv")
        #expect(try blobs.read(joined) == Data("h\none,two\nthree\n".utf8))

        try damage(blob)

        for body in [
            { try blobs.check(blob) }, { _ = try blobs.read(blob) },
            { _ = try blobs.put(Data(), then: [other, blob], mediaType: "text/csv") },
        ] {
            let found = failure(body)
            #expect(found?.code == .corrupt && found?.message.contains("\(blob.id)") == true)
        }
        #expect(try scratch.names(blobs.directory).count == 3, "no product was made")
    }

    @Test func `putting the right bytes again takes the place of damaged ones`() throws {
        let bytes = Data("one,two\n".utf8)
        let blob = try blobs.put(bytes, mediaType: "text/csv")
        try damage(blob)

        #expect(try blobs.put(bytes, mediaType: "text/csv") == blob)

        #expect(try blobs.read(blob) == bytes)
    }
}
