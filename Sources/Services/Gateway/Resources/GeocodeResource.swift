// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// `GeocodeServer` and its three operations.
enum GeocodeResource {
    /// Maximum number of candidates in an answer.
    static let candidateLimit = 50
    /// Maximum number of suggestions in an answer.
    static let suggestionLimit = 15

    // MARK: Root

    /// The locator's root resource.
    static func root(_ locator: LocatorPublished) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("serviceDescription", locator.name)
            // Absent if the event has none, as for locators built by earlier versions.
            if let attributions = locator.attributions, !attributions.isEmpty {
                json.member("copyrightText", attributions.joined(separator: "; "))
            }
            json.member("addressFields", array: addressFields) { json, name in
                json.textField(name, length: 100)
            }
            json.member("categories", array: categories) { json, category in
                json.object { json in
                    json.member("name", category.name)
                    json.member("categories", array: category.below) { json, name in
                        json.object { $0.member("name", name) }
                    }
                }
            }
            json.key("singleLineAddressField")
            json.textField("SingleLine", length: 200)
            json.key("candidateFields")
            json.candidateFields()
            json.member("intersectionCandidateFields", array: [String]()) { $0.string($1) }
            json.spatialReference(.wgs84)
            json.member("locatorProperties") { json in
                json.member("MinimumCandidateScore", "50")
                json.member("MaxCandidates", candidateLimit)
                json.member("MaxBatchSize", GeocodeBatch.recordLimit)
                json.member("SuggestedBatchSize", suggestedBatchSize)
                json.member("LoadBalancerTimeOut", 60)
            }
            json.member("countries", array: [String]()) { $0.string($1) }
            json.member("capabilities", "Geocode,ReverseGeocode,Suggest")
        }
        return json.bytes
    }

    /// The values of `category`, in two levels.
    private static let categories: [(name: String, below: [String])] = [
        (PlaceCategory.parent, PlaceCategory.populated.map(\.rawValue)),
        (PlaceCategory.pointOfInterest.rawValue, PlaceCategory.pointsOfInterest),
    ]

    /// Batch size recommended to clients.
    private static let suggestedBatchSize = 150

    /// The parameters that make up an address, most local first.
    static let addressFields = [
        "Address", "Address2", "Address3", "Neighborhood", "City", "Subregion", "Region", "Postal",
        "PostalExt", "CountryCode",
    ]

    // MARK: findAddressCandidates

    /// Parses the parameters of `findAddressCandidates`.
    static func request(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> GeocodeRequest {
        let key = parameters[Known.magicKey]
        guard let line = line(parameters) ?? (key == nil ? nil : "") else {
            throw Failure(
                .invalidParameter,
                "parameter 'singleLine' is missing, and so is every address field")
        }
        let wanted = try parameters.integer(Known.maxLocations)
        let filter = try filter(parameters)
        var request = GeocodeRequest(
            locator: locator, singleLine: line, countryCodes: filter.countryCodes,
            maxLocations: min(max(wanted, 1), candidateLimit), searchExtent: filter.searchExtent,
            location: filter.location, magicKey: key)
        request.distanceMeters = filter.distanceMeters
        request.categories = filter.categories
        request.matchOutOfRange = filter.matchOutOfRange
        request.language = filter.language
        if try parameters.flag(Known.explain) { request.explain = true }
        request.fields = fields(parameters)
        request.minScore = try parameters.number(Known.minScore)
        return request
    }

    /// The address in one line: `SingleLine`, or the address fields joined; nil without any.
    static func line(_ parameters: Parameters) -> String? {
        if let line = parameters[Known.singleLine] { return line }
        let parts = addressFields.dropLast().compactMap { parameters[$0] }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// The parts of the address; nil if it is given in one line.
    static func fields(_ parameters: Parameters) -> AddressFields? {
        guard parameters[Known.singleLine] == nil, line(parameters) != nil else { return nil }
        func joined(_ names: String...) -> String? {
            let texts = names.compactMap { parameters[$0] }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        }
        return AddressFields(
            address: joined("Address", "Address2", "Address3"),
            neighborhood: joined("Neighborhood"), city: joined("City"),
            subregion: joined("Subregion"), region: joined("Region"),
            postal: joined("Postal", "PostalExt"))
    }

    /// Filters and ranking parameters of all operations on text.
    struct Filter {
        var countryCodes: [String]
        var categories: [String]?
        var searchExtent: Envelope?
        var location: Coordinate?
        var distanceMeters: Double?
        /// Nil unless it is false.
        var matchOutOfRange: Bool?
        /// As sent by the client.
        var language: String?
    }

    static func filter(_ parameters: Parameters) throws(Failure) -> Filter {
        Filter(
            countryCodes: countryCodes(parameters), categories: list(parameters[Known.category]),
            searchExtent: try searchExtent(parameters),
            location: try point(Known.location.name, parameters),
            distanceMeters: try distance(parameters),
            matchOutOfRange: try parameters.flag(Known.matchOutOfRange) ? nil : false,
            language: parameters[Known.langCode])
    }

    /// Comma-separated ISO codes of countries.
    static func countryCodes(_ parameters: Parameters) -> [String] {
        list(parameters[Known.sourceCountry] ?? parameters[Known.countryCode]) ?? []
    }

    /// Writes `{"spatialReference":…,"candidates":[…]}`.
    static func body(
        _ answer: GeocodeAnswer, outFields: OutFields, in reference: PlaceReference
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
                        for entry in candidate.attributes.entries
                        where outFields.contains(entry.name) {
                            json.key(entry.name)
                            json.attribute(entry.value, isTyped: true)
                        }
                    }
                    json.member("extent") { $0.sides(of: candidate.extent, in: reference) }
                    if let explanation = candidate.explanation {
                        json.member("explanation") { $0.explanation(explanation) }
                    }
                }
            }
        }
        return json.bytes
    }

    // MARK: suggest

    /// Parses the parameters of `suggest`.
    static func suggestRequest(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> SuggestRequest {
        let wanted = try parameters.integer(Known.maxSuggestions)
        let filter = try filter(parameters)
        var request = SuggestRequest(
            locator: locator, text: try parameters.required(Known.suggestText),
            countryCodes: filter.countryCodes,
            maxSuggestions: min(max(wanted, 1), suggestionLimit), location: filter.location)
        request.distanceMeters = filter.distanceMeters
        request.categories = filter.categories
        request.searchExtent = filter.searchExtent
        request.language = filter.language
        return request
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

    /// Parses the parameters of `reverseGeocode`; the distance is 100 m by default.
    static func reverseRequest(
        locator: String, _ parameters: Parameters
    ) throws(Failure) -> ReverseGeocodeRequest {
        guard let location = try point(Known.location.name, parameters) else {
            throw Failure(.invalidParameter, "parameter 'location' is missing")
        }
        var request = ReverseGeocodeRequest(
            locator: locator, location: location,
            maxDistanceMeters: try distance(parameters) ?? 100)
        request.featureTypes = list(parameters[Known.featureTypes])
        request.language = parameters[Known.langCode]
        if try parameters.flag(Known.returnIntersection) {
            request.featureTypes = ["StreetInt"]
        }
        return request
    }

    /// Writes `{"address":…,"location":…}`, or the error that clients interpret as "nothing found".
    ///
    /// `address` has its usual keys, whatever `outFields` is, and those that `outFields` names.
    static func body(
        _ answer: ReverseGeocodeAnswer, outFields: OutFields, in reference: PlaceReference
    ) -> [UInt8] {
        guard let candidate = answer.candidate else {
            let text = "Unable to find address for the specified location."
            return ErrorBody.json(code: 400, message: text, details: [text])
        }
        var json = JSONWriter()
        json.object { json in
            json.member("address") { json in
                for entry in candidate.addressAttributes(outFields.contains).entries {
                    json.key(entry.name)
                    json.attribute(entry.value, isTyped: true)
                }
            }
            json.member("location") { json in
                json.position(candidate.location, in: reference)
                json.spatialReference(reference.value)
            }
        }
        return json.bytes
    }

    // MARK: Shared

    /// Comma-separated words; nil without any.
    private static func list(_ text: String?) -> [String]? {
        let words = (text ?? "").split(separator: ",").map { word in
            let word = word.drop(while: \.isWhitespace)
            return String(word.lastIndex { !$0.isWhitespace }.map { word[...$0] } ?? "")
        }.filter { !$0.isEmpty }
        return words.isEmpty ? nil : words
    }

    /// In metres.
    private static func distance(_ parameters: Parameters) throws(Failure) -> Double? {
        let distance = try parameters.number(Known.metres)
        if let distance, distance < 0 {
            throw Parameters.unexpected("distance", "\(distance)", "metres, 0 or more")
        }
        return distance
    }

    private static func point(
        _ name: String, _ parameters: Parameters
    ) throws(Failure) -> Coordinate? {
        guard let (shape, source) = try geometry(name, parameters, .point),
            case .point(let coordinate) = shape
        else { return nil }
        return try source.unproject(coordinate)
    }

    private static func searchExtent(_ parameters: Parameters) throws(Failure) -> Envelope? {
        guard let (shape, source) = try geometry(Known.searchExtent.name, parameters, .envelope)
        else {
            return nil
        }
        let degrees = try source.unproject(shape.envelope)
        // Bounds in reverse order mean the smaller part of the earth: a rectangle with swapped
        // sides, or one across the antimeridian (RFC 7946, 5.2).
        guard degrees.width > 180, try isTurned(Known.searchExtent.name, parameters) else {
            return degrees
        }
        return Envelope(
            minX: degrees.maxX, minY: degrees.minY, maxX: degrees.minX + 360, maxY: degrees.maxY)
    }

    /// Whether an envelope starts east of its end.
    private static func isTurned(
        _ name: String, _ parameters: Parameters
    ) throws(Failure) -> Bool {
        guard let text = parameters[name] else { return false }
        if let values = Parameters.numbers(text, counts: 4...4) { return values[0] > values[2] }
        let json = try RelaxedJSON.parse(text)
        guard let first = json["xmin"]?.number, let last = json["xmax"]?.number else {
            return false
        }
        return first > last
    }

    /// A geometry parameter and its spatial reference.
    private static func geometry(
        _ name: String, _ parameters: Parameters, _ kind: GeometryParameter.Kind
    ) throws(Failure) -> (Shape, PlaceReference)? {
        guard let text = parameters[name] else { return nil }
        let parameter = try GeometryParameter(text, kind: kind, name: name)
        let reference = parameter.spatialReference ?? .wgs84
        return (parameter.shape, try PlaceReference(reference, name: name))
    }
}

/// The requested attributes of a candidate: none, a list, or `*`.
struct OutFields {
    private let isAll: Bool
    private let names: Set<String>

    init(_ text: String?) {
        let names = (text ?? "").split(separator: ",").map {
            $0.filter { $0 != " " }.lowercased()
        }
        isAll = names.contains("*")
        self.names = Set(names)
    }

    func contains(_ name: String) -> Bool { isAll || names.contains(name.lowercased()) }
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

    fileprivate mutating func candidateFields() {
        let shape = [("Shape", "Geometry", Int?.none)]
        let others = Candidate.fields.map { ($0.name, $0.type.rawValue, $0.length) }
        array(of: shape + others) { json, field in
            json.object { json in
                json.member("name", field.0)
                json.member("type", "esriFieldType" + field.1)
                json.member("alias", field.0)
                json.member("required", false)
                if let length = field.2 { json.member("length", length) }
            }
        }
    }
}
