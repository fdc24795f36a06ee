// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// A route table as OpenAPI 3.0: paths, methods, parameters, media types, security.
enum OpenAPIDocument {
    /// - Parameters:
    ///   - origin: Base of URLs; nil for URLs relative to the document's.
    ///   - hasTokens: Whether some resources require a token.
    static func body(_ table: RouteTable, origin: String?, hasTokens: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("openapi", "3.0.3")
            json.member("info") { json in
                json.member("title", "Cairn")
                json.member("version", "\(Catalog.version)")
                json.member(
                    "description",
                    "ArcGIS REST and OGC API – Features. Failures of the former have status 200.")
            }
            json.member("servers", array: [origin ?? "/"]) { json, url in
                json.object { $0.member("url", url) }
            }
            json.member("paths") { json in
                for route in table.routes where !route.isUnknown {
                    write(route, hasTokens, &json)
                }
            }
            guard hasTokens else { return }
            json.member("components") { json in
                json.member("securitySchemes") { json in
                    for scheme in securitySchemes {
                        json.member(scheme.name) { json in
                            for (name, value) in scheme.members { json.member(name, value) }
                        }
                    }
                }
            }
        }
        return json.bytes
    }

    /// Ways to present a token.
    static let securitySchemes: [(name: String, members: [(String, String)])] = [
        ("bearer", [("type", "http"), ("scheme", "bearer")]),
        ("token", [("type", "apiKey"), ("in", "query"), ("name", "token")]),
    ]

    private static func write(_ route: Route, _ hasTokens: Bool, _ json: inout JSONWriter) {
        let pattern = route.patterns[0]
        json.member("/" + pattern.text) { json in
            if !pattern.captures.isEmpty {
                json.member("parameters", array: pattern.captures) { json, capture in
                    json.object { json in
                        json.member("name", capture.rawValue)
                        json.member("in", "path")
                        json.member("required", true)
                        json.member("schema") {
                            $0.member("type", capture.isNumber ? "integer" : "string")
                        }
                    }
                }
            }
            for method in methods(of: route) {
                json.member(method) { write(route, method, hasTokens, &$0) }
            }
        }
    }

    private static func methods(of route: Route) -> [String] {
        switch route.methods {
        case .read: ["get"]
        case .form: ["get", "post"]
        case .post, .file: ["post"]
        }
    }

    private static func write(
        _ route: Route, _ method: String, _ hasTokens: Bool, _ json: inout JSONWriter
    ) {
        json.member("operationId", "\(method) \(route.patterns[0].text)")
        json.member("tags", array: [route.label]) { $0.string($1) }
        json.member("summary", route.summary)
        let others = route.patterns.dropFirst().map { "/" + $0.text }
        let sentences =
            [route.requirement.sentence].compactMap { $0 }
            + (others.isEmpty ? [] : ["Also at \(others.joined(separator: ", "))."])
            + (route.takesOther ? ["Takes further parameters."] : [])
        if !sentences.isEmpty { json.member("description", sentences.joined(separator: " ")) }
        if hasTokens { writeSecurity(of: route, &json) }
        let parameters = route.allParameters
        if method == "get", !parameters.isEmpty {
            json.member("parameters", array: parameters) { json, parameter in
                json.object { json in
                    json.member("name", parameter.name)
                    json.member("in", "query")
                    json.member("description", parameter.summary)
                    if parameter.isRequired { json.member("required", true) }
                    json.member("schema") { writeSchema(of: parameter, &$0) }
                }
            }
        }
        if method == "post" { writeBody(of: route, parameters, &json) }
        json.member("responses") { json in
            json.member("200") { json in
                json.member("description", route.summary)
                json.member("content") { json in
                    for type in route.mediaTypes {
                        json.member(type) { json in
                            json.member("schema") {
                                $0.member("type", type.hasSuffix("json") ? "object" : "string")
                            }
                        }
                    }
                }
            }
            json.member("default") { $0.member("description", "Why there is no answer.") }
        }
    }

    /// Either scheme; also none where rules may grant anonymous access.
    private static func writeSecurity(of route: Route, _ json: inout JSONWriter) {
        let names: [String?] =
            switch route.requirement {
            case .nothing: []
            case .token: securitySchemes.map(\.name)
            default: securitySchemes.map(\.name) + [nil]
            }
        json.member("security", array: names) { json, name in
            json.object { json in
                if let name { json.member(name, array: [Int]()) { $0.integer(Int64($1)) } }
            }
        }
    }

    private static func writeBody(
        of route: Route, _ parameters: [ParameterDescription], _ json: inout JSONWriter
    ) {
        json.member("requestBody") { json in
            json.member("content") { json in
                if route.methods == .file {
                    for type in ["multipart/form-data", "application/octet-stream"] {
                        json.member(type) { json in
                            json.member("schema") { json in
                                guard type.hasPrefix("multipart") else { return binary(&json) }
                                json.member("type", "object")
                                json.member("properties") { $0.member("file") { binary(&$0) } }
                            }
                        }
                    }
                    return
                }
                json.member("application/x-www-form-urlencoded") { json in
                    json.member("schema") { json in
                        json.member("type", "object")
                        let required = parameters.filter(\.isRequired).map(\.name)
                        if !required.isEmpty {
                            json.member("required", array: required) { $0.string($1) }
                        }
                        json.member("properties") { json in
                            for parameter in parameters {
                                json.member(parameter.name) { json in
                                    writeSchema(of: parameter, &json)
                                    json.member("description", parameter.summary)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func binary(_ json: inout JSONWriter) {
        json.member("type", "string")
        json.member("format", "binary")
    }

    private static func writeSchema(
        of parameter: ParameterDescription, _ json: inout JSONWriter
    ) {
        switch parameter.form {
        case .flag:
            json.member("type", "boolean")
            json.member("default", parameter.standard == "true")
        case .whole(let range):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            if range.upperBound <= Int(Int32.max) { json.member("maximum", range.upperBound) }
            if let standard = Int(parameter.standard) { json.member("default", standard) }
        case .number:
            json.member("type", "number")
            if let standard = Double(parameter.standard) { json.member("default", standard) }
        case .choice(let words):
            json.member("type", "string")
            json.member("enum", array: words) { $0.string($1) }
            if words.contains(parameter.standard) { json.member("default", parameter.standard) }
        case .text, .numbers:
            json.member("type", "string")
            if !parameter.standard.isEmpty {
                json.member("x-default", parameter.standard)
            }
        }
    }
}
