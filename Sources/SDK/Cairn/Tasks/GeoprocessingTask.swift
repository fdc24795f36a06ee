// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A value that a geoprocessing task takes or gives.
public class GeoprocessingParameter: @unchecked Sendable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    init() {}

    /// As the form of a submission has it.
    var formValue: String { "" }
}

/// A text.
public final class GeoprocessingString: GeoprocessingParameter, @unchecked Sendable {
    /// The text.
    public let value: String
    /// Makes a value.
    public init(value: String) { self.value = value }
    override var formValue: String { value }
}

/// A number.
public final class GeoprocessingDouble: GeoprocessingParameter, @unchecked Sendable {
    /// The number.
    public let value: Double
    /// Makes a value.
    public init(value: Double) { self.value = value }
    override var formValue: String { value.plainText }
}

/// A whole number.
public final class GeoprocessingLong: GeoprocessingParameter, @unchecked Sendable {
    /// The number.
    public let value: Int
    /// Makes a value.
    public init(value: Int) { self.value = value }
    override var formValue: String { String(value) }
}

/// True or false.
public final class GeoprocessingBoolean: GeoprocessingParameter, @unchecked Sendable {
    /// The value.
    public let value: Bool
    /// Makes a value.
    public init(value: Bool) { self.value = value }
    override var formValue: String { String(value) }
}

/// A time.
public final class GeoprocessingDate: GeoprocessingParameter, @unchecked Sendable {
    /// The time.
    public let value: Date
    /// Makes a value.
    public init(value: Date) { self.value = value }
    override var formValue: String { String(value.millisecondsSince1970) }
}

/// A length with its unit.
public final class GeoprocessingLinearUnit: GeoprocessingParameter, @unchecked Sendable {
    /// Units of lengths, by the service's names for them.
    public enum Unit: String, Sendable, Hashable, CaseIterable {
        case meters = "esriMeters"
        case kilometers = "esriKilometers"
        case decimeters = "esriDecimeters"
        case centimeters = "esriCentimeters"
        case millimeters = "esriMillimeters"
        case inches = "esriInches"
        case feet = "esriFeet"
        case yards = "esriYards"
        case miles = "esriMiles"
        case nauticalMiles = "esriNauticalMiles"
        case points = "esriPoints"
        case decimalDegrees = "esriDecimalDegrees"
        /// Any other.
        case unknown = "esriUnknownUnits"
    }

    /// The length.
    public let distance: Double
    /// The unit.
    public let unit: Unit
    /// Makes a value.
    public init(distance: Double, unit: Unit = .meters) {
        self.distance = distance
        self.unit = unit
    }
    override var formValue: String {
        JSON.object([(name: "distance", value: .real(distance)), ("units", .string(unit.rawValue))])
            .jsonText
    }
}

/// Features.
public final class GeoprocessingFeatures: GeoprocessingParameter, @unchecked Sendable {
    /// The features; nil where a result has none.
    public let features: (any FeatureSet)?
    /// Their fields; empty where none are stated.
    public var fields: [Field] { features?.fields ?? [] }
    /// Their reference.
    public var spatialReference: SpatialReference? { features?.spatialReference }

    /// Makes a value of a set: a table of a ``FeatureCollection``, or what a query found.
    public init(features: any FeatureSet) { self.features = features }

    /// Makes a value of features.
    public init(features: [Feature], spatialReference: SpatialReference? = nil) {
        self.features = FeatureList(
            elements: features, fields: [],
            spatialReference: spatialReference
                ?? features.lazy.compactMap { $0.geometry?.spatialReference }.first)
    }

    init(_ json: JSON) {
        guard let list = json.member("features") else {
            features = nil
            return
        }
        let fields = Field.list(json["fields"])
        let reference = SpatialReference(json.member("spatialReference"))
        let reader = AttributeReader(fields)
        features = FeatureList(
            elements: list.elements.map { element in
                Feature(
                    geometry: Geometry.make(element.member("geometry"), reference),
                    attributes: reader.attributes(element["attributes"]), featureTable: nil)
            }, fields: fields, spatialReference: reference,
            geometryType: json.text("geometryType").flatMap(ServiceFeatureTable.type))
    }

