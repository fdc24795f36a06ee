// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import JobKinds

/// The published reads of a job, against those of its plan.
@Suite struct JobReadsTests {
    private static let texts = [
        "", " ", "\t", "World", "WORLD", "Secret", "City", "none", "4", "1,2", "true", "stop",
        "Town",
    ]

    /// Some parameters of a kind, some blank, some under unknown names.
    private static func parameters(
        _ kind: JobKindDescription, _ random: inout SeededGenerator
    ) -> [String: String] {
        var given: [String: String] = [:]
        let oneIn = 2 * kind.parameters.count
        for parameter in kind.parameters where Int.random(in: 0..<oneIn, using: &random) == 0 {
            given[parameter.name] = texts.randomElement(using: &random)
        }
        for read in ["map", "locator", "layer", "levels", "network", "breaks"]
        where kind.parameters.contains(where: { $0.name == read }) {
            if Bool.random(using: &random) { given[read] = texts.randomElement(using: &random) }
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            let name = ["LOCATOR", "Map", "colour", "locator "].randomElement(using: &random)
            given[name ?? ""] = texts.randomElement(using: &random)
        }
        return given
    }

    /// The services that the plan of a job reads; nil where it ends the job.
    private static func planned(
        _ kind: JobKindDescription, _ parameters: [String: String], _ blobs: BlobStore
    ) throws -> Set<JobKindDescription.Service>? {
        let input = try blobs.put(
            Data((kind.kind == .batch ? "{\"kind\":\"Batch\"}\n" : "query\nx\n").utf8),
            mediaType: "text/csv")
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        let assignment = ChunkAssignment(
            held: HeldAttempt(job: JobID(rawValue: UUID()), attempt: attempt), kind: kind.kind,
            parameters: parameters, jobInput: input,
            chunk: ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0),
            gathered: [], submittedSequence: 1_000, submittedAt: Timestamp(microseconds: 0))
        let context = ChunkContext(assignment: assignment, blobs: blobs)
        do {
            switch kind.kind {
            case .batchGeocode:
                let plan = try BatchGeocode.plan(context)
                return Set(
                    try plan.nextStage.map { chunk in
                        .locator(
                            try CairnJSON.decode(BatchGeocode.RowsInput.self, from: chunk.input)
                                .locator)
                    })
            case .batchIdentify: return [.map(try BatchSettings(assignment).map.rawValue)]
            case .exportTiles, .exportVectorTiles:
                let texts = try ParameterTexts(parameters, of: kind)
                let formats =
                    kind.kind == .exportTiles ? ExportTiles.formats : ExportVectorTiles.formats
                let settings = try TileExportSettings(
                    texts, formats: formats, rootScale: PictureBlock.rootScale, submitted: 1_000)
                return [.map(settings.map.rawValue)]
            case .batchRoute, .odMatrix, .serviceAreas:
                let texts = try ParameterTexts(parameters, of: kind)
                return [.network(try RouteSettings(texts, assignment).terms.network)]
            case .findRoutes, .findClosestFacilities, .generateServiceAreas,
                .generateOriginDestinationCostMatrix:
                let texts = try ParameterTexts(parameters, of: kind)
                return texts["network"].map { [.network($0)] }
            case .exportFeatures: return [.map(try ExportSettings(assignment).map.rawValue)]
            default:
                let operation = JobKinds.operations(with: JobCapabilities())["Batch.plan"]
                _ = try operation?(context)
                return [.every]
            }
        } catch {
            return nil
        }
    }

    @Test(arguments: JobKindDescription.all)
    func
        `the services that are checked are those that the plan reads, whatever is left out or misspelt`(
            _ kind: JobKindDescription
        ) throws
    {
        let files = try TestSite()
        defer { files.end() }
        let blobs = try Site(openingOrCreating: files.path).blobs
        var random = SeededGenerator(seed: 0x7EAD)
        var plannedCount = 0
        for _ in 0..<1_600 {
            let parameters = Self.parameters(kind, &random)
            let checked = JobKindDescription.services(kind.kind, parameters).services
            guard let planned = try Self.planned(kind, parameters, blobs) else { continue }
            plannedCount += 1
            #expect(checked == planned, "\(parameters)")
        }
        #expect(plannedCount > 10, "the parameters are hardly ever right")
    }

    @Test(arguments: JobKindDescription.all)
    func `a parameter that names what is read is there in every job`(
        _ kind: JobKindDescription
    ) throws {
        #expect(!kind.reads.isEmpty)
        for read in kind.reads {
            switch read {
            case .everyService: continue
            case .map(let name, _), .locator(let name), .network(let name, _):
                let parameter = try #require(kind.parameters.first { $0.name == name })
                #expect(parameter.isRequired || parameter.defaultValue != nil)
            }
        }
    }

    @Test func `a job reads the past of its map where it names a moment, a batch any past`() {
        func pasts(
            _ parameters: [String: String], _ kind: JobKind = .batchIdentify
        ) -> Set<JobKindDescription.Service> {
            JobKindDescription.services(kind, parameters).pasts
        }
        #expect(pasts(["map": "City"]) == [] && pasts(["map": "City", "at": " "]) == [])
        #expect(pasts(["map": "City", "at": "5"]) == [.map("City")])
        let tiles = ["map": "City", "levels": "0"]
        #expect(pasts(tiles, .exportTiles) == [])
        #expect(pasts(tiles.merging(["since": "5"]) { $1 }, .exportTiles) == [.map("City")])
        #expect(pasts(["locator": "World"], .batchGeocode) == [])
        #expect(pasts(["network": "Town"], .batchRoute) == [])
        #expect(pasts(["network": "Town", "at": "5"], .odMatrix) == [.network("Town")])
        #expect(pasts([:], .batch) == [.every])
        #expect(pasts([:], JobKind(rawValue: "Later")) == [.every])
    }

    @Test func `a parameter that is not understood counts as reading everything`() {
        func read(_ kind: JobKind, _ parameters: [String: String]) -> Set<
            JobKindDescription.Service
        > {
            JobKindDescription.services(kind, parameters).services
        }
        #expect(read(JobKind(rawValue: "Later"), [:]) == [.every])
        #expect(read(.batchGeocode, ["LOCATOR": "World"]) == [.every])
        #expect(read(.batchIdentify, [:]) == [.every])
        #expect(read(.batchGeocode, [:]) == [.locator("World")])
    }
}
