// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

extension JobKindDescription {
    /// The parameters that the kinds of jobs on road networks have in common: which network, how it
    /// is travelled, and when.
    private static let routing: [Parameter] = [
        .text("network", "The road network that is asked.", isRequired: true),
        .text("travelMode", "A travel mode or mode of the network by its name; else its first."),
        .text(
            "uTurns", "Where a route may turn back.", UTurnPolicy.everywhere.rawValue,
            of: UTurnPolicy.allCases.map(\.rawValue)),
        .text(
            "avoid",
            "Roads that are left out, with commas: "
                + AvoidedRoads.allCases.map(\.rawValue).joined(separator: ", ") + "."),
        .text(
            "departure",
            "The ISO 8601 time that decides which changes of roads hold; else that of the "
                + "submission."),
        .whole(
            "at", "The sequence number as of which the network is asked; else the job's own."),
        .number("radius", "Metres within which the road of a place is looked for.", "20000"),
    ]

    /// The parameters of a kind of jobs on road networks, the required ones first.
    static func routing(_ own: [Parameter]) -> [Parameter] {
        let required = (routing + own).filter(\.isRequired)
        return required + (own + routing).filter { !$0.isRequired }
    }

    /// What such a kind reads.
    static let routingReads: [Read] = [.network(parameter: "network", moment: "at")]
}

extension LocatedPlace.Status {
    /// Its word in products.
    var word: String {
        switch self {
        case .ok: "ok"
        case .notLocated: "notLocated"
        case .notReached: "notReached"
        case .moved: "moved"
        }
    }
}

/// The parameters that the kinds of jobs on road networks have in common, read.
struct RouteSettings {
    /// What every request of the job has in common.
    var terms: RouteTerms
    /// Metres.
    var radius: Double

    /// Metres.
    static let largestRadius = 100_000.0

    /// Reads the parameters of a chunk's job; throws `Failure` (`invalidParameter`) naming the
    /// invalid one.
    init(_ texts: ParameterTexts, _ assignment: ChunkAssignment) throws(Failure) {
        try self.init(
            texts, submitted: assignment.submission(), at: assignment.submissionTime())
    }

    /// Reads those of a job with that sequence number and time; throws as ``init(_:_:)`` does.
    init(_ texts: ParameterTexts, submitted: Int64, at time: Timestamp) throws(Failure) {
        guard let network = texts["network"] else {
            throw ParameterTexts.fault("network", "the name of a network")
        }
        terms = RouteTerms(network: network)
        terms.travelMode = texts["travelMode"]
        terms.uTurns = try texts.word("uTurns", of: UTurnPolicy.self)
        if let list = texts["avoid"] {
            var kinds: [AvoidedRoads] = []
            for word in list.split(separator: ",") {
                let text = word.filter { $0 != " " }.lowercased()
                guard let kind = AvoidedRoads(rawValue: text) else {
                    throw ParameterTexts.fault(
                        "avoid",
                        AvoidedRoads.allCases.map(\.rawValue).joined(separator: ", ")
                            + ", with commas")
                }
                if !kinds.contains(kind) { kinds.append(kind) }
            }
            terms.avoiding = kinds
        }
        terms.departure = time
        terms.regardsTimes = texts["departure"] != nil
        if let text = texts["departure"] {
            guard case .time(let departure)? = AsOf(parsing: text) else {
                throw ParameterTexts.fault("departure", "a time like 2026-11-21T09:30:00Z")
            }
            terms.departure = departure
        }
        terms.at = submitted
        if let at = try texts.whole("at") {
            guard 0...submitted ~= Int64(at) else {
                throw ParameterTexts.fault(
                    "at", "0 to \(submitted), the job's own sequence number")
            }
            terms.at = Int64(at)
        }
        radius = try texts.numbers("radius", 1...1)?[0] ?? RoutePlace.usualRadius
        guard 0...Self.largestRadius ~= radius else {
            throw ParameterTexts.fault("radius", "0 to \(Int(Self.largestRadius))")
        }
    }

    /// Checks the parameters before the job has a sequence number.
    ///
    /// A network of the past need not be there now, so it is not looked for.
    static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        let settings = try RouteSettings(texts, submitted: .max, at: Timestamp(microseconds: 0))
        guard let networks = order.networks, texts["at"] == nil else { return }
        let wanted = settings.terms.network.lowercased()
        guard let network = networks.first(where: { $0.name.lowercased() == wanted }) else {
            throw unknown(among: networks)
        }
        do throws(Failure) {
            _ = try network.travelMode(named: settings.terms.travelMode)
        } catch {
            throw Failure(error.code, "parameter 'travelMode': \(error.message)")
        }
    }

    /// The failure of a network that the site does not have.
    static func unknown(among networks: [NetworkPublished]) -> Failure {
        let names = networks.map { "'\($0.name)'" }.joined(separator: ", ")
        return ParameterTexts.fault(
            "network", names.isEmpty ? "a network, of which there are none yet" : names)
    }

    /// The moment of which the answers are, for people.
    var moment: String { "asked as of sequence number \(terms.at ?? 0)" }

    /// A place that roads are looked for around.
    func place(_ location: Coordinate) -> RoutePlace {
        var place = RoutePlace(location)
        place.radius = radius
        return place
    }
}
