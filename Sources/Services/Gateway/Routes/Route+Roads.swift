// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Site

// The changes of a network's roads.
extension Route {
    private static let server = "arcgis/rest/services/{network}/NAServer/roads"

    private static let target: [any DescribedParameter] = [
        Known.roadGeometry.shown("Place or box", hint: "x,y"), Known.geometryType,
        Known.roadReference.shown("its reference", hint: "4326"),
        Known.roadStreet.shown("or street", hint: "Main Street"),
        Known.roadWay.shown("or way", hint: "4711:2:forward"),
        Known.roadDirection.shown("Direction", hint: "both, forward or backward"),
    ]
    private static let terms: [any DescribedParameter] = [
        Known.roadModes.shown("Modes", hint: "all, or car,truck"),
        Known.roadFrom.shown("From", hint: "2026-11-21T09:30:00Z"),
        Known.roadUntil.shown("Until"),
        Known.roadHours.shown("Hours", hint: "Mo-Fr 07:00-09:00"),
        Known.roadReason.shown("Reason"), Known.timeout,
    ]

    static let roads = [
        Route(
            server, label: "roadChanges", "The changes of roads that stand on a network.",
            requires: .network(.query),
            asks: [
                Known.afterChange, Known.changeCount, Known.returnLines, Known.outSR, Known.at,
                Known.minSequence, Known.timeout,
            ], view: .roads, handler: GatewayService.roadChanges),
        Route(
            server + "/{objectId}", label: "roadChanges",
            "A change of roads that stands, by its number.", requires: .network(.query),
            asks: [
                Known.returnLines, Known.outSR, Known.at, Known.minSequence, Known.timeout,
            ], view: .road, handler: GatewayService.roadChange),
        change(
            "close", "Closes roads: no route passes.", asks: target + terms,
            GatewayService.closeRoads),
        change(
            "slow", "Sets the speed of roads, or multiplies their time.",
            asks: [
                Known.roadSpeed.shown("km/h", hint: "30"),
                Known.roadFactor.shown("or times", hint: "1.5"),
            ] + target + terms, GatewayService.slowRoads),
        change(
            "delay", "Adds seconds to each passage of roads.",
            asks: [Known.roadSeconds.required.shown("Seconds", hint: "60", isRequired: true)]
                + target + terms, GatewayService.delayRoads),
        change(
            "ban", "Bans the turns from some roads into others.",
            asks: [
                Known.fromPlace.shown("From the road at", hint: "x,y"),
                Known.fromStreet.shown("or street"), Known.fromWay.shown("or way"),
                Known.toPlace.shown("into the road at", hint: "x,y"),
                Known.toStreet.shown("or street"), Known.toWay.shown("or way"),
                Known.turnPlace.shown("at the junction near", hint: "x,y"), Known.roadReference,
            ] + terms, GatewayService.banTurns),
        change(
            "follow",
            "Changes the roads that the features of a layer touch, and keeps them in step with its "
                + "edits. Takes 'query' on the layer's map.",
            asks: [
                Known.roadLayer.required.shown("Layer", hint: "Floods/0", isRequired: true),
                Known.roadEffect.shown("Effect", hint: "close, slow or delay"),
                Known.roadSpeed.shown("slow: km/h", hint: "30"),
                Known.roadFactor.shown("or times", hint: "1.5"),
                Known.roadSeconds.shown("delay: seconds", hint: "60"),
                Known.roadWhere.shown("Where", hint: "depth > 0.3"),
            ] + terms, GatewayService.followLayer),
        change(
            "undo", "Ends changes of roads, in one step.",
            asks: [
                Known.endedChanges.required.shown(
                    "Changes", hint: "57,58 or all", isRequired: true), Known.timeout,
            ], GatewayService.undoRoads),
    ]

    private static func change(
        _ path: String, _ summary: String, asks parameters: [any DescribedParameter],
        _ handler: @escaping Handler
    ) -> Route {
        Route(
            server + "/" + path, label: "roadsEdit", summary + " Takes 'query' as well.",
            requires: .network(.edit), isChange: true,
            methods: .post(refusal: "roads are changed with POST, not with GET"),
            asks: parameters + [Known.roadClientId, Known.minSequence], view: .roadsChanged,
            handler: handler)
    }
}
