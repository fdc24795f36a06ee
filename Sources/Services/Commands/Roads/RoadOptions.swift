// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import Geometry

/// The roads that a change is about.
struct RoadTargetOptions: ParsableArguments {
    @Option(help: "The road nearest to 'x,y', WGS 84, within 100 m. May be repeated.")
    var at: [String] = []
    @Option(help: "The roads of this name or number.") var street: String?
    @Option(
        name: .customLong("in"),
        help: "With --street: those that touch this area, in the forms of --shape.")
    var area: String?
    @Option(
        help: """
            A way of the source, ID[:SEGMENT[:forward|back]] or ID[:forward|back]. May be repeated.
            """)
    var way: [String] = []
    @Option(
        help: """
            The roads that a line crosses or an area touches: WKT, GeoJSON, \
            'xmin,ymin,xmax,ymax' in WGS 84, or the path of a file with one of them.
            """)
    var shape: String?
    @Option(help: "The direction of travel along the ways: forward or backward; both otherwise.")
    var direction: String?

    /// The target and the direction that the options state.
    func target() throws -> (target: RoadTarget, direction: RoadDirection?) {
        let kinds = [!at.isEmpty, street != nil, !way.isEmpty, shape != nil].count { $0 }
        guard kinds == 1 else {
            throw UsageFailure("give the roads by one of --at, --street, --way and --shape")
        }
        guard area == nil || street != nil else { throw UsageFailure("--in goes with --street") }
        let direction = try direction.map { text in
            guard let direction = RoadDirection(rawValue: text) else {
                throw UsageFailure("--direction '\(text)': expected forward or backward")
            }
            return direction
        }
        let target: RoadTarget = try UsageFailure.reading { () throws(Failure) in
            if let street {
                return .street(
                    street,
                    within: try area.map { area throws(Failure) in
                        try RoadPlaceText.shape(area)
                    })
            }
            if let shape { return .shape(try RoadPlaceText.shape(shape)) }
            if !way.isEmpty { return .pieces(try RoadPlaceText.pieces(way)) }
            return try RoadPlaceText.points(at)
        }
        return (target, direction)
    }
}

/// Where, when and for which modes a change holds.
struct RoadTermOptions: ParsableArguments {
    @Option(help: "The modes that it is about, separated by commas; all otherwise.")
    var modes: String?
    @Option(help: "When it begins; at once otherwise.", transform: Reading.time)
    var from: Timestamp?
    @Option(help: "When it ends; never otherwise.", transform: Reading.time)
    var until: Timestamp?
    @Option(
        help: """
            The hours of the week at which it holds, 'Mo-Fr 07:00-09:00,16:00-18:00', in the local \
            mean time of the network's middle.
            """)
    var hours: String?
    @Option(help: "Why, for people.") var reason: String?

    /// Adds the terms to an order.
    func add(to order: inout RoadChangeOrder) throws {
        if let modes {
            order.modes = modes.split(separator: ",").map { String($0.drop { $0 == " " }) }
        }
        if let hours {
            _ = try UsageFailure.reading { () throws(Failure) in try WeeklyHours(hours) }
        }
        order.from = from
        order.until = until
        order.hours = hours
        order.reason = reason
    }
}

/// Reads roads of the command line.
enum RoadPlaceText {
    /// One `x,y` as a point, several as points.
    static func points(_ texts: [String]) throws(Failure) -> RoadTarget {
        var points: [Coordinate] = []
        for text in texts { points.append(try GeometryText.coordinate(text, name: "a place")) }
        return .shape(points.count == 1 ? .point(points[0]) : .multipoint(points))
    }

    /// A geometry, or the path of a file that holds one.
    static func shape(_ text: String) throws(Failure) -> Shape {
        guard let data = FileManager.default.contents(atPath: text) else {
            return try GeometryText.parse(text).shape
        }
        guard data.count <= GeometryText.byteLimit else {
            throw Failure(.tooLarge, "'\(text)' has more than \(GeometryText.byteLimit) bytes")
        }
        return try GeometryText.parse(String(decoding: data, as: UTF8.self)).shape
    }

    /// Texts of the form of ``RoadPiece/form``.
    static func pieces(_ texts: [String]) throws(Failure) -> [RoadPiece] {
        var pieces: [RoadPiece] = []
        for text in texts {
            guard let piece = RoadPiece(parsing: String(text.drop { $0 == " " })) else {
                throw Failure(
                    .invalidParameter,
                    "way '\(text.prefix(80))': expected ID, ID:SEGMENT, with ':forward' or "
                        + "':back' after it for one direction")
            }
            pieces.append(piece)
        }
        return pieces
    }
}
