// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Terminal

/// What a caller may ask of the time of features and of the form of results.
struct IdentifyOptions: ParsableArguments {
    @Option(
        help: """
            Only features of that time: a moment, or 'FROM,TO', each ISO 8601 or milliseconds since \
            1970, '..' for an open end. Layers without time are not limited.
            """) var time: String?
    @Option(
        help: ArgumentHelp(
            "Which ends of --time belong to it.", valueName: "relation"))
    var timeRelation = Relation.overlaps
    @Option(
        help: """
            What a layer makes of --time: 'LAYER:off', 'LAYER:cumulative' or 'LAYER:offset=1 years'. \
            May be repeated.
            """) var layerTime: [String] = []
    @Flag(help: "Show the Z of every coordinate.") var z = false
    @Flag(help: "Show the M of every coordinate.") var m = false
    @Flag(help: "Name attributes by field, not by alias.") var fieldNames = false
    @Flag(help: "Write attributes as text, as people read them.") var formatted = false
    @Option(help: "The most results of one layer; 0 for counts alone.") var maxResults: Int?
    @Flag(help: "Leave out layers whose popups are off.") var popupsOnly = false
    @Flag(help: "Say what came of every layer, and why.") var explain = false

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
        _ = try readTime()
    }

    /// Puts the options into a request on that map; throws where a layer is not known.
    func apply(to request: inout IdentifyRequest, on map: MapDescription) throws {
        request.time = try readTime()
        request.timeRelation = timeRelation.relation
        for text in layerTime { try readLayerTime(text, &request, map) }
        request.returnZ = z
        request.returnM = m
        request.returnFieldName = fieldNames
        request.returnUnformattedValues = !formatted
        request.maximumResultsPerLayer = maxResults
        request.returnPopupsOnly = popupsOnly
        request.explain = explain
    }

    private func readTime() throws -> TimeExtent? {
        guard let time else { return nil }
        let parts = time.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let moments = parts.map { part -> Int64? in
            Int64(part) ?? Timestamp(iso: part).map { $0.microseconds / 1000 }
        }
        let isRight = zip(parts, moments).allSatisfy { $0 == ".." || $1 != nil }
        guard 1...2 ~= parts.count, isRight, parts.count == 2 || moments[0] != nil else {
            throw ValidationError(
                "--time takes 'MOMENT' or 'FROM,TO', each ISO 8601 or milliseconds, or '..'.")
        }
        return TimeExtent(from: moments[0], to: moments[parts.count - 1])
    }

    private func readLayerTime(
        _ text: String, _ request: inout IdentifyRequest, _ map: MapDescription
    ) throws {
        let fault = UsageFailure(
            "--layer-time '\(text.prefix(80))': expected 'LAYER:off', 'LAYER:cumulative' or "
                + "'LAYER:offset=NUMBER UNIT'")
        guard let colon = text.lastIndex(of: ":") else { throw fault }
        let layer = try map.layer(named: String(text[..<colon]))
        var options = request.layerTimeOptions[layer.id] ?? LayerTimeOptions()
        let word = text[text.index(after: colon)...]
        switch word {
        case "off": options.useTime = false
        case "cumulative": options.timeDataCumulative = true
        default:
            let parts = word.split(whereSeparator: { $0 == "=" || $0 == " " })
            guard parts.count == 3, parts[0] == "offset", let offset = Double(parts[1]),
                let units = TimeUnits.allCases.first(where: {
                    $0.rawValue.lowercased() == parts[2].lowercased()
                })
            else { throw fault }
            options.timeOffset = offset
            options.timeOffsetUnits = units
        }
        request.layerTimeOptions[layer.id] = options
    }
}

extension IdentifyExplanation {
    /// For people: how the request was understood, and a table of all layers.
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
