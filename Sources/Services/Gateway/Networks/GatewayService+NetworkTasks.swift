// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import JobKinds
internal import NetworkSolve
internal import Platform
internal import Site

/// `{network}/GPServer`: the asynchronous analyses of a network under Esri's names, which are jobs
/// like any other.
extension GatewayService {
    func networkTasks(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: JobResource.root(of: try await networkOfTasks(call)))
    }

    /// The network of a call; throws `notFound`.
    private func networkOfTasks(_ call: Call) async throws(Failure) -> NetworkPublished {
        _ = try jobsBackend()
        let name = call.captures.name
        let networks = try await backend.networks(minSequence: nil)
        guard let network = networks.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
            throw Failure(.notFound, "Service \(name.prefix(80))/GPServer not found")
        }
        return network
    }

    private static func networkTask(_ call: Call) throws(Failure) -> JobKindDescription {
        let task = try task(call.captures.task)
        guard NetworkTasks.kinds.contains(task.kind) else {
            throw Failure(.notFound, "Task \(call.captures.task.prefix(80)) not found")
        }
        return task
    }

    func networkTask(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try await networkOfTasks(call)
        return GatewayResponse(
            body: JobResource.task(try Self.networkTask(call), isOfNetwork: true))
    }

    func submitNetworkTask(_ call: Call) async throws(Failure) -> GatewayResponse {
        let task = try Self.networkTask(call)
        var call = call
        for feature in task.features where feature.isRequired {
            let text = call.parameters[feature.name] ?? ""
            guard JobFeatures.isEmpty(text) else { continue }
            throw Failure(
                .invalidParameter, "parameter '\(feature.name)' is missing: \(feature.summary)")
        }
        call.parameters.set(JobResource.networkName, to: try await networkOfTasks(call).name)
        let job = try await submit(task, call.parameters, call.caller, asking: call)
        return GatewayResponse(body: JobResource.receipt(job), sequence: job.sequence)
    }

    func listNetworkJobs(_ call: Call) async throws(Failure) -> GatewayResponse {
        let task = try Self.networkTask(call)
        let visible = try await jobsBackend().jobs().filter { job in
            job.kind == task.kind && Self.isOf(call, job)
                && call.caller.maySee(job, holdsID: false)
        }
        return GatewayResponse(body: JobResource.list(visible))
    }

    private static func isOf(_ call: Call, _ job: JobDescription) -> Bool {
        job.parameters[JobResource.networkName]?.isEqualIgnoringCase(call.captures.name) == true
    }

    /// The job of a path; one of another network counts as missing.
    private func foundNetworkJob(
        _ call: Call
    ) async throws(Failure) -> (JobDescription, JobKindDescription, any GatewayJobs) {
        let task = try Self.networkTask(call)
        let found = try await found(call)
        guard Self.isOf(call, found.0) else { throw Self.noJob(call.captures.job, task) }
        return found
    }

    func networkJobStatus(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, task, _) = try await foundNetworkJob(call)
        return GatewayResponse(
            body: JobResource.job(
                job, task, returnsMessages: try call.parameters.flag(Known.returnMessages),
                isOfNetwork: true), sequence: job.sequence)
    }

    func cancelNetworkJob(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try await foundNetworkJob(call)
        return try await cancelJob(call)
    }

    func followNetworkJob(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try await foundNetworkJob(call)
        return try await followJob(call)
    }

    func networkJobInput(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try await foundNetworkJob(call)
        return try await jobInput(call)
    }

    func networkJobResult(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (job, task, backend) = try await foundNetworkJob(call)
        let name = call.captures.text
        guard let result = task.results.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
            throw Failure(.notFound, "job \(job.id) has no result '\(name.prefix(80))'")
        }
        return try await self.result(result, of: job, call, backend)
    }

    /// The reference that a job's parameter states for its results.
    static func reference(_ text: String) throws(Failure) -> PlaceReference {
        do throws(Failure) {
            return try PlaceReference(Parameters([Known.outSR.name: text]))
        } catch {
            throw Failure(
                error.code, "parameter '\(NetworkTasks.outputReference)': \(error.message)")
        }
    }

    /// One of the results that a job's product has as its members.
    func result(
        _ result: JobKindDescription.Result, of job: JobDescription, _ call: Call,
        _ backend: any GatewayJobs
    ) async throws(Failure) -> GatewayResponse {
        let product = try JobResource.product(JobResource.output, of: job)
        let (blobs, parameters) = (backend.blobs, call.parameters)
        let body = try await OwnThread.run("result") { () throws(Failure) in
            let member = try ProductMember(result, of: product, in: blobs)
            if parameters[Known.outSR] != nil {
                return try member.body(in: try PlaceReference(parameters))
            }
            guard let stated = job.parameters[NetworkTasks.outputReference] else {
                return member.body
            }
            return try member.body(in: try Self.reference(stated))
        }.get()
        return GatewayResponse(body: body, sequence: job.sequence)
    }
}
