// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform
internal import Site

extension GatewayService {
    /// The response in the requested form.
    func shaped(
        _ response: GatewayResponse, _ format: Format, _ call: Call
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
            shaped.body = await page(call, response)
            shaped.contentType = "text/html;charset=UTF-8"
            shaped.headers.merge(Page.headers) { $1 }
        }
        return shaped
    }

    private func page(
        _ call: Call, _ response: GatewayResponse
    ) async -> [UInt8] {
        let (view, request) = (call.route.view, call.request)
        var parameters = call.parameters
        // A page also shows forms of other resources.
        parameters.declaredNames = nil
        let body =
            response.body.count <= Page.byteLimit
            ? response.body
            : ErrorBody.json(
                Failure(
                    .tooLarge,
                    "the answer has \(response.body.count) bytes, too many for a page: ask for "
                        + "fewer rows, or for JSON"))
        var page = Page(
            route: call.route, captures: call.captures,
            path: String(decoding: request.path.prefix(2_000), as: UTF8.self),
            parameters: parameters, answer: JSONTree(body) ?? .null,
            sequence: response.sequence, isStale: response.isStale)
        page.hasLeaflet = PageAsset.isLeaflet(in: leafletFolder)
        let snapshot = access.snapshot
        if parameters[Known.token] == nil, request.client.token == nil {
            page.session = snapshot.session(
                request.client, now: WallClock.microseconds() / 1_000)
        }
        page.seesHistory = call.caller.may(.history, on: .map(call.captures.name))
        page.mayChangeRoads = call.caller.may(.edit, on: .network(call.captures.name))
        page.user = page.session?.user ?? response.user ?? call.caller.user
        if snapshot.rules != nil, page.user == nil {
            page.isAnonymous = true
            page.offersLogin =
                view.login == .offered || view.login == .offeredWhenRefused && page.isRefused
        }
        if call.route.style == .session {
            page.returnPath =
                (try? Parameters(query: request.query, form: request.form))?["returnTo"]
        } else if !request.isPost {
            let query = parameters.query(setting: "f", to: nil)
            page.returnPath = page.ownPath + (query.isEmpty ? "" : "?" + query)
        }
        page.returnPath = page.returnPath.flatMap { Self.isOwn($0) ? $0 : nil }
        switch view.related {
        case nil: break
        case .legend: page.related.legend = await tree(.legend, call)
        case .layer: page.related.layer = await tree(.mapLayer, call)
        case .layerAndCount:
            page.related.layer = await tree(.mapLayer, call)
            page.related.count = await count(page, call)
        }
        page.origin = request.origin
        if page.showsMap, view.mapScript == .map {
            page.related.locators = await locators(call)
            page.related.networks = await networks(call)
        }
        return page.html()
    }

    /// The locators that the caller may ask, in byte order.
    private func locators(_ call: Call) async -> [String] {
        guard let all = try? await backend.catalog().locators else { return [] }
        return all.filter { call.caller.may(.query, on: .locator($0)) }
    }

    /// The networks that the caller may ask, in byte order; none on a page of the past, which says
    /// a moment that routes would have to be of too.
    private func networks(_ call: Call) async -> [(name: String, mayChange: Bool)] {
        guard !call.parameters.asksPast, let all = try? await backend.networks(minSequence: nil)
        else { return [] }
        return all.map(\.name).filter { call.caller.may(.query, on: .network($0)) }.map {
            ($0, call.caller.may(.edit, on: .network($0)))
        }
    }

    /// The number of all rows of a query's page; nil where the page has no features.
    private func count(_ page: Page, _ call: Call) async -> Int64? {
        guard !page.isRefused, case .array(let rows)? = page.answer["features"] else { return nil }
        guard page.answer["exceededTransferLimit"]?.isTrue == true else {
            return Int64(page.offset + rows.count)
        }
        guard page.parameters[Known.outStatistics] == nil else { return nil }
        var parameters = page.parameters
        let changes: [(String, String?)] = [
            (Known.resultOffset.name, nil), (Known.resultRecordCount.name, nil), ("f", nil),
            (Known.returnCountOnly.name, "true"),
        ]
        for (name, value) in changes {
            let query = parameters.query(setting: name, to: value, keepsSecrets: true)
            guard let next = try? Parameters(query: Array(query.utf8), form: []) else { return nil }
            parameters = next
        }
        return await tree(call.route, call, parameters)?["count"]?.whole
    }

    /// The answer of another resource of the map to the same parameters, or to others; nil where
    /// the caller may not have it.
    private func tree(
        _ route: Route, _ call: Call, _ parameters: Parameters? = nil
    ) async -> JSONTree? {
        var call = call
        call.match = RouteMatch(route: route, captures: call.captures)
        if let parameters { call.parameters = parameters }
        call.parameters.declaredNames = route.declaredNames
        guard let caller = try? permit(call.match, call.parameters, call.request.client),
            let map = call.match.mapName,
            let parameters = try? await sighted(call.parameters, caller, on: map)
        else { return nil }
        (call.caller, call.parameters) = (caller, parameters)
        return JSONTree(await outcome(call).body)
    }
}

extension Call {
    /// Whether the page shows only its form: the request has no parameter of the resource.
    var isOnlyForm: Bool {
        let neutral = ["f", "at", "historicMoment", "minSequence"] + Parameters.secrets
        return route.view.isForm
            && parameters.names.allSatisfy { name in
                neutral.contains { $0.isEqualIgnoringCase(name) }
            }
    }
}
