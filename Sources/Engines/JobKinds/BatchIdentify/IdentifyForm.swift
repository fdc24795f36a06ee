// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Options on the time of features and the form of results, read from text: options of `cairn
/// identify`, parameters of `BatchIdentify`.
public struct IdentifyForm: Hashable, Sendable {
    /// Time filter of features.
    public var time: TimeExtent?
    /// Which ends of the time filter are included.
    public var timeRelation = TimeRelation.overlaps
    /// Time settings of layers: `LAYER:off`, `LAYER:cumulative`, `LAYER:offset=NUMBER UNIT`.
    public var layerTime: [String] = []
    /// Whether results carry Z.
    public var returnZ = false
    /// Whether results carry M.
    public var returnM = false
    /// Whether attributes are named by field, not by alias.
    public var returnFieldName = false
    /// Whether attributes are formatted for display.
    public var isFormatted = false
    /// Limit of results of one layer; nil for the service's own.
    public var maximumResultsPerLayer: Int?
    /// Whether layers without popups are left out.
    public var returnPopupsOnly = false
    /// Whether the answer explains the outcome of every layer.
    public var explain = false

    /// The defaults.
    public init() {}

    /// Reads the parameters that are present; throws `Failure` (`invalidParameter`) naming the
    /// invalid one.
    init(_ texts: ParameterTexts) throws(Failure) {
        time = try texts["time"].map { text throws(Failure) in try Self.time(text) }
        timeRelation = try texts.word("timeRelation", of: TimeRelation.self) ?? .overlaps
        layerTime = texts["layerTime"].map { $0.split(separator: ";").map(String.init) } ?? []
        returnZ = try texts.flag("returnZ")
        returnM = try texts.flag("returnM")
        returnFieldName = try texts.flag("returnFieldName")
        isFormatted = try texts.flag("formatted")
        maximumResultsPerLayer = try texts.whole("maximumResultsPerLayer")
        guard maximumResultsPerLayer ?? 0 >= 0 else {
            throw ParameterTexts.fault("maximumResultsPerLayer", "0 or more")
        }
        returnPopupsOnly = try texts.flag("returnPopupsOnly")
        explain = try texts.flag("explain")
    }

    /// Parses a moment, or `FROM,TO`, each ISO 8601 or milliseconds since 1970, `..` for an open
    /// end; throws `Failure` (`invalidParameter`).
    public static func time(_ text: String) throws(Failure) -> TimeExtent {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let moments = parts.map { part -> Int64? in
            Int64(part) ?? Timestamp(iso: part).map { $0.microseconds / 1000 }
        }
        let isRight = zip(parts, moments).allSatisfy { $0 == ".." || $1 != nil }
        guard 1...2 ~= parts.count, isRight, parts.count == 2 || moments[0] != nil else {
            throw Failure(
                .invalidParameter,
                "time '\(text.prefix(80))': expected 'MOMENT' or 'FROM,TO', each ISO 8601 or "
                    + "milliseconds, or '..'")
        }
        let extent = TimeExtent(from: moments[0], to: moments[parts.count - 1])
        guard extent.start ?? .min <= extent.end ?? .max else {
            throw Failure(
                .invalidParameter,
                "time '\(text.prefix(80))': expected a start that is not after the end")
        }
        return extent
    }

    /// Applies the options to a request; `layer` resolves the name of a layer, and throws for an
    /// unknown one.
    public func apply(
        to request: inout IdentifyRequest, layer: (String) throws(Failure) -> LayerID
    ) throws(Failure) {
        request.time = time
        request.timeRelation = timeRelation
        for text in layerTime { try apply(text, to: &request, layer) }
        request.returnZ = returnZ
        request.returnM = returnM
        request.returnFieldName = returnFieldName
        request.returnUnformattedValues = !isFormatted
        request.maximumResultsPerLayer = maximumResultsPerLayer
        request.returnPopupsOnly = returnPopupsOnly
        request.explain = explain
    }

    private func apply(
        _ text: String, to request: inout IdentifyRequest,
        _ layer: (String) throws(Failure) -> LayerID
    ) throws(Failure) {
        let fault = Failure(
            .invalidParameter,
            "layer time '\(text.prefix(80))': expected 'LAYER:off', 'LAYER:cumulative' or "
                + "'LAYER:offset=NUMBER UNIT'")
        guard let colon = text.lastIndex(of: ":") else { throw fault }
        let id = try layer(String(text[..<colon]))
        var options = request.layerTimeOptions[id] ?? LayerTimeOptions()
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
        request.layerTimeOptions[id] = options
    }
}
