// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import JobKinds
internal import Site

extension GatewayService {
    func jobs(
        _ part: Resource.JobPart, _ parameters: Parameters, _ caller: Caller,
        _ request: GatewayRequest
    ) async throws(Failure) -> GatewayResponse {
        switch part {
        case .root: return GatewayResponse(body: JobResource.root())
        case .upload:
            throw Failure(
                .invalidParameter, "an upload is a POST with a file in its body")
        case .task(let name): return GatewayResponse(body: JobResource.task(try Self.task(name)))
        case .submit(let name):
            let backend = try jobsBackend()
            let submission = try JobResource.submission(try Self.task(name), parameters) {
                backend.blobs.find($0)
            }
            try caller.check(job: submission.kind, submission.parameters)
            let job = try await backend.submit(submission)
            return GatewayResponse(body: JobResource.receipt(job), sequence: job.sequence)
        case .jobs(let name):
            let task = try Self.task(name)
            let mayBeSeen = try await jobsBackend().jobs().filter { job in
                job.kind == task.kind && caller.maySee(job)
            }
            return GatewayResponse(body: JobResource.list(mayBeSeen))
        case .job(let name, let id, let part):
            return try await self.job(
                try Self.task(name), id, part, parameters, caller, request)
        }
    }

    private func job(
        _ task: JobKindDescription, _ text: String, _ part: Resource.JobPart.Detail,
        _ parameters: Parameters, _ caller: Caller, _ request: GatewayRequest
    ) async throws(Failure) -> GatewayResponse {
        let unknown = Failure(
            .notFound, "task \(task.kind.rawValue) has no job '\(text.prefix(80))'")
        guard let id = JobID(text) else { throw unknown }
        let backend = try jobsBackend()
        let job = try await backend.job(id)
        guard job.kind == task.kind else { throw unknown }
        try caller.check(job: job.kind, job.parameters)
        var response = GatewayResponse(body: [], sequence: job.sequence)
        switch part {
        case .status:
            response.body = JobResource.job(
                job, task,
                returnsMessages: try parameters.flag("returnMessages", default: true))
        case .cancel:
            // A client that cancels a job which ends just now wants to know how it ended.
            let cancelled =
                job.status.isTerminal ? job : try await backend.cancel(id)
            response.body = JobResource.receipt(cancelled)
            response.sequence = cancelled.sequence
        case .follow:
            // A browser asks again after the end of a stream, unless it is told that there is no more.
            let lastEvent = request.lastEventID
            if let lastEvent, job.status.isTerminal, lastEvent >= job.sequence {
                response.status = 204
            } else {
                response.contentType = "text/event-stream"
                response.changes = backend.follow(id, as: task, after: lastEvent ?? 0)
            }
        case .result(let name):
            response.body = try JobResource.result(
                name, of: job, at: request.origin)
        case .input(let name): response.body = try JobResource.input(name, of: job, task)
        case .product(let name):
            let blob = try JobResource.product(name, of: job)
            response.contentType = task.outputContentType
            response.file = GatewayFile(
                blobs: backend.blobs, blob: blob,
                name: "\(job.kind.rawValue)-\(job.id)" + task.outputSuffix)
        }
        return response
    }

    private static func task(_ name: String) throws(Failure) -> JobKindDescription {
        guard
            let task = JobKindDescription.all.first(where: {
                $0.kind.rawValue.isEqualIgnoringCase(name)
            })
        else {
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

extension Caller {
    /// Whether they may read everything that it works on.
    fileprivate func maySee(_ job: JobDescription) -> Bool {
        do throws(Failure) {
            try check(job: job.kind, job.parameters)
            return true
        } catch {
            return false
        }
    }
}

extension JobKindDescription {
    /// Text of other types is UTF-8 by their definitions; of `text/csv` a client has to be told (RFC 7111).
    var outputContentType: String {
        outputMediaType + (outputMediaType.hasPrefix("text/") ? "; charset=utf-8" : "")
    }

    fileprivate var outputSuffix: String { outputMediaType == "text/csv" ? ".csv" : ".jsonl" }
}
