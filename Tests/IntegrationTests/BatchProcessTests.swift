// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Site
import TestKit
import Testing

/// Batches of identifies on real processes, killed while they work.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct BatchProcessTests {
    private static let side = 20

    /// JSON Lines: squares, gaps between them, polygons, and lines that are wrong.
    private static func queries(_ count: Int, seed: UInt64) -> String {
        var random = SeededGenerator(seed: seed)
        var text = ""
        for number in 0..<count {
            let (x, y) = (
                Double.random(in: 0...24, using: &random), Double.random(in: 0...24, using: &random)
            )
            switch number % 50 {
            case 7: text += "{\"x\":\(x)}\n"
            case 8:
                text += "{\"geometry\":{\"rings\":[[[\(x),\(y)],[\(x + 3),\(y)],[\(x),\(y + 3)]]]},"
                text += "\"tolerance\":1}\n"
            default: text += "{\"id\":\(number),\"x\":\(x),\"y\":\(y)}\n"
            }
        }
        return text
    }

    private func submit(_ site: IdentifySite, _ text: String, _ parameters: [String: String] = [:])
        async throws -> JobID
    {
        let blob = try site.site.blobs.put(Data(text.utf8), mediaType: "application/jsonl")
        let settings = ["map": "Grid", "layers": "all", "extent": "0,0,24,24"]
        return try await site.client.submit(
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: .batchIdentify,
                parameters: settings.merging(parameters) { $1 }, input: blob)
        ).id
    }

    private func end(_ site: IdentifySite, _ id: JobID) async throws -> JobDescription {
        var job: JobDescription?
        try await waitUntil(
            "job \(id) has ended", within: .seconds(120), detail: site.files.output()
        ) {
            // A supervisor that is away for a moment is no end.
            job = try? await site.client.job(id)
            return job?.status.isTerminal == true
        }
        return try #require(job)
    }

    @Test func `killed workers and a changing map leave a job's product as it was`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side, workers: 2)
        try site.start("cairn-worker --pool work")
        try await site.waitForWorkers(3)
        let text = Self.queries(4_000, seed: 11)
        let calm = try await end(site, try await submit(site, text))
        #expect(calm.status == .succeeded, "\(calm)")
        let product = String(
            decoding: try site.site.blobs.read(try #require(calm.result)), as: UTF8.self)
        let at = try await site.client.job(calm.id).messages.compactMap { message in
            message.text.hasPrefix("4000 queries") ? message.text.split(separator: " ").last : nil
        }
        let position = try #require(at.first.flatMap { Int64($0) })

        let id = try await submit(site, text, ["at": "\(position)"])
        var kills = 0
        var isVisible = true
        var completed = 0
        while kills < 3 {
            // Deaths count against a chunk: another chunk is done between one and the next.
            var job = try await site.client.job(id)
            try await waitUntil("the job goes on after \(kills) deaths", detail: "\(job)") {
                job = try await site.client.job(id)
                return job.status.isTerminal || job.completedChunkCount > completed
            }
            if job.status.isTerminal { break }
            completed = job.completedChunkCount
            try site.kill(kills == 1 ? "cairn-worker --pool work" : "cairn-worker --pool identify")
            try site.start(kills == 1 ? "cairn-worker --pool work" : "cairn-worker --pool identify")
            kills += 1
            isVisible.toggle()
            _ = try await site.client.command(
                map: site.map,
                .setDefinitionExpression(layer: 0, expression: isVisible ? nil : "row < 3"))
            try await site.waitForWorkers(3)
        }
        let shaken = try await end(site, id)

        #expect(shaken.status == .succeeded, "\(shaken)")
        #expect(shaken.result == calm.result)
        #expect(kills > 0)
        let lines = product.split(separator: "\n")
        #expect(lines.count == 4_000)
        #expect(lines.count { $0.hasPrefix("{\"error\":") } == 80)
        print(
            "a job of 4,000 queries: \(kills) processes killed, the same \(product.utf8.count) bytes"
        )

        // The command as of the same moment prints the same, byte for byte.
        let path = site.files.path + "/queries.jsonl"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try await Programs.run(
            [
                "identify", "--map", "Grid", "--batch", path, "--layers", "all", "--tolerance", "0",
                "--extent", "0,0,24,24", "--at", "\(position)",
            ], site: site.files.path)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("80 of 4000 queries have no answer"))
        #expect(outcome.output == product)
    }

    @Test func `a stream of queries on standard input survives the death of its workers`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side, workers: 2)
        let (program, input, output) = try batch(site)

        input.fileHandleForWriting.write(Data("x,y,id\n".utf8))
        for row in 0..<600 {
            let line =
                "\(Double(row % Self.side) * 1.2 + 0.5),\(Double(row / Self.side % Self.side) * 1.2 + 0.5),\(row)\n"
            input.fileHandleForWriting.write(Data(line.utf8))
            guard row % 150 == 149 else { continue }
            try site.kill("cairn-worker --pool identify")
            try site.start("cairn-worker --pool identify")
            try await site.waitForWorkers(2)
        }
        try input.fileHandleForWriting.close()
        program.waitUntilExit()

        #expect(program.terminationStatus == 0)
        let text = try String(contentsOfFile: output, encoding: .utf8)
        let names = text.split(separator: "\n").map { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let answer = object?["answer"] as? [String: Any]
            let layers = answer?["layers"] as? [[String: Any]]
            let results = layers?.first?["results"] as? [[String: Any]]
            return "\(object?["line"] as? Int ?? 0) \(results?.count ?? 0)"
        }
        #expect(names == (0..<600).map { "\($0 + 2) 1" })
    }

    @Test func `each query of a pipe that stays open is answered before the next one comes`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side, workers: 1)
        let (program, input, output) = try batch(site)

        for row in 0..<3 {
            input.fileHandleForWriting.write(Data("{\"x\":0.5,\"y\":0.5,\"id\":\(row)}\n".utf8))
            try await waitUntil("query \(row) is answered") { try answers(output).count > row }
            #expect(try answers(output).last?["id"] as? Int == row)
        }
        // The last line may end with the stream.
        input.fileHandleForWriting.write(Data(#"{"x":0.5,"y":0.5,"id":3}"#.utf8))
        try input.fileHandleForWriting.close()
        program.waitUntilExit()
        #expect(program.terminationStatus == 0)
        #expect(try answers(output).compactMap { $0["id"] as? Int } == [0, 1, 2, 3])
    }

    /// `cairn identify --batch -` with a pipe as its input, and the file that its output goes to.
    private func batch(_ site: IdentifySite) throws -> (Process, Pipe, output: String) {
        let program = Process()
        program.executableURL = URL(filePath: Programs.folder + "/cairn")
        program.arguments = [
            "identify", "--site", site.files.path, "--map", "Grid", "--batch", "-", "--layers",
            "all", "--tolerance", "0",
        ]
        let (input, output) = (Pipe(), site.files.path + "/answers.jsonl")
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        program.standardInput = input
        program.standardOutput = FileHandle(forWritingAtPath: output)
        program.standardError = FileHandle.nullDevice
        try program.run()
        return (program, input, output)
    }

    /// The whole lines of a file of JSON Lines.
    private func answers(_ path: String) throws -> [[String: Any]] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
