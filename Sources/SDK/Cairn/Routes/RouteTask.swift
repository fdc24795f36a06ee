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
        values.routeShapeType =
            json.text("outputLineType").flatMap(RouteShapeType.init(rawValue:)) ?? .trueShape
        values.accumulateAttributeNames =
            (json["accumulateAttributeNames"]?.elements ?? []).compactMap(\.text)
        values.defaultAccumulateNames = values.accumulateAttributeNames
        return RouteParameters(values)
    }

    /// Solves a route; throws ``CairnError`` (`invalidArgument`) for fewer than two stops, stops in
    /// several references or with several time windows, and ``ServiceError``.
    public func solveRoute(using parameters: RouteParameters) async throws -> RouteResult {
        let values = parameters.values.current
        guard values.stops.count >= 2 else {
            throw CairnError(
                .invalidArgument, "stops: expected two or more, found \(values.stops.count)")
        }
        let reference = try NetworkDescription.reference(
            of: values.stops.map(\.geometry), "stops")
        guard values.stops.allSatisfy({ $0.timeWindows.count <= 1 }) else {
            throw CairnError(
                .invalidArgument, "stops: expected at most one time window of each")
        }
        try await load()
        let hasWindows = values.stops.contains { !$0.timeWindows.isEmpty }
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
                "startTimeIsUTC": values.startDate.map { _ in "true" },
                "useTimeWindows": hasWindows ? "true" : nil,
                "timeWindowsAreUTC": hasWindows ? "true" : nil,
                "outputLines": values.routeShapeType.rawValue,
                "directionsStyleName": values.directionsStyle?.rawValue,
                "directionsLanguage": values.directionsLanguage.orNil,
                // What the values of directions are read as.
                "directionsLengthUnits": values.directionsDistanceUnits?.length.parameter
                    ?? "esriNAUMeters",
                "accumulateAttributeNames":
                    values.accumulateAttributeNames == values.defaultAccumulateNames
                    ? nil : values.accumulateAttributeNames.joined(separator: ",").orNil,
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
        let stops = (json["stops"]?["features"]?.elements ?? []).compactMap {
            element -> (sequence: Double, stop: Stop)? in
            guard let point = Geometry.make(element.member("geometry"), own) as? Point else {
                return nil
            }
            let attributes = element["attributes"]
            return (
                attributes?["Sequence"]?.number ?? .infinity, Stop(point, attributes)
            )
        }.enumerated().sorted { ($0.1.sequence, $0.0) < ($1.1.sequence, $1.0) }.map(\.1.stop)
        let count = max(lines.count, directions.count)
        let routes = (0..<count).map { index in
            let line = index < lines.count ? lines[index] : nil
            // Stops of several routes have the name of theirs.
            let name = line?["attributes"]?.text("Name")
            let isNamed = stops.contains { !$0.routeName.isEmpty }
            return Route(
                line, directions: index < directions.count ? directions[index] : nil,
                stops: isNamed ? stops.filter { $0.routeName == name } : stops, own, metres)
        }
        return RouteResult(
            routes: routes,
            messages: NetworkDescription.messages(json))
    }
}
