// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// Resources above the services: the server's root and the list of services.
enum Catalog {
    /// The version of the REST API that is implemented.
    static let version = 10.91

    /// `rest/info`.
    static func info(origin: String?, hasTokens: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", version)
            json.member("fullVersion", "10.9.1")
            if let origin { json.member("owningSystemUrl", origin + Portal.path) }
            json.member("cairn") { $0.member("version", Release.version) }
            json.member("authInfo") { json in
                json.member("isTokenBasedSecurity", hasTokens)
                guard hasTokens else { return }
                json.member("tokenServicesUrl", (origin ?? "") + "/arcgis/tokens/generateToken")
                json.member("shortLivedTokenValidity", GatewayService.tokenMinutes.standard)
            }
        }
        return json.bytes
    }

    /// `rest/services`, or one of its folders: both services of every map, every published locator
    /// and network (one service of it for its tasks), and the jobs; at the root also the folders.
    ///
    /// Throws `Failure` (`notFound`) for an empty folder.
    static func services(
        in folder: String?, maps: [MapName], locators: [String], networks: [String], hasJobs: Bool
    ) throws(Failure) -> [UInt8] {
        let all =
            maps.flatMap { [($0.rawValue, "MapServer"), ($0.rawValue, "FeatureServer")] }
            + locators.map { ($0, "GeocodeServer") }
            + networks.flatMap { network in
                [(network, "NAServer")] + (hasJobs ? [(network, "GPServer")] : [])
            }
            + (hasJobs ? [(JobResource.serviceName, "GPServer")] : [])
        func isIn(_ name: String) -> String? {
            name.firstIndex(of: "/").map { String(name[..<$0]) }
        }
        let services = all.filter { isIn($0.0) == folder }
        let folders = folder == nil ? Set(all.compactMap { isIn($0.0) }).sorted() : []
        if let folder, services.isEmpty {
            throw Failure(.notFound, "Folder \(folder.prefix(80)) not found")
        }
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", version)
            json.member("folders", array: folders) { $0.string($1) }
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
