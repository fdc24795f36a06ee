// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Site

extension Route {
    private static let common: [any DescribedParameter] = [
        Known.osrmBearings, Known.osrmRadiuses, Known.osrmHints, Known.osrmGenerateHints,
        Known.osrmApproaches, Known.osrmExclude, Known.osrmSnapping, Known.osrmSkipWaypoints,
        Known.at, Known.minSequence, Known.timeout,
    ]
    private static let lines: [any DescribedParameter] = [
        Known.osrmSteps, Known.osrmAnnotations, Known.osrmGeometries, Known.osrmOverview,
    ]

    /// The rows of one service: below a network, and below none for the first that the caller may
    /// ask.
    private static func service(
        _ name: String, label: String, _ summary: String, asks: [any DescribedParameter],
        _ handler: @escaping Handler
    ) -> [Route] {
        [
            Route(
                "osrm/{networkId}/\(name)/v1/{profile}/{coordinates}", label: label, summary,
                requires: .network(.query), methods: .read, style: .osrm, asks: asks + common,
                formats: [], mediaTypes: [OGCLinks.json], handler: handler),
            Route(
                "osrm/\(name)/v1/{profile}/{coordinates}", label: label,
                summary + " Of the first network that the caller may ask.",
                requires: .filtered, methods: .read, style: .osrm, asks: asks + common,
                formats: [], mediaTypes: [OGCLinks.json], handler: handler),
        ]
    }

    /// OSRM's API, version 1.
    static let osrm: [Route] =
        service(
            "route", label: "osrmRoute", "The best route over places, in OSRM's form.",
            asks: lines + [
                Known.osrmAlternatives, Known.osrmContinueStraight, Known.osrmWaypoints,
            ], GatewayService.osrmRoute)
        + service(
            "table", label: "osrmTable", "The costs between places, in OSRM's form.",
            asks: [Known.osrmSources, Known.osrmDestinations, Known.osrmTableAnnotations],
            GatewayService.osrmTable)
        + service(
            "nearest", label: "osrmNearest", "The roads nearest to a place, in OSRM's form.",
            asks: [Known.osrmNumber], GatewayService.osrmNearest)
        + service(
            "trip", label: "osrmTrip", "The best order of places, in OSRM's form.",
            asks: lines + [Known.osrmRoundtrip, Known.osrmSource, Known.osrmDestination],
            GatewayService.osrmTrip)
        + service(
            "match", label: "osrmMatch",
            "The roads on which recorded positions were travelled, in OSRM's form.",
            asks: lines + [
                Known.osrmTimestamps, Known.osrmGaps, Known.osrmTidy, Known.osrmWaypoints,
            ], GatewayService.osrmMatch)
}
