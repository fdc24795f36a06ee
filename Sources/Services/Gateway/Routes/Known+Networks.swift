// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import NetworkSolve

// The parameters of analyses of networks.
extension Known {
    private static let places = "x,y;x,y, or features in Esri JSON"

    static let stops = Parameter.text("stops", places)
    static let facilities = Parameter.text("facilities", places)
    static let incidents = Parameter.text("incidents", places)
    static let origins = Parameter.text("origins", places)
    static let destinations = Parameter.text("destinations", places)
    static let barriers = Parameter.text(
        "barriers", "points that close a road or, with BarrierType 2, add a cost")
    static let polylineBarriers = Parameter.text(
        "polylineBarriers", "lines that close the roads that they cross")
    static let polygonBarriers = Parameter.text(
        "polygonBarriers", "areas that close the roads in them or, with BarrierType 1, slow them")
    static let travelMode = Parameter.text(
        "travelMode", default: "the network's first", "an id, a name, or the object in JSON")
    static let restrictUTurns = Parameter.text(
        "restrictUTurns", default: "esriNFSBAllowBacktrack", "where a route may turn back")
    static let impedanceAttributeName = Parameter.text(
        "impedanceAttributeName", default: "the travel mode's", "the cost that is minimised")
    static let accumulateAttributeNames = Parameter.text(
        "accumulateAttributeNames", default: "time and length", "costs with commas, or none")
    static let restrictionAttributeNames = Parameter.text(
        "restrictionAttributeNames", "restrictions with commas, or none")
    static let attributeParameterValues = Parameter.text(
        "attributeParameterValues", "others than an empty list are refused")
    static let startTime = Parameter.text(
        "startTime", "milliseconds since 1970, or now: which changes of roads hold")
    static let startTimeIsUTC = Parameter.flag(
        "startTimeIsUTC", "false: startTime is in local mean time of the network's middle")
    static let timeOfDay = Parameter.text("timeOfDay", "as startTime")
    static let timeOfDayIsUTC = Parameter.flag("timeOfDayIsUTC", "as startTimeIsUTC")
    static let timeOfDayUsage = Parameter.text(
        "timeOfDayUsage", default: "esriNATimeOfDayUseAsStartTime", "others are refused")
    static let useTimeWindows = Parameter.flag(
        "useTimeWindows",
        "whether TimeWindowStart and TimeWindowEnd of stops are regarded; needs startTime")
    static let timeWindowsAreUTC = Parameter.flag(
        "timeWindowsAreUTC", "false: time windows are in local mean time of the network's middle")
    static let findBestSequence = Parameter.flag(
        "findBestSequence", "whether the best order of the stops is looked for")
    static let preserveFirstStop = Parameter.flag(
        "preserveFirstStop", default: true, "whether the first stop stays first")
    static let preserveLastStop = Parameter.flag(
        "preserveLastStop", default: true, "whether the last stop stays last")
    static let returnDirections = Parameter.text(
        "returnDirections", default: "true for solve, else false", "whether there are directions")
    static let returnRoutes = Parameter.text(
        "returnRoutes", default: "true", "whether the answer has the routes")
    static let returnCFRoutes = Parameter.flag(
        "returnCFRoutes", "whether the answer's routes have features")
    static let returnStops = Parameter.flag("returnStops", "whether the answer has the stops")
    static let returnFacilities = Parameter.flag(
        "returnFacilities", "whether the answer has the facilities")
    static let returnIncidents = Parameter.flag(
        "returnIncidents", "whether the answer has the incidents")
    static let returnOrigins = Parameter.flag("returnOrigins", "whether the answer has the origins")
    static let returnDestinations = Parameter.flag(
        "returnDestinations", "whether the answer has the destinations")
    static let returnBarriers = Parameter.flag(
        "returnBarriers", "whether the answer has the barriers")
    static let returnPolylineBarriers = Parameter.flag(
        "returnPolylineBarriers", "whether the answer has the barriers that are lines")
    static let returnPolygonBarriers = Parameter.flag(
        "returnPolygonBarriers", "whether the answer has the barriers that are areas")
    static let returnEmptyResults = Parameter.flag(
        "returnEmptyResults", "whether an answer without results is no error")
    static let ignoreInvalidLocations = Parameter.text(
        "ignoreInvalidLocations", default: "true",
        "whether places without a road near by are left out with a message")
    static let outputLines = Parameter.text(
        "outputLines", default: "the layer's", "the form of lines, esriNAOutputLine…")
    static let outputGeometryPrecision = Parameter.number(
        "outputGeometryPrecision", default: "0", "how far generalised lines may be off")
    static let outputGeometryPrecisionUnits = Parameter.text(
        "outputGeometryPrecisionUnits", default: "esriMeters", "of outputGeometryPrecision")
    static let directionsLanguage = Parameter.text(
        "directionsLanguage", default: "en", "a language that the layer lists; others are en")
    static let directionsLengthUnits = Parameter.text(
        "directionsLengthUnits", default: DirectionsUnit.usual, "unit of lengths in directions")
    static let directionsOutputType = Parameter.choice(
        "directionsOutputType", DirectionsOutput.allCases.map(\.rawValue),
        default: "esriDOTComplete", "how much directions say")
    static let locateSettings = Parameter.text(
        "locateSettings", "its tolerance: how far from a road a place may be, in JSON")
    static let travelDirection = Parameter.choice(
        "travelDirection", TravelDirection.allCases.map(\.rawValue), default: "the layer's",
        "to or from the facilities")
    static let defaultCutoff = Parameter.number(
        "defaultCutoff", default: "none", "the most cost of a route, in the impedance's unit")
    static let defaultTargetFacilityCount: Parameter<Int?> = .whole(
        "defaultTargetFacilityCount", in: 1...1_000, "facilities of each incident, 1 by default")
    static let defaultTargetDestinationCount: Parameter<Int?> = .whole(
        "defaultTargetDestinationCount", in: 1...1_000_000,
        "the nearest destinations of each origin; all by default")
    static let defaultBreaks = Parameter.text(
        "defaultBreaks", default: "5 10 15", "costs in the impedance's unit")
    static let outputPolygons = Parameter.text(
        "outputPolygons", default: "esriNAOutputPolygonSimplified",
        "esriNAOutputPolygonNone for none; simplified and detailed are the same")
    static let splitPolygonsAtBreaks = Parameter.text(
        "splitPolygonsAtBreaks", default: "true", "whether areas are rings, without smaller ones")
    static let overlapPolygons = Parameter.text(
        "overlapPolygons", default: "true", "true: false is refused")
    static let mergeSimilarPolygonRanges = Parameter.flag(
        "mergeSimilarPolygonRanges", "false: true is refused")
    static let trimOuterPolygon = Parameter.text(
        "trimOuterPolygon", default: "true", "areas are always trimmed")
    static let trimPolygonDistance = Parameter.number(
        "trimPolygonDistance", default: "100", "from a reached road to the edge of an area")
    static let trimPolygonDistanceUnits = Parameter.text(
        "trimPolygonDistanceUnits", default: "esriMeters", "of trimPolygonDistance")
    static let outputType = Parameter.text(
        "outputType", default: "esriNAODOutputSparseMatrix",
        "esriNAODOutputSparseMatrix, …StraightLines or …NoLines")

    /// Parameters that clients send and that change nothing; an answer says so in its messages.
    static let ignoredBySolve = [
        "useHierarchy", "returnTraversedEdges", "returnTraversedJunctions", "returnTraversedTurns",
        "preserveObjectID", "directionsStyleName", "directionsTimeAttributeName",
        "geometryPrecisionZ", "geometryPrecisionM", "splitLinesAtBreaks",
        "overlapLines", "excludeSourcesFromPolygons", "travel_mode", "returnZ",
    ]
    static let ignoredParameters = ignoredBySolve.map {
        Parameter.text($0, "changes nothing: the messages say so") as any DescribedParameter
    }
}
