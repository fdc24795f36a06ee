// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// A page for browsers: the JSON answer laid out with links and forms.
///
/// All its data comes from the JSON, and from that of related resources.
struct Page {
    let route: Route
    let captures: Captures
    /// The path, percent-encoded, without the query.
    let path: String
    let parameters: Parameters
    /// The JSON answer; an empty object where only a form is shown.
    let answer: JSONTree
    /// Answers of related resources that the page shows as well.
    var related = Related()
    var sequence: Int64?
    var isStale = false
    /// Whether a login would show more.
    var offersLogin = false
    /// The session of the browser's cookie; nil without one.
    var session: Session?
    /// The user of the session or the token; nil for an anonymous request.
    var user: String?
    /// Whether there are users, and the request has none.
    var isAnonymous = false
    /// The page to return to after a login; nil for the list of services.
    var returnPath: String?
    /// Whether the caller may see the past of the map.
    var seesHistory = false
    /// Whether the caller may change the roads of the network.
    var mayChangeRoads = false
    /// The origin that the client asked; nil where it is unknown.
    var origin: String?
    /// Whether Leaflet is available for interactive maps.
    var hasLeaflet = true

    /// Answers that a page shows beside its own resource.
    struct Related {
        /// `legend` of a map.
        var legend: JSONTree?
        /// The full description of the queried layer.
        var layer: JSONTree?
        /// The locators that the caller may ask.
        var locators: [String] = []
        /// The road networks that the caller may ask, and whether it may change their roads.
        var networks: [(name: String, mayChange: Bool)] = []
        /// The number of all rows of a query; nil where it is unknown.
        var count: Int64?
    }

    /// Maximum size of an answer that is laid out as a page.
    static let byteLimit = 4 << 20
    /// The root of the services.
    static let services = "/arcgis/rest/services"

