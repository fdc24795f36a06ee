// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension Directions {
    /// Two turns nearer to each other are one line: millimetres.
    private static let pairLimit: Int64 = 25_000

    /// The instructions in a language, as Esri's directions have them.
    ///
    /// A departure is two lines, where one begins and which way to go; two turns within 25 m are
    /// one. With an unknown language the text is English.
    public func written(in language: DirectionsLanguage) -> WrittenDirections {
        var lines: [DirectionLine] = []
        var place = 0
        while place < maneuvers.count {
            let maneuver = maneuvers[place]
            if maneuver.kind == .depart {
                lines += departure(place, language)
            } else if let pair = pair(place, language) {
                lines.append(pair)
                place += 1
            } else {
                lines.append(line(place, text: text(of: maneuver, in: language)))
            }
            place += 1
        }
        return WrittenDirections(languageUsed: language.code, lines: lines)
    }

    /// The shape of a line's stretch: two positions at least.
    public func shape(of line: DirectionLine) -> [Coordinate] { shape(of: line.points) }

    /// The text of one maneuver; that of a departure says the way, not the stop.
    public func text(of maneuver: Maneuver, in language: DirectionsLanguage) -> String {
        let words = ManeuverWords(maneuver: maneuver, directions: self, language: language)
        var key = PhraseKey.key(of: maneuver)
        if maneuver.kind == .depart { key = "go" }
        if maneuver.kind == .arrive, maneuver.stop != stops.count - 1 { key = "arrive" }
        let text = language.text(key, value: words.value)
        guard let pushing = maneuver.startsPushing, maneuver.kind != .dismount,
            maneuver.kind != .mount
        else { return text }
        return joined(text, language.text(pushing ? "dismount" : "mount"), language)
    }

    private func joined(
        _ first: String, _ second: String, _ language: DirectionsLanguage
    ) -> String {
        let second = second.prefix(1).lowercased() + second.dropFirst()
        return language.text("pair", ["first": first, "second": second])
    }

    private func line(_ place: Int, text: String) -> DirectionLine {
        let maneuver = maneuvers[place]
        return DirectionLine(
            text: text, type: maneuver.esri, leg: maneuver.leg, length: maneuver.length,
            duration: maneuver.duration, points: maneuver.points, pieces: pieces(of: maneuver),
            maneuvers: place..<place + 1)
    }

    private func departure(_ place: Int, _ language: DirectionsLanguage) -> [DirectionLine] {
        let maneuver = maneuvers[place]
        let words = ManeuverWords(maneuver: maneuver, directions: self, language: language)
        var start = line(
            place,
            text: language.text(
                maneuver.leg == 0 ? "depart" : "departAgain", value: words.value))
        start.pieces = []
        start.length = 0
        start.duration = 0
        start.points = maneuver.points.prefix(1)
        guard !maneuver.edges.isEmpty else { return [start] }
        var way = line(place, text: text(of: maneuver, in: language))
        way.type = .straight
        return [start, way]
    }

    private func pair(_ place: Int, _ language: DirectionsLanguage) -> DirectionLine? {
        let turns: Set<Maneuver.Kind> = [.turn, .stay, .endOfRoad]
        guard place + 1 < maneuvers.count else { return nil }
        let (first, second) = (maneuvers[place], maneuvers[place + 1])
        guard turns.contains(first.kind), turns.contains(second.kind),
            first.length < Self.pairLimit, let one = first.modifier?.side,
            let other = second.modifier?.side
        else { return nil }
        var pair = line(
            place,
            text: joined(
                text(of: first, in: language), text(of: second, in: language), language))
        pair.type = EsriManeuver(one, other)
        pair.length += second.length
        pair.duration += second.duration
        pair.points = first.points.lowerBound..<second.points.upperBound
        pair.pieces += pieces(of: second)
        pair.maneuvers = place..<place + 2
        return pair
    }

    private func pieces(of maneuver: Maneuver) -> [DirectionLine.Piece] {
        guard maneuver.kind != .arrive else { return [] }
        let street = maneuver.street.label
        let isRamp = maneuver.kind == .rampOn || maneuver.kind == .rampOff
        let texts: [(String, DirectionLine.Piece.Kind)] =
            [(maneuver.signs.exit, .exit)]
            + (isRamp ? maneuver.signs.refs.map { ($0, .street) } : []) + [(street, .street)]
            + maneuver.signs.destinations.map { ($0, .toward) }
            + [(maneuver.crossStreet, .crossStreet)]
        return texts.filter { !$0.0.isEmpty }.map { DirectionLine.Piece(text: $0, kind: $1) }
    }
}
