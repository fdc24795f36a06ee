// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

/// A resource: its paths, what asking for it requires, what answers and what a browser shows.
///
/// The gateway knows of a resource only what its row in `RouteTable` says.
struct Route: Sendable {
    typealias Handler =
        @Sendable (GatewayService) ->
        @Sendable (Call) async throws(Failure) ->
        GatewayResponse

    /// The methods of HTTP that it has, OPTIONS apart.
    enum Methods: Hashable, Sendable {
        /// GET and HEAD.
        case read
        /// GET, HEAD, and POST with the parameters in a form.
        case form
        /// POST with a form; GET is answered by a failure with that sentence.
        case post(refusal: String)
        /// POST with a file as the body; the handler answers GET.
        case file
    }

    /// What surrounds the handler, and how failures are written.
    enum Style: Hashable, Sendable {
        /// Nothing: no parameters are read, anybody is answered, nothing is counted
        /// against a limit.
        case bare
        /// Esri's `f` decides between JSON and a page; failures are Esri's error bodies.
        case esri
        /// The handler's bytes have one form; failures are Esri's error bodies.
        case bytes
        /// OGC API – Features: formats by `f` and Accept, failures with their HTTP status.
        case ogc
        /// Always a page.
        case session
    }

    /// The first is the canonical one.
    let patterns: [RoutePattern]
    /// What its requests are counted as; several rows may share one.
    let label: String
    let summary: String
    let requirement: Requirement.Rule
    /// Whether asking for it changes something: pages of other servers may not ask for it then, and
    /// a login by cookie has to be proved.
    let isChange: Bool
    let methods: Methods
    let style: Style
    /// The values of `f`, each of which is a `Format`.
    let formats: [String]
    let view: View
    let handler: Handler
    /// The names of the parameters that it takes, all others being refused; nil where any is taken.
    var knownParameters: [String]?
    /// Its place among the labels of the table.
    var labelIndex = 0

    init(
        _ patterns: String..., label: String, _ summary: String,
        requires requirement: Requirement.Rule,
        isChange: Bool = false, methods: Methods = .form, style: Style = .esri,
        formats: [String] = Format.esri, view: View = .value, handler: @escaping Handler
    ) {
        self.patterns = patterns.map { RoutePattern($0) }
        self.label = label
        self.summary = summary
        self.requirement = requirement
        self.isChange = isChange
        self.methods = methods
        self.style = style
        self.formats = formats
        self.view = view
        self.handler = handler
    }

    /// The names of its methods but OPTIONS, as `Allow` has them.
    var methodNames: [String] { methods == .read ? ["GET", "HEAD"] : ["GET", "HEAD", "POST"] }
}

/// A path that a route has, and what was captured of it.
struct RouteMatch: Sendable {
    let route: Route
    let captures: Captures

    var requirement: Requirement { route.requirement.requirement(of: captures) }

    /// The map that it is of; nil where it is of none, or of several.
    var mapName: String? {
        if case .service(.map(let name), _) = requirement { name } else { nil }
    }
}

/// A request on its way to the handler of its route.
struct Call: Sendable {
    var match: RouteMatch
    var parameters = Parameters([:])
    let request: GatewayRequest
    var caller = Caller(user: nil, grants: [])

    var captures: Captures { match.captures }
    var route: Route { match.route }
}
