// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import JobKinds
internal import Platform
internal import Site

/// `Jobs/GPServer`: job kinds as tasks of one geoprocessing service, and the jobs themselves.
enum JobResource {
    /// The service's name in the catalog.
    static let serviceName = AccessRules.Grant.jobService
    /// Parameter with a job's input file.
    static let input = "input"
    /// Parameter with its product.
    static let output = "output"
    /// Parameter with its product as features.
    static let outputFeatures = "outputFeatures"
    /// Path from the root of the server.
    static let path = "/arcgis/rest/services/\(serviceName)/GPServer"

    // MARK: Submitting

    /// The parameters of `submitJob`.
    struct Order {
        /// With defaults for omitted parameters.
        var parameters: ParameterTexts
        /// The client's item id of the uploaded input; nil for a kind without an input.
        var itemID: String?
        /// The features that are the input; empty for a file.
        var features: [JobFeatures.Given] = []
        /// Whether they are those of a layer, which may have others when the order is repeated.
        var isOfLayer = false
    }

    /// Parameters of Esri's operation that change nothing here, and those that pages carry along.
    private static let ignored = [
        "f", "token", "csrf", "at", "historicMoment", "minSequence", "returnZ", "returnM",
        "returnTrueCurves", "returnFeatureCollection", "returnColumnName", "returnMessages",
        "context", "callback", clientID,
    ]
    /// Parameter with the client's own id of a job.
    static let clientID = Known.clientId.name

    /// Throws `invalidParameter` for a parameter that neither the task nor Esri's operation has,
    /// with the nearest one of the task.
    static func checkNames(
        _ task: JobKindDescription, _ parameters: Parameters
    ) throws(Failure) {
        let known =
            task.parameters.map(\.name) + task.features.map(\.name) + ignored
            + (task.input == nil ? [] : [input])
        for name in parameters.names where parameters[name] != nil {
            guard
                !known.contains(where: { $0.isEqualIgnoringCase(name) }),
                !name.lowercased().hasPrefix("env:")
            else { continue }
            throw ParameterTexts.unknown(name, of: task)
        }
    }

    /// Parses `submitJob`; throws `invalidParameter`.
    static func order(
        _ task: JobKindDescription, _ parameters: Parameters
    ) throws(Failure) -> Order {
        var texts: [String: String] = [:]
        for parameter in task.parameters {
            guard let text = parameters[parameter.name] else { continue }
            // Python writes True.
            texts[parameter.name] = parameter.type == .flag ? text.lowercased() : text
        }
        let normal = try ParameterTexts(texts, of: task)
        guard let summary = task.input else { return Order(parameters: normal) }
        let item = try parameters[input].flatMap { text throws(Failure) in try itemID(text) }
        let given = task.features.compactMap { feature -> JobFeatures.Given? in
            guard let text = parameters[feature.name], !JobFeatures.isEmpty(text) else {
                return nil
            }
            return JobFeatures.Given(input: feature, texts: [text])
        }
        guard let first = given.first else {
            guard let item else {
                let names = task.features.map { "'\($0.name)'" }.joined(separator: " and ")
                throw Failure(
                    .invalidParameter,
                    "parameter '\(input)' is missing: \(summary), as {\"itemID\":\"…\"} of an "
                        + "upload" + (names.isEmpty ? "" : ", or features as \(names)"))
            }
            return Order(parameters: normal, itemID: item)
        }
        guard item == nil else {
            throw Failure(
                .invalidParameter,
                "parameter '\(first.input.name)': expected none beside '\(input)', as a job has "
                    + "one input")
        }
        if let missing = task.features.first(where: { feature in
            feature.isRequired && !given.contains { $0.input.name == feature.name }
        }) {
            throw Failure(
                .invalidParameter,
                "parameter '\(missing.name)' is missing: \(missing.summary)")
        }
        return Order(parameters: normal, features: given)
    }

    /// The upload that a GPDataFile names: `{"itemID":"…"}`, or its id alone.
    ///
    /// Nil for `{"url":""}`, the default value that clients send for a file that is left out.
    private static func itemID(_ text: String) throws(Failure) -> String? {
        guard text.utf8.first == UInt8(ascii: "{") else { return text }
        let json = try RelaxedJSON.parse(text)
        guard case .string(let item)? = json["itemID"] else {
            if json == .object(["url": .string("")]) { return nil }
            throw Parameters.unexpected(input, text, "{\"itemID\":\"…\"} of an upload")
        }
        return item
    }

    // MARK: Jobs

