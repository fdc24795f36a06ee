// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What answers about routes have in common: what they were computed from.
public struct RouteContext: Hashable, Sendable, Codable {
    /// The network's published name.
    public var network: String
    /// The SHA-256 of its file.
    public var file: ContentID
    /// The sequence number up to which changes of roads are regarded.
    public var sequence: Int64
    /// Whether the log may have gone on unheard.
    public var isStale: Bool
    /// The name of the mode, `car`.
    public var mode: String
    /// The travel mode.
    public var travelMode: NetworkMode.TravelMode
    /// What was moved, left out or not regarded.
    public var messages: [RouteMessage]

    /// States it.
    public init(
        network: String, file: ContentID, sequence: Int64, isStale: Bool, mode: String,
        travelMode: NetworkMode.TravelMode, messages: [RouteMessage] = []
    ) {
        self.network = network
        self.file = file
        self.sequence = sequence
        self.isStale = isStale
        self.mode = mode
        self.travelMode = travelMode
        self.messages = messages
    }
}

/// Something that an answer says besides its result.
public struct RouteMessage: Hashable, Sendable, Codable {
    /// Its kind.
    public var code: Code
    /// A sentence in English.
    public var text: String

    /// Kinds of messages.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// A stop has no road near by and was left out.
        case unlocated
        /// A stop is at a road that is not the nearest.
        case moved
        /// The order of stops was improved, not proven.
        case heuristicOrder
        /// A restriction on the route holds at times only, and was not regarded.
        case conditional
        /// A barrier touches no road.
        case idleBarrier
    }

    /// Makes a message.
    public init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// Where a place is on the network.
public struct LocatedPlace: Hashable, Sendable, Codable {
    /// How it was located.
    public var status: Status
    /// The nearest point of the road, WGS 84 longitude and latitude; nil for a
    /// place that is not located.
    public var position: Coordinate?
    /// Metres from the place to it.
    public var distance: Double?
    /// The road's name, else its number; empty for none.
    public var street: String
    /// The edge.
    public var edge: RoadEdge?
    /// Where on the edge, 0…1.
    public var fraction: Double?
    /// The side of the edge on which the place is; nil on the road.
    public var side: Side?
    /// Place in the order of travel, from 0; nil where it is not visited.
    public var order: Int?

    /// A side of an edge in its direction, as Esri numbers them.
    public enum Side: Int, Hashable, Sendable, Codable { case right = 1, left = 2 }

    /// How a place was located, as Esri numbers it.
    public enum Status: Int, Hashable, Sendable, Codable {
        case ok = 0
        case notLocated = 1
        case notReached = 5
        /// On the closest road that its travel mode may use and that leads on, not the closest.
        case moved = 7
    }

    /// A place without a road.
    public init(status: Status) {
        self.status = status
        street = ""
    }
}

/// Routes over stops.
public struct RouteAnswer: Hashable, Sendable, Codable {
    /// What it was computed from.
    public var context: RouteContext
    /// The stops in the order of the request.
    public var stops: [LocatedPlace]
    /// The best route first, then its alternatives; empty where no route exists.
    public var routes: [FoundRoute]
    /// Where no route exists: the first stop, by its place in the request, that cannot be reached
    /// from the one before.
    public var unreachedStop: Int?
    /// The changes of roads without which the best route would be another; nil where not asked.
    public var shapedBy: [RouteShaping]?

    /// An answer without routes.
    public init(context: RouteContext, stops: [LocatedPlace]) {
        self.context = context
        self.stops = stops
        routes = []
    }
}

/// A change of roads, or a barrier, that shaped a route.
public struct RouteShaping: Hashable, Sendable, Codable {
    /// The change's number; nil for a barrier of the request.
    public var change: Int64?
    /// The place of the barrier in the request; nil for a change.
    public var barrier: Int?
    /// The change's effect.
    public var effect: RoadChange.Effect
    /// The reason that was given.
    public var reason: String?
    /// The layer that the change follows; nil for none.
    public var followed: FollowedLayer?
    /// The cost of the best route without this alone, in seconds or metres; nil where there is no
    /// route without it either.
    public var costWithout: Double?

    /// States it.
    public init(effect: RoadChange.Effect) { self.effect = effect }
}

/// One route.
public struct FoundRoute: Hashable, Sendable, Codable {
    /// Metres.
    public var length: Double
    /// Seconds, without those spent at stops.
    public var duration: Double
    /// From each stop to the next.
    public var legs: [Leg]
    /// The line: Google's encoded polyline of latitude and longitude with seven decimals; nil where
    /// not asked.
    public var shape: String?
    /// Instructions as Esri's directions have them; nil where not asked.
    public var lines: [Line]?
    /// Maneuvers one by one, as OSRM has them; nil where not asked.
    public var steps: [Step]?
    /// The code of the language that instructions are in; nil without any.
    public var language: String?
    /// When each stop is visited, in the order of travel; nil where no stop has a time window.
    public var times: [StopTime]?

    /// When a stop is visited: all in seconds, moments after the departure.
    public struct StopTime: Hashable, Sendable, Codable {
        /// When it is reached.
        public var arrival: Double
        /// How long it is waited for.
        public var wait: Double
        /// By how much it is reached too late.
        public var violation: Double
        /// When it is left.
        public var departure: Double

        /// States it.
        public init(arrival: Double, wait: Double, violation: Double, departure: Double) {
            self.arrival = arrival
            self.wait = wait
            self.violation = violation
            self.departure = departure
        }
    }

    /// From a stop to the next.
    public struct Leg: Hashable, Sendable, Codable {
        /// Metres.
        public var length: Double
        /// Seconds.
        public var duration: Double
        /// The names of its longest streets, `A, B`; nil where no directions are asked.
        public var summary: String?

