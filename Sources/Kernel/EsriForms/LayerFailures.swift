// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Platform

extension Failure.Code {
    /// Esri's number for a failure.
    public var esriNumber: Int {
        switch self {
        case .invalidParameter, .unreadable: 400
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .unavailable, .logUnavailable, .busy, .draining: 503
        case .timedOut: 504
        default: 500
        }
    }
}

extension JSONWriter {
    /// Writes failed layers.
    ///
    /// Each has the members of an error but not the word: clients search for it anywhere in a body.
    public mutating func member(_ name: String, _ failures: [LayerFailure]) {
        member(name, array: failures) { json, failure in
            json.object { json in
                json.member("layerId", failure.layerID)
                json.member("layerName", failure.layerName)
                json.member("code", failure.error.code.esriNumber)
                json.member("message", failure.error.message)
                json.member("details", array: failure.error.details) { $0.string($1) }
            }
        }
    }
}