    override var formValue: String {
        let elements = features?.elements ?? []
        let type = elements.lazy.compactMap { $0.geometry?.typeName }.first
        return JSON.object(of: [
            "geometryType": type.map { .string($0) },
            "spatialReference": spatialReference?.json,
            "fields": fields.isEmpty
                ? nil
                : .array(
                    fields.map { field in
                        .object(of: [
                            "name": .string(field.name), "alias": .string(field.alias),
                            "type": field.type.map { .string($0.rawValue) },
                        ])
                    }),
            "features": .array(
                elements.map { feature in
                    .object(of: [
                        "geometry": feature.geometry?.json,
                        "attributes": JSON(attribute: feature.attributes),
                    ])
                }),
        ]).jsonText
    }
}

/// A file: a local one is uploaded before the job is submitted; one of a server is fetched when an
/// app asks for it.
public final class GeoprocessingDataFile: GeoprocessingParameter, @unchecked Sendable {
    /// The file, local or on a server.
    public let url: URL
    /// The id of an upload; nil for none.
    public let inputItemID: String?

    /// A file.
    public init(url: URL) {
        self.url = url
        inputItemID = nil
    }

    /// A local file.
    public convenience init(fileURL: URL) { self.init(url: fileURL) }

    /// The local file; nil for one of a server.
    public var fileURL: URL? { url.isFileURL ? url : nil }
    /// The path of the local file; nil for one of a server.
    public var filePath: String? { fileURL?.path(percentEncoded: false) }

    /// An upload that is on the server already.
    public init(inputItemID: String, service: URL) {
        url = service
        self.inputItemID = inputItemID
    }

    override var formValue: String {
        if let inputItemID {
            return JSON.object([(name: "itemID", value: .string(inputItemID))]).jsonText
        }
        return JSON.object([(name: "url", value: .string(url.absoluteString))]).jsonText
    }

    /// Fetches the file to a place; a local one is copied.
    public func fetch(to target: URL) async throws {
        if url.isFileURL {
            do { try FileManager.default.copyItem(at: url, to: target) } catch {
                throw TransportError(
                    .file, "'\(url.path(percentEncoded: false))' cannot be copied: \(error)")
            }
            return
        }
        try await Download.fetch(Question(url), to: target)
    }

    /// The bytes of the file, as many as ``CairnEnvironment/memoryLimit`` allows.
    public func data() async throws -> Data {
        if url.isFileURL {
            do { return try Data(contentsOf: url) } catch {
                throw TransportError(
                    .file, "'\(url.path(percentEncoded: false))' cannot be read: \(error)")
            }
        }
        let response = try await Requester.stream(Question(url))
        return Data(
            try await response.body.collect(
                atMost: CairnEnvironment.settings.current.memoryLimit))
    }
}

/// What a task takes.
public final class GeoprocessingParameters: Sendable {
    /// How a task is executed.
    public enum ExecutionType: Sendable, Hashable {
        /// As a job that is submitted and asked for.
        case asynchronousSubmit
        /// In one request.
        case synchronousExecute
    }

    private struct Values: Sendable {
        var inputs: [String: GeoprocessingParameter] = [:]
        var outputReference: SpatialReference?
        var processReference: SpatialReference?
        var returnsZ = false
        var returnsM = false
    }

    /// How the task is executed.
    public let executionType: ExecutionType
    private let values = Guarded(Values())

    /// Parameters without values.
    public init(executionType: ExecutionType) { self.executionType = executionType }

    /// The values by name.
    public var inputs: [String: GeoprocessingParameter] { values.current.inputs }

    /// Sets a value; nil leaves it to the task's default.
    public func setInputValue(_ value: GeoprocessingParameter?, forKey key: String) {
        values.withLock { $0.inputs[key] = value }
    }

    /// The reference of results; nil for the task's.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputReference }
        set { values.withLock { $0.outputReference = newValue } }
    }

    /// The reference that the task works in; nil for its own.
    public var processSpatialReference: SpatialReference? {
        get { values.current.processReference }
        set { values.withLock { $0.processReference = newValue } }
    }

    /// Whether geometries of results have heights.
    public var returnsZ: Bool {
        get { values.current.returnsZ }
        set { values.withLock { $0.returnsZ = newValue } }
    }

    /// Whether geometries of results have measures.
    public var returnsM: Bool {
        get { values.current.returnsM }
        set { values.withLock { $0.returnsM = newValue } }
    }
}

