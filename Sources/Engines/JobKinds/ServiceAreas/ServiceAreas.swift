// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

extension JobKind {
    /// Draws what is reached from many facilities.
    public static let serviceAreas = JobKind(rawValue: "ServiceAreas")
}

/// The job kind `ServiceAreas`: takes a CSV file of facilities, or points, returns GeoJSON with the
/// areas that are reached from each within each break.
///
/// A facility without an area is a feature without a geometry. The network is asked as of the job's
/// submission (or `at`).
public enum ServiceAreas: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .serviceAreas, summary: "Draws what is reached from every facility within costs.",
        input: "CSV with a header row, one facility in each row; or GeoJSON with points",
        output: "GeoJSON polygons with facility, from, to, status",
        outputMediaType: MediaType.geoJSON.rawValue,
        parameters: JobKindDescription.routing(
            [
                .text(
                    "breaks",
                    "Ascending costs with commas, in what the travel mode minimises: seconds or "
                        + "metres.", isRequired: true)
            ] + PlaceColumns.parameters + [
                .flag("towards", "Whether the travel is towards the facilities."),
                .text(
                    "areas", "Whether a break's area is without that of the break before.",
                    AreaForm.rings.rawValue, of: AreaForm.allCases.map(\.rawValue)),
                .number(
                    "trim", "Metres from a reached road to the edge of an area.", "100"),
            ]), reads: JobKindDescription.routingReads, inputNamesBlobs: false,
        features: [
            .init(
                name: "facilities", summary: "The places whose areas are wanted.",
                geometryType: "Point", fields: [], mostFeatures: 100_000)
        ],
        featureOutput: .init(
            summary: "The areas as features.", geometryType: "Polygon",
            fields: [
                .init(name: "facility", type: .text), .init(name: "from", type: .number),
                .init(name: "to", type: .number), .init(name: "status", type: .text),
            ]))

    /// Smallest number of facilities in a chunk.
    public static let facilitiesPerChunk = 5
    /// Limit of chunks per file; larger files get larger chunks.
    public static let maximumChunkCount = 4_000
    /// Limit of facilities in a file.
    public static let maximumFacilityCount = 100_000

    /// The input of `reach`.
    struct RowsInput: Codable, Hashable, Sendable {
        var range: RowRange
        var form: TableForm
        /// Of features; absent for a table.
        var kinds: [AttributeKind]?
    }

    private static let resultNames = ["facility", "from", "to", "status"]

    /// Splits the file, finds the areas of its ranges of facilities, concatenates them.
    public static let operations = [plan, reach, assemble]

    static let plan = JobOperation.files("plan") { try plan($0) }
    static let reach = JobOperation.routers("reach") { try reach($0, $1) }
    static let assemble = JobOperation.files("assemble") { try assemble($0) }

    /// Checks the parameters, the columns, and the number of facilities of a file that is not
    /// large.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws {
        try RouteSettings.check(order, texts)
        _ = try AreaSettings(texts)
        guard let table = try JobTable(order, .single, texts) else { return }
        _ = try PlaceColumns(table, texts)
        var count = 0
        if try table.forEachRowIfSmall({ _ in count += 1 }) {
            try RowCuts.check(count, most: maximumFacilityCount)
        }
    }

    /// Reads the whole file once: checks and splits it.
    static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let routing = try RouteSettings(texts, context.assignment)
        _ = try AreaSettings(texts)
        let table = try JobTable(context, .single, texts)
        _ = try PlaceColumns(table, texts)
        var cuts = RowCuts(every: facilitiesPerChunk)
        let (_, messages) = try table.forEachRow(context) { cuts.take($0) }
        try RowCuts.check(cuts.rowCount, most: maximumFacilityCount)
        let chunks = try cuts.ranges(end: table.file.byteCount, limit: maximumChunkCount).map {
            try reach.chunk(
                RowsInput(range: $0, form: table.form, kinds: table.kinds), weight: $0.rowCount,
                gathers: table.kinds != nil)
        }
        return ChunkOutcome(
            nextStage: chunks,
            laterStages: [[assemble.chunk(weight: max(1, cuts.rowCount / 20), gathers: true)]],
            blob: table.made,
            messages: messages + [
                JobMessage(.informative, "\(cuts.rowCount) facilities, \(routing.moment)")
            ])
    }

    /// Finds the areas of one range of facilities.
    static func reach(
        _ context: ChunkContext, _ routers: any JobRouters
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let texts = try ParameterTexts(context.assignment.parameters, of: description)
        let routing = try RouteSettings(texts, context.assignment)
        let settings = try AreaSettings(texts)
        let table = try JobTable(context, input.form, input.kinds)
        let columns = try PlaceColumns(table, texts)
        let router = try context.patiently { () throws(Failure) in
            try routers.router(routing.terms)
        }
        var taken = resultNames
        let attributes = columns.attributes(of: table).map { column in
            let name = BatchGeocode.free(table.names[column], among: taken)
            taken.append(name)
            return (column: column, name: name)
        }
        var row = input.range.firstRow
        var isFirst = row == 1
        let blob = try context.blobs.put(mediaType: MediaType.geoJSON.rawValue) { write in
            try table.forEachRow(of: input.range, context) { fields in
                let facility = columns.place(in: fields, row: row)
                row += 1
                var status = RowStatus.invalid
                var areas: [ReachAnswer.Part] = []
                if let location = facility.location {
                    var request = ReachRequest(
                        routing.terms, facilities: [routing.place(location)],
                        breaks: settings.breaks)
                    request.isTowards = settings.isTowards
                    request.areRings = settings.form == .rings
                    request.trim = settings.trim
                    let answer = try router.reach(request, context.isCancelled)
                    status = answer.facilities.first?.status.word ?? RowStatus.invalid
                    areas = answer.areas
                }
                var features: [([JSONValue], String?)] = []
                for area in areas {
                    guard case .polygon(let rings) = area.shape else { continue }
                    features.append(([.real(area.from), .real(area.to)], FeatureText.areas(rings)))
                }
                if features.isEmpty { features = [([.null, .null], nil)] }
                for (bounds, geometry) in features {
                    let values = [.string(facility.name)] + bounds + [JSONValue.string(status)]
                    let properties =
                        Array(zip(resultNames, values))
                        + attributes.map {
                            ($0.name, table.value(fields[$0.column], of: $0.column))
                        }
                    let feature = try FeatureText.feature(
                        properties, geometry: geometry, isFirst: isFirst)
                    isFirst = false
                    try write(Data(feature.utf8))
                }
            }
        }
        return ChunkOutcome(blob: blob)
    }

    /// Joins the chunks' features, in order.
    static func assemble(_ context: ChunkContext) throws -> ChunkOutcome {
        ChunkOutcome(blob: try FeatureText.file(context.parts(), in: context.blobs))
    }
}

