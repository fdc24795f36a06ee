// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform
internal import Recording

/// `/audit`: what the gateways of the site were asked.
enum AuditResource {
    /// Queries asked again at most, to learn whether their answers showed a feature.
    static let questionBound = 2_000
    /// The most entries of an answer.
    static let entryBound = 10_000

    /// Parses the parameters; throws `Failure` naming the offending one.
    static func filter(_ parameters: Parameters) throws(Failure) -> AuditFilter {
        var filter = AuditFilter()
        if let text = parameters[Known.auditFeature], !text.isEmpty {
            guard let feature = AuditFilter.Feature(parsing: text) else {
                throw Parameters.unexpected(
                    Known.auditFeature.name, text, "MAP/LAYER/ID, with the layer's number")
            }
            filter.feature = feature
        }
        filter.user = parameters[Known.auditUser].flatMap { $0.isEmpty ? nil : $0 }
        filter.map = parameters[Known.auditMap].flatMap { $0.isEmpty ? nil : $0 }
        filter.from = try time(Known.auditFrom, parameters)
        filter.to = try time(Known.auditTo, parameters)
        return filter
    }

    private static func time(
        _ parameter: Parameter<String?>, _ parameters: Parameters
    ) throws(Failure) -> Timestamp? {
        guard let text = parameters[parameter], !text.isEmpty else { return nil }
        guard let time = Timestamp(iso: text) else {
            throw Parameters.unexpected(parameter.name, text, "a time like 2026-11-21T09:30:00Z")
        }
        return time
    }

    /// `{"entries":[…],"exceeded":…}`, the newest entry first.
    static func body(_ lines: [AuditLine], isExceeded: Bool) throws(Failure) -> [UInt8] {
        var json = JSONWriter()
        let texts = try lines.map { line throws(Failure) in try CairnJSON.encode(line) }
        json.object { json in
            json.member("entries", array: texts) { $0.json($1) }
            json.member("exceeded", isExceeded)
        }
        return json.bytes
    }
}

extension GatewayService {
    func showAudit(_ call: Call) async throws(Failure) -> GatewayResponse {
        let filter = try AuditResource.filter(call.parameters)
        let limit = min(
            try call.parameters.integer(Known.auditCount), AuditResource.entryBound)
        guard let auditFiles else {
            throw Failure(.notFound, "this gateway serves no site whose audit it could read")
        }
        // One more says that there are others.
        let found = try await Self.matches(filter, in: auditFiles, limit: limit + 1)
        var lines: [AuditLine] = []
        var (askedCount, isExceeded) = (0, false)
        for (entry, query) in found {
            if lines.count == limit { isExceeded = true; break }
            if let query {
                guard askedCount < AuditResource.questionBound else { isExceeded = true; break }
                askedCount += 1
                guard try await isCounted(query) else { continue }
            }
            lines.append(AuditLine(entry))
        }
        return GatewayResponse(body: try AuditResource.body(lines, isExceeded: isExceeded))
    }

    private func isCounted(_ query: QueryRequest) async throws(Failure) -> Bool {
        do throws(Failure) {
            return AuditFilter.isCounted(
                try await backend.ask(.query, whole: query, within: .seconds(10)))
        } catch {
            // A layer or map of then that can no longer be read shows nothing now.
            guard [.notFound, .invalidParameter, .corrupt].contains(error.code) else {
                throw error
            }
            return false
        }
    }

    /// The newest entries that meet the filter, with the query that decides it; of those with a
    /// query as many as are asked at most.
    private static func matches(
        _ filter: AuditFilter, in files: AuditFiles, limit: Int
    ) async throws(Failure) -> [(entry: AuditEntry, query: QueryRequest?)] {
        let bound = filter.feature == nil ? limit : limit + AuditResource.questionBound
        do {
            // Reading blocks.
            return try await withCheckedThrowingContinuation { continuation in
                do throws(PlatformError) {
                    _ = try PinnedThread(name: "audit-reading") {
                        continuation.resume(
                            with: Result { try read(filter, files, bound) })
                    }
                } catch {
                    continuation.resume(throwing: Failure(error))
                }
            }
        } catch {
            throw error as? Failure ?? Failure(.internal, "\(error)")
        }
    }

    private static func read(
        _ filter: AuditFilter, _ files: AuditFiles, _ bound: Int
    ) throws -> [(entry: AuditEntry, query: QueryRequest?)] {
        var found: [(entry: AuditEntry, query: QueryRequest?)] = []
        try files.forEach { entry in
            switch filter.match(entry) {
            case .none: return true
            case .met: found.append((entry, nil))
            case .ifCounted(let query): found.append((entry, query))
            }
            if found.count >= 2 * bound { found.removeFirst(found.count - bound) }
            return true
        }
        return found.suffix(bound).reversed()
    }
}
