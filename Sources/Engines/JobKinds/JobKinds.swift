// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// A kind of job: what is published of it, and the operations of its chunks.
///
/// Whatever differs between kinds is asked here: workers, the gateway with its pages and its check
/// of permissions, the command line, autopsies and re-execution know no kind by name.
public protocol JobKindDefinition: SendableMetatype {
    /// What is published of it.
    static var description: JobKindDescription { get }
    /// The operations of its chunks; the supervisor begins every job with `plan`, on
    /// `WorkerPool.work`.
    static var operations: [JobOperation] { get }
}

/// The job kinds of this build.
public enum JobKinds {
    /// Every kind, by name; a new one is a line here.
    public static let all: [any JobKindDefinition.Type] = [
        Batch.self, BatchGeocode.self, BatchIdentify.self, ExportFeatures.self,
    ]

    /// The operations that have what they need in `capabilities`, by the names under which chunks
    /// are leased.
    ///
    /// A name is that of the kind and that of the operation: `BatchGeocode.plan`. With a pool only
    /// those that its workers do.
    public static func operations(
        in pool: WorkerPool? = nil, with capabilities: JobCapabilities
    ) -> [String: ChunkOperation] {
        var operations: [String: ChunkOperation] = [:]
        for definition in all {
            for operation in definition.operations where pool ?? operation.pool == operation.pool {
                let name = definition.description.kind.rawValue + "." + operation.name
                operations[name] = operation.bind(capabilities)
            }
        }
        return operations
    }
}

/// What a process has for the operations of chunks besides files; each pool of workers provides its
/// own part.
public struct JobCapabilities: Sendable {
    /// The maps of the site, as they are and as they were: of identify workers.
    public var maps: (any JobMaps)?
    /// The locators of the site, by name: of locator workers.
    ///
    /// Throws `Failure` (`notFound`) where there is none of that name.
    public var locators: (@Sendable (_ name: String) throws -> RowGeocoder)?

    /// Provides these.
    public init(
        maps: (any JobMaps)? = nil,
        locators: (@Sendable (_ name: String) throws -> RowGeocoder)? = nil
    ) {
        self.maps = maps
        self.locators = locators
    }
}

/// An operation of a kind's chunks: its name in the log, the pool whose workers do it, and its
/// work.
public struct JobOperation: Sendable {
    /// Its name within the kind: `plan`, `assemble`.
    public let name: String
    /// The pool whose workers have what it needs.
    public let pool: WorkerPool
    /// The work; nil without the capability that it needs.
    let bind: @Sendable (JobCapabilities) -> ChunkOperation?

    /// One that needs files alone.
    static func files(
        _ name: String, _ work: @escaping @Sendable (ChunkContext) throws -> ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .work) { _ in work }
    }

    /// One that asks maps.
    static func maps(
        _ name: String,
        _ work: @escaping @Sendable (ChunkContext, any JobMaps) throws -> ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .identify) { capabilities in
            guard let maps = capabilities.maps else { return nil }
            return { try work($0, maps) }
        }
    }

    /// One that asks locators.
    static func locators(
        _ name: String,
        _ work:
            @escaping @Sendable (ChunkContext, (String) throws -> RowGeocoder) throws ->
            ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .locator) { capabilities in
            guard let locators = capabilities.locators else { return nil }
            return { try work($0, locators) }
        }
    }

    /// A chunk that it does.
    ///
    /// - Parameters:
    ///   - input: What it reads by ``ChunkContext/input(_:)``: an object in JSON.
    ///   - weight: How much of the job's work it is, in the kind's own unit.
    ///   - gathers: Whether it is handed the blobs of the stage before.
    func chunk(
        _ input: some Encodable, weight: Int, gathers: Bool = false
    ) throws(Failure) -> ChunkDescription {
        ChunkDescription(
            pool: pool, operation: name, input: try CairnJSON.encode(input), weight: weight,
            gathers: gathers)
    }

    /// A chunk that it does without an input of its own.
    func chunk(weight: Int, gathers: Bool = false) -> ChunkDescription {
        ChunkDescription(
            pool: pool, operation: name, input: Data(), weight: weight, gathers: gathers)
    }
}