/// Whether areas of one facility overlap.
enum AreaForm: String, CaseIterable {
    case rings
    case disks
}

/// The parameters of a `ServiceAreas` job besides those of all routes.
struct AreaSettings {
    /// Seconds or metres.
    var breaks: [Double]
    var isTowards: Bool
    var form: AreaForm
    /// Metres.
    var trim: Double

    init(_ texts: ParameterTexts) throws(Failure) {
        let most = ReachRequest.largestBreakCount
        let parts = texts["breaks"]?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        breaks = parts.compactMap { Double($0.filter { $0 != " " }) }
        guard breaks.count == parts.count, 1...most ~= breaks.count,
            breaks.allSatisfy({ $0 > 0 && $0 <= 1e7 }),
            zip(breaks, breaks.dropFirst()).allSatisfy(<)
        else {
            throw ParameterTexts.fault(
                "breaks", "1 to \(most) ascending numbers above 0, up to 10000000, with commas")
        }
        isTowards = try texts.flag("towards")
        form = try texts.word("areas", of: AreaForm.self) ?? .rings
        trim = try texts.numbers("trim", 1...1)?[0] ?? ReachRequest.usualTrim
        guard 1...10_000 ~= trim else { throw ParameterTexts.fault("trim", "1 to 10000") }
    }
}
