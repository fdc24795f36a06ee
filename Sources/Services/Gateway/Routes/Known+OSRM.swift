// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The options of OSRM's API; lists have `;` between their elements, one for each coordinate.
extension Known {
    static let osrmBearings = Parameter.text(
        "bearings", "direction,range in degrees for each coordinate, or nothing")
    static let osrmRadiuses = Parameter.text(
        "radiuses", default: "unlimited", "metres for each coordinate; at most 20000")
    static let osrmHints = Parameter.text("hints", "as many as coordinates; changes nothing")
    static let osrmGenerateHints = Parameter.text(
        "generate_hints", default: "true", "changes nothing")
    static let osrmApproaches = Parameter.text(
        "approaches", default: "unrestricted",
        "curb (on the right of the vehicle), opposite or unrestricted for each coordinate")
    static let osrmExclude = Parameter.text(
        "exclude", default: "nothing", "toll, motorway, ferry, tunnel, unpaved, with commas")
    static let osrmSnapping = Parameter.text("snapping", default: "default", "any is refused")
    static let osrmSkipWaypoints = Parameter.text(
        "skip_waypoints", default: "false", "changes nothing: answers have their waypoints")
    static let osrmSteps = Parameter.text("steps", default: "false", "whether legs have steps")
    static let osrmAnnotations = Parameter.text(
        "annotations", default: "false",
        "true, or distance, duration, weight, speed, datasources with commas; nodes is refused")
    static let osrmGeometries = Parameter.text(
        "geometries", default: "polyline", "polyline, polyline6 or geojson")
    static let osrmOverview = Parameter.text(
        "overview", default: "simplified", "simplified, full or false")
    static let osrmAlternatives = Parameter.text(
        "alternatives", default: "false", "true, false, or a number up to 5; between two places")
    static let osrmContinueStraight = Parameter.text(
        "continue_straight", default: "default", "true: no turning back at places between")
    static let osrmWaypoints = Parameter.text(
        "waypoints", default: "all", "other than all is refused")
    static let osrmSources = Parameter.text("sources", default: "all", "indices of coordinates")
    static let osrmDestinations = Parameter.text(
        "destinations", default: "all", "indices of coordinates")
    static let osrmTableAnnotations = Parameter.text(
        "annotations", default: "duration", "duration, distance, or both with a comma")
    static let osrmNumber = Parameter.text("number", default: "1", "how many roads, up to 100")
    static let osrmRoundtrip = Parameter.text(
        "roundtrip", default: "true", "whether the trip returns to its first place")
    static let osrmTimestamps = Parameter.text(
        "timestamps", "seconds since 1970 for each coordinate, ascending")
    static let osrmGaps = Parameter.text(
        "gaps", default: "split", "split: long pauses end a matching; or ignore")
    static let osrmTidy = Parameter.text(
        "tidy", default: "false",
        "whether coordinates that are hardly apart from the one before are left out")
    static let osrmSource = Parameter.text(
        "source", default: "any", "first: it begins at the first coordinate")
    static let osrmDestination = Parameter.text(
        "destination", default: "any", "last: it ends at the last coordinate")
}
