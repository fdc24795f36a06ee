// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension GatewayService {
    func locator(_ call: Call) async throws(Failure) -> GatewayResponse {
        let name = call.captures.name
        guard let known = try await backend.locator(named: name) else {
            throw Failure(.notFound, "Service \(name.prefix(80))/GeocodeServer not found")
        }
        return GatewayResponse(body: GeocodeResource.root(known))
    }

    func findAddressCandidates(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let reference = try PlaceReference(parameters)
        let request = try GeocodeResource.request(locator: call.captures.name, parameters)
        let answer = try await backend.ask(.geocode, request, within: try parameters.timeout())
        return GatewayResponse(
            body: GeocodeResource.body(
                answer, outFields: OutFields(parameters[Known.outFields]), in: reference),
            isStale: answer.isStale)
    }

    func suggest(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let request = try GeocodeResource.suggestRequest(locator: call.captures.name, parameters)
        let answer = try await backend.ask(.suggest, request, within: try parameters.timeout())
        return GatewayResponse(body: GeocodeResource.body(answer), isStale: answer.isStale)
    }

    func reverseGeocode(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let reference = try PlaceReference(parameters)
        let request = try GeocodeResource.reverseRequest(locator: call.captures.name, parameters)
        let answer = try await backend.ask(.reverse, request, within: try parameters.timeout())
        return GatewayResponse(
            body: GeocodeResource.body(
                answer, outFields: OutFields(parameters[Known.outFields]), in: reference),
            isStale: answer.isStale)
    }

    /// Looks up every record, several concurrently; the first failure cancels the others.
    func geocodeAddresses(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let reference = try PlaceReference(parameters)
        let batch = try GeocodeBatch(locator: call.captures.name, parameters)
        let end = ContinuousClock.now + (try parameters.timeout())
        let outcomes = await outcomes(of: batch, until: end)
        let answers = try batch.answers(outcomes)
        return GatewayResponse(
            body: batch.body(
                answers, outFields: OutFields(parameters[Known.outFields]), in: reference),
            isStale: answers.contains { $0?.isStale == true })
    }

    private func outcomes(
        of batch: GeocodeBatch, until end: ContinuousClock.Instant
    ) async -> [GeocodeBatch.Outcome?] {
        await withTaskGroup(of: (Int, GeocodeBatch.Outcome).self) { [backend] group in
            var outcomes = [GeocodeBatch.Outcome?](repeating: nil, count: batch.records.count)
            var (next, underWay) = (0, 0)
            while true {
                while underWay < GeocodeBatch.concurrencyLimit, next < batch.records.count {
                    let index = next
                    next += 1
                    guard let request = batch.records[index].request else { continue }
                    underWay += 1
                    group.addTask {
                        (index, await GeocodeBatch.outcome(of: request, from: backend, until: end))
                    }
                }
                guard let (index, outcome) = await group.next() else { return outcomes }
                underWay -= 1
                outcomes[index] = outcome
                if outcome.endsTheBatch {
                    group.cancelAll()
                    return outcomes
                }
            }
        }
    }
}
