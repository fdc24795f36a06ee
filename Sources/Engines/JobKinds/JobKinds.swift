// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// A job kind: its published description, and the operations of its chunks.
///
/// All differences between kinds are here: workers, the gateway with its pages and permission
/// checks, the command line, autopsies and re-execution refer to no kind by name.
public protocol JobKindDefinition: SendableMetatype {
    /// The published description.
    static var description: JobKindDescription { get }
    /// The operations of its chunks; every job starts with `plan`, on `WorkerPool.work`.
    static var operations: [JobOperation] { get }
    /// Checks a job of the kind before it is recorded: the values of `texts`, which have the
    /// published names and forms, and the beginning of the input.
    ///
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) where the job would fail; asked by
    /// ``JobKinds/check(_:)`` alone.
    static func check(_ order: JobOrder, _ texts: ParameterTexts) throws
}

/// The job kinds of this build.
public enum JobKinds {
    /// Every kind, by name; a new kind adds a line here.
    public static let all: [any JobKindDefinition.Type] = [
        Batch.self, BatchGeocode.self, BatchIdentify.self, BatchRoute.self, ExportFeatures.self,
        ExportTiles.self, ExportVectorTiles.self, FindClosestFacilities.self, FindRoutes.self,
        GenerateOriginDestinationCostMatrix.self, GenerateServiceAreas.self, ODMatrix.self,
        ServiceAreas.self,
    ]

    /// The operations that `capabilities` suffice for, by the names under which chunks are leased.
    ///
    /// A name consists of kind and operation: `BatchGeocode.plan`. With a pool, only its
    /// operations.
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

/// Capabilities of a process for the operations of chunks, besides files; each worker pool supplies
/// its own.
public struct JobCapabilities: Sendable {
    /// The maps of the site, as they are and as they were: of identify workers.
    public var maps: (any JobMaps)?
    /// The locators of the site, by name: of locator workers.
    ///
    /// Throws `Failure` (`notFound`) for an unknown name.
    public var locators: (@Sendable (_ name: String) throws -> RowGeocoder)?
    /// The road networks of the site, as they are and as they were: of router workers.
    public var routers: (any JobRouters)?

    /// Creates a set of capabilities.
    public init(
        maps: (any JobMaps)? = nil, routers: (any JobRouters)? = nil,
        locators: (@Sendable (_ name: String) throws -> RowGeocoder)? = nil
    ) {
        self.maps = maps
        self.routers = routers
        self.locators = locators
    }
}

/// An operation of a kind's chunks: its name in the log, its worker pool, and its implementation.
public struct JobOperation: Sendable {
    /// Its name within the kind: `plan`, `assemble`.
    public let name: String
    /// The pool whose workers have what it needs.
    public let pool: WorkerPool
    /// Its implementation; nil without the required capability.
    let bind: @Sendable (JobCapabilities) -> ChunkOperation?

    /// An operation on files alone.
    static func files(
        _ name: String, _ work: @escaping @Sendable (ChunkContext) throws -> ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .work) { _ in work }
    }

    /// An operation on maps.
    static func maps(
        _ name: String,
        _ work: @escaping @Sendable (ChunkContext, any JobMaps) throws -> ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .identify) { capabilities in
            guard let maps = capabilities.maps else { return nil }
            return { try work($0, maps) }
        }
    }

    /// An operation with locators.
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

    /// An operation on road networks.
    static func routers(
        _ name: String,
        _ work: @escaping @Sendable (ChunkContext, any JobRouters) throws -> ChunkOutcome
    ) -> Self {
        Self(name: name, pool: .router) { capabilities in
            guard let routers = capabilities.routers else { return nil }
            return { try work($0, routers) }
        }
    }

    /// Creates a chunk of the operation.
    ///
    /// - Parameters:
    ///   - input: Its input for ``ChunkContext/input(_:)``: a JSON object.
    ///   - weight: Its weight in the job's progress, in the kind's own unit.
    ///   - gathers: Whether it receives the blobs of the previous stage.
    func chunk(
        _ input: some Encodable, weight: Int, gathers: Bool = false
    ) throws(Failure) -> ChunkDescription {
        ChunkDescription(
            pool: pool, operation: name, input: try CairnJSON.encode(input), weight: weight,
            gathers: gathers)
    }

    /// Creates a chunk of the operation, without an input of its own.
    func chunk(weight: Int, gathers: Bool = false) -> ChunkDescription {
        ChunkDescription(
            pool: pool, operation: name, input: Data(), weight: weight, gathers: gathers)
    }
}
