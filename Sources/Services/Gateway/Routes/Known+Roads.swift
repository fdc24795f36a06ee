// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// The parameters of changes of roads.
extension Known {
    static let roadGeometry = Parameter.text(
        "geometry",
        "the road nearest to a point, those that a line crosses or an area touches: x,y; "
            + "xmin,ymin,xmax,ymax; x,y;x,y; or Esri JSON; with street an area it touches")
    static let roadReference = Parameter.text(
        "inSR", default: "4326", "reference of places: a well-known id, or JSON")
    static let roadStreet = Parameter.text("street", "the roads of a name or number")
    static let roadWay = Parameter.text("way", "of the source: \(RoadPiece.form), with commas")
    static let roadDirection = Parameter.choice(
        "direction", RoadDirection.allCases.map(\.rawValue), default: "both",
        "of travel, along the ways or against them")
    static let roadModes = Parameter.text("modes", default: "all", "modes with commas")
    static let roadFrom = Parameter.text("from", default: "at once", "when it begins, ISO 8601")
    static let roadUntil = Parameter.text("until", default: "never", "when it ends, ISO 8601")
    static let roadHours = Parameter.text(
        "hours", default: "always", "of the week, as Mo-Fr 07:00-09:00,16:00-18:00")
    static let roadReason = Parameter.text("reason", "why, for people")
    static let roadSpeed = Parameter.number("speed", "km/h instead of the roads' own, 0.1 to 1000")
    static let roadFactor = Parameter.number(
        "factor", "what the time is multiplied by, 0.001 to 1000")
    static let roadSeconds = Parameter.number("seconds", "0 to 86400")
    static let roadEffect = Parameter.choice(
        "effect", RoadChange.Effect.followedNames, default: "close",
        "what becomes of the roads; slow takes speed or factor, delay takes seconds")
    static let roadLayer = Parameter.text(
        "layer", "\(RoadLayer.form), the layer by its number or name")
    static let roadWhere = Parameter.text(
        "where", default: "all features", "a clause that features of the layer have to fulfil")
    static let roadClientId = Parameter.text(
        "clientId",
        "the client's own id of the change, 1 to 64 letters, digits, - and _: sent again, it is "
            + "made once")
    static let fromPlace = Parameter.text("fromPlace", "a place on the road that is left")
    static let fromStreet = Parameter.text("fromStreet", "the street that is left")
    static let fromWay = Parameter.text("fromWay", "the way that is left, as way")
    static let toPlace = Parameter.text("toPlace", "a place on the road that is entered")
    static let toStreet = Parameter.text("toStreet", "the street that is entered")
    static let toWay = Parameter.text("toWay", "the way that is entered, as way")
    static let turnPlace = Parameter.text(
        "via", default: "all junctions", "the junction of the roads that is nearest to a place")
    static let endedChanges = Parameter.text("changes", "numbers with commas, or all")
    static let afterChange: Parameter<Int?> = .whole("after", "only changes of higher numbers")
    static let changeCount: Parameter<Int?> = .whole(
        "resultRecordCount", in: 1...RoadChangesRequest.largestCount,
        "the most changes, \(RoadChangesRequest.largestCount) by default")
    static let returnLines = Parameter.flag(
        "returnGeometry", "whether the answer has the lines of the roads")
}
