// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import JobKinds
import Site
import TestKit
import Testing

@Suite struct BatchTests {
    private let files: TestSite
    private let blobs: BlobStore

    init() throws {
        files = try TestSite()
        blobs = try Site(openingOrCreating: files.path).blobs
    }

    private func context(
        _ operation: String, _ text: String?, _ parameters: [String: String] = [:],
        gathered: [BlobReference?] = []
    ) throws -> ChunkContext {
        let input = try text.map { text throws(Failure) in
            try blobs.put(Data(text.utf8), mediaType: "application/jsonl")
        }
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        return ChunkContext(
            assignment: ChunkAssignment(
                held: HeldAttempt(job: JobID(rawValue: UUID()), attempt: attempt), kind: .batch,
                parameters: parameters, jobInput: input,
                chunk: ChunkDescription(
                    pool: .work, operation: operation, input: Data(), weight: 0),
                gathered: gathered), blobs: blobs)
    }

    private func run(_ context: ChunkContext) throws -> ChunkOutcome {
        let operations = JobKinds.operations(with: JobCapabilities())
        let operation = try #require(operations[context.assignment.operation])
        return try operation(context)
    }

    @Test func `each line becomes a sub-job, and the list names their products in order`() throws {
        let one = try blobs.put(Data("a,b".utf8), mediaType: "text/csv")
        let item = Batch.Item(kind: .batchGeocode, parameters: ["query": "a"], input: one)
        let text =
            String(decoding: try CairnJSON.encode(item), as: UTF8.self)
            + "\r\n\n{\"kind\":\"BatchIdentify\",\"weight\":7}\n"

        let plan = try run(
            try context("plan", text, ["sideBySide": "2", "onFailure": "continue"]))

        #expect(plan.nextStage.map(\.weight) == [3, 7])
        let subJobs = plan.nextStage.compactMap(\.subJob)
        #expect(subJobs.map(\.kind) == [.batchGeocode, .batchIdentify])
        #expect(subJobs.map(\.parameters) == [["query": "a"], [:]])
        #expect(subJobs.map(\.input) == [one, nil])
        #expect(subJobs.allSatisfy { $0.mayFail && $0.sideBySide == 2 })
        #expect(plan.laterStages.map { $0.map(\.gathers) } == [[true]])

        let list = try run(try context("list", text, gathered: [nil, one]))
        let lines = String(decoding: try blobs.read(try #require(list.blob)), as: UTF8.self)
        #expect(
            lines == """
                {"kind":"BatchGeocode","number":0}
                {"kind":"BatchIdentify","number":1,"result":{"byteCount":3,"id":"\(one.id)",\
                "mediaType":"text/csv"}}

                """)
        #expect(list.messages == [JobMessage(.warning, "1 of 2 jobs have a product")])
    }

    @Test(
        arguments: [
            ("", [:], "no line"), ("\n \r\n", [:], "no line"), ("{}", [:], "line 1: 'kind'"),
            ("{\"kind\":\"BatchGeocode\"}\n{", [:], "line 2: "),
            ("{\"kind\":\"BatchGeocode\"}", ["sideBySide": "0"], "1 to 16"),
            ("{\"kind\":\"BatchGeocode\"}", ["sideBySide": "17"], "1 to 16"),
            ("{\"kind\":\"BatchGeocode\"}", ["onFailure": "shrug"], "stop or continue"),
            ("{\"kind\":\"BatchGeocode\"}", ["color": "red"], "onFailure"),
        ] as [(String, [String: String], String)])
    func `a fault in a batch's list is named`(
        text: String, parameters: [String: String], sentence: String
    ) throws {
        let failure = #expect(throws: Failure.self) {
            _ = try run(try context("plan", text, parameters))
        }
        #expect(failure?.code == .invalidParameter)
        #expect(failure?.message.contains(sentence) == true, "\(failure as Any)")
    }

    @Test func `a batch without input, or of too many jobs, is refused`() throws {
        let none = #expect(throws: Failure.self) { _ = try run(try context("plan", nil)) }
        #expect(none?.code == .invalidParameter)
        let line = "{\"kind\":\"BatchGeocode\"}\n"
        let plan = try run(try context("plan", String(repeating: line, count: 500)))
        #expect(plan.nextStage.count == 500)
        let many = #expect(throws: Failure.self) {
            _ = try run(try context("plan", String(repeating: line, count: 501)))
        }
        #expect(many?.code == .tooLarge)
    }
}
