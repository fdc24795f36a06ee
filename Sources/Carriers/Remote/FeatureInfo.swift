// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Expat
internal import Geometry
internal import Platform

/// The features in an answer to GetFeatureInfo, in any of its formats.
struct FeatureInfo {
    private(set) var features: [RemoteAnswer.Feature] = []
    private let layers: [String]
    private static let textLimit = 16_384

    /// Throws `unreadable` for an exception or for an unknown form.
    init(
        _ response: WebResponse, _ question: RemoteQuestion, _ layers: [String]
    ) throws(Failure) {
        self.layers = layers
        let body = response.body
        let first = body.first { ![32, 9, 10, 13, 0xEF, 0xBB, 0xBF].contains($0) }
        let type = response.contentType
        if type.contains("html") {
            readText(Self.withoutTags(body))
        } else if first == UInt8(ascii: "<") {
            try readXML(body)
        } else if type.contains("json") || first == UInt8(ascii: "{") {
            try readJSON(body)
        } else if type.hasPrefix("text/") {
            readText(String(decoding: body, as: UTF8.self))
        } else if first != nil {
            throw Failure(.unreadable, "it answered with '\(type.excerpt(60))'")
        }
    }

    // MARK: GeoJSON

    private mutating func readJSON(_ body: [UInt8]) throws(Failure) {
        guard let root = JSONTree(body) else {
            throw Failure(.unreadable, "its answer is not JSON")
        }
        if let exceptions = root["exceptions"]?.elements.first ?? root["error"] {
            let text = exceptions["text"]?.text ?? exceptions["message"]?.text ?? "an error"
            throw Failure(.unreadable, "it answered: \(text.excerpt())")
        }
        guard case .array(let elements)? = root["features"] else {
            throw Failure(.unreadable, "its answer has no features")
        }
        let reference = Self.reference(root["crs"])
        for (index, feature) in elements.enumerated() {
            let id = feature["id"]
            let parts = id?.text?.split(separator: ".") ?? []
            features.append(
                RemoteAnswer.Feature(
                    group: group(parts.count > 1 ? parts.dropLast().joined(separator: ".") : nil),
                    id: id?.whole ?? parts.last.flatMap { Int64($0) } ?? Int64(index + 1),
                    attributes: Attributes(
                        (feature["properties"]?.members ?? []).map {
                            .init(name: $0.name, value: $0.value.attribute)
                        }), shape: feature["geometry"].flatMap { GeoJSON.shape($0) },
                    spatialReference: Self.reference(feature["crs"]) ?? reference ?? .wgs84))
        }
    }

    /// `{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}}`.
    private static func reference(_ crs: JSONTree?) -> SpatialReference? {
        guard let name = crs?["properties"]?["name"]?.text else { return nil }
        let last = name.split(separator: ":").last.flatMap { Int($0) }
        return name.uppercased().contains("EPSG") ? last.map { SpatialReference(wkid: $0) } : nil
    }

    /// The requested layer that a name belongs to, if several were requested.
    private func group(_ name: String?) -> String? {
        guard layers.count > 1, let name else { return nil }
        let short = { (text: String) in text.split(separator: ":").last.map(String.init) ?? text }
        return layers.first { $0 == name || short($0) == short(name) }
    }

    // MARK: XML

    private mutating func readXML(_ body: [UInt8]) throws(Failure) {
        let root: XMLElement
        do throws(XMLError) { root = try XMLReader.read(body) } catch {
            throw Failure(.unreadable, "its answer is not XML: \(error)")
        }
        if let exception = WMSException.text(in: root) {
            throw Failure(.unreadable, "it answered: \(exception)")
        }
        find(root, layer: nil)
    }

