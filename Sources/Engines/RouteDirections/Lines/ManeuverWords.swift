// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The values of the slots in a maneuver's phrase.
struct ManeuverWords {
    let maneuver: Maneuver
    let directions: Directions
    let language: DirectionsLanguage

    /// At most so many places are read off a sign.
    private static let destinationLimit = 3

    func value(_ slot: Phrase.Slot) -> String {
        switch slot.name {
        case "stop": stop
        case "side": maneuver.side.map { language.text("side." + $0.rawValue) } ?? ""
        case "compass": language.compass(maneuver.bearingAfter)
        case "street": street(form: slot.form)
        case "cross":
            language.street(
                Street(name: maneuver.crossStreet), class: nil, form: slot.form)
        case "destination": destination
        case "exit": maneuver.signs.exit
        case "ordinal": maneuver.roundaboutExit.map(language.ordinal) ?? ""
        case "rotary": maneuver.rotaryName
        default: ""
        }
    }

    private var stop: String {
        guard let stop = maneuver.stop, directions.stops.indices.contains(stop) else { return "" }
        let name = directions.stops[stop].name
        return name.isEmpty ? language.text("location", ["n": "\(stop + 1)"]) : name
    }

    private var destination: String {
        let places = maneuver.signs.destinations.filter { !$0.isEmpty }
        return places.prefix(Self.destinationLimit).joined(separator: ", ")
    }

    /// A ramp is called by the road numbers of its signs.
    private func street(form: String) -> String {
        let refs = maneuver.signs.refs.filter { !$0.isEmpty }
        let isRamp = maneuver.kind == .rampOn || maneuver.kind == .rampOff
        if !refs.isEmpty, isRamp || maneuver.street.isNameless {
            let signed = Street(ref: refs.joined(separator: ";"))
            return language.street(signed, class: nil, form: form)
        }
        return language.street(maneuver.street, class: road, form: form)
    }

    private var road: String? {
        guard let roadClass = maneuver.roadClass else { return nil }
        if maneuver.traits.contains(.link) { return nil }
        switch roadClass {
        case .motorway: return "motorway"
        case .track: return "track"
        case .cycleway: return "cycleway"
        case .footway: return "footway"
        case .path: return "path"
        default: return nil
        }
    }
}
