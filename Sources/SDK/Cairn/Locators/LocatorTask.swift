// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Finds places for texts, and texts for places: by a geocode service, or by a locator file without
/// any.
public final class LocatorTask: LoadableBase, @unchecked Sendable {
    /// The service, or the file; never nil here.
    public var url: URL? { place }
    private let place: URL
    private let described = Guarded<(info: LocatorInfo, fields: [Field], single: String)?>(nil)
    private let token = Guarded<(any ArcGISCredential)?>(nil)
    private let file: (any LocatorFile)?

    /// A service, as `…/World/GeocodeServer`; nothing is asked before it is loaded.
    public init(url: URL) {
        place = url
        file = nil
    }

    init(file: any LocatorFile, url: URL) {
        place = url
        self.file = file
    }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    /// What it says of itself; nil before it is loaded.
    public var locatorInfo: LocatorInfo? { described.current?.info }

    override func performLoad() async throws {
        if let file {
            let info = try await file.load()
            described.current = (info, [], "SingleLine")
            return
        }
        let json = try await ServiceDescriptions.shared.description(of: place, credential)
        guard json.member("addressFields") != nil || json.member("singleLineAddressField") != nil
        else {
            throw CairnError(
                .invalidDocument, "\(place.withoutQuery.absoluteString) is no geocode service")
        }
        func attributes(_ name: String) -> [LocatorAttribute] {
            (json[name]?.elements ?? []).compactMap { element in
                guard let name = element.text("name") else { return nil }
                return LocatorAttribute(
                    name: name, displayName: element.text("alias") ?? name,
                    isRequired: element["required"]?.flag ?? false,
                    type: element.text("type").flatMap { Field.FieldType(rawValue: $0) })
            }
        }
        let capabilities = json.text("capabilities") ?? ""
        let categories = json["categories"]?.elements ?? []
        let info = LocatorInfo(
            name: place.above.lastPathComponent,
            description: json.text("serviceDescription") ?? "",
            searchAttributes: attributes("addressFields"),
            resultAttributes: attributes("candidateFields"),
            spatialReference: SpatialReference(json.member("spatialReference")),
            supportsSuggestions: capabilities.contains("Suggest"),
            supportsPOI: Self.knows("POI", json, orElse: !categories.isEmpty),
            supportsAddresses: Self.knows("Address", json, orElse: true),
            supportsIntersections: Self.names(of: categories).contains("intersection"),
            version: json["currentVersion"]?.number.map { $0.plainText }
                ?? json.text("currentVersion") ?? "")
        described.current = (
            info, Field.list(json["candidateFields"]),
            json["singleLineAddressField"]?.text("name") ?? "SingleLine"
        )
    }

    /// The names of categories and of those in them, in small letters.
    private static func names(of categories: [JSON]) -> [String] {
        categories.flatMap { category in
            [category.text("name")?.lowercased() ?? ""]
                + names(of: category["categories"]?.elements ?? [])
        }
    }

    /// Whether a category is named; where the service names neither of the two kinds of places by
    /// Esri's names, something else decides.
    private static func knows(_ name: String, _ json: JSON, orElse other: Bool) -> Bool {
        let names = names(of: json["categories"]?.elements ?? [])
        guard names.contains("address") || names.contains("poi") else { return other }
        return names.contains(name.lowercased())
    }

    // MARK: Geocode

    /// Places for a text, the best one first; without parameters with all attributes.
    ///
    /// Throws ``ServiceError`` and others; of a locator file ``CairnError`` (`invalidArgument`) for
    /// what it does not take.
    public func geocode(
        forSearchText searchText: String, using parameters: GeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        let single = described.current?.single ?? "SingleLine"
        return try await geocode([(single, searchText)], parameters)
    }

    /// Places for an address in fields, as `["Address": …, "City": …]`; throws as
    /// ``geocode(forSearchText:using:)``.
    public func geocode(
        forSearchValues searchValues: [String: String], using parameters: GeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        return try await geocode(
            searchValues.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, parameters)
    }

    /// Places for a suggestion; throws as ``geocode(forSearchText:using:)``.
    public func geocode(
        forSuggestResult suggestResult: SuggestResult, using parameters: GeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        let single = described.current?.single ?? "SingleLine"
        return try await geocode(
            [(single, suggestResult.text), ("magicKey", suggestResult.magicKey)], parameters)
    }

