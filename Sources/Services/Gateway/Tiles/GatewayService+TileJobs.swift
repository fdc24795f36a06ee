// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Geometry
internal import JobKinds
internal import Site

// `exportTiles` and `estimateExportTilesSize` of a map's two tile services.
extension GatewayService {
    /// Whether the caller may have the tiles of maps exported.
    func exportsTiles(_ caller: Caller) -> Bool {
        backend.jobs != nil && caller.may(.jobs, on: .jobs)
    }

    private func order(
        _ call: Call, _ face: TileFace, isEstimate: Bool = false
    ) async throws(Failure) -> TileOrder {
        let name = try Self.mapName(call.captures.name)
        let found = try await backend.map(
            named: name, past: nil, minSequence: try call.parameters.minSequence())
        guard let found else { throw Self.noMap(call.captures.name) }
        // Of the map as it is now, also for an export of the past.
        let map = try await withShownExtents(found, Parameters([:]))
        let reference: SpatialReference =
            face == .vectors ? .webMercator : map.spatialReference ?? .webMercator
        return try TileOrder(
            call.parameters, face, isEstimate: isEstimate, map: name, reference: reference,
            fullExtent: TiledMap(map).extentInMeters)
    }

    // MARK: Exports

    func exportTiles(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        _ = try jobsBackend()
        var texts = try await order(call, face).texts
        texts[Known.clientId.name] = call.parameters[Known.clientId]
        let job = try await submit(face.task, Parameters(texts), call.caller)
        return GatewayResponse(body: JobResource.receipt(job), sequence: job.sequence)
    }

    /// The job of a path; one of another map or service, or hidden from the caller, counts as
    /// missing.
    private func tileJob(_ call: Call, _ face: TileFace) async throws(Failure) -> JobDescription {
        let unknown = Self.noTileJob(call, face)
        guard let id = JobID(call.captures.job) else { throw unknown }
        let job: JobDescription
        do throws(Failure) { job = try await jobsBackend().job(id) } catch {
            throw error.code == .notFound ? unknown : error
        }
        guard job.kind == face.task.kind, job.parameters["map"] == call.captures.name,
            call.caller.maySee(job, holdsID: true)
        else { throw unknown }
        return job
    }

    private static func noTileJob(_ call: Call, _ face: TileFace) -> Failure {
        Failure(
            .notFound,
            "\(call.captures.name.prefix(80))/\(face.service) has no job "
                + "'\(call.captures.job.prefix(80))'")
    }

    private static func estimate(_ call: Call) -> TileExportEstimate? {
        TileExportEstimate(id: call.captures.job)
    }

    func tileJobStatus(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        let returnsMessages = try call.parameters.flag(Known.returnMessages)
        if let estimate = Self.estimate(call) {
            return GatewayResponse(
                body: TileJobResource.job(estimate, returnsMessages: returnsMessages))
        }
        let job = try await tileJob(call, face)
        return GatewayResponse(
            body: TileJobResource.job(job, returnsMessages: returnsMessages),
            sequence: job.sequence)
    }

    func followTileJob(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        // There is no news of an estimate.
        if Self.estimate(call) != nil { return GatewayResponse(status: 204, body: []) }
        let job = try await tileJob(call, face)
        return try follow(job, as: .tiles, call, missing: Self.noTileJob(call, face))
    }

    func cancelTileJob(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        // An estimate has ended.
        if let estimate = Self.estimate(call) {
            return GatewayResponse(body: TileJobResource.receipt(estimate))
        }
        let job = try await tileJob(call, face)
        let cancelled =
            job.status.isTerminal
            ? job : try await jobsBackend().cancel(job.id, actor: call.caller.actor)
        return GatewayResponse(
            body: JobResource.receipt(cancelled), sequence: cancelled.sequence)
    }

    func tileJobResult(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        let name = call.captures.text
        guard name.isEqualIgnoringCase(TileJobResource.result) else {
            throw Failure(
                .notFound,
                "job \(call.captures.job.prefix(80)) has no result '\(name.prefix(80))'")
        }
        if let estimate = Self.estimate(call) {
            return GatewayResponse(body: TileJobResource.result(estimate))
        }
        let job = try await tileJob(call, face)
        _ = try Self.product(of: job)
        return GatewayResponse(
            body: TileJobResource.result(try Self.folder(of: job, call, face)),
            sequence: job.sequence)
    }

    /// Throws `conflict` while the job has no product.
    private static func product(of job: JobDescription) throws(Failure) -> BlobReference {
        try JobResource.product(JobResource.output, of: job)
    }

    /// URL of the list of a job's files.
    private static func folder(
        of job: JobDescription, _ call: Call, _ face: TileFace
    ) throws(Failure) -> String {
        (call.request.origin ?? "") + face.path(of: try mapName(call.captures.name))
            + "/jobs/\(job.id)/files"
    }

    func tileJobFiles(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        let job = try await tileJob(call, face)
        let product = try Self.product(of: job)
        let name = TileJobResource.fileName(of: try Self.mapName(call.captures.name), product)
        return GatewayResponse(
            body: TileJobResource.files(
                product, name, at: try Self.folder(of: job, call, face)),
            sequence: job.sequence)
    }

    func tileJobFile(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        let job = try await tileJob(call, face)
        let product = try Self.product(of: job)
        let map = try Self.mapName(call.captures.name)
        guard call.captures.text == TileJobResource.fileName(of: map, product) else {
            throw Failure(
                .notFound, "job \(job.id) has no file '\(call.captures.text.prefix(80))'")
        }
        return Self.file(
            product, TileJobResource.baseName(of: map), job, try jobsBackend())
    }

    // MARK: Estimates

    func estimateTiles(_ call: Call, _ face: TileFace) async throws(Failure) -> GatewayResponse {
        let order = try await order(call, face, isEstimate: true)
        let estimate = try await estimate(
            face.task, order.texts, call.caller, areaIn: order.areaName)
        return GatewayResponse(body: TileJobResource.receipt(estimate))
    }

    /// What an export for the caller comes to, by those of the same map alone: of others the caller
    /// may not know.
    func estimate(
        _ task: JobKindDescription, _ texts: [String: String], _ caller: Caller,
        areaIn name: String = "area"
    ) async throws(Failure) -> TileExportEstimate {
        let asked = try ParameterTexts(texts, of: task)
        try caller.check(reading: task.services(asked), pasts: task.pasts(asked))
        let jobs = try await jobsBackend().jobs()
            .filter { $0.parameters["map"] == asked.texts["map"] }
            .sorted { $0.sequence > $1.sequence }
        return try await OwnThread.run("estimate") { () throws(Failure) in
            try TileExportEstimate(task.kind, texts, after: jobs, areaIn: name)
        }.get()
    }
}