    /// The answer to `submitJob` and `cancel`.
    static func receipt(_ job: JobDescription) -> [UInt8] {
        var json = JSONWriter()
        json.object { name(job, &$0) }
        return json.bytes
    }

    /// `{task}/estimate`.
    static func estimate(_ estimate: TileExportEstimate) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("tileCount", estimate.tileCount)
            json.member("byteCount", Int(estimate.byteCount))
            json.member("seconds", estimate.seconds)
            json.member("basis", estimate.basis.rawValue)
            json.member("jobCount", estimate.jobCount)
            json.member("description", estimate.text)
        }
        return json.bytes
    }

    /// Maximum number of jobs in a list.
    static let listBound = 100

    /// `{task}/jobs`: the newest first.
    static func list(_ jobs: [JobDescription]) -> [UInt8] {
        let newest = newestFirst(jobs)
        var json = JSONWriter()
        json.object { json in
            json.member("jobs", array: newest.prefix(listBound)) { json, job in
                json.object { json in
                    name(job, &json)
                    json.member("submitted", Int(job.submittedAt.microseconds / 1_000))
                    if job.status == .executing { progress(of: job, &json) }
                }
            }
            if newest.count > listBound { json.member("exceededTransferLimit", true) }
        }
        return json.bytes
    }

    /// `GPServer/jobs`: a part of the jobs of all tasks, the newest first.
    static func list(_ jobs: [JobDescription], offset: Int, most: Int) -> [UInt8] {
        let part = newestFirst(jobs).dropFirst(offset).prefix(min(most, listBound))
        var json = JSONWriter()
        json.object { json in
            json.member("jobs", array: part) { json, job in
                json.object { json in
                    name(job, &json)
                    json.member("taskName", job.kind.rawValue)
                    if let actor = job.actor { json.member("user", Caller.name(of: actor)) }
                    json.member("submitted", Int(job.submittedAt.microseconds / 1_000))
                    if let end = job.endedAt {
                        json.member("ended", Int(end.microseconds / 1_000))
                    }
                    if job.status == .executing { progress(of: job, &json) }
                }
            }
            json.member("count", jobs.count)
            if part.endIndex < jobs.count, !part.isEmpty {
                json.member("exceededTransferLimit", true)
            }
        }
        return json.bytes
    }

    private static func newestFirst(_ jobs: [JobDescription]) -> [JobDescription] {
        jobs.sorted { ($0.submittedAt, "\($0.id)") > ($1.submittedAt, "\($1.id)") }
    }

    /// Writes the id and the status.
    static func name(_ job: JobDescription, _ json: inout JSONWriter) {
        json.member("jobId", "\(job.id)")
        json.member("jobStatus", JobServerState(job.status).esriName)
    }

    /// `jobs/{id}`.
    static func job(
        _ job: JobDescription, _ task: JobKindDescription, returnsMessages: Bool,
        isOfNetwork: Bool = false
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            name(job, &json)
            json.member("results") { json in
                if job.result != nil {
                    for result in task.results {
                        json.member(result.name) {
                            $0.member("paramUrl", "results/" + result.name)
                        }
                    }
                    if !isOfNetwork {
                        json.member(output) { $0.member("paramUrl", "results/" + output) }
                    }
                    if task.featureOutput != nil {
                        json.member(outputFeatures) {
                            $0.member("paramUrl", "results/" + outputFeatures)
                        }
                    }
                }
            }
            json.member("inputs") { json in
                let file = job.input == nil || isOfNetwork ? [] : [input]
                let names = task.parameters.map(\.name).filter { name in
                    !name.hasPrefix(environment) && !(isOfNetwork && name == networkName)
                }
                for name in file + names {
                    json.member(name) { $0.member("paramUrl", "inputs/" + name) }
                }
            }
            json.key("messages")
            json.array { json in
                guard returnsMessages else { return }
                for message in job.messages { write(message, &json) }
            }
            if job.status == .executing { progress(of: job, &json) }
            if let subJobs = job.subJobs {
                json.member("subJobs", array: subJobs) { json, subJob in
                    json.object { json in
                        json.member("jobId", "\(subJob.id)")
                        json.member("taskName", subJob.kind.rawValue)
                        json.member("jobStatus", JobServerState(subJob.status).esriName)
                    }
                }
            }
        }
        return json.bytes
    }

    static func write(_ message: JobMessage, _ json: inout JSONWriter) {
        json.object { json in
            json.member("type", message.severity.esriName)
            json.member("description", message.outsideText ?? message.text)
            if let time = message.recordedAt {
                json.member("timestamp", Int(time.microseconds / 1_000))
            }
        }
    }

    /// Under both names that clients read.
    static func progress(of job: JobDescription, _ json: inout JSONWriter) {
        json.member("progress") { json in
            json.member("type", "default")
            json.member(
                "message",
                "\(job.completedChunkCount) of \(job.chunkCount) chunks"
                    + (job.isPaused ? ", paused" : ""))
            json.member("percent", Int(job.progress))
            json.member("percentage", Int(job.progress))
        }
    }

    /// `jobs/{id}/results/output`; throws `notFound` for any other name, `conflict` while there is
    /// no product.
    ///
    /// `origin` is the base of the product's URL; without it the URL is relative to the server's
    /// root.
    static func result(
        _ name: String, of job: JobDescription, at origin: String?
    ) throws(Failure) -> [UInt8] {
        _ = try product(name, of: job)
        var json = JSONWriter()
        json.object { json in
            json.member("paramName", output)
            json.member("dataType", "GPDataFile")
            json.member("value") { json in
                json.member(
                    "url",
                    (origin ?? "")
                        + "\(path)/\(job.kind.rawValue)/jobs/\(job.id)/results/\(output)/file")
            }
        }
        return json.bytes
    }

    /// The product as a file; throws as ``result(_:of:)``.
    static func product(_ name: String, of job: JobDescription) throws(Failure) -> BlobReference {
        guard name.isEqualIgnoringCase(output) else {
            throw Failure(.notFound, "job \(job.id) has no result '\(name.prefix(80))'")
        }
        guard let blob = job.result else {
            throw Failure(
                .conflict,
                "job \(job.id) has no result: it is \(JobServerState(job.status).esriName)")
        }
        return blob
    }

    /// The input as a file; throws `notFound` for a name that is not the input file's.
    static func inputFile(
        _ name: String, of job: JobDescription
    ) throws(Failure) -> BlobReference {
        guard name.isEqualIgnoringCase(input), let file = job.input else {
            throw Failure(.notFound, "job \(job.id) has no input file '\(name.prefix(80))'")
        }
        return file
    }

    /// `jobs/{id}/inputs/{name}`; throws `notFound`.
    static func input(
        _ name: String, of job: JobDescription, _ task: JobKindDescription
    ) throws(Failure) -> [UInt8] {
        var json = JSONWriter()
        if name.isEqualIgnoringCase(input), let file = job.input {
            json.object { json in
                json.member("paramName", input)
                json.member("dataType", "GPDataFile")
                json.member("value") { $0.member("itemID", file.id.rawValue) }
            }
            return json.bytes
        }
        guard let parameter = task.parameters.first(where: { $0.name.isEqualIgnoringCase(name) })
        else {
            throw Failure(.notFound, "job \(job.id) has no input '\(name.prefix(80))'")
        }
        json.object { json in
            json.member("paramName", parameter.name)
            json.member("dataType", parameter.type.esriType)
            json.key("value")
            let text = job.parameters[parameter.name] ?? parameter.defaultValue
            value(text, parameter.type, &json)
        }
        return json.bytes
    }

    /// The answer to `uploads/register` and `uploadPart`.
    static func registered(_ id: String, name: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("success", true)
            json.member("item") { json in
                json.member("itemID", id)
                json.member("itemName", name)
                json.member("description", "")
                json.member("committed", false)
            }
        }
        return json.bytes
    }

    /// `uploads/{itemID}/parts`.
    static func parts(_ numbers: [Int]) -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.member("parts", array: numbers) { $0.integer(Int64($1)) } }
        return json.bytes
    }

    /// The numbers of `parts`, nil for all; throws `invalidParameter`.
    static func partNumbers(_ parameters: Parameters) throws(Failure) -> [Int]? {
        guard let text = parameters[Known.parts] else { return nil }
        let numbers = text.split(separator: ",").map { Int($0.filter { $0 != " " }) ?? 0 }
        guard numbers.allSatisfy(UploadLedger.partNumbers.contains) else {
            throw Parameters.unexpected(
                Known.parts.name, text, "numbers from 1 to 10000 with commas")
        }
        return numbers
    }

    /// The answer to `uploads/upload`.
    static func uploaded(_ blob: BlobReference, name: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("success", true)
            json.member("item") { json in
                json.member("itemID", blob.id.rawValue)
                json.member("itemName", name)
                json.member("description", "")
                json.member("committed", true)
                json.member("size", Int(blob.byteCount))
            }
        }
        return json.bytes
    }
}