    private func geocode(
        _ search: [(name: String, value: String)], _ parameters: GeocodeParameters?
    ) async throws -> [GeocodeResult] {
        var values = parameters?.values.current ?? GeocodeParameters.Values()
        if parameters == nil { values.resultAttributeNames = ["*"] }
        if let file { return try await file.geocode(search, values) }
        var question = Question(place.below("findAddressCandidates"))
        question.credential = credential
        question.parameters = search
        question.set("outFields", values.resultAttributeNames.joined(separator: ",").orNil)
        question.set("maxLocations", values.maxResults > 0 ? String(values.maxResults) : nil)
        question.set("countryCode", values.countryCode.orNil)
        question.set("category", values.categories.joined(separator: ",").orNil)
        question.set("langCode", values.outputLanguageCode.orNil)
        question.set("outSR", values.outputSpatialReference?.parameter)
        question.set("forStorage", values.isForStorage ? "true" : nil)
        question.set("searchExtent", values.searchArea?.extent.json.jsonText)
        question.set("location", values.preferredSearchLocation?.json.jsonText)
        let json = try await Requester.json(question)
        guard let list = json.member("candidates") else {
            throw TransportError(
                .invalidAnswer,
                "\(place.withoutQuery.absoluteString)/findAddressCandidates: expected candidates")
        }
        let reader = AttributeReader(described.current?.fields ?? [])
        let reference = SpatialReference(json.member("spatialReference"))
        let found = list.elements.map { candidate -> GeocodeResult in
            let attributes = reader.attributes(candidate["attributes"])
            let place =
                Geometry.make(candidate.member("location"), reference ?? .wgs84) as? Point
            return GeocodeResult(
                label: candidate.text("address") ?? "", score: candidate["score"]?.number ?? 0,
                displayLocation: place, inputLocation: nil,
                routeLocation: Self.routeLocation(attributes, place),
                extent: Geometry.make(candidate.member("extent"), reference) as? Envelope,
                attributes: attributes)
        }.filter { $0.score >= values.minScore }
        return values.maxResults > 0 ? Array(found.prefix(values.maxResults)) : found
    }

    private static func routeLocation(
        _ attributes: [String: any Sendable], _ place: Point?
    ) -> Point? {
        guard let x = attributes["X"] as? Double, let y = attributes["Y"] as? Double else {
            return place
        }
        return place?.spatialReference == .wgs84
            ? Point(x: x, y: y, spatialReference: .wgs84) : place
    }

    // MARK: Suggest

    /// Texts that may be meant by the beginning of one; throws as
    /// ``geocode(forSearchText:using:)``.
    public func suggest(
        forSearchText searchText: String, parameters: SuggestParameters? = nil
    ) async throws -> [SuggestResult] {
        try await load()
        let values = parameters?.values.current ?? SuggestParameters.Values()
        if let file { return try await file.suggest(searchText, values) }
        var question = Question(place.below("suggest"), ["text": searchText])
        question.credential = credential
        question.set("maxSuggestions", values.maxResults > 0 ? String(values.maxResults) : nil)
        question.set("countryCode", values.countryCode.orNil)
        question.set("category", values.categories.joined(separator: ",").orNil)
        question.set("searchExtent", values.searchArea?.extent.json.jsonText)
        question.set("location", values.preferredSearchLocation?.json.jsonText)
        let json = try await Requester.json(question)
        return (json["suggestions"]?.elements ?? []).compactMap { suggestion in
            guard let text = suggestion.text("text") else { return nil }
            return SuggestResult(
                label: text, isCollection: suggestion["isCollection"]?.flag ?? false,
                magicKey: suggestion.text("magicKey") ?? "", text: text)
        }
    }

    // MARK: Reverse

    /// The address at a place; empty where there is none near by.
    ///
    /// Throws as ``geocode(forSearchText:using:)``.
    public func reverseGeocode(
        forLocation location: Point, parameters: ReverseGeocodeParameters? = nil
    ) async throws -> [GeocodeResult] {
        try await load()
        let values = parameters?.values.current ?? ReverseGeocodeParameters.Values()
        if let file { return try await file.reverse(location, values) }
        var question = Question(
            place.below("reverseGeocode"),
            ["location": location.json.jsonText, "distance": values.maxDistance.plainText])
        question.credential = credential
        question.set("outSR", values.outputSpatialReference?.parameter)
        question.set("langCode", values.outputLanguageCode.orNil)
        question.set("forStorage", values.isForStorage ? "true" : nil)
        question.set("featureTypes", values.featureTypes.joined(separator: ",").orNil)
        question.set("outFields", values.resultAttributeNames.joined(separator: ",").orNil)
        let json: JSON
        do {
            json = try await Requester.json(question)
        } catch let error as ServiceError where error.isNoAddress {
            return []
        }
        let reader = AttributeReader(described.current?.fields ?? [])
        let attributes = reader.attributes(json["address"])
        let place = Geometry.make(json.member("location"), .wgs84) as? Point
        let names = ["LongLabel", "Match_addr", "Address"]
        return [
            GeocodeResult(
                label: names.lazy.compactMap { attributes[$0] as? String }.first { !$0.isEmpty }
                    ?? "",
                score: 100, displayLocation: place, inputLocation: location,
                routeLocation: Self.routeLocation(attributes, place), extent: nil,
                attributes: attributes)
        ]
    }
}

extension ServiceError {
    /// How services say that no address is near by: 400, with a sentence.
    fileprivate var isNoAddress: Bool {
        let text = (message + " " + details.joined(separator: " ")).lowercased()
        return text.contains("unable to find address") || text.contains("no address")
            || text.contains("cannot perform query") && code == 400
    }
}
