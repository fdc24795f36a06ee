// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import NetworkSolve

extension GatewayService {
    /// The parameters that name places or barriers.
    private static let placeParameters = [
        Known.stops, Known.incidents, Known.facilities, Known.origins, Known.destinations,
        Known.barriers, Known.polylineBarriers, Known.polygonBarriers,
    ]

    /// The call with the features that its parameters name by `{"url":"…/query?…"}`: a query of a
    /// layer of this site, which is asked for the caller.
    ///
    /// Throws `Failure` (`invalidParameter`) with the parameter, for another URL and for a query
    /// that fails.
    func withPlacesByURL(_ call: Call) async throws(Failure) -> Call {
        var call = call
        for parameter in Self.placeParameters
        where call.route.parameters.contains(where: { $0.name == parameter.name }) {
            guard let text = call.parameters[parameter], text.contains("\"url\""),
                case .string(let url)? = try? RelaxedJSON.parse(text)["url"], !url.isEmpty
            else { continue }
            do throws(Failure) {
                call.parameters.set(parameter.name, to: try await features(of: url, for: call))
            } catch {
                throw Failure(
                    .invalidParameter, SolveFailure.title,
                    details: ["parameter '\(parameter.name)': \(error.message)"] + error.details)
            }
        }
        return call
    }

    /// The body of a query's answer; throws `tooLarge` where it does not hold all features.
    private func features(of url: String, for call: Call) async throws(Failure) -> String {
        let page = try await page(of: url, for: call)
        guard !page.isCut else {
            throw Failure(
                .tooLarge,
                "'\(url.prefix(200))': the layer has more features than one answer: expected a "
                    + "query of fewer")
        }
        return page.text
    }

    /// An answer to a query of a layer of this site, which is asked for the caller.
    private struct QueryPage {
        var text: String
        /// How many features it has.
        var count: Int
        /// Whether the layer has more.
        var isCut: Bool
        var sequence: Int64?
    }

    /// How often the answers to a query are read anew when the layer has changed between them.
    private static let readingLimit = 3

    /// The bodies of the answers that hold all features of a query, as of one state of the layer.
    ///
    /// Throws `Failure`: `invalidParameter` as ``withPlacesByURL(_:)`` does, `tooLarge` for more
    /// features than `most`, `conflict` where the layer changes all the time.
    func pages(
        of url: String, for call: Call, atMost most: Int
    ) async throws(Failure) -> [String] {
        for _ in 0..<Self.readingLimit {
            var pages = [try await page(of: url, for: call)]
            while let last = pages.last, last.isCut, last.count > 0 {
                let count = pages.reduce(0) { $0 + $1.count }
                guard count <= most else { break }
                pages.append(try await page(of: url, for: call, after: count))
            }
            let count = pages.reduce(0) { $0 + $1.count }
            guard count <= most, pages.last?.isCut == false else {
                throw Failure(
                    .tooLarge,
                    "'\(url.prefix(200))': the layer has more than \(most) features, which is the "
                        + "most: expected a query of fewer")
            }
            if Set(pages.map(\.sequence)).count == 1 { return pages.map(\.text) }
        }
        throw Failure(
            .conflict, "'\(url.prefix(200))': the layer changes while it is read: try again")
    }

    /// - Parameter count: How many features are passed over.
    private func page(
        of url: String, for call: Call, after count: Int = 0
    ) async throws(Failure) -> QueryPage {
        let unexpected = Failure(
            .invalidParameter,
            "'\(url.prefix(200))': expected a query of a layer of this site, "
                + "…/MapServer/0/query?…")
        guard let path = path(of: url, for: call) else { throw unexpected }
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let match = RouteTable.shared.match(Array(parts[0].utf8))
        let isQuery = ["mapQuery", "featuresQuery"].contains(match.route.label)
        guard isQuery, match.route.patterns[0].text.hasSuffix("/{layer}/query") else {
            throw unexpected
        }
        let asked = try Parameters(
            query: parts.count > 1 ? Array(parts[1].utf8) : [], form: [UInt8]())
        var changes = [(name: "f", value: "json" as String?)]
        if count > 0 { changes.append((Known.resultOffset.name, "\(count)")) }
        if let token = call.parameters[Known.token] { changes.append(("token", token)) }
        var request = call.request
        request.path = Array(parts[0].utf8)
        request.query = Array(asked.query(setting: changes, keepsSecrets: true).utf8)
        (request.form, request.isPost, request.wantsPage) = ([], false, false)
        (request.noneMatch, request.range) = ("", "")
        let response = await answer(request, match)
        let text = String(decoding: response.body, as: UTF8.self)
        guard response.failureCode == nil else {
            let error = try? RelaxedJSON.parse(text)["error"]
            guard case .string(let message)? = error?["message"] else { throw unexpected }
            throw Failure(.invalidParameter, "'\(url.prefix(200))': \(message)")
        }
        let json = try RelaxedJSON.parse(text)
        var page = QueryPage(
            text: text, count: 0, isCut: json["exceededTransferLimit"] == .bool(true),
            sequence: response.sequence)
        if case .array(let features)? = json["features"] { page.count = features.count }
        return page
    }

    /// The path and query of a URL of this server, with or without its origin; nil for another.
    private func path(of url: String, for call: Call) -> String? {
        if url.hasPrefix("/"), !url.hasPrefix("//") { return url }
        guard let origin = call.request.origin, url.count > origin.count,
            String(url.prefix(origin.count)).isEqualIgnoringCase(origin)
        else { return nil }
        let rest = url.dropFirst(origin.count)
        return rest.hasPrefix("/") ? String(rest) : nil
    }
}
