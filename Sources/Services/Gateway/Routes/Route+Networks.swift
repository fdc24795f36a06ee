// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Site

extension Route {
    private static let server = "arcgis/rest/services/{network}/NAServer"

    /// Parameters of every analysis.
    private static let common: [any DescribedParameter] =
        [
            Known.barriers, Known.polylineBarriers, Known.polygonBarriers, Known.travelMode,
            Known.restrictUTurns, Known.impedanceAttributeName, Known.accumulateAttributeNames,
            Known.restrictionAttributeNames, Known.attributeParameterValues, Known.outSR,
            Known.geometryPrecision, Known.outputGeometryPrecision,
            Known.outputGeometryPrecisionUnits, Known.outputLines, Known.locateSettings,
            Known.returnBarriers, Known.returnPolylineBarriers, Known.returnPolygonBarriers,
            Known.returnEmptyResults, Known.ignoreInvalidLocations, Known.at, Known.minSequence,
            Known.timeout,
        ] + Known.ignoredParameters
    private static let directions: [any DescribedParameter] = [
        Known.returnDirections, Known.directionsLanguage, Known.directionsLengthUnits,
        Known.directionsOutputType,
    ]
    private static let route: [any DescribedParameter] = [
        Known.stops.required, Known.startTime, Known.startTimeIsUTC, Known.useTimeWindows,
        Known.timeWindowsAreUTC, Known.findBestSequence, Known.preserveFirstStop,
        Known.preserveLastStop, Known.returnRoutes, Known.returnStops, Known.explain,
    ]
    private static let timeOfDay: [any DescribedParameter] = [
        Known.timeOfDay, Known.timeOfDayIsUTC,
    ]

    static let networks = [
        Route(
            server, label: "network", "A road network.", requires: .network(.query),
            asks: [Known.minSequence], view: .network, handler: GatewayService.networkRoot),
        Route(
            server + "/{analysis}", label: "networkLayer",
            "An analysis of a network, with its defaults: Route, ServiceArea, ClosestFacility or "
                + "ODCostMatrix.", requires: .network(.query), asks: [Known.minSequence],
            handler: GatewayService.networkLayer),
        Route(
            server + "/{analysis}/retrieveTravelModes", label: "networkTravelModes",
            "The travel modes of a network.", requires: .network(.query),
            asks: [Known.minSequence], handler: GatewayService.travelModes),
        Route(
            server + "/{analysis}/solve", label: "solve",
            "A route over stops, with directions.", requires: .network(.query),
            asks: route + directions + common, handler: GatewayService.solve),
        Route(
            server + "/{analysis}/solve/changes", label: "solveFollow",
            "A route over stops as solve answers it, and again whenever it has changed, as "
                + "events.", requires: .network(.query),
            asks: (route + directions + common).filter {
                $0.description.name != Known.at.name
            }, mediaTypes: ["text/event-stream", OGCLinks.json],
            handler: GatewayService.followSolve),
        Route(
            server + "/{analysis}/solveServiceArea", label: "solveServiceArea",
            "What is reached from facilities within costs.", requires: .network(.query),
            asks: [
                Known.facilities.required, Known.defaultBreaks, Known.travelDirection,
                Known.outputPolygons, Known.splitPolygonsAtBreaks, Known.overlapPolygons,
                Known.mergeSimilarPolygonRanges, Known.trimOuterPolygon,
                Known.trimPolygonDistance, Known.trimPolygonDistanceUnits,
                Known.returnFacilities,
            ] + timeOfDay + common, handler: GatewayService.solveServiceArea),
        Route(
            server + "/{analysis}/solveClosestFacility", label: "solveClosestFacility",
            "The nearest facilities of incidents, with their routes.",
            requires: .network(.query),
            asks: [
                Known.incidents.required, Known.facilities.required,
                Known.defaultTargetFacilityCount, Known.defaultCutoff, Known.travelDirection,
                Known.returnCFRoutes, Known.returnFacilities, Known.returnIncidents,
                Known.timeOfDayUsage,
            ] + timeOfDay + directions + common,
            handler: GatewayService.solveClosestFacility),
        Route(
            server + "/{analysis}/solveODCostMatrix", label: "solveODCostMatrix",
            "The costs between origins and destinations.", requires: .network(.query),
            asks: [
                Known.origins.required, Known.destinations.required, Known.defaultCutoff,
                Known.defaultTargetDestinationCount, Known.outputType, Known.returnOrigins,
                Known.returnDestinations,
            ] + timeOfDay + common, handler: GatewayService.solveCostMatrix),
    ]
}
