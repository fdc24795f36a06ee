// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// What a view shows: a place at a scale, or an area.
public final class Viewpoint: Sendable {
    /// The center, or the area that is to fit.
    public let targetGeometry: Geometry
    /// The scale, as 5000 of 1:5,000; not a number (`nan`) for an area, which gives its own.
    public var targetScale: Double { scale ?? .nan }
    let scale: Double?
    /// Degrees that the map is turned counterclockwise.
    public let rotation: Double

    /// The kinds of viewpoints.
    public enum Kind: Sendable, Hashable { case centerAndScale, boundingGeometry }

    /// Whether it is a place at a scale or an area.
    public var kind: Kind { scale == nil ? .boundingGeometry : .centerAndScale }

    /// The JSON text that web maps have for it.
    public func toJSON() -> String {
        JSON.object(of: [
            "rotation": .real(rotation), "scale": scale.map { .real($0) },
            "targetGeometry": targetGeometry.json,
        ]).jsonText
    }

    /// Reads the JSON text that web maps have for one; throws ``CairnError`` (`invalidDocument`).
    public static func fromJSON(_ json: String) throws -> Viewpoint {
        guard let viewpoint = WebMap.viewpoint(JSON(Array(json.utf8))) else {
            throw CairnError(.invalidDocument, "the text is no JSON of a viewpoint")
        }
        return viewpoint
    }

    /// A place at a scale.
    public init(center: Point, scale: Double, rotation: Double = 0) {
        targetGeometry = center
        self.scale = scale
        self.rotation = rotation
    }

    /// A place by degrees on WGS 84, at a scale.
    public convenience init(latitude: Double, longitude: Double, scale: Double) {
        self.init(center: Point(latitude: latitude, longitude: longitude), scale: scale)
    }

    /// An area that fits into the view.
    public init(boundingGeometry: Geometry, rotation: Double = 0) {
        targetGeometry = boundingGeometry
        scale = nil
        self.rotation = rotation
    }
}
