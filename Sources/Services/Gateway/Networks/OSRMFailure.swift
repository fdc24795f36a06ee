// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// The codes of failures in OSRM's answers.
enum OSRMCode: String, CaseIterable {
    case invalidUrl = "InvalidUrl"
    case invalidService = "InvalidService"
    case invalidVersion = "InvalidVersion"
    case invalidOptions = "InvalidOptions"
    case invalidQuery = "InvalidQuery"
    case invalidValue = "InvalidValue"
    case noSegment = "NoSegment"
    case noRoute = "NoRoute"
    case noTable = "NoTable"
    case noTrips = "NoTrips"
    case noMatch = "NoMatch"
    case tooBig = "TooBig"
    case notImplemented = "NotImplemented"

    func failure(_ message: String) -> Failure {
        Failure(Failure.Code(rawValue: rawValue), message)
    }

    private static let services = ["route", "table", "nearest", "trip", "match"]

    /// What is wrong with a path that no resource has; nil for one that is not OSRM's.
    static func failure(of path: [UInt8]) -> Failure? {
        var segments = path.split(separator: UInt8(ascii: "/")).map { Parameters.decode($0) }
        guard segments.first == "osrm" else { return nil }
        segments.removeFirst()
        // The network may be left out.
        let isNetwork =
            segments.count == 5
            || segments.count == 4 && !services.contains(segments[0])
                && services.contains(segments[1])
        if isNetwork { segments.removeFirst() }
        guard segments.count == 4 else {
            return invalidUrl.failure(
                "Expected /osrm/{network}/{service}/v1/{profile}/{coordinates}.")
        }
        guard services.contains(segments[0]) else {
            return invalidService.failure(
                "Service '\(segments[0].prefix(64))' is not one of "
                    + services.joined(separator: ", ") + ".")
        }
        return invalidVersion.failure("Version '\(segments[1].prefix(64))' is not v1.")
    }
}

extension GatewayResponse {
    /// A failure as OSRM's clients expect it, `{"code":…,"message":…}`: status 400 for what is
    /// OSRM's to refuse, the status of OGC APIs for what is the site's.
    static func osrmFailure(_ failure: Failure) -> GatewayResponse {
        var code = failure.code.rawValue
        var isOSRM = OSRMCode(rawValue: code) != nil
        switch failure.code {
        case .invalidParameter: (code, isOSRM) = (OSRMCode.invalidOptions.rawValue, true)
        case .tooLarge: (code, isOSRM) = (OSRMCode.tooBig.rawValue, true)
        case .notFound: (code, isOSRM) = (OSRMCode.invalidUrl.rawValue, true)
        default: break
        }
        var response = GatewayService.ogcFailure(failure)
        if isOSRM { response.status = 400 }
        var json = JSONWriter()
        json.object { json in
            json.member("code", code)
            json.member("message", failure.message)
        }
        (response.contentType, response.body) = (OSRMBody.contentType, json.bytes)
        return response
    }
}
