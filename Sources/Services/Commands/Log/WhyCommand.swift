// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Replay

struct WhyCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Show the causes of a job, a layer, a feature, an event or a tile package.",
        discussion: """
            WHAT is a job, MAP or MAP/LAYER, or the sequence number of an event. Shows the chain \
            of events from the first command on, and the map that each of them saw. JSON: one \
            {"event":…,"inferred":…,"saw":…} for each event, the first cause first. Of \
            MAP/LAYER/ID, a feature, it shows every change; JSON: one \
            {"event":…,"change":"added|changed|removed","fields":[{"path","before","after"}]} \
            each.

            Of a file that is a tile package it shows what made it, without a site; with one also \
            the events that changed the map since. JSON: one {"package":{"provenance":[{"name", \
            "value"}],"isOfSite":…}}, then {"event":…} each.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: """
            A job, as 'job show' takes it, MAP, MAP/LAYER, MAP/LAYER/ID, a sequence number, or the \
            file of a tile package.
            """)
    var what: String
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func run() async throws {
        guard let package = packageFile, common.hasNoSite else { return try await runOnSite() }
        try await withExitCodes {
            let origin = try PackageOrigin(package)
            try show(origin, isOfSite: nil, Output(isJSON: common.json))
        }
    }

    func perform(_ session: Session) async throws {
        let position = try await session.position(of: at)
        if let package = packageFile {
            return try await showChanges(since: package, through: position, session)
        }
        if let feature = try await feature(through: position, session) {
            return try await showHistory(of: feature, through: position, session)
        }
        let (stream, end) = try await target(through: position, session)
        let first = try await session.readableLog().read(
            ReadRequest(after: 0, limit: 1, stream: stream)
        ).events.first
        guard let first, first.globalPosition <= end,
            let chain = try await chain(of: stream, from: first, through: end, session)
        else {
            throw Failure(.notFound, "there is no event of '\(stream)' up to \(end)")
        }
        let job = first.submission
        for step in chain.steps {
            let saw = try await Saw(step.event, job: job, session)
            try show(step, saw, session.output)
        }
        guard !session.output.isJSON else { return }
        let command = chain.command.map { "command \($0.uuidString.lowercased())" }
        try session.output.line(
            "began with \(command ?? "no recorded command")"
                + (chain.actor.map { " by \($0)" } ?? ""))
    }

    // MARK: What is asked about

    /// The stream and the position that the question is about.
    private func target(
        through position: Int64, _ session: Session
    ) async throws -> (StreamName, Int64) {
        if let job = JobID(what) { return (.job(job), position) }
        if let sequence = Int64(what) {
            let page =
                sequence < 1
                ? nil
                : try await session.readableLog().read(ReadRequest(after: sequence - 1, limit: 1))
            guard let event = page?.events.first, event.globalPosition == sequence else {
                throw Failure(.notFound, "there is no event \(sequence)")
            }
            return (event.stream, sequence)
        }
        for text in mapTexts {
            guard let name = MapName(rawValue: text) else { continue }
            let stream = StreamName.map(name)
            let page = try await session.readableLog().read(
                ReadRequest(after: 0, limit: 1, stream: stream))
            if !page.events.isEmpty { return (stream, position) }
        }
        if what.hasPrefix("j") || what == "last", let job = try? NamedJob.read(what) {
            return (.job(try await job.id(session)), position)
        }
        return (
            .map(
                try UsageFailure.reading { () throws(Failure) in
                    try MapName(parsing: mapTexts.last ?? what)
                }), position
        )
    }

    /// Possible map names in MAP, MAP/LAYER, FOLDER/MAP or FOLDER/MAP/LAYER, longest first.
    var mapTexts: [String] {
        let parts = what.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        return [2, 1].filter { $0 <= parts.count }.map {
            parts.prefix($0).joined(separator: "/")
        }
    }

    /// The causal chain to the last event up to `end`, of the layer for MAP/LAYER.
    ///
    /// Reads backwards from there, in growing steps, until the chain is complete.
    private func chain(
        of stream: StreamName, from first: RecordedEvent, through end: Int64, _ session: Session
    ) async throws -> CausalChain? {
        let layer = try await layer(of: stream, through: end, session)
        var records: [RecordedEvent] = []
        var (beginning, step) = (end, Int64(1_000))
        while beginning >= first.globalPosition {
            let before = max(beginning - step, first.globalPosition - 1)
            var earlier: [RecordedEvent] = []
            try await session.forEachEvent(after: before, through: beginning, stream: stream) {
                earlier.append($0)
            }
            records = earlier + records
            (beginning, step) = (before, step * 8)
            var explained = records
            if let layer {
                guard let last = CausalChain.lastChange(of: layer.id, in: records) else { continue }
                explained.removeSubrange((last + 1)...)
            }
            if let chain = CausalChain(explainingLast: explained) { return chain }
        }
        if let layer {
            throw Failure(.notFound, "map '\(layer.map)' never had a layer '\(layer.text)'")
        }
        return nil
    }

    /// The layer of MAP/LAYER.
    private func layer(
        of stream: StreamName, through end: Int64, _ session: Session
    ) async throws -> (id: LayerID, map: MapName, text: String)? {
        guard stream.category == "map",
            let name = MapName(rawValue: String(stream.rawValue.dropFirst(4))),
            what.hasPrefix(name.rawValue + "/")
        else { return nil }
        let text = String(what.dropFirst(name.rawValue.count + 1))
        // A number may be that of a removed layer.
        if let id = LayerID(text) { return (id, name, text) }
        let map = try await session.maps(with: name, through: end).map(named: name)
        return (try map?.layer(named: text).id ?? -1, name, text)
    }

    // MARK: What is shown

    private struct Line: Encodable {
        var event: EventLine
        var inferred: Bool
        var saw: Saw?
    }

    private func show(_ step: CausalChain.Step, _ saw: Saw?, _ output: Output) throws {
        if output.isJSON {
            return try output.record(
                Line(event: EventLine(event: step.event), inferred: step.isInferred, saw: saw))
        }
        let who = step.event.event.metadata.actor.map { "  by \($0)" } ?? ""
        try output.line(step.event.line + who + (step.isInferred ? "  (inferred)" : ""))
        if let saw { try output.line("      saw " + saw.text) }
    }
}

/// The state of the map that an event was decided on, or that a job works with.
private struct Saw: Encodable {
    var map: MapName
    /// Sequence number of the map's last change before; absent before the map existed.
    var sequence: Int64?
    var layerCount: Int
    /// The layer concerned by the event, in its state before.
    var layer: LayerDescription?

    init?(_ event: RecordedEvent, job: JobSubmission?, _ session: Session) async throws {
        struct OfLayer: Decodable { var layer: LayerID? }
        let name: MapName?
        let end: Int64
        switch event.stream.category {
        case "map":
            name = MapName(rawValue: String(event.stream.rawValue.dropFirst(4)))
            end = event.globalPosition - 1
        case "job":
            // All chunks of a job query the maps as of its submission.
            name = job?.parameters["map"].flatMap(MapName.init(rawValue:))
            end = event.globalPosition
        default: return nil
        }
        guard let name else { return nil }
        map = name
        let last =
            event.stream.category == "job"
            ? try await session.submittedSequence(of: event.stream) ?? end : end
        let maps = try await session.maps(with: name, through: last)
        sequence = maps.lastChange(of: name)
        let description = maps.map(named: name)
        layerCount = description?.layers.count ?? 0
        let layer = (try? CairnJSON.decode(OfLayer.self, from: event.event.data))?.layer
        self.layer =
            event.stream.category == "map" ? layer.flatMap { description?.layer($0) } : nil
    }

    var text: String {
        guard let sequence else { return "no map '\(map)'" }
        var text = "map \(map) as of \(sequence), \(layerCount) layers"
        if let layer {
            text += "; layer \(layer.id) '\(layer.name)' \(layer.loadStatus.rawValue)"
            if let dataset = layer.kind.dataset {
                text += ", dataset \(dataset.rawValue.prefix(12))…"
            }
            if !layer.isVisible { text += ", hidden" }
        }
        return text
    }
}

extension RecordedEvent {
    fileprivate var submission: JobSubmission? {
        guard event.type == JobSubmitted.eventType else { return nil }
        return (try? JobSubmitted.decode(event))?.submission
    }
}

extension Session {
    /// The sequence number of the first event of a stream.
    fileprivate func submittedSequence(of stream: StreamName) async throws -> Int64? {
        let log = try readableLog()
        let page = try await log.read(ReadRequest(after: 0, limit: 1, stream: stream))
        return page.events.first?.globalPosition
    }
}
