// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The outcome of beginning a request.
enum BegunIdentify {
    /// It needs the general path.
    case general
    /// It was answered immediately.
    case answered(GatewayResponse)
    /// It is in progress; `cancel` abandons it.
    case asked(cancel: @Sendable () -> Void)
}

extension GatewayService {
    /// Begins an identify without a task.
    ///
    /// If it is in progress, `completion` is called once, on any thread, with a closure that writes
    /// the answer; the closure can be called on any thread.
    func begin(
        _ plain: FastIdentifyRequest, _ client: RequestClient, by snapshot: AccessControl.Snapshot,
        _ completion: @escaping @Sendable (@escaping @Sendable () -> GatewayResponse) -> Void
    ) -> BegunIdentify {
        do throws(Failure) {
            let parameters = try Parameters(query: plain.query, form: [])
            if let format = parameters[Known.f], format != "json" { return .general }
            // Before it counts against the rate limit.
            if parameters.asksPast, try backend.presentSequenceAtHand() == nil { return .general }
            let requirement = Route.identify.requirement.requirement(
                of: Captures(name: plain.map))
            let caller = try admit(
                requirement, isChange: Route.identify.isChange, parameters, client, by: snapshot)
            guard let parameters = try sightedAtOnce(parameters, caller, on: plain.map) else {
                return .general
            }
            let exchange = try IdentifyExchange(
                map: plain.map, parameters, user: caller.user, isAudited: watch.audit != nil)
            if let answer = try backend.identifyAtOnce(exchange.request) {
                return .answered(exchange.response(to: answer))
            }
            let cancel = try backend.askIdentify(
                exchange.request, within: exchange.limit
            ) { outcome in
                completion {
                    do throws(Failure) {
                        return exchange.response(to: try outcome())
                    } catch {
                        return exchange.response(to: error)
                    }
                }
            }
            return .asked(cancel: cancel)
        } catch {
            return .answered(GatewayResponse(error.outside))
        }
    }
}

/// The gateway's translation of one identify: parameters to a request, the answer to a body.
struct IdentifyExchange: Sendable {
    let request: IdentifyRequest
    /// The client's time limit.
    let limit: Duration
    private let isTyped: Bool
    private let showsInside: Bool
    private let user: String?
    private let isAudited: Bool

    /// Throws `Failure` that names the offending parameter.
    init(
        map text: String, layer: LayerID? = nil, _ parameters: Parameters, user: String? = nil,
        isAudited: Bool = false
    ) throws(Failure) {
        self.user = user
        self.isAudited = isAudited
        request = try IdentifyResource.request(
            map: try GatewayService.mapName(text), layer: layer, parameters)
        showsInside = parameters.showsInside
        isTyped = try parameters.flag(Known.returnUnformattedValues)
        limit = try parameters.timeout()
    }

    func response(to failure: Failure) -> GatewayResponse {
        var response = GatewayResponse(showsInside ? failure : failure.outside)
        response.user = user
        return response
    }

    func response(to answer: IdentifyAnswer) -> GatewayResponse {
        let body = IdentifyResource.body(
            showsInside ? answer : answer.outside, returnGeometry: request.returnGeometry,
            isTyped: isTyped)
        var response = GatewayResponse(
            body: body, sequence: answer.sequence, isStale: answer.isStale)
        response.user = user
        if isAudited { response.audited = AuditScope(request, answer) }
        return response
    }
}
