// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import JobKinds
internal import Terminal

/// Options for the time of features and the form of results.
struct IdentifyOptions: ParsableArguments {
    @Option(
        help: """
            Only features of that time: a moment, or 'FROM,TO', each ISO 8601 or milliseconds \
            since 1970, '..' for an open end. Layers without time are not limited.
            """) var time: String?
    @Option(
        help: ArgumentHelp(
            "Which ends of --time belong to it.", valueName: "relation"))
    var timeRelation = Relation.overlaps
    @Option(
        help: """
            How a layer applies --time: 'LAYER:off', 'LAYER:cumulative' or 'LAYER:offset=1 years'. \
            May be repeated.
            """) var layerTime: [String] = []
    @Flag(help: "Show the Z of every coordinate.") var z = false
    @Flag(help: "Show the M of every coordinate.") var m = false
    @Flag(help: "Name attributes by field, not by alias.") var fieldNames = false
    @Flag(help: "Write attributes as formatted text.") var formatted = false
    @Option(help: "Maximum results per layer; 0 for counts only.") var maxResults: Int?
    @Flag(help: "Leave out layers whose popups are off.") var popupsOnly = false
    @Flag(help: "Explain the outcome of every layer.") var explain = false

    enum Relation: String, ExpressibleByArgument, CaseIterable {
        case overlaps
        case overlapsStartWithinEnd
        case afterStartOverlapsEnd
        case within

        var relation: TimeRelation {
            switch self {
            case .overlaps: .overlaps
            case .overlapsStartWithinEnd: .overlapsStartWithinEnd
            case .afterStartOverlapsEnd: .afterStartOverlapsEnd
            case .within: .within
            }
        }
    }

    func validate() throws {
        guard maxResults ?? 0 >= 0 else {
            throw ValidationError("--max-results takes 0 or more.")
        }
        do throws(Failure) { _ = try form() } catch { throw ValidationError(error.message) }
    }

    /// Applies the options to a request on that map; throws for an unknown layer.
    func apply(to request: inout IdentifyRequest, on map: MapDescription) throws {
        let form = try form()
        do throws(Failure) {
            try form.apply(to: &request) { text throws(Failure) in try map.layer(named: text).id }
        } catch {
            guard error.code == .invalidParameter else { throw error }
            throw UsageFailure(error.message)
        }
    }

    private func form() throws(Failure) -> IdentifyForm {
        var form = IdentifyForm()
        form.time = try time.map { text throws(Failure) in try IdentifyForm.time(text) }
        form.timeRelation = timeRelation.relation
        form.layerTime = layerTime
        form.returnZ = z
        form.returnM = m
        form.returnFieldName = fieldNames
        form.isFormatted = formatted
        form.maximumResultsPerLayer = maxResults
        form.returnPopupsOnly = popupsOnly
        form.explain = explain
        return form
    }
}

extension IdentifyExplanation {
    /// Text output: the interpretation of the request, and a table of all layers.
    var lines: [String] {
        var head = ["map \(mapSpatialReference.map(\.displayText) ?? "blank")"]
        if let resolution { head.append("a pixel is \(resolution) map units") }
        if let scale { head.append("1:\(scale.displayText(decimals: 1))") }
        head.append(
            "tolerance \(tolerance) map units (\(toleranceMeters.displayText(decimals: 3)) m)")
        var table = Table(
            [
                "layer", "status", "candidates", "by definition", "by time", "hits", "results",
                "why",
            ],
            numbers: [2, 3, 4, 5, 6])
        for layer in layers {
            let counts = [
                layer.candidateCount, layer.excludedByDefinition, layer.excludedByTime,
                layer.hitCount, layer.resultCount,
            ]
            let why =
                layer.detail.map { "\(layer.reason?.rawValue ?? ""): \($0)" }
                ?? (layer.transferLimitExceeded ? "cut off at the limit" : "")
            table.add(
                ["\(layer.layerID) \(layer.layerName)", layer.status.rawValue]
                    + counts.map { layer.status == .searched ? "\($0)" : "" } + [why])
        }
        return [head.joined(separator: ", ")] + table.lines
    }
}

extension SpatialReference {
    /// `EPSG:4326`, or `WKT`.
    fileprivate var displayText: String { wkid.map { "EPSG:\($0)" } ?? "WKT" }
}
