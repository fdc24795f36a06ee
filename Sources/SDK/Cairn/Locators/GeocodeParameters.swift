// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a geocode takes beside its text.
public final class GeocodeParameters: Sendable {
    package struct Values: Sendable {
        package var countryCode = ""
        package var maxResults = 0
        package var minScore = 0.0
        package var searchArea: Geometry?
        package var preferredSearchLocation: Point?
        package var outputSpatialReference: SpatialReference?
        package var outputLanguageCode = ""
        package var isForStorage = false
        package var categories: [String] = []
        package var resultAttributeNames: [String] = []
    }

    let values = Guarded(Values())

    /// Parameters without limits.
    public init() {}

    /// A country by name, ISO-2 or ISO-3; empty for all.
    public var countryCode: String {
        get { values.current.countryCode }
        set { values.withLock { $0.countryCode = newValue } }
    }
    /// Most results; 0 for all.
    public var maxResults: Int {
        get { values.current.maxResults }
        set { values.withLock { $0.maxResults = max(0, newValue) } }
    }
    /// The least score of a result.
    public var minScore: Double {
        get { values.current.minScore }
        set { values.withLock { $0.minScore = newValue } }
    }
    /// Where results lie; nil for anywhere.
    public var searchArea: Geometry? {
        get { values.current.searchArea }
        set { values.withLock { $0.searchArea = newValue } }
    }
    /// Near which results come first; nil for no preference.
    public var preferredSearchLocation: Point? {
        get { values.current.preferredSearchLocation }
        set { values.withLock { $0.preferredSearchLocation = newValue } }
    }
    /// The reference of places; nil for the service's.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputSpatialReference }
        set { values.withLock { $0.outputSpatialReference = newValue } }
    }
    /// The language of results, as `de`; empty for the service's.
    public var outputLanguageCode: String {
        get { values.current.outputLanguageCode }
        set { values.withLock { $0.outputLanguageCode = newValue } }
    }
    /// Whether results will be kept, which some services charge for.
    public var isForStorage: Bool {
        get { values.current.isForStorage }
        set { values.withLock { $0.isForStorage = newValue } }
    }
    /// Kinds of places; empty for all.
    public var categories: [String] { values.current.categories }
    /// Adds a kind of places.
    public func addCategory(_ category: String) { addCategories([category]) }
    /// Adds kinds of places.
    public func addCategories(_ categories: [String]) {
        values.withLock { $0.categories += categories }
    }
    /// Attributes of results; empty for none, `*` for all.
    public var resultAttributeNames: [String] { values.current.resultAttributeNames }
    /// Adds an attribute of results.
    public func addResultAttributeName(_ name: String) { addResultAttributeNames([name]) }
    /// Adds attributes of results.
    public func addResultAttributeNames(_ names: [String]) {
        values.withLock { $0.resultAttributeNames += names }
    }
}

/// What a suggest takes beside its text.
public final class SuggestParameters: Sendable {
    package struct Values: Sendable {
        package var countryCode = ""
        package var maxResults = 0
        package var searchArea: Geometry?
        package var preferredSearchLocation: Point?
        package var categories: [String] = []
    }

    let values = Guarded(Values())

    /// Parameters without limits.
    public init() {}

    /// A country by name, ISO-2 or ISO-3; empty for all.
    public var countryCode: String {
        get { values.current.countryCode }
        set { values.withLock { $0.countryCode = newValue } }
    }
    /// Most results; 0 for the service's own number.
    public var maxResults: Int {
        get { values.current.maxResults }
        set { values.withLock { $0.maxResults = max(0, newValue) } }
    }
    /// Where results lie; nil for anywhere.
    public var searchArea: Geometry? {
        get { values.current.searchArea }
        set { values.withLock { $0.searchArea = newValue } }
    }
    /// Near which results come first; nil for no preference.
    public var preferredSearchLocation: Point? {
        get { values.current.preferredSearchLocation }
        set { values.withLock { $0.preferredSearchLocation = newValue } }
    }
    /// Kinds of places; empty for all.
    public var categories: [String] { values.current.categories }
    /// Adds a kind of places.
    public func addCategory(_ category: String) { addCategories([category]) }
    /// Adds kinds of places.
    public func addCategories(_ categories: [String]) {
        values.withLock { $0.categories += categories }
    }
}

/// What a reverse geocode takes beside its place.
public final class ReverseGeocodeParameters: Sendable {
    package struct Values: Sendable {
        package var maxDistance = 100.0
        package var maxResults = 1
        package var outputSpatialReference: SpatialReference?
        package var outputLanguageCode = ""
        package var isForStorage = false
        package var featureTypes: [String] = []
        package var resultAttributeNames: [String] = []
    }

    let values = Guarded(Values())

    /// Parameters of the first address within 100 metres.
    public init() {}

    /// How far an address may be, metres.
    public var maxDistance: Double {
        get { values.current.maxDistance }
        set { values.withLock { $0.maxDistance = newValue } }
    }
    /// Most results; services of the REST answer one.
    public var maxResults: Int {
        get { values.current.maxResults }
        set { values.withLock { $0.maxResults = max(0, newValue) } }
    }
    /// The reference of places; nil for the service's.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputSpatialReference }
        set { values.withLock { $0.outputSpatialReference = newValue } }
    }
    /// The language of results; empty for the service's.
    public var outputLanguageCode: String {
        get { values.current.outputLanguageCode }
        set { values.withLock { $0.outputLanguageCode = newValue } }
    }
    /// Whether results are kept: some services ask for that.
    public var isForStorage: Bool {
        get { values.current.isForStorage }
        set { values.withLock { $0.isForStorage = newValue } }
    }
    /// Types of addresses, as `PointAddress`; empty for all.
    public var featureTypes: [String] { values.current.featureTypes }
    /// Adds a type of addresses.
    public func addFeatureType(_ type: String) { values.withLock { $0.featureTypes.append(type) } }
    /// Attributes of results beside those of every address; `*` for all.
    public var resultAttributeNames: [String] { values.current.resultAttributeNames }
    /// Adds an attribute of results.
    public func addResultAttributeName(_ name: String) { addResultAttributeNames([name]) }
    /// Adds attributes of results.
    public func addResultAttributeNames(_ names: [String]) {
        values.withLock { $0.resultAttributeNames += names }
    }
}
