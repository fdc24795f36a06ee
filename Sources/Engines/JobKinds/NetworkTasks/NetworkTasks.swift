// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import NetworkSolve
internal import Platform
internal import Site

/// What the tasks of Esri's asynchronous analyses have in common: ``FindRoutes``,
/// ``FindClosestFacilities``, ``GenerateServiceAreas``, ``GenerateOriginDestinationCostMatrix``.
public enum NetworkTasks {
    /// The kinds.
    public static let kinds: Set<JobKind> = [
        .findRoutes, .findClosestFacilities, .generateServiceAreas,
        .generateOriginDestinationCostMatrix,
    ]
    /// The parameter with the reference of the results' geometries.
    public static let outputReference = "env:outSR"
    /// Most stops of all routes of a job.
    static let stopLimit = 10_000
}

/// A kind of job that is one of those tasks.
protocol NetworkTask: JobKindDefinition {
    /// Reads a request; throws as ``solve(_:_:)`` does for what is wrong with it.
    static func read(_ form: TaskForm, _ run: TaskRun) throws(Failure)
    /// Solves it.
    static func solve(_ form: TaskForm, _ run: TaskRun) throws(Failure) -> TaskProduct
}

/// What a task asks.
struct TaskRun {
    let network: NetworkPublished
    /// The sequence number as of which the network is asked; nil before the job has one.
    var position: Int64?
    /// Nil where a request is only read.
    var routers: (any JobRouters)?
    var context: ChunkContext?

    func router(_ terms: RouteTerms) throws(Failure) -> JobRouter {
        guard let routers else { throw Failure(.internal, "a request is read, not solved") }
        return try routers.router(terms)
    }

    /// Throws `cancelled` when the job should stop, else says how far it is.
    func step(_ share: Double) throws(Failure) {
        try context?.checkCancelled()
        context?.report(share)
    }

    /// Whether the job should stop; being asked shows that the chunk goes on.
    var isCancelled: () -> Bool {
        {
            context?.report(0)
            return context?.isCancelled() ?? false
        }
    }
}

extension NetworkTask {
    /// Reads the features, then solves.
    public static var operations: [JobOperation] {
        [.files("plan") { try plan($0) }, .routers("solve") { try solve($0, $1) }]
    }

    private static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let features = try TaskFeatures(
            context.assignment.jobInput, description.features, in: context.blobs)
        let counts = description.features.compactMap { input in
            features.lists[input.name].map { "\($0.count) \(input.name)" }
        }
        let count = features.lists.values.reduce(0) { $0 + $1.count }
        let chunk = JobOperation.routers("solve") { try solve($0, $1) }.chunk(weight: count)
        return ChunkOutcome(
            nextStage: [chunk],
            messages: [JobMessage(.informative, counts.joined(separator: ", "))])
    }

    private static func solve(
        _ context: ChunkContext, _ routers: any JobRouters
    ) throws -> ChunkOutcome {
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let submission = try context.assignment.submission()
        var terms = RouteTerms(network: texts["network"] ?? "")
        terms.at = submission
        let network = try context.patiently { () throws(Failure) in try routers.network(terms) }
        let run = TaskRun(
            network: network, position: submission, routers: routers, context: context)
        let product = try inOneSentence { () throws(Failure) in
            let features = try TaskFeatures(
                context.assignment.jobInput, description.features, in: context.blobs)
            let form = try TaskForm(
                texts, features, on: network,
                departure: try context.assignment.submissionTime())
            return try solve(form, run)
        }
        let blob = try context.blobs.put(
            Data(product.bytes(description)), mediaType: MediaType.json.rawValue)
        return ChunkOutcome(blob: blob, messages: product.jobMessages)
    }

    /// A job's error has no details.
    private static func inOneSentence<Value>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) { return try body() } catch {
            guard !error.details.isEmpty, error.code != .cancelled else { throw error }
            let sentences = ([error.message] + error.details).joined(separator: " ")
            throw Failure(error.code, TaskNames.esri(sentences))
        }
    }

    /// Checks parameters and features as far as the networks that there are allow it.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws {
        let features = try TaskFeatures(order.input, description.features, in: order.blobs)
        guard let networks = order.networks else { return }
        let name = texts["network"]?.lowercased()
        guard let network = networks.first(where: { $0.name.lowercased() == name }) else {
            throw RouteSettings.unknown(among: networks)
        }
        try inOneSentence { () throws(Failure) in
            let form = try TaskForm(
                texts, features, on: network, departure: Timestamp(microseconds: 0))
            try SolveFailure.reading { () throws(Failure) in
                try read(form, TaskRun(network: network))
            }
        }
    }
}

/// The names of a `NAServer`'s parameters, in sentences, as the tasks have them.
enum TaskNames {
    private static let names = [
        "travelMode": "travel_mode", "restrictUTurns": "uturn_at_junctions",
        "startTime": "time_of_day", "timeOfDay": "time_of_day", "barriers": "point_barriers",
        "polylineBarriers": "line_barriers", "polygonBarriers": "polygon_barriers",
        "locateSettings": "locate_settings", "useTimeWindows": "use_time_windows",
        "defaultCutoff": "cutoff", "defaultBreaks": "break_values",
        "defaultTargetFacilityCount": "number_of_facilities_to_find",
        "defaultTargetDestinationCount": "number_of_destinations_to_find",
        "trimPolygonDistance": "polygon_trim_distance",
        "trimPolygonDistanceUnits": "polygon_trim_distance",
        "outputGeometryPrecision": "route_line_simplification_tolerance",
        "outputGeometryPrecisionUnits": "route_line_simplification_tolerance",
        "outputLines": "route_shape",
    ]

    static func esri(_ sentence: String) -> String {
        sentence.split(separator: "'", omittingEmptySubsequences: false).map {
            names[String($0)] ?? String($0)
        }.joined(separator: "'")
    }
}
