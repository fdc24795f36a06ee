// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Site

extension GatewayService {
    func jobService(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: JobResource.root())
    }

    /// Answers a GET; a POST is streamed by `GatewayServer`.
    func upload(_ call: Call) async throws(Failure) -> GatewayResponse {
        throw Failure(.invalidParameter, "an upload is a POST with a file in its body")
    }

    func task(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: JobResource.task(try Self.task(call.captures.task)))
    }

    func submit(_ call: Call) async throws(Failure) -> GatewayResponse {
        let job = try await submit(
            try Self.task(call.captures.task), call.parameters, call.caller, asking: call)
        return GatewayResponse(body: JobResource.receipt(job), sequence: job.sequence)
    }

    func estimateJob(_ call: Call) async throws(Failure) -> GatewayResponse {
        let task = try TileExportEstimate.task(try Self.task(call.captures.task).kind)
        let order = try await resolved(
            try JobResource.order(task, call.parameters), try jobsBackend(), call.caller)
        try JobResource.checkNames(task, call.parameters)
        let estimate = try await estimate(task, order.parameters.texts, call.caller)
        return GatewayResponse(body: JobResource.estimate(estimate))
    }

    func listJobs(_ call: Call) async throws(Failure) -> GatewayResponse {
        let task = try Self.task(call.captures.task)
        let mayBeSeen = try await jobsBackend().jobs().filter { job in
            job.kind == task.kind && call.caller.maySee(job, holdsID: false)
        }
        return GatewayResponse(body: JobResource.list(mayBeSeen))
    }

    func listAllJobs(_ call: Call) async throws(Failure) -> GatewayResponse {
        let offset = try call.parameters.integer(Known.resultOffset)
        let most = try call.parameters.integer(Known.jobCount)
        let visible = try await jobsBackend().jobs().filter { job in
            call.caller.maySee(job, holdsID: false)
        }
        return GatewayResponse(body: JobResource.list(visible, offset: offset, most: most))
    }

    /// Submits a job for the caller.
    ///
    /// Inputs that the caller may not read are refused before anything about them is revealed, and
    /// nothing is revealed about the uploads of others.
    func submit(
        _ task: JobKindDescription, _ parameters: Parameters, _ caller: Caller,
        asking call: Call? = nil
    ) async throws(Failure) -> JobDescription {
        let backend = try jobsBackend()
        var order = try JobResource.order(task, parameters)
        try caller.check(
            reading: task.services(order.parameters), pasts: task.pasts(order.parameters))
        try JobResource.checkNames(task, parameters)
        if let text = order.parameters.texts[NetworkTasks.outputReference] {
            _ = try Self.reference(text)
        }
        order = try await resolved(order, backend, caller)
        if let call { order = try await withFeatures(order, call, backend) }
        let clientID = parameters[Known.clientId]
        let known = try clientID.map { text throws(Failure) in try Self.jobID(text, of: caller) }
        // Before the input, which may have been swept since.
        if let clientID, let known,
            let job = try await repeated(known, clientID, task, order, backend)
        {
            return job
        }
        let input = try await input(order, of: task, backend, caller)
        let submission = JobSubmission(
            id: known ?? JobID(rawValue: .unguessable()), kind: task.kind,
            parameters: order.parameters.texts, input: input, actor: caller.actor)
        do throws(Failure) {
            return try await record(submission, by: caller, backend)
        } catch {
            // Another submission of the id has arrived meanwhile.
            guard error.code == .conflict, let clientID, let known,
                let job = try await repeated(known, clientID, task, order, backend)
            else { throw error }
            return job
        }
    }

    /// The order with its features as a file of the caller's; those of a layer are asked for the
    /// caller.
    ///
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) with the parameter, `quotaExceeded`.
    private func withFeatures(
        _ order: JobResource.Order, _ call: Call, _ backend: any GatewayJobs
    ) async throws(Failure) -> JobResource.Order {
        guard !order.features.isEmpty else { return order }
        var order = order
        for index in order.features.indices {
            let given = order.features[index]
            guard let text = given.texts.first, let url = JobFeatures.query(text) else { continue }
            order.isOfLayer = true
            let name = given.input.name
            do throws(Failure) {
                order.features[index].texts = try await pages(
                    of: url, for: call, atMost: given.input.mostFeatures)
            } catch {
                throw Failure(
                    error.code, "parameter '\(name)': \(error.message)", details: error.details)
            }
        }
        let given = order.features
        let bytes = try await OwnThread.run("features") { () throws(Failure) in
            try JobFeatures.geoJSON(given)
        }.get()
        try await checkRoom(for: Int64(bytes.count), of: call.caller, backend)
        let (uploads, blobs, owner) = (backend.uploads, backend.blobs, call.caller.uploader)
        let blob = try await OwnThread.run("features") { () throws(Failure) in
            let blob = try blobs.put(Data(bytes), mediaType: MediaType.geoJSON.rawValue)
            try uploads.note(blob.id, of: owner)
            return blob
        }.get()
        order.itemID = blob.id.rawValue
        return order
    }

    /// Length of a client's id from which on it is taken for a secret.
    private static let secretLength = 32

    /// The job that the caller knows by an id of its own.
    ///
    /// A job submitted without a token belongs to the holder of its id, so what that follows from
    /// must not be guessed.
    private static func jobID(
        _ clientID: String, of caller: Caller
    ) throws(Failure) -> JobID {
        let name = Known.clientId.name
        do throws(Failure) {
            let id = try JobID(clientID: clientID, of: caller.actor)
            guard caller.actor != Caller.anonymousActor || clientID.utf8.count >= secretLength
            else {
                throw Failure(
                    .invalidParameter,
                    "without a token the id is the key to the job: expected \(secretLength) random "
                        + "letters and digits or more")
            }
            return id
        } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
    }

    /// The job that was submitted under a client's id; nil where there is none yet.
    ///
    /// Throws `conflict` for an id that was used for something else.
    private func repeated(
        _ id: JobID, _ clientID: String, _ task: JobKindDescription, _ order: JobResource.Order,
        _ backend: any GatewayJobs
    ) async throws(Failure) -> JobDescription? {
        let job: JobDescription
        do throws(Failure) { job = try await backend.job(id) } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
        let difference = job.difference(
            kind: task.kind, parameters: order.parameters.texts,
            input: order.isOfLayer
                ? job.input?.id : order.itemID.flatMap { ContentID(rawValue: $0) })
        if let difference {
            throw Failure(
                .conflict,
                "parameter '\(Known.clientId.name)': '\(clientID)' is the id of job \(id), which "
                    + "was "
                    + "submitted with \(difference): choose another id for another job")
        }
        return job
    }

    /// The input of an order, which is checked with the parameters before anything is recorded.
    private func input(
        _ order: JobResource.Order, of task: JobKindDescription, _ backend: any GatewayJobs,
        _ caller: Caller
    ) async throws(Failure) -> BlobReference? {
        var input: BlobReference?
        if let itemID = order.itemID {
            input = try await self.input(itemID, of: task, backend, caller)
        }
        var networks: [NetworkPublished]?
        if task.reads.contains(where: \.isOfNetworks) {
            // Of others the caller may not know.
            networks = try await self.backend.networks(minSequence: nil).filter {
                caller.may(.query, on: .network($0.name))
            }
        }
        let checked = JobOrder(
            kind: task.kind, parameters: order.parameters.texts, input: input,
            blobs: backend.blobs, networks: networks)
        try await OwnThread.run("check") { () throws(Failure) in try JobKinds.check(checked) }.get()
        return input
    }

    /// The upload that is a job's input; throws the same `notFound` for content that others have
    /// uploaded and for content that does not exist, also where a file of jobs names it.
    private func input(
        _ itemID: String, of task: JobKindDescription, _ backend: any GatewayJobs, _ caller: Caller
    ) async throws(Failure) -> BlobReference {
        let (uploads, blobs, owner) = (backend.uploads, backend.blobs, caller.uploader)
        return try await OwnThread.run("input") { () throws(Failure) in
            func own(_ id: String) throws(Failure) -> BlobReference {
                let found = ContentID(rawValue: id).flatMap { uploads.find($0, of: owner) }
                guard let found else {
                    throw Failure(
                        .notFound,
                        "parameter '\(JobResource.input)': you have uploaded nothing as "
                            + "'\(id.prefix(80))', or it was swept")
                }
                return found
            }
            let input = try own(itemID)
            if task.inputNamesBlobs {
                try Batch.forEachInput(of: input, in: blobs) { id throws(Failure) in
                    _ = try own(id.rawValue)
                }
            }
            return input
        }.get()
    }

    /// A job of a task; one hidden from the caller counts as missing.
    private func find(
        _ text: String, _ task: JobKindDescription, _ backend: any GatewayJobs, _ caller: Caller
    ) async throws(Failure) -> JobDescription {
        let unknown = Self.noJob(text, task)
        guard let id = JobID(text) else { throw unknown }
        let job: JobDescription
        do throws(Failure) { job = try await backend.job(id) } catch {
            throw error.code == .notFound ? unknown : error
        }
        guard job.kind == task.kind, caller.maySee(job, holdsID: true) else { throw unknown }
        return job
    }

    static func noJob(_ text: String, _ task: JobKindDescription) -> Failure {
        Failure(.notFound, "task \(task.kind.rawValue) has no job '\(text.prefix(80))'")
    }

    /// The job named in the path, with its task.
    func found(
        _ call: Call
    ) async throws(Failure) -> (JobDescription, JobKindDescription, any GatewayJobs) {
        let task = try Self.task(call.captures.task)
        let backend = try jobsBackend()
        return (try await find(call.captures.job, task, backend, call.caller), task, backend)
    }

    func jobStatus(_ call: Call) async throws(Failure) -> GatewayResponse {
        var (job, task, _) = try await found(call)
        if job.kind == .batch { job.subJobs = job.subJobs ?? [] }
        return GatewayResponse(
            body: JobResource.job(
                job, task,
                returnsMessages: try call.parameters.flag(Known.returnMessages)),
            sequence: job.sequence)
    }

    func cancelJob(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, _, backend) = try await found(call)
        // A client that cancels a job which is just ending gets its outcome.
        let cancelled =
            job.status.isTerminal
            ? job : try await backend.cancel(job.id, actor: call.caller.actor)
        return GatewayResponse(
            body: JobResource.receipt(cancelled), sequence: cancelled.sequence)
    }

    func followJob(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, task, _) = try await found(call)
        return try follow(job, as: .task(task), call, missing: Self.noJob(call.captures.job, task))
    }

    /// A stream of a job's changes.
    ///
    /// - Parameter missing: The end of the stream once the caller may no longer see the job.
    func follow(
        _ job: JobDescription, as form: JobForm, _ call: Call, missing: Failure
    ) throws(Failure) -> GatewayResponse {
        let backend = try jobsBackend()
        var response = GatewayResponse(body: [], sequence: job.sequence)
        let lastEvent = call.request.lastEventID
        // A browser reconnects after the end of a stream, unless the status says that there is no
        // more.
        if let lastEvent, job.status.isTerminal, lastEvent >= job.sequence {
            response.status = 204
            return response
        }
        response.contentType = "text/event-stream"
        response.changes = backend.follow(job.id, as: form, after: lastEvent ?? 0)
        response.isStillAdmitted = { [self] () throws(Failure) in
            let now = try permit(call.match, call.parameters, call.request.client)
            guard now.maySee(job, holdsID: true) else { throw missing }
        }
        return response
    }

    func jobResult(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, task, backend) = try await found(call)
        if let result = task.results.first(where: {
            $0.name.isEqualIgnoringCase(call.captures.text)
        }) {
            return try await self.result(result, of: job, call, backend)
        }
        if call.captures.text.isEqualIgnoringCase(JobResource.outputFeatures),
            let features = task.featureOutput
        {
            let product = try JobResource.product(JobResource.output, of: job)
            let (blobs, parameters) = (backend.blobs, call.parameters)
            let body = try await OwnThread.run("features") { () throws(Failure) in
                let reference = try PlaceReference(parameters)
                return try ProductFeatures(product, features, in: blobs).body(in: reference)
            }.get()
            return GatewayResponse(body: body, sequence: job.sequence)
        }
        return GatewayResponse(
            body: try JobResource.result(call.captures.text, of: job, at: call.request.origin),
            sequence: job.sequence)
    }

    func jobInput(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, task, _) = try await found(call)
        return GatewayResponse(
            body: try JobResource.input(call.captures.text, of: job, task), sequence: job.sequence)
    }

    func jobProduct(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, _, backend) = try await found(call)
        let blob = try JobResource.product(call.captures.text, of: job)
        return Self.file(blob, "\(job.kind.rawValue)-\(job.id)", job, backend)
    }

    func jobInputFile(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, _, backend) = try await found(call)
        let blob = try JobResource.inputFile(call.captures.text, of: job)
        return Self.file(blob, "\(job.kind.rawValue)-\(job.id)-input", job, backend)
    }

    /// A file of a job; clients keep it and revalidate it, caches between them do not.
    static func file(
        _ blob: BlobReference, _ name: String, _ job: JobDescription, _ backend: any GatewayJobs
    ) -> GatewayResponse {
        let file = GatewayFile(
            blobs: backend.blobs, blob: blob, name: name + blob.type.endings[0])
        var response = GatewayResponse(contentType: blob.type.contentType, body: [])
        response.headers = ["ETag": file.entityTag, "Cache-Control": "private, no-cache"]
        response.file = file
        response.sequence = job.sequence
        return response
    }

    static func task(_ name: String) throws(Failure) -> JobKindDescription {
        guard let task = JobKindDescription.named(name) else {
            throw Failure(.notFound, "Task \(name.prefix(80)) not found")
        }
        return task
    }

    func jobsBackend() throws(Failure) -> any GatewayJobs {
        guard let jobs = backend.jobs else {
            throw Failure(.notFound, "this gateway has no jobs")
        }
        return jobs
    }
}