    /// GML, and the forms of MapServer, QGIS Server and ArcGIS.
    private mutating func find(_ element: XMLElement, layer: String?) {
        switch element.name {
        case "featureMember", "featureMembers", "member":
            for feature in element.children { add(feature, layer: feature.name, id: feature.id) }
            return
        case "FIELDS":
            add(
                element.attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
                layer: layer, id: nil)
            return
        case "Feature":
            let pairs = element.all("Attribute").map {
                ($0.attributes["name"] ?? "", $0.attributes["value"] ?? "")
            }
            add(pairs, layer: layer, id: element.attributes["id"])
            return
        default: break
        }
        if element.name.hasSuffix("_feature") {
            add(element, layer: String(element.name.dropLast(8)), id: element.id)
            return
        }
        for child in element.children {
            find(child, layer: element.name == "Layer" ? element.attributes["name"] : layer)
        }
    }

    private mutating func add(_ feature: XMLElement, layer: String?, id: String?) {
        let values = feature.children.filter { $0.children.isEmpty && $0.name != "boundedBy" }
        add(values.map { ($0.name, $0.trimmed) }, layer: layer, id: id)
    }

    private mutating func add(_ pairs: [(String, String)], layer: String?, id: String?) {
        features.append(
            RemoteAnswer.Feature(
                group: group(layer),
                id: id?.split(separator: ".").last.flatMap { Int64($0) }
                    ?? Int64(features.count + 1),
                attributes: Attributes(pairs.map { .init(name: $0.0, value: .string($0.1)) })))
    }

    // MARK: Text

    private mutating func readText(_ text: String) {
        let trimmed = text.excerpt(Self.textLimit)
        let lowered = trimmed.lowercased()
        let isNothing = ["no features were found", "search returned no results", "no results"]
            .contains { lowered.contains($0) }
        guard !trimmed.isEmpty, !isNothing else { return }
        features.append(
            RemoteAnswer.Feature(
                id: 1, attributes: Attributes([.init(name: "Text", value: .string(trimmed))])))
    }

    /// The text of a page, without its head and its markup.
    private static func withoutTags(_ body: [UInt8]) -> String {
        var text = String(decoding: body.prefix(256 << 10), as: UTF8.self)
        let lowered = text.lowercased()
        if let start = lowered.range(of: "<body"), lowered.count == text.count {
            text = String(text.dropFirst(lowered.distance(from: lowered.startIndex, to: start)))
        }
        var result = ""
        var isTag = false
        for character in text {
            if character == "<" { isTag = true }
            if !isTag { result.append(character) }
            if character == ">" {
                isTag = false
                result.append(" ")
            }
        }
        return result.withoutEntities
    }
}

extension String {
    /// The text with HTML's entities of characters written out: those by number, and the names that
    /// programs write.
    fileprivate var withoutEntities: String {
        var result = ""
        var rest = self[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            let name = rest.dropFirst().prefix {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "#")
            }
            guard name.endIndex < rest.endIndex, rest[name.endIndex] == ";",
                let character = Self.character(entity: name)
            else {
                result.append(rest.removeFirst())
                continue
            }
            result.unicodeScalars.append(character)
            rest = rest[rest.index(after: name.endIndex)...]
        }
        return result + rest
    }

    private static func character(entity name: Substring) -> Unicode.Scalar? {
        let names: [Substring: Unicode.Scalar] = [
            "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
        ]
        guard name.first == "#" else { return names[name] }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap { $0 == 0 ? nil : Unicode.Scalar($0) }
    }

    /// The start of a substring.
    fileprivate func range(of wanted: String) -> String.Index? {
        indices.first { self[$0...].hasPrefix(wanted) }
    }
}

extension XMLElement {
    /// `fid`, `gml:id` or `id`.
    fileprivate var id: String? { attributes["fid"] ?? attributes["id"] }
}

extension JSONTree {
    /// The value as an attribute; structured values are left out.
    var attribute: AttributeValue {
        switch self {
        case .null, .array, .object, .positions: .null
        case .bool(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .string(let value): .string(value)
        }
    }
}
