// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

extension JSONTree {
    /// The place of something in a list by its number, which counts from 1; nil where it is none.
    var place: Int? {
        number.flatMap { Int(exactly: $0) }.flatMap { $0 > 0 ? $0 - 1 : nil }
    }
}

/// What a layer of a network analysis service says of itself.
struct NetworkDescription: Sendable {
    /// Its resource.
    var json: JSON
    /// The travel modes that it names.
    var modes: [TravelMode]
    /// The usual one; nil where it names none.
    var defaultMode: TravelMode?

    /// Asks a layer, and for its travel modes where they are not part of the answer.
    static func ask(
        _ url: URL, _ credential: (any ArcGISCredential)?
    ) async throws -> NetworkDescription {
        let json = try await ServiceDescriptions.shared.description(of: url, credential)
        var modes = (json["supportedTravelModes"]?.elements ?? []).compactMap { TravelMode($0) }
        if modes.isEmpty {
            var question = Question(url.below("retrieveTravelModes"))
            question.credential = credential
            let asked = try? await Requester.json(question)
            modes = (asked?["supportedTravelModes"]?.elements ?? []).compactMap { TravelMode($0) }
        }
        let wanted = json.text("defaultTravelMode")
        let usual = modes.first { $0.id == wanted || $0.name == wanted } ?? modes.first
        return NetworkDescription(json: json, modes: modes, defaultMode: usual)
    }

    /// An answer that has one of some members, or messages; throws ``TransportError``
    /// (`invalidAnswer`) for others, and what requests throw.
    static func solution(_ question: Question, _ names: [String]) async throws -> JSON {
        let json = try await Requester.json(question)
        guard (names + ["messages"]).contains(where: { json.member($0) != nil }) else {
            throw TransportError(
                .invalidAnswer,
                "\(question.url.withoutQuery.absoluteString): expected \(names[0]) in the answer")
        }
        return json
    }

    /// A set of features, as requests have it.
    static func features(_ elements: [JSON]) -> String {
        JSON.object([(name: "features", value: .array(elements))]).jsonText
    }

    /// A set of features of places with names, as requests have it.
    static func places(_ places: [(point: Point, name: String)]) -> String {
        features(
            places.map { place in
                .object(of: [
                    "geometry": place.point.json,
                    "attributes": .object(of: ["Name": place.name.orNil.map { .string($0) }]),
                ])
            })
    }

    /// What an answer says about itself.
    static func messages(_ answer: JSON) -> [String] {
        (answer["messages"]?.elements ?? []).compactMap { $0.text("description") }
    }

    /// Throws ``CairnError`` (`invalidArgument`) unless some places are all in one reference, which
    /// is returned.
    static func reference(
        of points: [Point], _ what: String
    ) throws -> SpatialReference {
        guard !points.isEmpty else {
            throw CairnError(.invalidArgument, "\(what): expected one or more, found none")
        }
        let references = Set(points.map(\.spatialReference))
        guard references.count == 1, let reference = references.first ?? nil else {
            throw CairnError(.invalidArgument, "\(what): expected all in one spatial reference")
        }
        return reference
    }
}
