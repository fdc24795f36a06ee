// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

/// `…/{id}/{objectId}` of either service of a map: the answer to a query for one object id as
/// Esri's feature resource.
enum FeatureResource {
    // A quote within a text is escaped, so no value of an attribute holds these.
    private static let features = Array(#""features":["#.utf8)
    private static let geometry = Array(#""geometry":{"#.utf8)
    private static let end = Array("]}".utf8)

    /// `{"feature":{…}}`, whose geometry says its reference; nil where the answer has no feature.
    ///
    /// Throws `corrupt` when it is no answer to a query for features.
    static func body(_ answer: [UInt8]) throws(Failure) -> [UInt8]? {
        guard let start = place(of: features, in: answer[...]), answer.suffix(2) == end[...],
            case let head = answer[..<start] + end, let tree = JSONTree(Array(head))
        else { throw Failure(.corrupt, "a worker's answer to a query has another form") }
        let feature = answer[start...].dropLast(2)
        guard !feature.isEmpty else { return nil }
        var json = JSONWriter()
        json.raw(#"{"feature":"#)
        if let inside = place(of: geometry, in: feature), let reference = tree["spatialReference"] {
            json.raw(feature[..<inside])
            json.raw(#""spatialReference":"#)
            json.object { json in
                for member in reference.members {
                    if let number = member.value.whole { json.member(member.name, Int(number)) }
                    if let text = member.value.text { json.member(member.name, text) }
                }
            }
            json.raw(",")
            json.raw(feature[inside...])
        } else {
            json.raw(feature)
        }
        json.raw("}")
        return json.bytes
    }

    /// Where the bytes after the first of these begin.
    private static func place(of mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        while let quote = rest.firstIndex(of: mark[0]) {
            rest = rest[quote...]
            if rest.starts(with: mark) { return quote + mark.count }
            rest = rest.dropFirst()
        }
        return nil
    }
}
