// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Geometry

extension MatchType: WireValue {}
extension ContentID: WireValue {}
extension Explanation: JSONWireValue { static var wireName: String { "an explanation" } }

extension Candidate: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(address)
        wire.put(location)
        wire.put(score)
        wire.put(matchType)
        wire.put(extent)
        wire.put(attributes)
        wire.put(distanceMeters)
        wire.put(explanation)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            address: try wire.get(),
            location: try wire.get(),
            score: try wire.get(),
            matchType: try wire.get(),
            extent: try wire.get(),
            attributes: try wire.get(),
            distanceMeters: try wire.get())
        explanation = try wire.get()
    }
}

extension GeocodeAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(candidates)
        wire.put(locator)
        wire.put(isStale)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(candidates: try wire.get(), locator: try wire.get())
        isStale = try wire.get()
    }
}

extension Suggestion: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(text)
        wire.put(magicKey)
        wire.put(isCollection)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            text: try wire.get(),
            magicKey: try wire.get(),
            isCollection: try wire.get())
    }
}

extension SuggestAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(suggestions)
        wire.put(isStale)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(suggestions: try wire.get())
        isStale = try wire.get()
    }
}

extension ReverseGeocodeAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(candidate)
        wire.put(isStale)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(candidate: try wire.get())
        isStale = try wire.get()
    }
}
