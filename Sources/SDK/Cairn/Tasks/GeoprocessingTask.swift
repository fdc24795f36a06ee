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
    /// The length.
    public let distance: Double
    /// The unit, as `esriMeters`.
    public let unit: String
    /// Makes a value.
    public init(distance: Double, unit: String = "esriMeters") {
        self.distance = distance
        self.unit = unit
    }
    override var formValue: String {
        JSON.object([(name: "distance", value: .real(distance)), ("units", .string(unit))]).jsonText
    }
}

/// Features.
public final class GeoprocessingFeatures: GeoprocessingParameter, @unchecked Sendable {
    /// The features.
    public let features: [Feature]
    /// Their fields; empty where none are stated.
    public let fields: [Field]
    /// Their reference.
    public let spatialReference: SpatialReference?

    /// Makes a value.
    public init(features: [Feature], spatialReference: SpatialReference? = nil) {
        self.features = features
        fields = []
        self.spatialReference =
            spatialReference ?? features.lazy.compactMap { $0.geometry?.spatialReference }.first
    }

    init(_ json: JSON) {
        fields = Field.list(json["fields"])
        let reference = SpatialReference(json.member("spatialReference"))
        spatialReference = reference
        let reader = AttributeReader(fields)
        features = (json["features"]?.elements ?? []).map { element in
            Feature(
                geometry: Geometry.make(element.member("geometry"), reference),
                attributes: reader.attributes(element["attributes"]), featureTable: nil)
        }
    }

    override var formValue: String {
        JSON.object(of: [
            "geometryType": features.lazy.compactMap { $0.geometry?.typeName }.first
                .map { .string($0) },
            "spatialReference": spatialReference?.json,
            "features": .array(
                features.map { feature in
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
}

/// What a task made.
public struct GeoprocessingResult: Sendable {
    /// The results by name.
    public let outputs: [String: GeoprocessingParameter]
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
    /// Whether it is a result.
    public let isOutput: Bool
    /// The texts that it may be; empty for any.
    public let choiceList: [String]
    let defaultValue: JSON?
}

/// A task of a geoprocessing service.
public final class GeoprocessingTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/Jobs/GPServer/BatchGeocode`.
    public let url: URL
    private let described = Guarded<(infos: [GeoprocessingParameterInfo], isSynchronous: Bool)>(
        (infos: [], isSynchronous: false))

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// The parameters that it takes and gives; empty before it is loaded.
    public var parameterInfos: [GeoprocessingParameterInfo] { described.current.infos }

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
                isOutput: element.text("direction") == "esriGPParameterDirectionOutput",
                choiceList: (element["choiceList"]?.elements ?? []).compactMap(\.text),
                defaultValue: element.member("defaultValue"))
        }
        described.current = (
            infos, json.text("executionType") == "esriExecutionTypeSynchronous"
        )
    }

    /// Parameters with the task's default values.
    public func makeDefaultParameters() async throws -> GeoprocessingParameters {
        try await load()
        let parameters = GeoprocessingParameters(
            executionType: described.current.isSynchronous
                ? .synchronousExecute : .asynchronousSubmit)
        for info in parameterInfos where !info.isOutput {
            guard let value = info.defaultValue,
                let made = GeoprocessingOutputs.value(value, info.dataType, url)
            else { continue }
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
            return GeoprocessingResult(outputs: outputs)
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
                    distance: $0, unit: json.text("units") ?? "esriUnknownUnits")
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
            return .array(results)
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
