// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform
internal import RouteDirections

extension OSRMBody {
    /// The answer of `match`.
    func matchings(_ answer: TraceAnswer) throws(Failure) -> [UInt8] {
        var json = JSONWriter()
        json.openObject()
        json.member("code", "Ok")
        json.key("matchings")
        json.openArray()
        for matching in answer.matchings {
            let line = try EncodedPolyline.seven.decode(matching.route.shape ?? "")
            try write(matching.route, line, confidence: matching.confidence, to: &json)
        }
        json.closeArray()
        json.member("tracepoints", array: answer.points) { json, point in
            guard let matching = point.matching, let number = point.number else {
                json.null()
                return
            }
            json.object { json in
                self.waypoint(point.place, &json)
                json.member("matchings_index", matching)
                json.member("waypoint_index", number)
                json.member("alternatives_count", point.otherCount)
            }
        }
        json.closeObject()
        return json.bytes
    }
}
