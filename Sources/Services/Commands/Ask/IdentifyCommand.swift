// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Dataset
internal import Expression
internal import FoundationEssentials
internal import Geometry
internal import PROJ
internal import Platform
internal import Replay
internal import Site
internal import Terminal

struct IdentifyCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify", abstract: "Identify the features at a place of a map.",
        discussion: """
            Coordinates are x before y (longitude before latitude), in --sr, otherwise in the \
            map's spatial reference. All layers are searched, hidden ones too. Without --tolerance \
            the answer is what contains or touches the geometry, and of layers of points, lines \
            and graphics also what lies within 10 metres of a point or a line asked for; --batch \
            is exact. Distances are metres on the ground. A --geometry may be WKT, GeoJSON, Esri \
            JSON, 'x,y' or 'xmin,ymin,xmax,ymax'. JSON: the whole answer on one line, distances \
            in map units. --batch reads many \
            queries, JSON Lines or CSV, and writes a JSON line for each, in order \
            (Docs/identify.md). --compare asks as of two moments and shows what differs, and the \
            events between them that made it so; JSON: \
            {"first","second","differences":[{"layer","layerName","feature","change","fields", \
            "events"}],"events":[…]}.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Option(name: [.customLong("point"), .customLong("at-point")], help: "A position, 'x,y'.")
    var point: String?
    @Option(
        name: [.customLong("geometry"), .customLong("wkt")],
        help: "A geometry as text, or '@FILE'.") var geometry: String?
    @Option(help: "A file of queries, JSON Lines or CSV; '-' for standard input.")
    var batch: String?
    @Flag(help: "Keep running and show changes of the answer, until Ctrl-C or --timeout.")
    var follow = false
    @Option(help: "With --batch: number of concurrent queries, 1 to 1000.")
    var inFlight = 32
    @Option(
        help:
            "top, visible or all, optionally with layers: 'all:3,cities'. Groups stand for theirs."
    ) var layers = "all"
    @Option(
        help: "Search distance in metres, or with --extent in pixels of that screen; 0 is exact.",
        transform: Reading.number) var tolerance: Double?
    @Option(
        help: """
            Extent of a screen, 'xmin,ymin,xmax,ymax': the size of its pixels, and the scale for \
            'top' and 'visible', which otherwise is that of the map's initial extent.
            """)
    var extent: String?
    @Option(help: "The screen's size in pixels, 'width,height' or 'width,height,dpi'.")
    var size = "800,600,96"
    @Option(
        help: "The spatial reference of input and output: a wkid, EPSG:n, or WKT.",
        transform: Reading.spatialReference) var sr: SpatialReference?
    @Option(help: "Maximum deviation of generalised output geometry, in output units.")
    var maxOffset: Double?
    @Option(help: "Decimals of output coordinates.") var precision: Int?
    @Option(help: "A further WHERE clause for a layer: 'LAYER:CLAUSE'. May be repeated.")
    var `where`: [String] = []
    @Flag(help: "Show the geometries of the results.") var returnGeometry = false
    @OptionGroup(title: "Time and form of results") var options: IdentifyOptions
    @Option(
        help: "Query the map as of this sequence number or time.", transform: Reading.asOf)
    var at: AsOf?
    @Option(
        parsing: .upToNextOption,
        help: "Two sequence numbers or times: compare the answers as of these.",
        transform: Reading.asOf) var compare: [AsOf] = []
    @Option(
        help: "Time limit in seconds, then the work stops; 10 by default, none with --follow.",
        transform: Reading.timeLimit)
    var timeout: Duration?

    func validate() throws {
        guard [point, geometry, batch].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("Give --point, --geometry or --batch, one of them.")
        }
        guard !follow || (batch == nil && at == nil) else {
            throw ValidationError(
                "--follow shows the present of one geometry: no --batch, no --at.")
        }
        guard compare.isEmpty || compare.count == 2 && !follow && batch == nil && at == nil else {
            throw ValidationError(
                "--compare takes two moments, for one geometry: no --batch, --follow or --at.")
        }
        guard 1...1_000 ~= inFlight else {
            throw ValidationError("--in-flight takes 1 to 1000.")
        }
        guard tolerance ?? 0 >= 0 else {
            throw ValidationError("--tolerance takes a number of metres or pixels, 0 or more.")
        }
    }

    // One function each: the release optimiser of Swift 6.3.1 crashes on all of them in one.
    func perform(_ session: Session) async throws {
        if let batch {
            try await askBatch(session, batch)
        } else if follow {
            try await followAnswer(session)
        } else if !compare.isEmpty {
            try await compareAnswers(session)
        } else {
            try await askOnce(session)
        }
    }

    private func askBatch(_ session: Session, _ path: String) async throws {
        let template = try await batchTemplate(session)
        let run = IdentifyBatch(
            session: session, template: template, path: path, inFlight: inFlight, timeout: limit)
        try await run.run()
    }

    /// The template fixes the map's state for all queries of the batch.
    private func batchTemplate(_ session: Session) async throws -> IdentifyRequest {
        _ = try session.client()
        let question = try await plan(session).requests[0]
        let position = try await position(session, question.asOf)
        var template = question
        template.asOf = .sequence(position)
        return template
    }

    private func position(_ session: Session, _ moment: AsOf?) async throws -> Int64 {
        switch moment {
        case nil:
            let head = await session.head(within: min(limit, Session.hearingLimit))
            return try head ?? SiteEngine(site: session.site.path).sequence
        case .sequence(let position)?: return position
        case .time(let time)?:
            let client = try session.client()
            return try await client.position(of: .time(time), timeout: limit)
        }
    }

    private func followAnswer(_ session: Session) async throws {
        let client = try session.client()
        let questions = try await plan(session).requests
        try await Session.until(timeout) {
            for try await batch in client.follow(questions) {
                for live in batch {
                    if session.output.isJSON {
                        try session.output.record(live.change)
                    } else {
                        try session.output.lines(live.change.lines)
                    }
                }
            }
        }
    }

    private func askOnce(_ session: Session) async throws {
        let end = ContinuousClock.now + limit
        let ask = try asking(session, until: end)
        let plan = try await plan(session)
        let answer = try await plan.answer(ask)
        if session.output.isJSON {
            try session.output.record(answer)
        } else {
            try session.output.lines(answer.lines(plan))
        }
    }

    /// Carries out a request: by a worker, or where the site is down by this process.
    func asking(
        _ session: Session, until end: ContinuousClock.Instant
    ) throws -> (IdentifyRequest) async throws -> IdentifyAnswer {
        if session.isOfFiles {
            _ = try session.readableLog()
            let engine = try SiteEngine(site: session.site.path)
            return { request in try engine.identify(request) { ContinuousClock.now > end } }
        }
        let client = try session.client()
        return { request in
            try await client.ask(.identify, request, timeout: max(end - .now, .milliseconds(1)))
        }
    }

    var limit: Duration { timeout ?? .seconds(10) }

    /// The requests from the options; for a batch the one without its geometry.
    func plan(_ session: Session, at moment: AsOf? = nil) async throws -> IdentifyPlan {
        let parsed =
            try batch == nil
            ? readGeometry()
            : GeometryText.Parsed(shape: .point(Coordinate(x: 0, y: 0)), spatialReference: nil)
        let display = try readSize()
        let screen = try UsageFailure.reading { () throws(Failure) in
            try extent.map { text throws(Failure) in
                try GeometryText.envelope(text, name: "--extent")
            }
        }
        let description = try await session.map(map, at: moment ?? at, within: limit)
        var request = IdentifyRequest(
            map: description.name, geometry: parsed.shape,
            geometrySpatialReference: parsed.spatialReference,
            layers: try readLayers(description), tolerance: 0,
            mapExtent: try screen ?? Self.defaultScreen(description, sr),
            imageDisplay: display, spatialReference: sr,
            returnGeometry: returnGeometry, maxAllowableOffset: maxOffset,
            geometryPrecision: precision)
        request.asOf = moment ?? at
        try options.apply(to: &request, on: description)
        let present = Timestamp(microseconds: WallClock.microseconds())
        for clause in self.where {
            guard let colon = clause.firstIndex(of: ":") else {
                throw UsageFailure("--where '\(clause)': expected 'LAYER:CLAUSE'")
            }
            let layer = try description.layer(named: String(clause[..<colon]))
            let condition = String(clause[clause.index(after: colon)...])
            try layer.checkFields(of: condition)
            request.layerDefinitions[layer.id] = WhereClause.dated(condition, at: present)
        }
        let isPlace =
            switch parsed.shape {
            case .point, .multipoint, .polyline: batch == nil
            case .polygon, .envelope: false
            }
        // A batch has its places later: its distances are those at the middle of the screen.
        var measured = request
        if batch != nil { measured.geometry = .point(request.mapExtent.center) }
        let plan = try IdentifyPlan(
            measured, on: description, meters: extent == nil ? tolerance : nil,
            pixels: extent == nil ? nil : tolerance, isDivided: isPlace)
        return plan
    }

    private func readGeometry() throws -> GeometryText.Parsed {
        if let point {
            let coordinate = try UsageFailure.reading { () throws(Failure) in
                try GeometryText.coordinate(point, name: "--point")
            }
            return GeometryText.Parsed(shape: .point(coordinate), spatialReference: nil)
        }
        var text = geometry ?? ""
        if text.hasPrefix("@") {
            let path = String(text.dropFirst())
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Failure(.unreadable, "'\(path)' cannot be read")
            }
            text = String(decoding: data.prefix(GeometryText.byteLimit + 1), as: UTF8.self)
        }
        return try UsageFailure.reading { () throws(Failure) in try GeometryText.parse(text) }
    }

    private func readSize() throws -> ImageDisplay {
        let numbers = try UsageFailure.reading { () throws(Failure) in
            try GeometryText.numbers(size, name: "--size")
        }
        guard 2...3 ~= numbers.count, numbers.allSatisfy({ 1...100_000 ~= $0 }) else {
            throw UsageFailure("--size '\(size)': expected 'width,height' or 'width,height,dpi'")
        }
        return ImageDisplay(
            width: numbers[0], height: numbers[1], dpi: numbers.count > 2 ? numbers[2] : 96)
    }

    private func readLayers(_ map: MapDescription) throws -> LayerSelection {
        let parts = layers.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let option = LayerSelection.Option(rawValue: String(parts[0])) else {
            throw UsageFailure(
                "--layers '\(layers)': expected top, visible or all, then ':' and layers"
                    + NearestWord.sentence(
                        for: String(parts[0]), among: ["top", "visible", "all"]))
        }
        guard parts.count > 1 else { return LayerSelection(option) }
        let ids = try parts[1].split(separator: ",").map { try map.layer(named: String($0)).id }
        return LayerSelection(option, ids: ids)
    }

    /// The map's initial extent, in the spatial reference of the request.
    private static func defaultScreen(_ map: MapDescription, _ sr: SpatialReference?) throws
        -> Envelope
    {
        guard let own = map.spatialReference else {
            throw Failure(
                .conflict, "map '\(map.name)' is blank: no layer of it is loaded, so give --extent")
        }
        guard let extent = map.initialExtent else {
            throw Failure(
                .conflict, "map '\(map.name)' has no initial extent, so give --extent")
        }
        guard let sr, !sr.isEquivalent(to: own) else { return extent }
        let transform = try CoordinateTransform(from: own, to: sr)
        do throws(Failure) {
            return try transform.forward(Shape.envelope(extent)).envelope
        } catch {
            throw UsageFailure(
                "the map's extent has no place in --sr: give --extent in that spatial reference")
        }
    }
}

extension IdentifyChange {
    /// `+`, `-` and `~` for added, removed and changed results.
    fileprivate var lines: [String] {
        func line(_ sign: String, _ result: IdentifyResult) -> String {
            "\(sign) \(result.layerID) \(result.layerName): \(result.value.displayText) "
                + "(\(result.objectID))"
        }
        var lines = ["sequence \(sequence)" + (after.map { ", after \($0)" } ?? "")]
        for layer in layers {
            lines += layer.removed.map { "- \(layer.layerID) \(layer.layerName): (\($0))" }
            lines += layer.added.map { line("+", $0) }
            lines += layer.changed.map { line("~", $0) }
        }
        return lines
    }
}

extension IdentifyAnswer {
    /// A tree: group, layer, feature, attributes.
    ///
    /// Attributes that do not fit into one line take a line each.
    func lines(_ plan: IdentifyPlan) -> [String] {
        let width = RawTerminal.outputSize()?.columns ?? 100
        var lines: [String] = []
        func add(_ layer: IdentifyLayerResult, _ indent: String) {
            let more =
                layer.transferLimitExceeded
                ? ", \(layer.results.count) of \(layer.hitCount)" : ""
            lines.append("\(indent)\(layer.layerID) \(layer.layerName)\(more)")
            for result in layer.results {
                lines.append(
                    "\(indent)  \(result.value.displayText) (\(result.objectID))"
                        + (result.distance > 0
                            ? ", \(Self.meters(result.distance * plan.metersPerUnit)) away" : ""))
                let named = result.attributes.entries.map {
                    "\($0.name)=\($0.value.displayText)"
                }
                let together = "\(indent)    " + named.joined(separator: "  ")
                if TextWidth.columns(of: together) <= width {
                    lines.append(together)
                } else {
                    lines += named.map { "\(indent)    \($0)" }
                }
                if let shape = result.geometry {
                    lines.append("\(indent)    " + WellKnownText.text(of: shape))
                    for (name, values) in [("z", result.zValues), ("m", result.mValues)] {
                        guard let values else { continue }
                        let texts = values.map { $0.map { "\($0)" } ?? "none" }
                        lines.append("\(indent)    \(name) " + texts.joined(separator: " "))
                    }
                }
            }
            for sublayer in layer.sublayerResults { add(sublayer, indent + "  ") }
        }
        for layer in layers { add(layer, "") }
        for failure in failures ?? [] {
            lines.append("\(failure.layerID) \(failure.layerName): \(failure.error.message)")
        }
        let stale = isStale ? ", stale: the log was unreachable" : ""
        let count = results.count
        let all = transferLimitExceeded ? " of \(hitCount)" : ""
        lines.append(
            "\(count)\(all) \(count == 1 ? "feature" : "features"), sequence \(sequence)\(stale)")
        if let explanation { lines += [""] + explanation.lines }
        return lines
    }

    private static func meters(_ length: Double) -> String {
        length.displayText(decimals: length < 10 ? 2 : length < 1_000 ? 1 : 0) + " m"
    }
}
