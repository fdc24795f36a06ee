// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

extension GatewayService {
    /// The response in the form that is asked for.
    func shaped(
        _ response: GatewayResponse, _ format: Format, _ resource: Resource,
        _ parameters: Parameters, _ request: GatewayRequest
    ) async -> GatewayResponse {
        guard response.changes == nil, response.file == nil, ![204, 303].contains(response.status)
        else {
            return response
        }
        var shaped = response
        switch format {
        case .json, .unacceptable: break
        case .pretty: shaped.body = JSONWriter.pretty(response.body)
        case .page:
            shaped.body = await page(resource, parameters, request, response)
            shaped.contentType = "text/html;charset=UTF-8"
            shaped.headers.merge(Page.headers) { $1 }
        }
        return shaped
    }

    private func page(
        _ resource: Resource, _ parameters: Parameters, _ request: GatewayRequest,
        _ response: GatewayResponse
    ) async -> [UInt8] {
        let body =
            response.body.count <= Page.byteLimit
            ? response.body
            : ErrorBody.json(
                Failure(
                    .tooLarge,
                    "the answer has \(response.body.count) bytes, too many for a page: ask for "
                        + "fewer rows, or for JSON"))
        var page = Page(
            resource: resource,
            path: String(decoding: request.path.prefix(2_000), as: UTF8.self),
            parameters: parameters, answer: JSONTree(body) ?? .null,
            sequence: response.sequence, isStale: response.isStale)
        page.hasLeaflet = PageAsset.isLeaflet(in: leafletFolder)
        let snapshot = access.snapshot
        if parameters["token"] == nil, request.client.token == nil {
            page.session = snapshot.session(
                request.client, now: WallClock.microseconds() / 1_000)
        }
        if snapshot.rules != nil, response.user == nil, page.session == nil {
            page.offersLogin =
                resource.kind == .services || resource == .session(.login)
                || (resource == .generateToken && page.isRefused)
        }
        if case .session = resource {
            page.returnPath = (try? Parameters(query: [], form: request.form))?["returnTo"]
        } else if !request.isPost {
            let query = parameters.query(setting: "f", to: nil)
            page.returnPath = page.ownPath + (query.isEmpty ? "" : "?" + query)
        }
        page.returnPath = page.returnPath.flatMap { Self.isOwn($0) ? $0 : nil }
        switch resource {
        case .map(let name, .root), .map(let name, .layer(_)), .map(let name, .legend),
            .features(let name, .root), .features(let name, .layer(_)):
            page.related.legend = await tree(.map(name, .legend), parameters, request)
        case .map(let name, .query(let id)), .features(let name, .query(let id)),
            .map(let name, .feature(let id, _)), .features(let name, .feature(let id, _)):
            page.related.layer = await tree(.map(name, .layer(id)), parameters, request)
        default: break
        }
        return page.html()
    }

    /// What another resource answers to the same parameters; nil where the caller may not have it.
    private func tree(
        _ resource: Resource, _ parameters: Parameters, _ request: GatewayRequest
    ) async -> JSONTree? {
        guard let caller = try? permit(resource, parameters, request.client),
            let map = resource.mapName,
            let parameters = try? await sighted(parameters, caller, on: map)
        else { return nil }
        return JSONTree(await answer(resource, parameters, request, caller).body)
    }
}

extension Resource {
    /// Whether a person who asks nothing of it is shown the form to ask with.
    func isOnlyForm(_ parameters: Parameters) -> Bool {
        let neutral = ["f", "at", "historicMoment", "minSequence"] + Parameters.secrets
        let asksNothing = parameters.names.allSatisfy { name in
            neutral.contains { $0.isEqualIgnoringCase(name) }
        }
        switch self {
        case .map(_, .identify), .map(_, .query), .features(_, .query): return asksNothing
        case .locator(_, let part): return part != .root && asksNothing
        default: return false
        }
    }
}
