// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// `solveServiceArea`: what is reached from facilities.
package struct AreaSolve {
    /// Nil where no facility has a place.
    package let request: ReachRequest?
    package var answer: ReachAnswer?
    private let solve: SolveParameters
    /// The unit of breaks.
    private let unit: NetworkCost
    private let facilities: NetworkLocations
    private let isEmptyAllowed: Bool

    package init(
        _ network: NetworkPublished, _ parameters: any SolveForm, at position: Int64?
    ) throws(Failure) {
        var solve = try SolveParameters(network, parameters, at: position)
        try solve.readStart("timeOfDay", isUTC: "timeOfDayIsUTC")
        isEmptyAllowed = try parameters.flag("returnEmptyResults")
        let facilities = try NetworkLocations(
            "facilities", "Facilities", atMost: ReachRequest.largestFacilityCount, solve)
        self.facilities = facilities
        for parameter in ["mergeSimilarPolygonRanges"] where try parameters.flag(parameter) {
            throw Failure(
                .invalidParameter,
                "'\(parameter)': areas of several facilities are not merged, expected false")
        }
        guard try parameters.flag("overlapPolygons", default: true) else {
            throw Failure(
                .invalidParameter, "'overlapPolygons': areas may overlap, expected true")
        }
        let (breaks, unit) = (try Self.breaks(parameters), try solve.unit())
        self.unit = unit
        var request = ReachRequest(
            solve.terms, facilities: facilities.request,
            breaks: breaks.map { $0 * unit.unit })
        let direction = try parameters.word("travelDirection", TravelDirection.self)
        if direction == .to { request.isTowards = true }
        request.areRings =
            try parameters.flag("splitPolygonsAtBreaks", default: true) ? nil : false
        let polygons = parameters["outputPolygons"]?.lowercased()
        switch polygons {
        case nil, "esrinaoutputpolygonsimplified", "esrinaoutputpolygondetailed": break
        case "esrinaoutputpolygonnone": request.wantsAreas = false
        case let text?:
            throw FormText.unexpected(
                "outputPolygons", text,
                "esriNAOutputPolygonSimplified, esriNAOutputPolygonDetailed or "
                    + "esriNAOutputPolygonNone")
        }
        let lines = try solve.lines() ?? NetworkLines.none
        if lines != .none { request.wantsLines = true }
        if let trim = try parameters.number("trimPolygonDistance") {
            let metres = try solve.metres(
                trim, parameters["trimPolygonDistanceUnits"], "trimPolygonDistanceUnits")
            guard 1...10_000 ~= metres else {
                throw FormText.unexpected(
                    "trimPolygonDistance", "\(trim)", "1 to 10000 metres")
            }
            request.trim = metres
        }
        if try !parameters.flag("trimOuterPolygon", default: true) {
            solve.messages.append((50, "Areas are trimmed: 'trimOuterPolygon' changes nothing."))
        }
        self.request = facilities.places.isEmpty ? nil : request
        self.solve = solve
    }

    /// The cost that is minimised.
    package var impedance: NetworkCost { solve.mode.impedance }

    private static func breaks(_ parameters: any SolveForm) throws(Failure) -> [Double] {
        guard let text = parameters["defaultBreaks"] else {
            return SolveParameters.usualBreaks
        }
        let parts = text.split { ", ;[]".contains($0) }
        let values = parts.compactMap { FormText.number(String($0)) }
        let sorted = Set(values).sorted()
        guard values.count == parts.count, let least = sorted.first, least > 0,
            sorted.count <= ReachRequest.largestBreakCount
        else {
            throw FormText.unexpected(
                "defaultBreaks", text,
                "1 to \(ReachRequest.largestBreakCount) costs above 0, with blanks or commas")
        }
        return sorted
    }

    /// What was found.
    package struct Results {
        /// Type and text.
        package var messages: [(type: Int, text: String)]
        package var areas = NetworkFeatureSet(geometryType: "Polygon")
        package var lines = NetworkFeatureSet(geometryType: "Polyline")
        package var facilities: NetworkFeatureSet
    }

    /// Throws Esri's phrases where nothing is reached, unless empty results are wanted.
    package func results() throws(Failure) -> Results {
        let lost = facilities.unlocated(answer?.facilities ?? [])
        try solve.check(unlocated: lost)
        var messages = solve.messages
        let parts = (answer?.areas ?? []) + (answer?.lines ?? [])
        if parts.isEmpty, !isEmptyAllowed {
            throw SolveFailure.unable(lost + [SolveFailure.noSolution])
        }
        messages += (lost + facilities.notes).map { (50, $0) }
        for message in answer?.context.messages ?? []
        where !messages.contains(where: { $0.text == message.text }) {
            messages.append((50, message.text))
        }
        let output = SolveOutput(solve)
        var results = Results(
            messages: messages,
            facilities: NetworkFeatureSet(
                geometryType: "Point", rows: facilities.rows(answer?.facilities ?? [])))
        for part in answer?.areas ?? [] {
            let (from, to) = (part.from / unit.unit, part.to / unit.unit)
            results.areas.rows.append(
                .init(
                    attributes: [
                        ("ObjectID", .whole(results.areas.rows.count + 1)),
                        ("FacilityID", id(part)),
                        ("Name", .text("\(name(part)) : \(Self.text(from)) - \(Self.text(to))")),
                        ("FromBreak", .real(from)), ("ToBreak", .real(to)),
                        ("Shape_Length", .real(output.length(part.shape))),
                        ("Shape_Area", .real(output.area(part.shape))),
                    ], shape: part.shape,
                    number: facilities.places.indices.contains(part.facility)
                        ? facilities.feature(part.facility).number : nil))
        }
        for part in answer?.lines ?? [] {
            results.lines.rows.append(
                .init(
                    attributes: [
                        ("ObjectID", .whole(results.lines.rows.count + 1)),
                        ("FacilityID", id(part)),
                        ("FromCumul_" + solve.mode.impedance.name, .real(part.from / unit.unit)),
                        ("ToCumul_" + solve.mode.impedance.name, .real(part.to / unit.unit)),
                        ("Shape_Length", .real(output.length(part.shape))),
                    ], shape: part.shape))
        }
        return results
    }

    /// The answer of a `NAServer`; throws as ``results()`` does.
    package func body() throws(Failure) -> [UInt8] {
        let (results, output) = (try results(), SolveOutput(solve))
        var json = JSONWriter()
        json.openObject()
        json.messages(results.messages)
        results.areas.write("saPolygons", in: output, to: &json)
        if request?.wantsLines == true {
            results.lines.write("saPolylines", in: output, to: &json)
        }
        if try solve.parameters.flag("returnFacilities") {
            results.facilities.write("facilities", in: output, to: &json)
        }
        try solve.writeBarriers(output, to: &json)
        json.closeObject()
        return json.bytes
    }

    private func id(_ part: ReachAnswer.Part) -> NetworkValue {
        facilities.places.indices.contains(part.facility)
            ? .whole(facilities.feature(part.facility).objectID) : .null
    }

    private func name(_ part: ReachAnswer.Part) -> String {
        facilities.places.indices.contains(part.facility)
            ? facilities.feature(part.facility).name : ""
    }

    /// Whole numbers without a fraction.
    private static func text(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }
}
