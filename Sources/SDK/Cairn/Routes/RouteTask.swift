// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Finds routes by a network analysis service.
public final class RouteTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/Route`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without stops.
    public func makeDefaultParameters() async throws -> RouteParameters {
        let layer = try await description()
        let json = layer.json
        var values = RouteParameters.Values()
        values.returnsDirections = json.member("directionsLanguage") != nil
        values.directionsLanguage = json.text("directionsLanguage") ?? ""
        values.findsBestSequence = json["findBestSequence"]?.flag ?? false
        values.preservesFirstStop = json["preserveFirstStop"]?.flag ?? true
        values.preservesLastStop = json["preserveLastStop"]?.flag ?? true
        values.travelMode = layer.defaultMode
        values.accumulateAttributeNames =
            (json["accumulateAttributeNames"]?.elements ?? []).compactMap(\.text)
        return RouteParameters(values)
    }

    /// Solves a route; throws ``CairnError`` (`invalidArgument`) for fewer than two stops or stops
    /// in several references, and ``ServiceError``.
    public func solveRoute(using parameters: RouteParameters) async throws -> RouteResult {
        let values = parameters.values.current
        guard values.stops.count >= 2 else {
            throw CairnError(
                .invalidArgument, "stops: expected two or more, found \(values.stops.count)")
        }
        let reference = try NetworkDescription.reference(
            of: values.stops.map(\.geometry), "stops")
        try await load()
        var question = Question(
            url.below("solve"),
            [
                "stops": NetworkDescription.features(values.stops.map(\.json)),
                "returnDirections": String(values.returnsDirections),
                "returnRoutes": String(values.returnsRoutes),
                "returnStops": String(values.returnsStops),
                "outSR": (values.outputSpatialReference ?? reference).parameter,
                "findBestSequence": String(values.findsBestSequence),
                "preserveFirstStop": String(values.preservesFirstStop),
                "preserveLastStop": String(values.preservesLastStop),
                "travelMode": values.travelMode?.parameter,
                "startTime": values.startDate.map { String($0.millisecondsSince1970) },
                "directionsLanguage": values.directionsLanguage.orNil,
                // What the values of directions are read as.
                "directionsLengthUnits": values.directionsDistanceUnits?.length.parameter
                    ?? "esriNAUMeters",
                "accumulateAttributeNames":
                    values.accumulateAttributeNames.joined(separator: ",").orNil,
            ])
        values.barriers.add(to: &question)
        question.credential = credential
        return Self.result(
            try await NetworkDescription.solution(question, ["routes", "directions", "stops"]),
            values.outputSpatialReference ?? reference,
            values.directionsDistanceUnits?.length.metres ?? 1)
    }

    private static func result(
        _ json: JSON, _ reference: SpatialReference, _ metres: Double
    ) -> RouteResult {
        let lines = json["routes"]?["features"]?.elements ?? []
        let own = SpatialReference(json["routes"]?.member("spatialReference")) ?? reference
        let directions = json["directions"]?.elements ?? []
        let stops = (json["stops"]?["features"]?.elements ?? []).compactMap { element -> Stop? in
            guard let point = Geometry.make(element.member("geometry"), own) as? Point else {
                return nil
            }
            let stop = Stop(point: point)
            stop.name = element["attributes"]?.text("Name") ?? ""
            return stop
        }
        let count = max(lines.count, directions.count)
        let routes = (0..<count).map { index in
            Route(
                index < lines.count ? lines[index] : nil,
                directions: index < directions.count ? directions[index] : nil, stops: stops, own,
                metres)
        }
        return RouteResult(
            routes: routes,
            messages: NetworkDescription.messages(json))
    }
}
