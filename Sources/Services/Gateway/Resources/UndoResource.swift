// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// `FeatureServer/undo`, a resource of Cairn's own in Esri's manner.
enum UndoResource {
    /// Throws `invalidParameter` for a missing or malformed parameter.
    static func request(_ parameters: Parameters) throws(Failure) -> UndoRequest {
        guard let from = try parameters.integer(Known.undoFrom) else {
            throw Failure(.invalidParameter, "parameter 'from' is missing")
        }
        let through = try parameters.integer(Known.undoThrough) ?? from
        guard from <= through else {
            throw Failure(
                .invalidParameter,
                "parameter 'through' is \(through): expected at least 'from', \(from)")
        }
        var request = UndoRequest(
            Int64(from)...Int64(through), by: parameters[Known.undoActor],
            isDryRun: try parameters.flag(Known.undoDryRun))
        if let text = parameters[Known.undoPolicy] {
            guard let policy = UndoRequest.Policy(rawValue: text) else {
                throw Parameters.unexpected(
                    Known.undoPolicy.name, text,
                    UndoRequest.Policy.allCases.map(\.rawValue).joined(separator: ", "))
            }
            request.policy = policy
        }
        request.scope = .features
        return request
    }

    /// `{"success", "sequence", "undone": […], "dependents": […], "restored": […]}`.
    static func body(_ result: MapCommandResult, isDryRun: Bool) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("success", !isDryRun)
            writer.member("sequence", Int(result.sequence))
            writer.member("undone", array: result.undo?.undone ?? []) { writer, change in
                writer.object { write(change, &$0) }
            }
            writer.member("dependents", array: result.undo?.dependents ?? []) { writer, dependent in
                writer.object { writer in
                    write(dependent.change, &writer)
                    writer.member("dependsOn", Int(dependent.dependsOn))
                    writer.member("subject", dependent.subject)
                }
            }
            writer.member("restored", array: result.undo?.restored ?? []) { writer, text in
                writer.string(text)
            }
        }
        return writer.bytes
    }

    private static func write(_ change: UndoReport.Change, _ writer: inout JSONWriter) {
        writer.member("sequence", Int(change.sequence))
        writer.member("type", change.type)
        if let actor = change.actor { writer.member("actor", actor) }
    }
}
