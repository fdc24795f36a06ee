// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import EsriForms
internal import Platform

/// Web map documents of Esri's clients: written for a map, and read into one.
public enum WebMap {
    /// The version of the document's form.
    public static let version = "2.31"
    /// The name of the writing application.
    public static let application = "Cairn"
    /// The id of a layer in a document; a document that is read keeps the number.
    static func id(of layer: LayerID) -> String { "cairn-\(layer)" }

    /// The number in such an id; nil for any other.
    static func number(in id: String?) -> LayerID? {
        guard let id, id.hasPrefix("cairn-"), let number = LayerID(id.dropFirst(6)),
            0...1_000_000 ~= number, WebMap.id(of: number) == id
        else { return nil }
        return number
    }
}

/// The URLs of a site's services.
public struct ServiceURL: Hashable, Sendable {
    /// The path below which all services lie.
    static let root = "/arcgis/rest/services/"

    /// The map.
    public var map: MapName
    /// Whether it is the feature service, not the map service.
    public var isFeatureService: Bool
    /// The layer; nil for the service.
    public var layer: LayerID?

    /// Names a service of a map, or a layer of it.
    public init(map: MapName, isFeatureService: Bool, layer: LayerID? = nil) {
        self.map = map
        self.isFeatureService = isFeatureService
        self.layer = layer
    }

    /// The URL below a base, which is empty or as `https://maps.example.org`.
    public func text(below origin: String) -> String {
        origin + Self.root + map.rawValue + (isFeatureService ? "/FeatureServer" : "/MapServer")
            + (layer.map { "/\($0)" } ?? "")
    }

    /// Reads a URL without a server, or on one of those named; nil for any other URL.
    init?(_ url: String, origins: [String]) {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let lowered = path.lowercased()
        let bases = [""] + origins.map { $0.lowercased() }
        guard let base = bases.first(where: { lowered.hasPrefix($0 + Self.root) }) else {
            return nil
        }
        let parts = path.dropFirst(base.count + Self.root.count).split(separator: "/")
        let kinds = ["mapserver", "featureserver"]
        guard let place = parts.firstIndex(where: { kinds.contains($0.lowercased()) }),
            let map = MapName(rawValue: parts[..<place].joined(separator: "/")),
            parts.count <= place + 2
        else { return nil }
        self.map = map
        isFeatureService = parts[place].lowercased() == "featureserver"
        guard parts.count == place + 2 else { return }
        guard let number = LayerID(parts[place + 1]), number >= 0 else { return nil }
        layer = number
    }
}

extension JSONTree {
    /// Whether it says nothing: null, false, zero, or empty.
    var isEmpty: Bool {
        switch self {
        case .null, .bool(false), .integer(0): true
        case .real(let value): value == 0
        case .string(let text): text.isEmpty
        case .array, .positions: elements.isEmpty
        case .object(let members): members.allSatisfy(\.value.isEmpty)
        case .bool, .integer: false
        }
    }

    /// Whether it is the text, letter case apart.
    func isText(_ word: String) -> Bool { text?.lowercased() == word.lowercased() }

    /// The value as JSON.
    var bytes: [UInt8] {
        var json = JSONWriter()
        write(to: &json)
        return json.bytes
    }

    private func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let flag): json.bool(flag)
        case .integer(let value): json.integer(value)
        case .real(let value): json.number(value)
        case .string(let text): json.string(text)
        case .array, .positions: json.array(of: elements) { $1.write(to: &$0) }
        case .object(let members):
            json.object { json in
                for member in members {
                    json.key(member.name)
                    member.value.write(to: &json)
                }
            }
        }
    }
}
