// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@testable import JobKinds

/// The registry of job kinds.
@Suite struct JobKindsTests {
    private static let kinds = JobKinds.all.map { $0.description.kind.rawValue }
    private static let full = JobCapabilities(maps: NoMaps(), routers: NoRouters()) { _ in
        { _ in nil }
    }

    private struct NoRouters: JobRouters {
        func router(_ terms: RouteTerms) throws(Failure) -> JobRouter {
            throw Failure(.notFound, "no network")
        }

        func network(_ terms: RouteTerms) throws(Failure) -> NetworkPublished {
            throw Failure(.notFound, "no network")
        }
    }

    private struct NoMaps: FeatureMaps {
        func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
            throw Failure(.notFound, "no map")
        }
        func answer(
            _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
        ) throws(Failure) -> IdentifyAnswer {
            throw Failure(.notFound, "no map")
        }

        func forEachFeature(
            _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
            isCancelled: @escaping @Sendable () -> Bool,
            _ body: (FeatureRow) throws(Failure) -> Void
        ) throws(Failure) -> FeatureTable {
            throw Failure(.notFound, "no features")
        }
    }

    @Test func `every kind has a name of its own, in the order of names, and a plan`() {
        #expect(Self.kinds == Set(Self.kinds).sorted())
        for definition in JobKinds.all {
            let names = definition.operations.map(\.name)
            #expect(Set(names).count == names.count, "\(definition)")
            #expect(definition.operations.contains { $0.name == "plan" && $0.pool == .work })
        }
    }

    @Test func `every operation is done by one pool, with what that pool has`() {
        let lent: [WorkerPool: JobCapabilities] = [
            .work: JobCapabilities(), .identify: JobCapabilities(maps: NoMaps()),
            .locator: JobCapabilities { _ in { _ in nil } },
            .router: JobCapabilities(routers: NoRouters()),
        ]
        var names: [String] = []
        for pool in WorkerPool.allCases {
            names += JobKinds.operations(in: pool, with: lent[pool] ?? JobCapabilities()).keys
        }

        let all = JobKinds.all.flatMap { definition in
            definition.operations.map { "\(definition.description.kind.rawValue).\($0.name)" }
        }
        #expect(names.sorted() == all.sorted())
        #expect(JobKinds.operations(with: Self.full).keys.sorted() == all.sorted())
    }

    @Test func `an operation without what it needs is none`() {
        let operations = JobKinds.operations(with: JobCapabilities())
        #expect(operations["BatchGeocode.plan"] != nil)
        #expect(operations["BatchGeocode.geocodeRows"] == nil)
        #expect(operations["BatchIdentify.identifyRows"] == nil)
        #expect(operations["BatchRoute.routeRows"] == nil)
    }

    @Test(arguments: JobKindDescription.all)
    func `what is published of a kind can be offered to people`(_ kind: JobKindDescription) {
        let names = kind.parameters.map(\.name)
        #expect(Set(names.map { $0.lowercased() }).count == names.count)
        // Parameter names of the geoprocessing service for files and for the form of an answer.
        #expect(Set(names).isDisjoint(with: ["input", "output", "f", "token"]))
        #expect(MediaType(rawValue: kind.outputMediaType) != nil)
        #expect(!kind.summary.isEmpty && !kind.output.isEmpty && kind.input != "")
    }
}
