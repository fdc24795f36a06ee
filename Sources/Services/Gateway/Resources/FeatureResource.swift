// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// `…/{id}/{objectId}` of either service of a map: converts the answer to a query for one object id
/// to Esri's feature resource.
enum FeatureResource {
    // Quotes within strings are escaped, so no attribute's value contains these.
    private static let features = Array(#""features":["#.utf8)
    private static let geometry = Array(#""geometry":{"#.utf8)
    private static let end = Array("]}".utf8)

    /// `{"feature":{…}}`, whose geometry includes its reference; nil for an answer without a
    /// feature.
    ///
    /// Throws `corrupt` for anything but an answer to a query for features.
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

    /// Index after the first occurrence of these bytes.
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
