// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A request for the location of a place or an address.
public struct GeocodeRequest: Hashable, Sendable, Codable {
    /// The locator's name; `World` is the default one.
    public var locator: String
    /// The whole address or place in one line.
    public var singleLine: String
    /// ISO 3166-1 country codes, alpha-2 or alpha-3, any case; empty for the whole world.
    public var countryCodes: [String]
    /// Most candidates, 1…50.
    public var maxLocations: Int
    /// Filter by extent in longitude and latitude; nil for everywhere.
    public var searchExtent: Envelope?
    /// Prefers candidates near this longitude and latitude.
    public var location: Coordinate?
    /// Candidates so near to `location` are as good as there; nil for 0.
    public var distanceMeters: Double?
    /// Filter by categories (``PlaceCategory/named(_:)``); nil for all.
    public var categories: [String]?
    /// Ties the request to one suggestion.
    public var magicKey: String?
    /// Whether a house number outside the ranges of its street is looked for beyond the nearest;
    /// nil for true.
    public var matchOutOfRange: Bool?
    /// The parts of `singleLine`, if given in parts: each is searched in its own role first.
    public var fields: AddressFields?
    /// Least score, 0…100; nil for all candidates.
    public var minScore: Double?
    /// Whether each candidate has an explanation; nil for no.
    public var explain: Bool?
    /// The language that places are shown in where they have a name in it, as ISO 639 or BCP 47
    /// writes it; nil for their usual names.
    public var language: String?

    /// Makes a request.
    public init(
        locator: String = "World", singleLine: String, countryCodes: [String] = [],
        maxLocations: Int = 20, searchExtent: Envelope? = nil, location: Coordinate? = nil,
        magicKey: String? = nil
    ) {
        self.locator = locator
        self.singleLine = singleLine
        self.countryCodes = countryCodes
        self.maxLocations = maxLocations
        self.searchExtent = searchExtent
        self.location = location
        self.magicKey = magicKey
    }
}

/// One place that may be meant.
public struct Candidate: Hashable, Sendable, Codable {
    /// The full label, `Paris, Île-de-France, France`.
    public var address: String
    /// Longitude and latitude, WGS 84.
    public var location: Coordinate
    /// Quality of the match, 0…100; 100 for an exact match of every word.
    public var score: Double
    /// Kind of match.
    public var matchType: MatchType
    /// Extent to show: longitude and latitude around the place.
    public var extent: Envelope
    /// Esri's attribute names: `Match_addr`, `Addr_type`, `City`, `Region`, `Country` and so on.
    public var attributes: Attributes
    /// The distance in metres from the given location, for reverse geocoding.
    public var distanceMeters: Double?
    /// Explanation of the rank, if requested and for a parsed text.
    public var explanation: Explanation?

    /// Makes a candidate.
    public init(
        address: String, location: Coordinate, score: Double, matchType: MatchType,
        extent: Envelope, attributes: Attributes, distanceMeters: Double? = nil
    ) {
        self.address = address
        self.location = location
        self.score = score
        self.matchType = matchType
        self.extent = extent
        self.attributes = attributes
        self.distanceMeters = distanceMeters
    }
}

/// The kind of match of a candidate.
public enum MatchType: String, Hashable, Sendable, Codable {
    /// Its name, letter by letter after folding.
    case exact
    /// Another of its names.
    case alternateName
    /// The beginning of a name.
    case prefix
    /// A name with a typing error.
    case fuzzy
    /// By position (reverse geocoding).
    case position
}

extension Candidate {
    /// The name of the attribute that lists the sources of an answer; not Esri's.
    ///
    /// Each with the answer's identifier there, as in
    /// `cities.tsv#2988507; paris.osm.pbf#node/17807753`; empty where unknown.
    public static let origins = "Origins"

    /// The name of the attribute of ``metersAcrossBorder``; not Esri's.
    public static let nearerAcrossBorder = "NearerAcrossBorder"

    /// Distance to a nearer place across a border, in an answer to a reverse geocode.
    ///
    /// Nil, and the attribute absent, without such a place.
    public var metersAcrossBorder: Double? {
        guard case .real(let meters)? = attributes[Self.nearerAcrossBorder] else { return nil }
        return meters
    }
}

/// The candidates, best first.
public struct GeocodeAnswer: Hashable, Sendable, Codable {
    /// Best first.
    public var candidates: [Candidate]
    /// The locator file that answered.
    public var locator: ContentID

    /// Whether the log was out of reach, so that the locator's name may mean another file by now.
    public var isStale: Bool {
        get { stale ?? false }
        set { stale = newValue ? true : nil }
    }
    /// Absent unless it is so.
    private var stale: Bool?

    private enum CodingKeys: String, CodingKey {
        case candidates, locator
        case stale = "isStale"
    }

