// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A MapLibre style (version 8) as far as it is drawn here.
struct TileStyle: Sendable {
    enum Kind: String, Sendable {
        case background, fill, line, circle, symbol
    }

    struct Layer: Sendable {
        var id: String
        var kind: Kind
        var sourceLayer = ""
        var minZoom = -Double.infinity
        /// Where the layer ends.
        var maxZoom = Double.infinity
        var filter: StyleExpression?
        var properties: [String: StyleExpression] = [:]
    }

    /// The bottom one first.
    private(set) var layers: [Layer] = []
    /// What of it is not drawn, each once: `Roads: line-pattern`.
    private(set) var notDrawn: [String] = []
    /// The deepest level of its source; nil where it does not say.
    private(set) var deepestLevel: Int?

    /// Reads a style; throws ``CairnError`` of the kind `invalidDocument` for other documents.
    init(_ json: JSON) throws {
        guard case .object = json, json["version"]?.int == 8 else {
            throw CairnError(
                .invalidDocument, "the JSON is no style of vector tiles: expected version 8")
        }
        let sources = (json["sources"]?.members ?? []).filter { $0.value.text("type") == "vector" }
        let source = sources.first { $0.name == "esri" } ?? sources.first
        deepestLevel = source?.value["maxzoom"]?.int
        var compiler = StyleCompiler()
        for element in json["layers"]?.elements ?? [] {
            let id = element.text("id") ?? ""
            guard element["layout"]?.text("visibility") != "none" else { continue }
            var reader = LayerReader(id: id, source: source?.name, compiler: compiler)
            do throws(StyleUnknown) {
                layers.append(try reader.layer(element))
            } catch {
                reader.notDrawn = ["\(id): \(error.what)"]
            }
            compiler = reader.compiler
            notDrawn += reader.notDrawn
        }
        notDrawn += compiler.ignored.sorted()
    }
}

/// Reads one layer of a style.
private struct LayerReader {
    let id: String
    let source: String?
    var compiler: StyleCompiler
    var notDrawn: [String] = []

    /// What each kind of layer reads, and how.
    private static let known: [TileStyle.Kind: [String: StyleKind]] = [
        .background: ["background-color": .color, "background-opacity": .number],
        .fill: [
            "fill-color": .color, "fill-opacity": .number, "fill-outline-color": .color,
        ],
        .line: [
            "line-color": .color, "line-opacity": .number, "line-width": .number,
            "line-dasharray": .list, "line-cap": .text, "line-join": .text,
        ],
        .circle: [
            "circle-color": .color, "circle-opacity": .number, "circle-radius": .number,
            "circle-stroke-color": .color, "circle-stroke-opacity": .number,
            "circle-stroke-width": .number,
        ],
        .symbol: [
            "icon-image": .any, "symbol-placement": .text, "symbol-spacing": .number,
            "text-allow-overlap": .flag, "text-anchor": .text, "text-color": .color,
            "text-field": .template, "text-font": .list, "text-halo-color": .color,
            "text-halo-width": .number, "text-ignore-placement": .flag, "text-justify": .text,
            "text-max-width": .number, "text-offset": .list, "text-opacity": .number,
            "text-radial-offset": .number, "text-rotate": .number, "text-size": .number,
            "text-transform": .text, "text-variable-anchor": .list,
        ],
    ]

    /// Without these a layer is another one, and is left out.
    private static let pictures: Set<String> = [
        "background-pattern", "fill-pattern", "line-gradient", "line-pattern",
    ]

    /// What changes nothing in a still picture of the tiles' own order, or as good as nothing.
    private static let without: Set<String> = [
        "fill-antialias", "line-miter-limit", "line-round-limit", "symbol-avoid-edges",
        "symbol-z-order", "text-keep-upright", "text-line-height", "text-max-angle",
        "text-optional", "text-padding", "text-pitch-alignment", "visibility",
    ]

    mutating func layer(_ json: JSON) throws(StyleUnknown) -> TileStyle.Layer {
        let type = json.text("type") ?? ""
        guard let kind = TileStyle.Kind(rawValue: type) else {
            throw StyleUnknown(what: type.isEmpty ? "a layer without a type" : type)
        }
        var layer = TileStyle.Layer(id: id, kind: kind)
        if kind != .background {
            guard let own = json.text("source"), own == source else {
                throw StyleUnknown(what: "its source is not the vector tiles")
            }
            layer.sourceLayer = json.text("source-layer") ?? ""
        }
        layer.minZoom = json["minzoom"]?.number ?? layer.minZoom
        layer.maxZoom = json["maxzoom"]?.number ?? layer.maxZoom
        if let filter = json.member("filter") { layer.filter = try compiler.filter(filter) }
        let known = Self.known[kind] ?? [:]
        for group in ["layout", "paint"] {
            for (name, value) in json[group]?.members ?? [] where !value.isNull {
                if let kind = known[name] {
                    do throws(StyleUnknown) {
                        layer.properties[name] = try compiler.property(value, kind)
                    } catch {
                        throw StyleUnknown(what: "\(name): \(error.what)")
                    }
                } else if Self.pictures.contains(name) {
                    throw StyleUnknown(what: name)
                } else if !Self.without.contains(name), !name.hasSuffix("-transition"),
                    !name.hasPrefix("icon-")
                {
                    notDrawn.append("\(id): \(name)")
                }
            }
        }
        return layer
    }
}

extension TileStyle.Layer {
    /// Whether the layer is shown at a zoom.
    func isShown(at zoom: Double) -> Bool { zoom >= minZoom && zoom < maxZoom }

    /// Whether its filter takes the feature.
    func takes(_ scope: inout StyleScope) -> Bool {
        guard let filter else { return true }
        return (try? filter.evaluate(&scope)) == .flag(true)
    }

    /// A property's value; nil where there is none, or the expression has none for the feature.
    func value(_ name: String, _ scope: inout StyleScope) -> StyleValue? {
        guard let expression = properties[name] else { return nil }
        if let constant = expression.constant { return constant }
        return try? expression.evaluate(&scope)
    }

    func number(_ name: String, _ standard: Double, _ scope: inout StyleScope) -> Double {
        guard case .number(let number) = value(name, &scope), number.isFinite else {
            return standard
        }
        return number
    }

    func color(_ name: String, _ standard: StyleColor, _ scope: inout StyleScope) -> StyleColor {
        value(name, &scope)?.convertedColor ?? standard
    }

    func text(_ name: String, _ standard: String, _ scope: inout StyleScope) -> String {
        if case .text(let text) = value(name, &scope) { text } else { standard }
    }

    func flag(_ name: String, _ scope: inout StyleScope) -> Bool {
        value(name, &scope) == .flag(true)
    }

    /// Finite numbers; empty for anything else.
    func numbers(_ name: String, _ scope: inout StyleScope) -> [Double] {
        guard case .list(let elements) = value(name, &scope) else { return [] }
        let numbers = elements.compactMap { element -> Double? in
            if case .number(let number) = element, number.isFinite { number } else { nil }
        }
        return numbers.count == elements.count ? numbers : []
    }

    func texts(_ name: String, _ scope: inout StyleScope) -> [String] {
        guard case .list(let elements) = value(name, &scope) else { return [] }
        return elements.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }
}
