// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// Reads changes of roads from parameters; each failure names the parameter.
enum RoadOrder {
    /// A change of the roads that `geometry`, `street` or `way` name.
    static func change(
        _ effect: RoadChange.Effect, _ parameters: Parameters
    ) throws(Failure) -> RoadChangeRequest.Action {
        var order = RoadChangeOrder(effect, try target(parameters))
        if let text = parameters[Known.roadDirection] {
            guard let direction = RoadDirection(rawValue: text.lowercased()) else {
                throw Parameters.unexpected(
                    Known.roadDirection.name, text, "forward or backward")
            }
            order.direction = direction
        }
        try addTerms(to: &order, parameters)
        return .change(order)
    }

    /// `speed` or `factor`.
    static func slower(_ parameters: Parameters) throws(Failure) -> RoadChange.Effect {
        switch (try parameters.number(Known.roadSpeed), try parameters.number(Known.roadFactor)) {
        case (let speed?, nil): return .speed(speed)
        case (nil, let factor?): return .factor(factor)
        default:
            throw Failure(
                .invalidParameter, "expected one of the parameters 'speed' and 'factor'")
        }
    }

    /// `seconds`.
    static func delay(_ parameters: Parameters) throws(Failure) -> RoadChange.Effect {
        guard let seconds = try parameters.number(Known.roadSeconds) else {
            throw Failure(.invalidParameter, "parameter 'seconds' is missing")
        }
        return .delay(seconds)
    }

    /// A change that follows `layer`.
    static func follow(_ parameters: Parameters) throws(Failure) -> RoadChangeRequest.Action {
        var order = RoadChangeOrder(
            try RoadChange.Effect(
                named: parameters[Known.roadEffect] ?? "close",
                speed: try parameters.number(Known.roadSpeed),
                factor: try parameters.number(Known.roadFactor),
                seconds: try parameters.number(Known.roadSeconds)),
            .layer(try layer(parameters)))
        try addTerms(to: &order, parameters)
        return .change(order)
    }

    /// `layer` and `where`.
    static func layer(_ parameters: Parameters) throws(Failure) -> RoadLayer {
        let text = try parameters.required(Known.roadLayer)
        let clause = parameters[Known.roadWhere]
        guard let layer = RoadLayer(parsing: text, clause: clause) else {
            throw Parameters.unexpected(
                Known.roadLayer.name, text, RoadLayer.form + ", as Floods/0")
        }
        return layer
    }

    /// A ban of the turns from some roads into others.
    static func ban(_ parameters: Parameters) throws(Failure) -> RoadChangeRequest.Action {
        var order = RoadChangeOrder(
            .bannedTurn,
            try target(
                parameters, Known.fromPlace, Known.fromStreet, Known.fromWay))
        order.onto = try target(parameters, Known.toPlace, Known.toStreet, Known.toWay)
        if let text = parameters[Known.turnPlace] {
            guard
                case .point(let place) = try degrees(
                    text, kind: .point, Known.turnPlace.name, parameters)
            else { throw Parameters.unexpected(Known.turnPlace.name, text, "a point") }
            order.via = place
        }
        try addTerms(to: &order, parameters)
        return .change(order)
    }

    /// The changes that end: `changes`.
    static func undo(_ parameters: Parameters) throws(Failure) -> RoadChangeRequest.Action {
        let text = try parameters.required(Known.endedChanges)
        if text.isEqualIgnoringCase("all") { return .restoreAll }
        var numbers: [Int64] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Int64(part.filter { $0 != " " }), number > 0 else {
                throw Parameters.unexpected(
                    Known.endedChanges.name, text, "numbers of changes with commas, or all")
            }
            numbers.append(number)
        }
        return .restore(numbers)
    }

    // MARK: Roads

    private static func target(_ parameters: Parameters) throws(Failure) -> RoadTarget {
        let geometry = try parameters[Known.roadGeometry].map { text throws(Failure) in
            try degrees(
                text, kind: try GeometryParameter.Kind(parameters[Known.geometryType]),
                Known.roadGeometry.name, parameters)
        }
        let (street, way) = (parameters[Known.roadStreet], parameters[Known.roadWay])
        switch (geometry, street, way) {
        case (let geometry, let street?, nil): return .street(street, within: geometry)
        case (let geometry?, nil, nil): return .shape(geometry)
        case (nil, nil, let way?): return .pieces(try pieces(way, Known.roadWay.name))
        default:
            throw Failure(
                .invalidParameter,
                "expected the roads by one of the parameters 'geometry', 'street' and 'way'; "
                    + "'geometry' goes with 'street' too")
        }
    }

    /// The roads that are left, or those that are entered.
    private static func target(
        _ parameters: Parameters, _ place: Parameter<String?>, _ street: Parameter<String?>,
        _ way: Parameter<String?>
    ) throws(Failure) -> RoadTarget {
        switch (parameters[place], parameters[street], parameters[way]) {
        case (let text?, nil, nil):
            return .shape(try degrees(text, kind: .point, place.name, parameters))
        case (nil, let text?, nil): return .street(text, within: nil)
        case (nil, nil, let text?): return .pieces(try pieces(text, way.name))
        default:
            throw Failure(
                .invalidParameter,
                "expected one of the parameters '\(place.name)', '\(street.name)' and "
                    + "'\(way.name)'")
        }
    }

    /// A geometry in WGS 84.
    private static func degrees(
        _ text: String, kind: GeometryParameter.Kind?, _ name: String, _ parameters: Parameters
    ) throws(Failure) -> Shape {
        let read = try GeometryParameter(text, kind: kind, name: name)
        let usual = try SpatialReference(parameters, Known.roadReference.name)
        guard let reference = read.spatialReference ?? usual else { return read.shape }
        return try PlaceReference(reference, name: Known.roadReference.name).degrees(read.shape)
    }

    /// `ID[:SEGMENT][:forward|back]`, several with commas.
    private static func pieces(_ text: String, _ name: String) throws(Failure) -> [RoadPiece] {
        var pieces: [RoadPiece] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let piece = RoadPiece(parsing: part.filter { $0 != " " }) else {
                throw Parameters.unexpected(name, text, RoadPiece.form + ", several with commas")
            }
            pieces.append(piece)
        }
        return pieces
    }

    // MARK: Terms

    private static func addTerms(
        to order: inout RoadChangeOrder, _ parameters: Parameters
    ) throws(Failure) {
        order.modes = parameters[Known.roadModes].map { text in
            text.split(separator: ",").map { part in
                let word = part.drop { $0 == " " }
                return String(word.prefix(word.count - word.reversed().prefix { $0 == " " }.count))
            }
        }
        order.from = try time(Known.roadFrom, parameters)
        order.until = try time(Known.roadUntil, parameters)
        order.hours = parameters[Known.roadHours]
        order.reason = parameters[Known.roadReason]
    }

    private static func time(
        _ parameter: Parameter<String?>, _ parameters: Parameters
    ) throws(Failure) -> Timestamp? {
        guard let text = parameters[parameter] else { return nil }
        guard let time = Timestamp(iso: text) else {
            throw Parameters.unexpected(parameter.name, text, "a time like 2026-11-21T09:30:00Z")
        }
        return time
    }
}
