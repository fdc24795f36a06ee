// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Recording
internal import Synchronization

/// The questions that one request of a client led to, for the audit.
final class AuditScope: Sendable {
    /// The scope of the request that the current task answers; nil where nothing is audited.
    @TaskLocal static var current: AuditScope?

    private struct Asked: Sendable {
        var operation: String
        var map: String?
        var question: AuditEntry.Question
        var shown: [AuditEntry.Shown]?
    }

    private let asked = Mutex<[Asked]>([])

    init() {}

    /// The scope of an identify that was answered without a task.
    init(_ request: IdentifyRequest, _ answer: IdentifyAnswer) { note(request, answer) }

    /// Notes an answered identify.
    func note(_ request: IdentifyRequest, _ answer: IdentifyAnswer) {
        var shown: [AuditEntry.Shown] = []
        answer.forEachResult { result in
            if shown.last?.layer == result.layerID {
                shown[shown.count - 1].ids.append(result.objectID)
            } else {
                shown.append(.init(layer: result.layerID, ids: [result.objectID]))
            }
        }
        let question: AuditEntry.Question? =
            switch request.geometry {
            case .point(let place):
                .point(
                    x: place.x, y: place.y,
                    wkid: Int32(
                        clamping: (request.geometrySpatialReference ?? request.spatialReference)?
                            .wkid ?? 0))
            default: Self.question(request)
            }
        guard let question else { return }
        asked.withLock {
            $0.append(
                Asked(
                    operation: "identify", map: request.map.rawValue, question: question,
                    shown: shown))
        }
    }

    /// Notes an answered question about features, pictures or places; others leave no trace.
    func note<Request>(_ operation: String, _ request: Request) {
        guard let request = request as? any AuditedQuestion, !request.isAuxiliaryQuestion,
            let question = Self.question(request)
        else { return }
        let map = (request as? any MapQuestion)?.map.rawValue
        asked.withLock {
            $0.append(Asked(operation: operation, map: map, question: question, shown: nil))
        }
    }

    private static func question(_ request: some Encodable) -> AuditEntry.Question? {
        (try? CairnJSON.encode(request)).map { .request($0) }
    }

    /// Keeps what was noted, once the answer is known.
    func keep(in log: AuditLog, at time: Int64, _ response: GatewayResponse, address: String) {
        guard response.failureCode == nil, response.status < 400 else { return }
        for asked in asked.withLock({ $0 }) {
            log.note(
                AuditEntry(
                    at: Timestamp(microseconds: time), sequence: response.sequence,
                    operation: asked.operation, map: asked.map, shown: asked.shown,
                    user: response.user, address: address, question: asked.question))
        }
    }
}

/// A request whose answer shows features or places.
private protocol AuditedQuestion: Encodable {
    /// Whether the gateway asks it for itself.
    var isAuxiliaryQuestion: Bool { get }
}

extension AuditedQuestion {
    var isAuxiliaryQuestion: Bool { false }
}

extension IdentifyRequest: AuditedQuestion {}
extension FindRequest: AuditedQuestion {}
extension ExportRequest: AuditedQuestion {}
extension GeocodeRequest: AuditedQuestion {}
extension SuggestRequest: AuditedQuestion {}
extension ReverseGeocodeRequest: AuditedQuestion {}
extension QueryRequest: AuditedQuestion {
    fileprivate var isAuxiliaryQuestion: Bool { isAuxiliary == true }
}
