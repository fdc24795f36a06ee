// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Platform

/// A page of features as a worker wrote it, with the members that the standard adds.
struct OGCPage {
    /// Beginning and end of a worker's answer, around the features.
    private static let head = Array(#"{"type":"FeatureCollection","features":["#.utf8)
    private static let tail = Array(#"],"numberReturned":"#.utf8)

    private let features: ArraySlice<UInt8>
    private let matchedCount: Int
    private let returnedCount: Int
    private let offset: Int

    /// From the answers to a query in the form `ogcFeatures` and to one for its count; throws
    /// `corrupt` for answers of another form.
    init(features answer: [UInt8], count: [UInt8], offset: Int) throws(Failure) {
        guard let (features, returned) = Self.parts(answer),
            case .number(let matched)? = try? RelaxedJSON.parse(
                String(decoding: count, as: UTF8.self))["count"]
        else { throw Failure(.corrupt, "a worker's answer to a query has another form") }
        self.features = features
        self.offset = offset
        matchedCount = Int(matched)
        returnedCount = returned
    }

    private static func parts(_ answer: [UInt8]) -> (features: ArraySlice<UInt8>, count: Int)? {
        guard answer.starts(with: head), answer.last == UInt8(ascii: "}"),
            let colon = answer.lastIndex(of: UInt8(ascii: ":")),
            let count = Int(
                String(decoding: answer[(colon + 1)..<(answer.count - 1)], as: UTF8.self))
        else { return nil }
        let end = colon + 1 - tail.count
        guard end >= head.count, Array(answer[end...colon]) == tail else { return nil }
        return (answer[head.count..<end], count)
    }

    /// The single feature of an answer, with links; nil without one.
    static func feature(
        in answer: [UInt8], links: (inout JSONWriter) -> Void
    ) -> [UInt8]? {
        guard let (feature, count) = parts(answer), count == 1 else { return nil }
        var json = JSONWriter()
        json.raw(feature.dropLast())
        json.raw(",")
        json.key("links")
        json.array(links)
        json.raw("}")
        return json.bytes
    }

    /// The complete body; `parameters` are those of this page.
    func body(self url: String, _ parameters: Parameters, collection: String) -> [UInt8] {
        func page(_ name: String, _ value: String) -> String {
            url.prefix { $0 != "?" } + "?"
                + parameters.query(setting: name, to: value, keepsSecrets: true)
        }
        var json = JSONWriter()
        json.openObject()
        json.member("type", "FeatureCollection")
        json.member("numberMatched", matchedCount)
        json.member("numberReturned", returnedCount)
        json.member("timeStamp", Self.now())
        json.key("links")
        json.array { json in
            OGCLinks.write(
                "self", url: page("f", "json"), OGCLinks.geoJSON, "This page", &json)
            OGCLinks.write("alternate", url: page("f", "html"), OGCLinks.html, "As a page", &json)
            let next = offset + returnedCount
            if returnedCount > 0, next < matchedCount {
                OGCLinks.write(
                    "next", url: page("offset", "\(next)"), OGCLinks.geoJSON, "Next page", &json)
            }
            if offset > 0 {
                let limit = max(1, Int(parameters[Known.limit] ?? "") ?? OGCItems.standardLimit)
                let previous = max(0, offset - min(limit, QueryRequest.recordBound))
                OGCLinks.write(
                    "prev", url: page("offset", "\(previous)"), OGCLinks.geoJSON, "Previous page",
                    &json)
            }
            OGCLinks.write("collection", url: collection, OGCLinks.json, "Collection", &json)
        }
        json.openArray("features")
        json.raw(features)
        json.closeArray()
        json.closeObject()
        return json.bytes
    }

    private static func now() -> String {
        CalendarClock(milliseconds: Int64(Date().timeIntervalSince1970) * 1_000).text
    }
}