    /// Headers of every page: only this server's own scripts, styles and data are allowed.
    static let headers = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
    ]

    /// The whole page.
    func html() -> [UInt8] {
        var page = Markup()
        page.element("html", ["lang": "en"]) { page in
            page.element("head") { head(&$0) }
            page.element("body", ["class": showsMap ? "of-map" : nil]) { page in
                page.element("header") { page in
                    trail(&page)
                    account(&page)
                }
                page.element("main") { page in
                    page.element("h1", text: title)
                    if isStale {
                        notice(
                            "The log is out of reach: what is shown may have changed since.", &page)
                    }
                    if let error = failure {
                        notice(isTokenMissing ? "Log in to see this page." : error, &page)
                    }
                    if needsToken || offersLogin { login(&page) }
                    content(&page)
                }
                page.element("footer") { foot(&$0) }
            }
        }
        return Array(("<!DOCTYPE html>\n" + page.html + "\n").utf8)
    }

    private func head(_ page: inout Markup) {
        page.void("meta", ["charset": "utf-8"])
        page.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        page.element("title", text: "\(title) – Cairn")
        page.void("link", ["rel": "stylesheet", "href": PageAsset.stylesheet.url])
        var scripts = route.view.scripts.map(\.url)
        if showsMap, hasLeaflet {
            page.void("link", ["rel": "stylesheet", "href": PageAsset.leafletStyle])
            scripts += [PageAsset.leafletScript, route.view.mapScript.url]
            if !related.networks.isEmpty { scripts.append(PageAsset.routes.url) }
        }
        // What the others ask with.
        if !scripts.isEmpty { scripts.insert(PageAsset.page.url, at: 0) }
        for url in scripts {
            page.element("script", ["src": url, "defer": "defer"], text: "")
        }
    }

    private func trail(_ page: inout Markup) {
        page.element("nav", ["aria-label": "Where this is"]) { page in
            page.element("strong", text: "Cairn")
            for step in steps {
                page.text(" / ")
                page.link(href(step.path), step.name)
            }
        }
    }

    /// The user, and the way in or out.
    private func account(_ page: inout Markup) {
        if let session {
            changeForm(GatewayService.logoutPath, &page) { page in
                page.element("span", ["class": "user"], text: session.user)
                page.text(" ")
                page.element("button", text: "Log out")
            }
        } else if let user {
            page.element("p", ["class": "user"], text: user)
        } else if isAnonymous, !needsToken, !offersLogin {
            let query = returnPath.map { "?returnTo=" + Parameters.encode($0) } ?? ""
            page.element("p") { $0.link(GatewayService.loginPath + query, "Log in") }
        }
    }

    /// A form that changes state: it is sent with POST, with proof that it is this server's.
    func changeForm(
        _ action: String, _ page: inout Markup, _ fields: (inout Markup) -> Void
    ) {
        page.element("form", ["action": action, "method": "post"]) { page in
            if let session {
                page.void(
                    "input",
                    [
                        "type": "hidden", "name": "\(GatewayService.proofParameter)",
                        "value": session.proof,
                    ])
            }
            fields(&page)
        }
    }

    private func foot(_ page: inout Markup) {
        page.element("p") { page in
            if let sequence {
                page.text("Known up to sequence ")
                page.element("span", ["id": "sequence"], text: "\(sequence)")
                page.text(" · ")
            }
            page.text("For programs: ")
            page.link("?" + parameters.query(setting: "f", to: "json"), "JSON")
            if route.style == .ogc {
                page.text(" · ")
                page.link(href(Self.services), "ArcGIS REST")
            } else {
                page.text(", ")
                page.link("?" + parameters.query(setting: "f", to: "pjson"), "indented")
                page.text(" · ")
                page.link(href("/ogc"), "OGC API")
            }
        }
    }

    /// Number of rows before the first one shown, within reason.
    var offset: Int {
        min(max(parameters[Known.resultOffset].flatMap { Int($0) } ?? 0, 0), 1 << 40)
    }

    /// Whether it contains an interactive map.
    var showsMap: Bool { route.view.hasMap && failure == nil }

    /// Why there is no answer; nil where there is one.
    private var failure: String? {
        if let error = answer["error"] {
            return error["message"]?.text ?? "There is no answer."
        }
        guard route.style == .ogc, answer["code"]?.text != nil else { return nil }
        return answer["description"]?.text
    }

    /// Whether the answer is a refusal.
    var isRefused: Bool { failure != nil }

    /// Whether only a form is shown.
    var isForm: Bool { answer.members.isEmpty }

    /// Whether a login would help.
    private var needsToken: Bool {
        isTokenMissing || answer["error"]?["code"]?.whole == 498
            || answer["code"]?.text == "invalidToken"
    }

    private var isTokenMissing: Bool {
        answer["error"]?["code"]?.whole == 499 || answer["code"]?.text == "tokenRequired"
    }

    private func login(_ page: inout Markup) {
        page.element(
            "form", ["action": GatewayService.loginPath, "method": "post"]
        ) { page in
            field("username", "User", isRequired: true, &page)
            field("password", "Password", type: "password", isRequired: true, &page)
            if let returnPath {
                page.void("input", ["type": "hidden", "name": "returnTo", "value": returnPath])
            }
            page.element("button", text: "Log in")
        }
    }

    func notice(_ text: String, _ page: inout Markup) {
        page.element("p", ["class": "notice", "role": "alert"], text: text)
    }

    // MARK: Links

    /// Parameters carried over by every link and form: the moment.
    static let carried = ["at", "historicMoment"]

    /// A link to another resource, as of the same moment.
    func href(_ path: String, _ query: [(String, String)] = []) -> String {
        var all = query
        for name in Self.carried {
            if let moment = parameters[name], !query.contains(where: { $0.0 == name }) {
                all.append((name, moment))
            }
        }
        guard !all.isEmpty else { return path }
        return path + "?"
            + all.map { Parameters.encode($0.0) + "=" + Parameters.encode($0.1) }
            .joined(separator: "&")
    }

    /// A service's path.
    static func service(_ name: String, _ type: String) -> String {
        name.split(separator: "/").reduce(services) { $0 + "/" + Parameters.encode(String($1)) }
            + "/\(type)"
    }

    /// The page's own path, without a slash at the end.
    var ownPath: String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path = path.dropLast() }
        return String(path)
    }

    /// The breadcrumbs: each resource above this one, and this one.
    private var steps: [(name: String, path: String)] {
        var steps = [(name: String, path: String)]()
        var path = ""
        let segments = ownPath.split(separator: "/")
        // Index of the segment with the service type.
        let kind = route.view.isList ? .max : captures.name.contains("/") ? 5 : 4
        for (place, segment) in segments.enumerated() {
            path += "/" + segment
            let name = Parameters.decode(segment.utf8)
            if segments[0] == "pages" { continue }
            guard segments.starts(with: ["arcgis", "rest"]) else {
                steps.append((name, path))
                continue
            }
            // Service names without a type have no resource.
            guard place > 1, place != kind - 1 else { continue }
            let service =
                place == kind ? Parameters.decode(segments[kind - 1].utf8) : ""
            steps.append((place == kind ? "\(service) \(name)" : name, path))
        }
        return steps
    }

    private var title: String {
        route.view.title(self)
            ?? ownPath.split(separator: "/").suffix(2).map { Parameters.decode($0.utf8) }
            .joined(separator: " / ")
    }

    private func content(_ page: inout Markup) {
        // Forms of a resource come after the login that it requires.
        guard !isRefused || route.view.isShownRefused && !needsToken else { return }
        route.view.content(self, &page)
    }
}
