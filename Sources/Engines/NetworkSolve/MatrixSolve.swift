// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// `solveODCostMatrix`: the costs between origins and destinations.
package struct MatrixSolve {
    private enum Output: String, CaseIterable {
        case sparse = "esriNAODOutputSparseMatrix"
        case straight = "esriNAODOutputStraightLines"
        case none = "esriNAODOutputNoLines"
    }

    /// Nil where no origin or no destination has a place.
    package let request: RouteTableRequest?
    package var answer: RouteTableAnswer?
    private var solve: SolveParameters
    private let origins: NetworkLocations
    private let destinations: NetworkLocations
    private let output: Output
    private let isEmptyAllowed: Bool

    package init(
        _ network: NetworkPublished, _ parameters: any SolveForm, at position: Int64?
    ) throws(Failure) {
        var solve = try SolveParameters(network, parameters, at: position)
        try solve.readStart("timeOfDay", isUTC: "timeOfDayIsUTC")
        let cutoff = try solve.cutoff()
        let closest = try parameters.integer("defaultTargetDestinationCount", in: 1...1_000_000)
        output = try parameters.word("outputType", Output.self) ?? .sparse
        if try solve.lines() != nil {
            solve.messages.append((0, "Parameter 'outputLines' changes nothing: see 'outputType'."))
        }
        isEmptyAllowed = try parameters.flag("returnEmptyResults")
        origins = try NetworkLocations("origins", "Origins", atMost: 1_000, solve)
        destinations = try NetworkLocations(
            "destinations", "Destinations", atMost: 1_000, solve)
        let cells = origins.places.count * destinations.places.count
        guard cells > 0 else {
            request = nil
            self.solve = solve
            return
        }
        var request = RouteTableRequest(
            solve.terms, origins: origins.request, destinations: destinations.request)
        if solve.costs.contains(where: { $0.kind != solve.mode.impedance.kind }) {
            if cells <= RouteTableRequest.largestPathCount {
                request.wantsBoth = true
            } else {
                solve.costs.removeAll { $0.kind != solve.mode.impedance.kind }
                solve.messages.append(
                    (
                        50,
                        "Above \(RouteTableRequest.largestPathCount) pairs the impedance is "
                            + "given alone."
                    ))
            }
        }
        request.cutoff = cutoff
        request.closest = closest
        self.request = request
        self.solve = solve
    }

    /// A pair that has a route.
    private struct Cell {
        var origin: Int
        var destination: Int
        var values: [Double]
        var rank: Int
    }

    private func cells() -> [Cell] {
        guard let answer else { return [] }
        let columns = answer.destinations.count
        var cells: [Cell] = []
        for origin in answer.origins.indices {
            var row: [Cell] = []
            for destination in 0..<columns {
                let place = origin * columns + destination
                func value(_ values: [Double?]?) -> Double? {
                    values.flatMap { $0.indices.contains(place) ? $0[place] : nil }
                }
                let (seconds, metres) = (value(answer.durations), value(answer.lengths))
                let values = solve.costs.compactMap { cost in
                    (cost.kind == .time ? seconds : metres).map { $0 / cost.unit }
                }
                guard values.count == solve.costs.count else { continue }
                row.append(
                    Cell(origin: origin, destination: destination, values: values, rank: 0))
            }
            let ranked = row.enumerated().sorted {
                ($0.element.values[0], $0.offset) < ($1.element.values[0], $1.offset)
            }
            for (rank, cell) in ranked.enumerated() {
                var cell = cell.element
                cell.rank = rank + 1
                cells.append(cell)
            }
        }
        return cells
    }

    /// What was found.
    package struct Results {
        /// Type and text.
        package var messages: [(type: Int, text: String)]
        package var lines: NetworkFeatureSet
        package var origins: NetworkFeatureSet
        package var destinations: NetworkFeatureSet
    }

    private func messages(_ cells: [Cell]) throws(Failure) -> [(type: Int, text: String)] {
        let lost =
            origins.unlocated(answer?.origins ?? [])
            + destinations.unlocated(answer?.destinations ?? [])
        try solve.check(unlocated: lost)
        if cells.isEmpty, !isEmptyAllowed {
            throw SolveFailure.unable(lost + [SolveFailure.noSolution])
        }
        let notes = origins.notes + destinations.notes
        var messages = solve.messages + (lost + notes).map { (50, $0) }
        for message in answer?.context.messages ?? []
        where !messages.contains(where: { $0.text == message.text }) {
            messages.append((50, message.text))
        }
        return messages
    }

    /// The costs that results have.
    package var costs: [NetworkCost] { solve.costs }

    private var places: (origins: NetworkFeatureSet, destinations: NetworkFeatureSet) {
        (
            NetworkFeatureSet(geometryType: "Point", rows: origins.rows(answer?.origins ?? [])),
            NetworkFeatureSet(
                geometryType: "Point", rows: destinations.rows(answer?.destinations ?? []))
        )
    }

    /// Throws Esri's phrases where there is no route, unless empty results are wanted.
    package func results() throws(Failure) -> Results {
        let (cells, places) = (cells(), places)
        return Results(
            messages: try messages(cells), lines: lines(cells, SolveOutput(solve)),
            origins: places.origins, destinations: places.destinations)
    }

    /// The answer of a `NAServer`; throws as ``results()`` does.
    package func body() throws(Failure) -> [UInt8] {
        let (cells, places) = (cells(), places)
        let messages = try messages(cells)
        let form = SolveOutput(solve)
        var json = JSONWriter()
        json.openObject()
        json.messages(messages)
        if output == .sparse {
            sparse(cells, &json)
        } else {
            lines(cells, form).write("odLines", in: form, to: &json)
        }
        for (flag, name, set) in [
            ("returnOrigins", "origins", places.origins),
            ("returnDestinations", "destinations", places.destinations),
        ] where try solve.parameters.flag(flag) {
            set.write(name, in: form, to: &json)
        }
        try solve.writeBarriers(form, to: &json)
        json.closeObject()
        return json.bytes
    }

    private func sparse(_ cells: [Cell], _ json: inout JSONWriter) {
        json.member("odCostMatrix") { json in
            var rest = cells[...]
            while let first = rest.first {
                let row = rest.prefix { $0.origin == first.origin }
                rest = rest.dropFirst(row.count)
                json.member("\(origins.feature(first.origin).objectID)") { json in
                    for cell in row.sorted(by: { $0.destination < $1.destination }) {
                        json.member(
                            "\(destinations.feature(cell.destination).objectID)",
                            array: cell.values
                        ) { $0.number($1) }
                    }
                }
            }
            json.member("costAttributeNames", array: solve.costs) { $0.string($1.name) }
        }
    }

    private func lines(_ cells: [Cell], _ form: SolveOutput) -> NetworkFeatureSet {
        var set = NetworkFeatureSet(geometryType: "Polyline")
        for cell in cells {
            let (origin, destination) = (
                origins.feature(cell.origin), destinations.feature(cell.destination)
            )
            var row = NetworkFeatureSet.Row(
                attributes: [
                    ("ObjectID", .whole(set.rows.count + 1)),
                    ("Name", .text("\(origin.name) - \(destination.name)")),
                    ("OriginID", .whole(origin.objectID)),
                    ("DestinationID", .whole(destination.objectID)),
                    ("DestinationRank", .whole(cell.rank)),
                ])
            for (cost, value) in zip(solve.costs, cell.values) {
                row.attributes.append(("Total_" + cost.name, .real(value)))
            }
            if output == .straight, let from = origin.point, let to = destination.point {
                let shape = Shape.polyline(paths: [[from, to]])
                row.attributes.append(("Shape_Length", .real(form.length(shape))))
                row.shape = shape
            }
            set.rows.append(row)
        }
        return set
    }
}
