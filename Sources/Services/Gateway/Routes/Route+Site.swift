// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// Resources above and beside the services.
extension Route {
    static let site = [
        Route(
            "", label: "front", "Leads browsers to the list of services.", requires: .nothing,
            style: .bare, formats: [], mediaTypes: [OGCLinks.html],
            handler: GatewayService.front),
        Route(
            "healthz", label: "health", "Whether the log is within reach.", requires: .nothing,
            style: .bare, formats: ["json"], handler: GatewayService.health),
        Route(
            "readyz", label: "ready", "Whether requests are taken.", requires: .nothing,
            style: .bare, formats: ["json"], handler: GatewayService.ready),
        Route(
            "metrics", label: "metrics", "The metrics of the site's processes, for Prometheus.",
            requires: .metrics, style: .bytes, formats: [], mediaTypes: ["text/plain"],
            handler: GatewayService.metrics),
        Route(
            "audit", label: "audit",
            "Who asked what, from where, as of when, and which features the answers showed.",
            requires: .audit,
            asks: [
                Known.auditFeature.shown("Feature that was shown", hint: "Parcels/0/4711"),
                Known.auditUser.shown("User", hint: "anonymous"),
                Known.auditMap.shown("Map"),
                Known.auditFrom.shown("From", hint: "2026-01-31T12:00:00Z"),
                Known.auditTo.shown("To", hint: "2026-02-28"), Known.auditCount,
            ], view: .audit, handler: GatewayService.showAudit),
        Route(
            "arcgis/rest/openapi.json", label: "openapi", "This description: OpenAPI 3.0.",
            requires: .nothing, methods: .read, style: .bytes, formats: [],
            mediaTypes: [OGCLinks.json], handler: GatewayService.openAPI),
        Route(
            "arcgis/rest/info", label: "info", "The server, and where tokens are had.",
            requires: .nothing, handler: GatewayService.info),
        Route(
            "arcgis/rest/info/healthcheck", label: "healthCheck",
            "Whether requests are taken, in the words of Esri's servers.", requires: .nothing,
            style: .bare, formats: ["json"], handler: GatewayService.healthCheck),
        Route(
            "arcgis/rest/services", "arcgis/rest", label: "services",
            "The folders and services that the caller may see.", requires: .filtered,
            view: .services, handler: GatewayService.services),
        Route(
            "arcgis/rest/services/{folder}", label: "services",
            "The services of a folder that the caller may see.", requires: .filtered,
            view: .services, handler: GatewayService.services),
        // It changes state: failed logins are counted.
        Route(
            "arcgis/tokens/generateToken", "arcgis/tokens", "arcgis/rest/generateToken",
            "arcgis/rest/tokens", "arcgis/rest/tokens/generateToken", "sharing/generateToken",
            "sharing/rest/generateToken", "arcgis/sharing/generateToken",
            "arcgis/sharing/rest/generateToken", label: "generateToken",
            "A token for a password, or for a token of the portal.",
            requires: .nothing, isChange: true,
            asks: [
                Known.username.required, Known.password.required, Known.client, Known.referer,
                Known.ip, Known.expiration, Known.serverUrl,
            ], view: .token,
            handler: GatewayService.generateToken),
        Route(
            "sharing/rest/community/self", "sharing/community/self",
            "arcgis/sharing/rest/community/self", label: "communitySelf",
            "The user whose token is shown.", requires: .token,
            handler: GatewayService.communitySelf),
    ]

    /// Assets of pages; login and logout parse their forms themselves.
    static let pages = [
        Route(
            "pages/login", label: "session", "Begins a login by cookie.", requires: .nothing,
            style: .session,
            asks: [Known.username.required, Known.password.required, Known.returnTo],
            formats: [], mediaTypes: [OGCLinks.html], view: .session("Log in", .offered),
            handler: GatewayService.logIn),
        Route(
            "pages/logout", label: "session", "Ends a login by cookie.", requires: .nothing,
            style: .session, formats: [], mediaTypes: [OGCLinks.html],
            view: .session("Log out"), handler: GatewayService.logOut),
        Route(
            "pages/{rest}", label: "asset", "Styles, scripts and pictures of pages.",
            requires: .nothing, methods: .read, style: .bare, formats: [],
            mediaTypes: ["text/css", "text/javascript", "image/png"],
            handler: GatewayService.asset),
    ]

    /// Paths without a resource; the last row matches every remaining path.
    static let elsewhere = [
        Route(
            "arcgis/rest/services/{rest}", label: unknown, "No service.", requires: .nothing,
            handler: GatewayService.noService),
        Route(
            "{rest}", label: unknown, "Nothing.", requires: .nothing, view: .nowhere,
            handler: GatewayService.nothing),
    ]
}
