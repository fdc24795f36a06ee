// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnClient
package import CairnModel
package import Geometry
internal import Platform

/// A running terminal client: a ``ViewModel`` between a ``Screen`` and a site.
///
/// It reads and subscribes through its client, and changes only what the user changes.
package struct ViewSession: Sendable {
    /// Projects a candidate to the map's spatial reference; throws `Failure` where that is
    /// impossible.
    package typealias Projector =
        @Sendable (Candidate, SpatialReference) throws(Failure) -> Place

    /// The best route between two places in that spatial reference, as of a sequence number; nil
    /// for the present.
    ///
    /// Throws `Failure`: `notFound` without a network or a route.
    package typealias RouteFinder =
        @Sendable (Coordinate, Coordinate, SpatialReference, Int64?) async throws(Failure) ->
        DrawnRoute

    /// An input of the loop.
    enum Note: Sendable {
        case input(ViewInput)
        case draw
        case end
    }

    /// Minimum time between two frames.
    private static let frameInterval = Duration.milliseconds(33)
    private let client: CairnClient
    private let model: ViewModel
    private let actor: String?
    private let usesColour: Bool
    private let project: Projector
    private let findRoute: RouteFinder

    /// Prepares a view without any request or output.
    ///
    /// - Parameters:
    ///   - client: The connection to the site; stays open.
    ///   - map: The map to show; nil for the first one.
    ///   - at: Shows it as of this sequence number; nil for the present.
    ///   - actor: The actor of changes in the log.
    ///   - usesColour: Whether colours are drawn.
    ///   - project: Projects places to the map's spatial reference.
    ///   - findRoute: Finds routes.
    package init(
        client: CairnClient, map: MapName?, at: Int64?, actor: String?, usesColour: Bool,
        project: @escaping Projector, findRoute: @escaping RouteFinder
    ) {
        self.client = client
        self.actor = actor
        self.usesColour = usesColour
        self.project = project
        self.findRoute = findRoute
        model = ViewModel(map: map, at: at)
    }

    /// Shows the view until the user quits, the terminal is closed or a shutdown is requested.
    ///
    /// Throws `Failure`: `unavailable` without a terminal, and the client's failures at the start.
    package func run() async throws(Failure) {
        let (notes, source) = AsyncStream.makeStream(
            of: Note.self, bufferingPolicy: .bufferingNewest(20_000))
        let feed = try SiteFeed(client: client, at: model.at) { source.yield(.input($0)) }
        let screen = try Screen(usesColour: usesColour) { received in
            switch received {
            case .key(let key): source.yield(.input(.key(key)))
            case .size(let columns, let rows):
                source.yield(.input(.resized(columns: columns, rows: rows)))
            case .ended: source.yield(.end)
            }
        }
        defer { screen.close() }
        let errands = ViewErrands(
            client: client, feed: feed, actor: actor, project: project, findRoute: findRoute
        ) { source.yield(.input($0)) }
        let following = Task { await feed.run() }
        defer { following.cancel() }
        await loop(notes, source, screen, errands)
        feed.end()
    }

    /// One screen of that size, drawn when the map and everything in view have been read; at most
    /// 30 s.
    ///
    /// Throws `Failure`: `timedOut`, and the first failure of a request to the site.
    package func frame(columns: Int, rows: Int) async throws(Failure) -> Frame {
        let (notes, source) = AsyncStream.makeStream(
            of: Note.self, bufferingPolicy: .bufferingNewest(20_000))
        let feed = try SiteFeed(client: client, at: model.at) { source.yield(.input($0)) }
        let errands = ViewErrands(
            client: client, feed: feed, actor: actor, project: project, findRoute: findRoute
        ) { source.yield(.input($0)) }
        let limit = Task {
            try? await Task.sleep(for: .seconds(30))
            source.finish()
        }
        let following = Task { await feed.run() }
        defer {
            following.cancel()
            limit.cancel()
            feed.end()
        }
        var model = model
        for action in model.handle(.resized(columns: columns, rows: rows)) { errands.run(action) }
        for await note in notes {
            guard case .input(let input) = note else { continue }
            if case .failed(let failure) = input { throw failure }
            if case .noFeatures(let failure, _) = input { throw failure }
            for action in model.handle(input) { errands.run(action) }
            if model.isSettled { return model.frame() }
        }
        throw Failure(.timedOut, "the map was not drawn within 30 seconds")
    }

    private func loop(
        _ notes: AsyncStream<Note>, _ source: AsyncStream<Note>.Continuation, _ screen: Screen,
        _ errands: ViewErrands
    ) async {
        var model = model
        var lastDrawn = ContinuousClock.now - Self.frameInterval
        var isDrawDue = false
        for action in model.begin() { errands.run(action) }
        for await note in notes {
            switch note {
            case .end: return
            case .draw: isDrawDue = false
            case .input(let input):
                for action in model.handle(input) {
                    switch action {
                    case .quit: return
                    case .suspend: screen.suspend()
                    case .redraw: screen.redraw()
                    default: errands.run(action)
                    }
                }
            }
            guard !isDrawDue else { continue }
            let wait = Self.frameInterval - (ContinuousClock.now - lastDrawn)
            if wait <= .zero {
                screen.show(model.frame())
                lastDrawn = .now
            } else {
                isDrawDue = true
                Task {
                    try? await Task.sleep(for: wait)
                    source.yield(.draw)
                }
            }
        }
    }
}
