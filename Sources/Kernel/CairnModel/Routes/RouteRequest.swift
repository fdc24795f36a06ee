// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A request for a route over stops.
public struct RouteRequest: Hashable, Sendable, Codable {
    /// Network, travel mode, barriers, moment.
    public var terms: RouteTerms
    /// Two or more, up to ``largestStopCount``, in the order of travel unless ``order`` is given.
    public var stops: [RoutePlace]
    /// Whether the best order is looked for; nil for the given one.
    public var order: StopOrder?
    /// Most alternatives beside the best route, 0…5; for two stops only.
    public var alternatives: Int?
    /// Instructions; nil for none.
    public var directions: Directions?
    /// Whether the routes have shapes; nil for true.
    public var wantsShape: Bool?
    /// Whether stops without a road near by are left out with a message; nil for an error.
    public var skipsUnlocated: Bool?
    /// Whether the answer says which changes of roads shaped it.
    public var explain: Bool?

    /// The most stops of one request.
    public static let largestStopCount = 1_000

    /// What is free in the order of stops.
    public struct StopOrder: Hashable, Sendable, Codable {
        /// Whether the first stop stays first.
        public var keepsFirst: Bool
        /// Whether the last stop stays last.
        public var keepsLast: Bool
        /// Whether the route returns to its first stop.
        public var returns: Bool

        /// States it.
        public init(keepsFirst: Bool = true, keepsLast: Bool = true, returns: Bool = false) {
            self.keepsFirst = keepsFirst
            self.keepsLast = keepsLast
            self.returns = returns
        }
    }

    /// The form and language of instructions.
    public struct Directions: Hashable, Sendable, Codable {
        /// A tag of BCP 47; nil for English.
        public var language: String?
        /// Whether each maneuver is a step of its own, as OSRM has them, instead of the lines that
        /// Esri's directions have.
        public var areSteps: Bool?

        /// States it.
        public init(language: String? = nil, areSteps: Bool? = nil) {
            self.language = language
            self.areSteps = areSteps
        }
    }

    /// A request for a plain route.
    public init(_ terms: RouteTerms, stops: [RoutePlace]) {
        self.terms = terms
        self.stops = stops
    }
}

/// A request for costs between many places.
public struct RouteTableRequest: Hashable, Sendable, Codable {
    /// Network, travel mode, barriers, moment.
    public var terms: RouteTerms
    /// Rows.
    public var origins: [RoutePlace]
    /// Columns.
    public var destinations: [RoutePlace]
    /// Whether both length and duration of each route are wanted, which costs a path each, up to
    /// ``largestPathCount``; nil for the travel mode's own cost alone.
    public var wantsBoth: Bool?
    /// Most destinations of each origin, the nearest ones; nil for all.
    public var closest: Int?
    /// Most cost of a route, in the travel mode's own unit: seconds or metres; nil for any.
    public var cutoff: Double?

    /// Most cells of a table.
    public static let largestCellCount = 1_000_000
    /// Most cells where both costs are wanted.
    public static let largestPathCount = 40_000

    /// A request for the whole table.
    public init(_ terms: RouteTerms, origins: [RoutePlace], destinations: [RoutePlace]) {
        self.terms = terms
        self.origins = origins
        self.destinations = destinations
    }
}

/// A request for what is reached within a cost.
public struct ReachRequest: Hashable, Sendable, Codable {
    /// Network, travel mode, barriers, moment.
    public var terms: RouteTerms
    /// Up to ``largestFacilityCount``.
    public var facilities: [RoutePlace]
    /// Costs, above 0 and ascending, in the travel mode's own unit: seconds or metres.
    public var breaks: [Double]
    /// Whether the travel is towards the facilities; nil for away from them.
    public var isTowards: Bool?
    /// Whether areas are wanted; nil for true.
    public var wantsAreas: Bool?
    /// Whether the reached parts of roads are wanted; nil for false.
    public var wantsLines: Bool?
    /// Whether the area of a break is without that of the break before; nil for true.
    public var areRings: Bool?
    /// Metres from a reached road to the edge of an area; nil for ``usualTrim``.
    public var trim: Double?

    /// Metres.
    public static let usualTrim = 100.0
    /// Most facilities of one request.
    public static let largestFacilityCount = 100
    /// Most breaks of one request.
    public static let largestBreakCount = 20

    /// A request for areas.
    public init(_ terms: RouteTerms, facilities: [RoutePlace], breaks: [Double]) {
        self.terms = terms
        self.facilities = facilities
        self.breaks = breaks
    }
}

/// A request for the roads nearest to a place.
public struct NearestRoadsRequest: Hashable, Sendable, Codable {
    /// Network, travel mode, moment; barriers are not regarded.
    public var terms: RouteTerms
    /// The place.
    public var place: RoutePlace
    /// Most roads, 1…100.
    public var count: Int

    /// A request for the nearest road.
    public init(_ terms: RouteTerms, place: RoutePlace, count: Int = 1) {
        self.terms = terms
        self.place = place
        self.count = count
    }
}