/// What a task made.
public struct GeoprocessingResult: Sendable {
    /// The results by name.
    public let outputs: [String: GeoprocessingParameter]
    /// A layer of the map service that shows the results; nil where the service has none.
    public let mapImageLayer: ArcGISMapImageLayer?
}

/// A parameter as a task describes it.
public struct GeoprocessingParameterInfo: Sendable {
    /// Its name.
    public let name: String
    /// The name that people read.
    public let displayName: String
    /// What it is for.
    public let description: String
    /// The service's word for its type, as `GPString`.
    public let dataType: String
    /// Whether it has to be given.
    public let isRequired: Bool
    /// The directions of a parameter.
    public enum Direction: Sendable, Hashable { case input, output }
    /// Whether it is taken or given.
    public let direction: Direction
    /// Whether it is a result.
    public var isOutput: Bool { direction == .output }
    /// The texts that it may be; empty for any.
    public let choiceList: [String]
    /// What it is unless it is given; nil for none.
    public let defaultValue: GeoprocessingParameter?
}

/// What a geoprocessing task says of itself.
public struct GeoprocessingInfo: Sendable {
    /// Its name.
    public let name: String
    /// The name that people read.
    public let displayName: String
    /// What it does; empty where it does not say.
    public let description: String
    /// How it is executed.
    public let executionType: GeoprocessingParameters.ExecutionType
    /// Its parameters by their names.
    public let parameterInfos: [String: GeoprocessingParameterInfo]
    /// A page about it; nil for none.
    public let helpURL: URL?
}

