// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// The error body that every Esri client understands.
enum ErrorBody {
    /// Esri's error number for a failure.
    static func code(_ code: Failure.Code) -> Int {
        switch code {
        case .refused: 400
        case .forbidden, .foreignPage: 403
        case .tooManyRequests, .quotaExceeded: 429
        case .invalidToken: 498
        case .tokenRequired: 499
        default: code.esriNumber
        }
    }

    /// `{"error":{"code":…,"message":…,"details":[…]}}`.
    static func json(_ failure: Failure) -> [UInt8] {
        json(code: code(failure.code), message: failure.message, details: failure.details)
    }

    static func json(code: Int, message: String, details: [String]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("error") { json in
                json.member("code", code)
                json.member("message", message)
                json.member("details", array: details) { $0.string($1) }
            }
        }
        return json.bytes
    }
}