    /// Makes an answer.
    public init(candidates: [Candidate], locator: ContentID) {
        self.candidates = candidates
        self.locator = locator
    }
}

/// A request for completions of a text being typed.
public struct SuggestRequest: Hashable, Sendable, Codable {
    /// The locator's name.
    public var locator: String
    /// The text typed so far.
    public var text: String
    /// ISO country codes; empty for the whole world.
    public var countryCodes: [String]
    /// Most suggestions, 1…15.
    public var maxSuggestions: Int
    /// Prefers places near this longitude and latitude.
    public var location: Coordinate?
    /// Places so near to `location` are as good as there; nil for 0.
    public var distanceMeters: Double?
    /// Filter by categories (``PlaceCategory/named(_:)``); nil for all.
    public var categories: [String]?
    /// Filter by extent in longitude and latitude; nil for everywhere.
    public var searchExtent: Envelope?
    /// Language, as ``GeocodeRequest/language``.
    public var language: String?

    /// Makes a request.
    public init(
        locator: String = "World", text: String, countryCodes: [String] = [],
        maxSuggestions: Int = 5, location: Coordinate? = nil
    ) {
        self.locator = locator
        self.text = text
        self.countryCodes = countryCodes
        self.maxSuggestions = maxSuggestions
        self.location = location
    }
}

/// One way the text may go on.
public struct Suggestion: Hashable, Sendable, Codable {
    /// Display text.
    public var text: String
    /// Opaque, URL-safe, without commas: names the place for a geocode request.
    public var magicKey: String
    /// Whether it stands for several places.
    public var isCollection: Bool

    /// Makes a suggestion.
    public init(text: String, magicKey: String, isCollection: Bool) {
        self.text = text
        self.magicKey = magicKey
        self.isCollection = isCollection
    }
}

/// The suggestions, best first.
public struct SuggestAnswer: Hashable, Sendable, Codable {
    /// Best first.
    public var suggestions: [Suggestion]

    /// Whether the log was out of reach, so that the locator's name may mean another file by now.
    public var isStale: Bool {
        get { stale ?? false }
        set { stale = newValue ? true : nil }
    }
    /// Absent unless it is so.
    private var stale: Bool?

    private enum CodingKeys: String, CodingKey {
        case suggestions
        case stale = "isStale"
    }

    /// Makes an answer.
    public init(suggestions: [Suggestion]) { self.suggestions = suggestions }
}

/// A request for the place at a location.
public struct ReverseGeocodeRequest: Hashable, Sendable, Codable {
    /// The locator's name.
    public var locator: String
    /// Longitude and latitude, WGS 84.
    public var location: Coordinate
    /// Largest distance of a place in metres.
    public var maxDistanceMeters: Double
    /// Esri's types of features that may be answers, in any letter case; nil for all.
    ///
    /// Every place is a `Locality`.
    public var featureTypes: [String]?
    /// Language, as ``GeocodeRequest/language``.
    public var language: String?

    /// Makes a request.
    public init(locator: String = "World", location: Coordinate, maxDistanceMeters: Double = 100) {
        self.locator = locator
        self.location = location
        self.maxDistanceMeters = maxDistanceMeters
    }
}

/// The nearest place, or none.
public struct ReverseGeocodeAnswer: Hashable, Sendable, Codable {
    /// The nearest place within the distance; nil for none.
    public var candidate: Candidate?

    /// Whether the log was out of reach, so that the locator's name may mean another file by now.
    public var isStale: Bool {
        get { stale ?? false }
        set { stale = newValue ? true : nil }
    }
    /// Absent unless it is so.
    private var stale: Bool?

    private enum CodingKeys: String, CodingKey {
        case candidate
        case stale = "isStale"
    }

    /// Makes an answer.
    public init(candidate: Candidate?) { self.candidate = candidate }
}

/// A locator was deleted, its file and its past stay; recorded in `locator-<name>`.
public struct LocatorDeleted: EventPayload {
    /// The stable type name.
    public static let eventType = "locator.deleted"
    /// The locator's name in URLs.
    public var name: String

    /// Makes the event.
    public init(name: String) { self.name = name }
}

/// A locator was built and took this name in the site; recorded in `locator-<name>`.
public struct LocatorPublished: EventPayload {
    /// The stable type name.
    public static let eventType = "locator.published"
    /// The locator's name in URLs.
    public var name: String
    /// The locator file.
    public var locator: ContentID
    /// Number of places.
    public var placeCount: Int
    /// Attributions and licences of its sources, each once; absent for none.
    public var attributions: [String]?

    /// Makes the event.
    public init(
        name: String, locator: ContentID, placeCount: Int, attributions: [String]? = nil
    ) {
        self.attributions = attributions
        self.name = name
        self.locator = locator
        self.placeCount = placeCount
    }
}
