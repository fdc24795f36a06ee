// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// The resources of the portal that are not about an item.
enum Portal {
    /// The path above `/sharing/rest`: the portal's URL to clients, with the server's name.
    static let path = "/arcgis"
    /// The owner of every item: maps belong to the site.
    static let owner = "cairn"
    /// The most items of an answer.
    static let pageBound = 100

    /// The members of `helperServices` that are layers of a network.
    private static let networkHelpers: [(name: String, analysis: NetworkAnalysis)] = [
        ("route", .route), ("closestFacility", .closestFacility), ("serviceArea", .serviceArea),
        ("odCostMatrix", .costMatrix),
    ]

    /// The members of `helperServices` that are tasks of jobs; two of them are of the task, not of
    /// its service, as the portals of ArcGIS have them.
    private static let taskHelpers = [
        ("asyncRoute", ""), ("asyncClosestFacility", "/FindClosestFacilities"),
        ("asyncServiceArea", "/GenerateServiceAreas"), ("asyncODCostMatrix", ""),
    ]

    /// The id of a site's portal: 32 hexadecimal digits.
    static func id(of site: UUID) -> String {
        site.named("portal").uuidString.filter { $0 != "-" }.lowercased()
    }

    /// `sharing/rest`.
    static func root() -> [UInt8] {
        var json = JSONWriter()
        json.object { $0.member("currentVersion", "10.9.1") }
        return json.bytes
    }

    /// `sharing/rest/info`.
    static func info(origin: String?, hasTokens: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            if let origin { json.member("owningSystemUrl", origin + path) }
            json.member("authInfo") { json in
                json.member("isTokenBasedSecurity", hasTokens)
                guard hasTokens else { return }
                json.member(
                    "tokenServicesUrl", (origin ?? "") + path + "/sharing/rest/generateToken")
                json.member("shortLivedTokenValidity", GatewayService.tokenMinutes.standard)
            }
        }
        return json.bytes
    }

    /// `portals/self`; clients ask the network for travel modes, and for routes where they have no
    /// service of their own.
    static func portal(
        _ id: String, origin: String?, locators: [String], network: String?,
        hasJobs: Bool = false, user: String?, isOpen: Bool
    ) -> [UInt8] {
        let services = (origin ?? "") + "/arcgis/rest/services/"
        var json = JSONWriter()
        json.object { json in
            json.member("id", id)
            json.member("name", "Cairn")
            json.member("portalName", "Cairn")
            json.member("isPortal", true)
            json.member("currentVersion", "10.9.1")
            json.member("portalMode", "singletenant")
            json.member("access", isOpen ? "public" : "private")
            json.member("allSSL", origin?.hasPrefix("https://") == true)
            json.member("culture", "en")
            json.member("units", "metric")
            if let host = origin?.split(separator: "/").last {
                json.member("portalHostname", host + path)
            }
            json.nullMember("urlKey")
            json.member("customBaseUrl", "")
            json.nullMember("thumbnail")
            for name in [
                "supportsHostedServices", "canSharePublic", "canSignInArcGIS",
                "hasCategorySchema", "useVectorBasemaps", "supportsOAuth",
            ] {
                json.member(name, false)
            }
            json.member("canSearchPublic", true)
            json.member("canListApps", false)
            json.member("authorizedCrossOriginDomains", array: [String]()) { $0.string($1) }
            json.member("basemapGalleryGroupQuery", "")
            json.member("defaultBasemap") { json in
                json.member("baseMapLayers", array: [String]()) { $0.string($1) }
                json.member("title", "")
            }
            writeExtent(to: &json)
            json.member("helperServices") { json in
                json.member("geocode", array: locators) { json, name in
                    json.object { json in
                        json.member(
                            "url", services + "\(Parameters.encode(name))/GeocodeServer")
                        json.member("name", name)
                        json.member("singleLineFieldName", "SingleLine")
                        json.member("placeholder", "")
                        json.member("suggest", true)
                        json.member("batch", true)
                        json.member("placefinding", true)
                    }
                }
                guard let network else { return }
                for (name, analysis) in networkHelpers {
                    json.member(name) { json in
                        json.member(
                            "url",
                            services + "\(Parameters.encode(network))/NAServer/\(analysis.rawValue)"
                        )
                    }
                }
                guard hasJobs else { return }
                for (name, task) in taskHelpers {
                    json.member(name) { json in
                        json.member(
                            "url", services + "\(Parameters.encode(network))/GPServer" + task)
                    }
                }
            }
            json.member("portalProperties") { _ in }
            guard let user else { return }
            json.key("user")
            json.json(self.user(user, portal: id))
        }
        return json.bytes
    }

    /// `portals/self/settings`: what new maps of clients show.
    static func settings() -> [UInt8] {
        var json = JSONWriter()
        json.object(writeExtent)
        return json.bytes
    }

    private static func writeExtent(to json: inout JSONWriter) {
        json.extent(
            "defaultExtent", MapExtents.world(in: .webMercator) ?? .empty, in: .webMercator)
    }

    /// A user, or the owner of all items.
    static func user(_ name: String, portal: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("username", name)
            json.member("fullName", name)
            json.member("id", name)
            json.member("orgId", portal)
            json.member("description", "")
            json.member("access", "private")
            json.member("role", "org_user")
            json.member("level", "2")
            json.member("userType", "arcgisonly")
            json.member("provider", "arcgis")
            json.member("culture", "en")
            json.member("units", "metric")
            json.nullMember("thumbnail")
            json.member("privileges", array: ["portal:user:viewOrgItems"]) { $0.string($1) }
            for list in ["tags", "groups"] {
                json.member(list, array: [String]()) { $0.string($1) }
            }
            json.member("created", -1)
            json.member("modified", -1)
        }
        return json.bytes
    }
}