        /// States it.
        public init(length: Double, duration: Double) {
            self.length = length
            self.duration = duration
        }
    }

    /// One instruction.
    public struct Line: Hashable, Sendable, Codable {
        /// The instruction.
        public var text: String
        /// The name of the type in Esri's directions, `esriDMTTurnLeft`.
        public var type: String
        /// The leg, from 0.
        public var leg: Int
        /// Metres of the stretch after it.
        public var length: Double
        /// Seconds of the stretch after it.
        public var duration: Double
        /// First position of the stretch in the route's shape.
        public var firstPoint: Int
        /// Last position of the stretch, the same one for none.
        public var lastPoint: Int
        /// Names in the text, each with its type in Esri's directions.
        public var names: [Name]

        /// A name in an instruction.
        public struct Name: Hashable, Sendable, Codable {
            /// The name.
            public var text: String
            /// `esriDSTStreetName`.
            public var type: String

            /// States it.
            public init(text: String, type: String) {
                self.text = text
                self.type = type
            }
        }

        /// States it.
        public init(
            text: String, type: String, leg: Int, length: Double, duration: Double,
            points: ClosedRange<Int>, names: [Name]
        ) {
            self.text = text
            self.type = type
            self.leg = leg
            self.length = length
            self.duration = duration
            firstPoint = points.lowerBound
            lastPoint = points.upperBound
            self.names = names
        }
    }

    /// One maneuver with the stretch after it.
    public struct Step: Hashable, Sendable, Codable {
        /// OSRM's type, `turn`.
        public var type: String
        /// OSRM's modifier, `slight left`; nil for none.
        public var modifier: String?
        /// The exit of a roundabout, from 1.
        public var exit: Int?
        /// Degrees clockwise from north on arrival.
        public var bearingBefore: Double
        /// Degrees clockwise from north on leaving.
        public var bearingAfter: Double
        /// The leg, from 0.
        public var leg: Int
        /// Metres of the stretch.
        public var length: Double
        /// Seconds of the stretch.
        public var duration: Double
        /// First position of the stretch in the route's shape.
        public var firstPoint: Int
        /// Last position of the stretch, the same one for none.
        public var lastPoint: Int
        /// The street's name; empty for none.
        public var name: String
        /// The road's numbers; empty for none.
        public var ref: String
        /// What signs say; empty for nothing.
        public var destinations: String
        /// The name of a roundabout; empty for none.
        public var rotaryName: String
        /// Whether the stretch is a ferry.
        public var isFerry: Bool
        /// Whether traffic keeps to the left.
        public var isLeftHand: Bool
        /// The instruction.
        public var text: String

        /// A step without names.
        public init(type: String, leg: Int, points: ClosedRange<Int>, text: String) {
            self.type = type
            self.leg = leg
            firstPoint = points.lowerBound
            lastPoint = points.upperBound
            self.text = text
            (bearingBefore, bearingAfter, length, duration) = (0, 0, 0, 0)
            (name, ref, destinations, rotaryName) = ("", "", "", "")
            (isFerry, isLeftHand) = (false, false)
        }
    }

    /// A route without a shape.
    public init(length: Double, duration: Double, legs: [Leg]) {
        self.length = length
        self.duration = duration
        self.legs = legs
    }
}

/// Costs between many places.
public struct RouteTableAnswer: Hashable, Sendable, Codable {
    /// What it was computed from.
    public var context: RouteContext
    /// The rows' places.
    public var origins: [LocatedPlace]
    /// The columns' places.
    public var destinations: [LocatedPlace]
    /// Seconds, row by row; nil where there is no route, none at all where the travel mode's cost
    /// is the length and nothing else was asked.
    public var durations: [Double?]?
    /// Metres, row by row, likewise.
    public var lengths: [Double?]?

    /// A table without costs.
    public init(context: RouteContext, origins: [LocatedPlace], destinations: [LocatedPlace]) {
        self.context = context
        self.origins = origins
        self.destinations = destinations
    }
}

/// What is reached within costs.
public struct ReachAnswer: Hashable, Sendable, Codable {
    /// What it was computed from.
    public var context: RouteContext
    /// The facilities in the order of the request.
    public var facilities: [LocatedPlace]
    /// Areas by facility, the largest break first; empty where not asked.
    public var areas: [Part]
    /// Reached parts of roads by facility and break; empty where not asked.
    public var lines: [Part]

    /// What lies between two costs from a facility.
    public struct Part: Hashable, Sendable, Codable {
        /// The facility, by its place in the request.
        public var facility: Int
        /// The lower cost, seconds or metres; 0 for a whole area.
        public var from: Double
        /// The upper cost.
        public var to: Double
        /// Polygon or polyline, WGS 84 longitude and latitude.
        public var shape: Shape

        /// States it.
        public init(facility: Int, from: Double, to: Double, shape: Shape) {
            self.facility = facility
            self.from = from
            self.to = to
            self.shape = shape
        }
    }

    /// An answer without areas.
    public init(context: RouteContext, facilities: [LocatedPlace]) {
        self.context = context
        self.facilities = facilities
        areas = []
        lines = []
    }
}

/// The roads nearest to a place.
public struct NearestRoadsAnswer: Hashable, Sendable, Codable {
    /// What it was computed from.
    public var context: RouteContext
    /// The nearest first; empty where none is within the radius.
    public var roads: [LocatedPlace]

    /// States it.
    public init(context: RouteContext, roads: [LocatedPlace]) {
        self.context = context
        self.roads = roads
    }
}
