// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Glibc
import Site
import TestKit
import Testing

/// A stopped comparison leaves nothing in `/tmp`; one of a directory reports what it skips.
@Suite(.serialized, .timeLimit(.minutes(2)), .processes) struct CompareEndingTests {
    /// A site with a job that is done, of whose blobs only its input is left: every chunk differs.
    private func makeSite() async throws -> JobSite {
        let site = try await JobSite()
        try site.start("cairn-worker --pool locator")
        try site.start("cairn-worker --pool work")
        try await site.waitForWorkers(2)
        let table = JobSite.table(rows: 20, seed: 1)
        let input = try site.site.blobs.put(table, mediaType: "text/csv")
        let job = try await site.submit(table)
        #expect(try await site.end(of: job).status == .succeeded, "\(site.files.output())")
        let folder = site.files.path + "/blobs"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where !site.site.blobs.path(input.id).hasSuffix("/" + name) {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        return site
    }

    /// The directories of comparisons in which blobs of a site are lent.
    private func scratches(of site: JobSite) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
        return names.filter { $0.hasPrefix("cairn-compare-") }.map { "/tmp/" + $0 }.filter { path in
            let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            return files.contains { file in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: path + "/" + file)
                return target?.hasPrefix(site.files.path + "/") == true
            }
        }
    }

    /// A full pipe: a write to it blocks.
    private func fullPipe() -> Pipe {
        let pipe = Pipe()
        let end = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(end, F_GETFL)
        _ = fcntl(end, F_SETFL, flags | O_NONBLOCK)
        // A page is taken whole or not at all.
        let page = Data(repeating: 0x20, count: 4_096)
        while (try? pipe.fileHandleForWriting.write(contentsOf: page)) != nil {}
        _ = fcntl(end, F_SETFL, flags)
        return pipe
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a comparison that is stopped takes its directory with it`(signal: Int32) async throws {
        guard Programs.areBuilt() else { return }
        let site = try await makeSite()
        let (output, errors) = (fullPipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: Programs.folder + "/cairn")
        process.arguments = [
            "replay", "--compare", "--jobs", "--json", "--site", site.files.path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // It blocks at the first difference, which is not read.
        try await waitUntil("the comparison has its directory") {
            try #require(process.isRunning)
            return !scratches(of: site).isEmpty
        }

        kill(process.processIdentifier, signal)
        try errors.fileHandleForWriting.close()
        let said = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()

        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
        #expect(said.hasSuffix("cairn: the comparison was stopped before its end\n"), "\(said)")
        #expect(scratches(of: site).isEmpty)
        try output.fileHandleForReading.close()
    }

    @Test func `files that are not named as recordings are said to be passed over`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let folder = site.folder + "/kept"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        func compare() async throws -> Programs.Outcome {
            try await Programs.run(
                ["replay", "--compare", "--requests", folder], site: site.path)
        }
        try Data().write(to: URL(filePath: folder + "/1-cairn-gateway-1.jsonl"))
        let silent = try await compare()
        #expect(silent.status == 0 && silent.errors.isEmpty, "\(silent)")
        for name in ["yesterday.jsonl", "notes.txt"] {
            try Data("{}\n".utf8).write(to: URL(filePath: folder + "/" + name))
        }

        let outcome = try await compare()

        #expect(outcome.status == 0 && outcome.output == silent.output)
        #expect(
            outcome.errors.hasPrefix(
                "cairn: passed over in '\(folder)': 2 whose names are not those of recordings, "
                    + "first 'notes.txt'; "))
    }
}
