// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry

/// `GeocodeServer` and its three operations.
enum GeocodeResource {
    /// The most candidates one answer holds.
    static let candidateLimit = 50
    /// The most suggestions one answer holds.
    static let suggestionLimit = 15

    // MARK: Root

    /// The locator's own page.
    static func root(description: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("serviceDescription", description)
            json.member("addressFields", array: addressFields) { json, name in
                json.textField(name, length: 100)
            }
            json.member("categories", array: [String]()) { $0.string($1) }
            json.key("singleLineAddressField")
            json.textField("SingleLine", length: 200)
            json.member("candidateFields", array: ["Shape", "Score", "Match_addr", "Addr_type"]) {
                $0.candidateField($1)
            }
            json.member("intersectionCandidateFields", array: [String]()) { $0.string($1) }
            json.spatialReference(.wgs84)
            json.member("locatorProperties") { json in
                json.member("MinimumCandidateScore", "0")
                json.member("MaxCandidates", candidateLimit)
            }
            json.member("countries", array: [String]()) { $0.string($1) }
            json.member("capabilities", "Geocode,ReverseGeocode,Suggest")
        }
        return json.bytes
    }

    /// The parameters that together make an address, most local first.
    private static let addressFields = [
        "Address", "Address2", "Address3", "Neighborhood", "City", "Subregion", "Region", "Postal",
        "PostalExt", "CountryCode",
    ]

    // MARK: findAddressCandidates

    /// Reads the parameters of `findAddressCandidates`.
    static func request(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> GeocodeRequest {
        var line = parameters["singleLine"]
        if line == nil {
            let parts = addressFields.dropLast().compactMap { parameters[$0] }
            line = parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
        let key = parameters["magicKey"]
        guard let line = line ?? (key == nil ? nil : "") else {
            throw Failure(
                .invalidParameter,
                "parameter 'singleLine' is missing, and so is every address field")
        }
        let wanted = try parameters.integer("maxLocations", in: 0...Int.max) ?? 20
        return GeocodeRequest(
            locator: locator, singleLine: line,
            countryCodes: countryCodes(parameters),
            maxLocations: min(max(wanted, 1), candidateLimit),
            searchExtent: try degrees("searchExtent", parameters, .envelope)?.envelope,
            location: try point("location", parameters), magicKey: key)
    }

    /// Writes `{"spatialReference":…,"candidates":[…]}`.
    static func body(
        _ answer: GeocodeAnswer, outFields: String?, in reference: OutputReference
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.spatialReference(reference.value)
            json.member("candidates", array: answer.candidates) { json, candidate in
                json.object { json in
                    json.member("address", candidate.address)
                    json.member("location") { $0.position(candidate.location, in: reference) }
                    json.member("score", candidate.score)
                    json.member("attributes") { json in
                        write(candidate, outFields: outFields, to: &json)
                    }
                    json.member("extent") { $0.sides(of: reference.project(candidate.extent)) }
                }
            }
        }
        return json.bytes
    }

    /// The attributes asked for: none, a list, or `*`.
    private static func write(
        _ candidate: Candidate, outFields: String?, to json: inout JSONWriter
    ) {
        guard let outFields else { return }
        let wanted = outFields.split(separator: ",").map { $0.filter { $0 != " " }.lowercased() }
        for entry in candidate.attributes.entries
        where outFields == "*" || wanted.contains(entry.name.lowercased()) {
            json.key(entry.name)
            json.attribute(entry.value, isTyped: true)
        }
    }

    // MARK: suggest

    /// Reads the parameters of `suggest`.
    static func suggestRequest(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> SuggestRequest {
        let wanted = try parameters.integer("maxSuggestions", in: 0...Int.max) ?? 5
        return SuggestRequest(
            locator: locator, text: try parameters.required("text"),
            countryCodes: countryCodes(parameters),
            maxSuggestions: min(max(wanted, 1), suggestionLimit),
            location: try point("location", parameters))
    }

    /// Writes `{"suggestions":[…]}`.
    static func body(_ answer: SuggestAnswer) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("suggestions", array: answer.suggestions) { json, suggestion in
                json.object { json in
                    json.member("text", suggestion.text)
                    json.member("magicKey", suggestion.magicKey)
                    json.member("isCollection", suggestion.isCollection)
                }
            }
        }
        return json.bytes
    }

    // MARK: reverseGeocode

    /// Reads the parameters of `reverseGeocode`; the distance is 100 m unless given.
    static func reverseRequest(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> ReverseGeocodeRequest {
        guard let location = try point("location", parameters) else {
            throw Failure(.invalidParameter, "parameter 'location' is missing")
        }
        let distance = try parameters.number("distance") ?? 100
        guard distance >= 0 else {
            throw Parameters.unexpected("distance", "\(distance)", "metres, 0 or more")
        }
        return ReverseGeocodeRequest(
            locator: locator, location: location, maxDistanceMeters: distance)
    }

    /// The keys of `address` that clients read unguarded; each is there, empty when unknown.
    private static let addressKeys = [
        "Match_addr", "LongLabel", "ShortLabel", "Addr_type", "Type", "PlaceName", "AddNum",
        "Address", "Block", "Sector", "Neighborhood", "District", "City", "MetroArea", "Subregion",
        "Region", "Territory", "Postal", "PostalExt", "CountryCode",
    ]

    /// Writes `{"address":…,"location":…}`, or the error that clients read as "nothing here".
    static func body(_ answer: ReverseGeocodeAnswer, in reference: OutputReference) -> [UInt8] {
        guard let candidate = answer.candidate else {
            let text = "Unable to find address for the specified location."
            return ErrorBody.json(code: 400, message: text, details: [text])
        }
        var json = JSONWriter()
        json.object { json in
            json.member("address") { json in
                for name in addressKeys { json.member(name, value(name, of: candidate)) }
            }
            json.member("location") { json in
                json.position(candidate.location, in: reference)
                json.spatialReference(reference.value)
            }
        }
        return json.bytes
    }

    private static func value(_ name: String, of candidate: Candidate) -> String {
        let known = candidate.attributes[name] ?? .null
        if case .string(let text) = known, !text.isEmpty { return text }
        switch name {
        case "Match_addr", "LongLabel": return candidate.address
        case "ShortLabel":
            return candidate.address.split(separator: ",").first.map(String.init)
                ?? candidate.address
        case "CountryCode":
            guard case .string(let country)? = candidate.attributes["Country"] else { return "" }
            return country
        default: return ""
        }
    }

    // MARK: Shared

    private static func countryCodes(_ parameters: Parameters) -> [String] {
        let text = parameters.first(of: "sourceCountry", "countryCode") ?? ""
        return text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }

    private static func point(
        _ name: String, _ parameters: Parameters
    ) throws(Failure) -> Coordinate? {
        guard let shape = try degrees(name, parameters, .point) else { return nil }
        guard case .point(let coordinate) = shape else { return nil }
        return coordinate
    }

    /// A geometry parameter in longitude and latitude, whatever reference it came in.
    private static func degrees(
        _ name: String, _ parameters: Parameters, _ kind: GeometryParameter.Kind
    ) throws(Failure) -> Shape? {
        guard let text = parameters[name] else { return nil }
        let parameter = try GeometryParameter(text, kind: kind, name: name)
        let source = try OutputReference(parameter.spatialReference ?? .wgs84, name: name)
        return parameter.shape.mapCoordinates { source.unproject($0) }
    }
}

extension JSONWriter {
    fileprivate mutating func textField(_ name: String, length: Int) {
        object { json in
            json.member("name", name)
            json.member("type", "esriFieldTypeString")
            json.member("alias", name)
            json.member("required", false)
            json.member("length", length)
        }
    }

    fileprivate mutating func candidateField(_ name: String) {
        object { json in
            json.member("name", name)
            let type = ["Shape": "Geometry", "Score": "Double"][name] ?? "String"
            json.member("type", "esriFieldType" + type)
            json.member("alias", name)
            json.member("required", false)
        }
    }

    fileprivate mutating func position(_ location: Coordinate, in reference: OutputReference) {
        let projected = reference.project(location)
        member("x", projected.x)
        member("y", projected.y)
    }
}
