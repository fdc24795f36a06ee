// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ
internal import Routing
internal import Terminal

/// The routes that a terminal client shows.
struct ViewRoutes: Sendable {
    let client: CairnClient
    /// Nil for the site's only one.
    let network: String?
    /// A travel mode or a mode; nil for the network's first.
    let mode: String?
    /// The networks that the site has.
    let known: [String]

    /// The best route between two places in that spatial reference, as of a sequence number; nil
    /// for the present.
    ///
    /// Throws `Failure`: `notFound` without a network or a route, and those of the router.
    func best(
        from start: Coordinate, to end: Coordinate, in reference: SpatialReference, at: Int64?
    ) async throws(Failure) -> DrawnRoute {
        let ends = try CoordinateTransform(from: reference, to: .wgs84)
        var terms = RouteTerms(network: try NetworkChoice.name(network, among: known))
        terms.travelMode = mode
        terms.at = at
        let answer = try await client.ask(
            .route,
            RouteRequest(
                terms,
                stops: [
                    RoutePlace(try ends.forward(start)), RoutePlace(try ends.forward(end)),
                ]))
        guard let route = answer.routes.first else {
            throw Failure(.notFound, RouteText.absence(answer))
        }
        let line = Shape.polyline(paths: [try route.positions()])
        return DrawnRoute(
            label: RouteText.summary(route, answer.context.travelMode),
            shape: try CoordinateTransform(from: .wgs84, to: reference).forward(line))
    }
}
