// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

/// What lies above the services: the server's own page and the list of services.
enum Catalog {
    /// The version of the REST API whose forms are spoken.
    static let version = 10.91

    /// `rest/info`.
    static func info(origin: String?, hasTokens: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", version)
            json.member("fullVersion", "10.9.1")
            json.member("authInfo") { json in
                json.member("isTokenBasedSecurity", hasTokens)
                guard hasTokens else { return }
                json.member("tokenServicesUrl", (origin ?? "") + "/arcgis/tokens/generateToken")
                json.member("shortLivedTokenValidity", GatewayService.tokenMinutes.standard)
            }
        }
        return json.bytes
    }

    /// `rest/services`: every map in both of its services, every locator that was published, and the
    /// jobs.
    static func services(maps: [MapName], locators: [String], hasJobs: Bool) -> [UInt8] {
        let services =
            maps.flatMap { [($0.rawValue, "MapServer"), ($0.rawValue, "FeatureServer")] }
            + locators.map { ($0, "GeocodeServer") }
            + (hasJobs ? [(JobResource.serviceName, "GPServer")] : [])
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", version)
            json.member("folders", array: [String]()) { $0.string($1) }
            json.member("services", array: services) { json, service in
                json.object { json in
                    json.member("name", service.0)
                    json.member("type", service.1)
                }
            }
        }
        return json.bytes
    }
}
