// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Geometry
internal import Synchronization

/// Executes the actions of the view, each in a task of its own, and returns the results as inputs.
final class ViewErrands: Sendable {
    private struct State {
        var isReadingMaps = false
        var nextMaps: ViewAction?
        var isReadingJobs = false
        var wantsJobsAgain = false
        var openFetches = 0
        var waiting: [FeatureQuery] = []
    }

    /// Maximum number of concurrent feature queries, so that an identify finds a free worker.
    private static let fetchLimit = 2
    /// Maximum number of waiting queries; beyond it the oldest are dropped.
    private static let waitingLimit = 500
    private let client: CairnClient
    private let feed: SiteFeed
    private let actor: String?
    private let project: ViewSession.Projector
    private let findRoute: ViewSession.RouteFinder
    private let send: @Sendable (ViewInput) -> Void
    private let state = Mutex(State())

    init(
        client: CairnClient, feed: SiteFeed, actor: String?,
        project: @escaping ViewSession.Projector,
        findRoute: @escaping ViewSession.RouteFinder, send: @escaping @Sendable (ViewInput) -> Void
    ) {
        self.client = client
        self.feed = feed
        self.actor = actor
        self.project = project
        self.findRoute = findRoute
        self.send = send
    }

    /// Starts an action; returns at once.
    func run(_ action: ViewAction) {
        switch action {
        case .readMaps: readMaps(action)
        case .readJobs: readJobs()
        case .fetch(let query):
            state.withLock { state in
                state.waiting.append(query)
                if state.waiting.count > Self.waitingLimit { state.waiting.removeFirst() }
            }
            startFetches()
        case .identify(let request):
            attempt { [self] () throws(Failure) in
                .identified(try await client.ask(.identify, request))
            }
        case .suggest(let text):
            attempt { [self] () throws(Failure) in
                let answer = try await client.ask(
                    .suggest, SuggestRequest(text: text, maxSuggestions: 8))
                return .suggestions(answer.suggestions, for: text)
            }
        case .find(let text, let key, let reference): find(text, key, reference)
        case .route(let from, let to, let reference, let at):
            attempt { [self] () throws(Failure) in
                .route(try await findRoute(from, to, reference, at))
            }
        case .command(let command, let map):
            attempt { [self] () throws(Failure) in
                let result = try await client.command(map: map, command, actor: actor)
                return .head(result.sequence)
            }
        case .job(let id, let command):
            attempt { [self] () throws(Failure) in
                .job(try await client.command(job: id, command, actor: actor))
            }
        case .suspend, .redraw, .quit: break
        }
    }

    private func attempt(_ body: @escaping @Sendable () async throws(Failure) -> ViewInput) {
        Task { [send] in
            do throws(Failure) {
                send(try await body())
            } catch {
                send(.failed(error))
            }
        }
    }

    private func find(_ text: String, _ key: String?, _ reference: SpatialReference) {
        attempt { [self] () throws(Failure) in
            let answer = try await client.ask(
                .geocode, GeocodeRequest(singleLine: text, maxLocations: 1, magicKey: key))
            guard let best = answer.candidates.first else { return .place(nil, for: text) }
            return .place(try project(best, reference), for: text)
        }
    }

    /// One read at a time; requests made meanwhile lead to a single further read.
    private func readMaps(_ action: ViewAction) {
        let starts = state.withLock { state in
            state.nextMaps = action
            defer { state.isReadingMaps = true }
            return !state.isReadingMaps
        }
        guard starts else { return }
        Task { [self] in
            while let next = nextMaps() {
                if case .readMaps(let at) = next { await feed.readMaps(at: at) }
            }
        }
    }

    private func nextMaps() -> ViewAction? {
        state.withLock { state in
            defer { state.nextMaps = nil }
            if state.nextMaps == nil { state.isReadingMaps = false }
            return state.nextMaps
        }
    }

    private func readJobs() {
        let starts = state.withLock { state in
            defer { state.isReadingJobs = true }
            state.wantsJobsAgain = state.isReadingJobs
            return !state.isReadingJobs
        }
        guard starts else { return }
        Task { [self] in
            repeat {
                await feed.readJobs()
                try? await Task.sleep(for: .milliseconds(250))
            } while wantsJobsAgain()
        }
    }

    private func wantsJobsAgain() -> Bool {
        state.withLock { state in
            defer { state.wantsJobsAgain = false }
            if !state.wantsJobsAgain { state.isReadingJobs = false }
            return state.wantsJobsAgain
        }
    }

    private func startFetches() {
        while let query = nextFetch() {
            Task { [self] in
                send(await fetch(query))
                state.withLock { $0.openFetches -= 1 }
                startFetches()
            }
        }
    }

    private func nextFetch() -> FeatureQuery? {
        state.withLock { state in
            guard state.openFetches < Self.fetchLimit, !state.waiting.isEmpty else { return nil }
            state.openFetches += 1
            return state.waiting.removeFirst()
        }
    }

    /// Queries the features in the rectangle, generalised to the visible resolution.
    private func fetch(_ query: FeatureQuery) async -> ViewInput {
        let request = IdentifyRequest(
            map: query.map, geometry: .envelope(query.extent),
            layers: LayerSelection(.all, ids: [query.layer]), tolerance: 0,
            mapExtent: query.extent, imageDisplay: ImageDisplay(width: 1000, height: 1000),
            returnGeometry: true, maxAllowableOffset: query.offset, at: query.at)
        do throws(Failure) {
            let answer = try await client.ask(.identify, request)
            let features = answer.results.compactMap { result in
                result.geometry.map {
                    DrawnFeature(
                        objectID: result.objectID, label: result.value.displayText, shape: $0)
                }
            }
            let isCut = answer.layers.contains { Self.isCut($0) }
            return .features(features, isCut: isCut, query)
        } catch {
            return .noFeatures(error, query)
        }
    }

    private static func isCut(_ layer: IdentifyLayerResult) -> Bool {
        layer.transferLimitExceeded || layer.sublayerResults.contains { isCut($0) }
    }
}
