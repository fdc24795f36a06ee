// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// `solveServiceArea`: what is reached from facilities.
struct AreaSolve {
    /// Nil where no facility has a place.
    let request: ReachRequest?
    var answer: ReachAnswer?
    private let solve: SolveParameters
    private let facilities: NetworkLocations
    private let isEmptyAllowed: Bool

    init(
        _ network: NetworkPublished, _ call: Call, at position: Int64?
    ) throws(Failure) {
        let parameters = call.parameters
        var solve = try SolveParameters(network, call, at: position)
        try solve.readStart(Known.timeOfDay, isUTC: Known.timeOfDayIsUTC)
        isEmptyAllowed = try parameters.flag(Known.returnEmptyResults)
        let facilities = try NetworkLocations(
            Known.facilities, "Facilities", atMost: ReachRequest.largestFacilityCount, solve)
        self.facilities = facilities
        for parameter in [Known.mergeSimilarPolygonRanges] where try parameters.flag(parameter) {
            throw Failure(
                .invalidParameter,
                "'\(parameter.name)': areas of several facilities are not merged, expected false")
        }
        guard try parameters.flag(Known.overlapPolygons.name, default: true) else {
            throw Failure(
                .invalidParameter, "'overlapPolygons': areas may overlap, expected true")
        }
        let breaks = try Self.breaks(parameters)
        var request = ReachRequest(
            solve.terms, facilities: facilities.request,
            breaks: breaks.map { $0 * solve.mode.impedance.unit })
        let direction = try parameters.word(Known.travelDirection, TravelDirection.self)
        if direction == .to { request.isTowards = true }
        request.areRings =
            try parameters.flag(Known.splitPolygonsAtBreaks.name, default: true) ? nil : false
        let polygons = parameters[Known.outputPolygons]?.lowercased()
        switch polygons {
        case nil, "esrinaoutputpolygonsimplified", "esrinaoutputpolygondetailed": break
        case "esrinaoutputpolygonnone": request.wantsAreas = false
        case let text?:
            throw Parameters.unexpected(
                "outputPolygons", text,
                "esriNAOutputPolygonSimplified, esriNAOutputPolygonDetailed or "
                    + "esriNAOutputPolygonNone")
        }
        let lines = try solve.lines() ?? NetworkLines.none
        if lines != .none { request.wantsLines = true }
        if let trim = try parameters.number(Known.trimPolygonDistance) {
            let metres = try solve.metres(
                trim, parameters[Known.trimPolygonDistanceUnits], "trimPolygonDistanceUnits")
            guard 1...10_000 ~= metres else {
                throw Parameters.unexpected(
                    "trimPolygonDistance", "\(trim)", "1 to 10000 metres")
            }
            request.trim = metres
        }
        if try !parameters.flag(Known.trimOuterPolygon.name, default: true) {
            solve.messages.append((50, "Areas are trimmed: 'trimOuterPolygon' changes nothing."))
        }
        self.request = facilities.places.isEmpty ? nil : request
        self.solve = solve
    }

    private static func breaks(_ parameters: Parameters) throws(Failure) -> [Double] {
        guard let text = parameters[Known.defaultBreaks] else {
            return SolveParameters.usualBreaks
        }
        let parts = text.split { ", ;[]".contains($0) }
        let values = parts.compactMap { Parameters.number(String($0)) }
        let sorted = Set(values).sorted()
        guard values.count == parts.count, let least = sorted.first, least > 0,
            sorted.count <= ReachRequest.largestBreakCount
        else {
            throw Parameters.unexpected(
                "defaultBreaks", text,
                "1 to \(ReachRequest.largestBreakCount) costs above 0, with blanks or commas")
        }
        return sorted
    }

    func body() throws(Failure) -> [UInt8] {
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
        let impedance = solve.mode.impedance
        var areas = NetworkFeatureSet(geometryType: "Polygon")
        for part in answer?.areas ?? [] {
            let (from, to) = (part.from / impedance.unit, part.to / impedance.unit)
            areas.rows.append(
                .init(
                    attributes: [
                        ("ObjectID", .whole(areas.rows.count + 1)),
                        ("FacilityID", id(part)),
                        ("Name", .text("\(name(part)) : \(Self.text(from)) - \(Self.text(to))")),
                        ("FromBreak", .real(from)), ("ToBreak", .real(to)),
                        ("Shape_Length", .real(output.length(part.shape))),
                        ("Shape_Area", .real(output.area(part.shape))),
                    ], shape: part.shape))
        }
        var lines = NetworkFeatureSet(geometryType: "Polyline")
        for part in answer?.lines ?? [] {
            lines.rows.append(
                .init(
                    attributes: [
                        ("ObjectID", .whole(lines.rows.count + 1)), ("FacilityID", id(part)),
                        ("FromCumul_" + impedance.name, .real(part.from / impedance.unit)),
                        ("ToCumul_" + impedance.name, .real(part.to / impedance.unit)),
                        ("Shape_Length", .real(output.length(part.shape))),
                    ], shape: part.shape))
        }
        var json = JSONWriter()
        json.openObject()
        json.messages(messages)
        areas.write("saPolygons", in: output, to: &json)
        if request?.wantsLines == true { lines.write("saPolylines", in: output, to: &json) }
        if try solve.parameters.flag(Known.returnFacilities) {
            NetworkFeatureSet(
                geometryType: "Point", rows: facilities.rows(answer?.facilities ?? [])
            ).write("facilities", in: output, to: &json)
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