/// A task of a geoprocessing service.
public final class GeoprocessingTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/Jobs/GPServer/BatchGeocode`.
    public let url: URL
    private let described = Guarded<
        (infos: [GeoprocessingParameterInfo], task: GeoprocessingInfo?)
    >(
        (infos: [], task: nil))

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// The parameters that it takes and gives; empty before it is loaded.
    public var parameterInfos: [GeoprocessingParameterInfo] { described.current.infos }
    /// What it says of itself; nil before it is loaded.
    public var info: GeoprocessingInfo? { described.current.task }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        guard let list = json.member("parameters") else {
            throw CairnError(
                .invalidDocument, "\(url.withoutQuery.absoluteString) is no geoprocessing task")
        }
        let infos = list.elements.compactMap { element -> GeoprocessingParameterInfo? in
            guard let name = element.text("name") else { return nil }
            return GeoprocessingParameterInfo(
                name: name, displayName: element.text("displayName") ?? name,
                description: element.text("description") ?? "",
                dataType: element.text("dataType") ?? "GPString",
                isRequired: element.text("parameterType") == "esriGPParameterTypeRequired",
                direction: element.text("direction") == "esriGPParameterDirectionOutput"
                    ? .output : .input,
                choiceList: (element["choiceList"]?.elements ?? []).compactMap(\.text),
                defaultValue: GeoprocessingOutputs.value(
                    element.member("defaultValue"), element.text("dataType") ?? "GPString", url))
        }
        let name = json.text("name") ?? url.lastPathComponent
        described.current = (
            infos,
            GeoprocessingInfo(
                name: name, displayName: json.text("displayName") ?? name,
                description: json.text("description") ?? "",
                executionType: json.text("executionType") == "esriExecutionTypeSynchronous"
                    ? .synchronousExecute : .asynchronousSubmit,
                parameterInfos: Dictionary(
                    infos.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
                helpURL: json.text("helpUrl").flatMap { URL(string: $0) })
        )
    }

    /// Parameters with the task's default values.
    public func makeDefaultParameters() async throws -> GeoprocessingParameters {
        try await load()
        let parameters = GeoprocessingParameters(
            executionType: info?.executionType ?? .asynchronousSubmit)
        for info in parameterInfos where !info.isOutput {
            guard let made = info.defaultValue else { continue }
            // A file without a place is no default.
            if made is GeoprocessingDataFile { continue }
            parameters.setInputValue(made, forKey: info.name)
        }
        return parameters
    }

    /// A job; asks nothing.
    public func makeJob(parameters: GeoprocessingParameters) -> GeoprocessingJob {
        GeoprocessingJob(url: url, parameters)
    }
}

/// A job of a geoprocessing task.
public final class GeoprocessingJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "Geoprocessing"

    convenience init(url: URL, _ parameters: GeoprocessingParameters) {
        var ticket = JobTicket(kind: Self.kind, url: url)
        var files: [(name: String, value: JSON)] = []
        for (name, value) in parameters.inputs.sorted(by: { $0.key < $1.key }) {
            if let file = value as? GeoprocessingDataFile, file.url.isFileURL {
                files.append((name, .string(file.url.path(percentEncoded: false))))
            } else {
                ticket.parameters.append((name, value.formValue))
            }
        }
        if let reference = parameters.outputSpatialReference {
            ticket.parameters.append(("env:outSR", reference.parameter))
        }
        if let reference = parameters.processSpatialReference {
            ticket.parameters.append(("env:processSR", reference.parameter))
        }
        if parameters.returnsZ { ticket.parameters.append(("returnZ", "true")) }
        if parameters.returnsM { ticket.parameters.append(("returnM", "true")) }
        let isSynchronous = parameters.executionType == .synchronousExecute
        ticket.details = .object(of: [
            "files": .object(files), "isSynchronous": isSynchronous ? .bool(true) : nil,
        ])
        self.init(ticket: ticket, work: Self.work(ticket))
    }

    static func work(_ ticket: JobTicket) -> any JobWork {
        ticket.details["isSynchronous"]?.flag == true
            ? SynchronousWork()
            : TaskWork(base: GeoprocessingWork(collect: GeoprocessingOutputs.collect))
    }

    /// The results, by name.
    public var output: GeoprocessingResult {
        get async throws {
            let json = try await finalAnswer()
            var outputs: [String: GeoprocessingParameter] = [:]
            for result in json.elements {
                guard let name = result.text("paramName"),
                    let value = GeoprocessingOutputs.value(
                        result.member("value"), result.text("dataType") ?? "GPString",
                        ticket.current.url)
                else { continue }
                outputs[name] = value
            }
            let layer = json.elements.lazy.compactMap { $0.text("mapService") }
                .compactMap { URL(string: $0) }.first
                .map { ArcGISMapImageLayer(url: $0) }
            return GeoprocessingResult(outputs: outputs, mapImageLayer: layer)
        }
    }
}

/// Reads values of results.
enum GeoprocessingOutputs {
    static func value(_ json: JSON?, _ type: String, _ base: URL) -> GeoprocessingParameter? {
        guard let json, !json.isNull else { return nil }
        switch type {
        case "GPString", "GPSQLExpression", "GPField":
            return json.text.map { GeoprocessingString(value: $0) }
        case "GPDouble": return json.number.map { GeoprocessingDouble(value: $0) }
        case "GPLong": return json.int.map { GeoprocessingLong(value: $0) }
        case "GPBoolean": return json.flag.map { GeoprocessingBoolean(value: $0) }
        case "GPDate":
            return json.number.map { GeoprocessingDate(value: Date(millisecondsSince1970: $0)) }
        case "GPLinearUnit":
            return json["distance"]?.number.map {
                GeoprocessingLinearUnit(
                    distance: $0,
                    unit: json.text("units").flatMap { GeoprocessingLinearUnit.Unit(rawValue: $0) }
                        ?? .unknown)
            }
        case "GPDataFile", "GPRasterData":
            let text = json.text("url") ?? json.text
            // A server has no result on the app's own disk.
            guard let text, !text.isEmpty, let url = URL(string: text, relativeTo: base),
                url.origin != nil
            else { return nil }
            return GeoprocessingDataFile(url: url.absoluteURL)
        case "GPFeatureRecordSetLayer", "GPRecordSet": return GeoprocessingFeatures(json)
        default: return json.text.map { GeoprocessingString(value: $0) }
        }
    }

    /// The results of a job, each as the service gives it.
    static let collect: ResultCollector =
        { ticket, answer, _ in
            let place = ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
            var results: [JSON] = []
            for (name, entry) in answer.json["results"]?.members ?? [] {
                let part = entry.text("paramUrl") ?? "results/\(name)"
                let result = try await Requester.json(Question(place.below(part)))
                let value = result.member("value")
                if ["GPDataFile", "GPRasterData"].contains(result.text("dataType")),
                    let text = value?.text("url") ?? value?.text, !text.isEmpty,
                    URL(string: text, relativeTo: place)?.origin == nil
                {
                    throw TransportError(
                        .invalidAnswer,
                        "\(place.withoutQuery.absoluteString): the result '\(name)' is at "
                            + "'\(text.prefix(200))', expected http or https")
                }
                results.append(result)
            }
            if let service = await mapService(ticket) {
                results.append(
                    .object([(name: "mapService", value: .string(service.absoluteString))]))
            }
            return .array(results)
        }

    /// The map service of a job's results, `…/NAME/MapServer/jobs/ID`; nil where the service says
    /// that it has none, or nothing.
    private static func mapService(_ ticket: JobTicket) async -> URL? {
        let service = ticket.url.above
        guard service.lastPathComponent == "GPServer", let job = ticket.serverJobID,
            let json = try? await ServiceDescriptions.shared.description(of: service),
            let name = json.text("resultMapServerName")?.orNil
        else { return nil }
        // A name is beside the service, one with its folder below the services.
        let path = service.withoutQuery.absoluteString
        let root =
            name.contains("/") ? path.range(of: "/services/").map { path[..<$0.upperBound] } : nil
        let base = root.flatMap { URL(string: String($0)) } ?? service.above.above
        return base.below("\(name)/MapServer/jobs/\(job)")
    }
}

/// A job whose local files are uploaded before it is submitted.
private struct TaskWork: JobWork {
    let base: GeoprocessingWork

    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] {
        if let prepared = ticket.prepared { return prepared }
        var prepared: [(name: String, value: String)] = []
        for (name, path) in ticket.details["files"]?.members ?? [] {
            let file = URL(filePath: path.text ?? "")
            guard FileManager.default.isReadableFile(atPath: file.path(percentEncoded: false))
            else {
                throw TransportError(
                    .file, "parameter '\(name)': '\(path.text ?? "")' cannot be read")
            }
            prepared.append((name, try await Uploads.upload(file, to: ticket.url.above)))
        }
        return prepared
    }

    func submit(_ ticket: JobTicket) async throws -> String { try await base.submit(ticket) }
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool {
        try await base.isSubmittedOnce(ticket)
    }
    func poll(_ ticket: JobTicket) async throws -> JobAnswer { try await base.poll(ticket) }
    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer { try await base.news(ticket, deliver: deliver) }
    func cancel(_ ticket: JobTicket) async throws { try await base.cancel(ticket) }
    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON { try await base.finish(ticket, answer, say: say) }
}

/// Uploads of a service.
enum Uploads {
    /// Uploads a file; the value of the parameter that names it.
    static func upload(_ file: URL, to service: URL) async throws -> String {
        var question = Question(service.below("uploads/upload"), ["f": "json"])
        question.file = (file, "file")
        let json = try await Requester.json(question)
        guard let id = json["item"]?.text("itemID") ?? json["item"]?.text("itemId") else {
            throw TransportError(
                .invalidAnswer,
                "\(service.withoutQuery.absoluteString)/uploads/upload: expected an itemID")
        }
        return JSON.object([(name: "itemID", value: .string(id))]).jsonText
    }
}

/// A task that answers in one request.
private struct SynchronousWork: JobWork {
    func submit(_ ticket: JobTicket) async throws -> String { "execute" }
    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool { true }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        var question = Question(ticket.url.below("execute"))
        question.parameters = ticket.parameters
        for (name, path) in ticket.details["files"]?.members ?? [] {
            question.set(
                name, try await Uploads.upload(URL(filePath: path.text ?? ""), to: ticket.url.above)
            )
        }
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        let messages = (json["messages"]?.elements ?? []).compactMap { $0.text("description") }
        return JobAnswer(
            state: .succeeded, percent: 100,
            messages: messages.map {
                JobMessage(
                    text: $0, severity: .info,
                    timestamp: CairnEnvironment.settings.current.clock())
            }, json: json)
    }

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer { try await poll(ticket) }

    func cancel(_ ticket: JobTicket) async throws {
        throw CairnError.unsupported("cancel of a synchronous execution", by: ticket.url)
    }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON { answer.json["results"] ?? .array([]) }
}
