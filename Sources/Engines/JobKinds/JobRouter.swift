// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry

/// The road networks of a site, as they are and as they were, asked by the chunks of jobs; router
/// workers provide it.
public protocol JobRouters: Sendable {
    /// A network with its travel mode at the moment that the terms state.
    ///
    /// Throws `Failure`: `notFound` for a network that there was not, `invalidParameter` for a
    /// travel mode that it does not publish, `timedOut` for a sequence number that has not arrived
    /// yet.
    func router(_ terms: RouteTerms) throws(Failure) -> JobRouter
    /// A network as it was published at the moment that the terms state; throws likewise.
    func network(_ terms: RouteTerms) throws(Failure) -> NetworkPublished
}

/// One network at one moment; equal requests have equal answers.
///
/// The programs of other pools do not link the router, so it is given as functions.
public struct JobRouter: Sendable {
    /// Finds a route.
    public var route: @Sendable (RouteRequest) throws(Failure) -> RouteAnswer
    /// Measures a table; throws `cancelled` soon after the second function says so.
    public var table: @Sendable (RouteTableRequest, () -> Bool) throws(Failure) -> RouteTableAnswer
    /// Finds what is reached; throws `cancelled` soon after the second function says so.
    public var reach: @Sendable (ReachRequest, () -> Bool) throws(Failure) -> ReachAnswer
    /// The positions of a route that has a shape, longitude (x) and latitude (y) in degrees.
    public var positions: @Sendable (FoundRoute) throws(Failure) -> [Coordinate]

    /// States the functions.
    public init(
        route: @escaping @Sendable (RouteRequest) throws(Failure) -> RouteAnswer,
        table:
            @escaping @Sendable (RouteTableRequest, () -> Bool) throws(Failure) ->
            RouteTableAnswer,
        reach: @escaping @Sendable (ReachRequest, () -> Bool) throws(Failure) -> ReachAnswer,
        positions: @escaping @Sendable (FoundRoute) throws(Failure) -> [Coordinate]
    ) {
        self.route = route
        self.table = table
        self.reach = reach
        self.positions = positions
    }
}
