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

    /// The label of paths that are of nothing.
    static let unknown = "unknown"

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
    /// What its handler reads, `f` and `token` apart.
    let parameters: [ParameterDescription]
    /// Names that its handler looks for only to refuse them.
    let refuses: [String]
    /// Whether its handler reads further parameters, whose names the site's data say.
    let takesOther: Bool
    /// The values of `f`; empty where it has none.
    let formats: [String]
    /// The media types of its answers.
    let mediaTypes: [String]
    let view: View
    let handler: Handler
    /// The names that its handler may read, in small letters; nil where it may read any.
    let declaredNames: Set<String>?
    /// Its place among the labels of the table.
    var labelIndex = 0

    init(
        _ patterns: String..., label: String, _ summary: String,
        requires requirement: Requirement.Rule,
        isChange: Bool = false, methods: Methods = .form, style: Style = .esri,
        asks parameters: [any DescribedParameter] = [], refuses: [String] = [],
        takesOther: Bool = false, formats: [String] = Format.esri, mediaTypes: [String]? = nil,
        view: View = .value, handler: @escaping Handler
    ) {
        self.patterns = patterns.map { RoutePattern($0) }
        self.label = label
        self.summary = summary
        self.requirement = requirement
        self.isChange = isChange
        self.methods = methods
        self.style = style
        self.formats = formats
        self.refuses = refuses
        self.takesOther = takesOther
        self.parameters = parameters.map(\.description)
        self.mediaTypes =
            mediaTypes
            ?? Format.mediaTypes.filter { formats.contains($0.format) }.map(\.mediaType)
        // What surrounds the handlers reads these.
        let around = ["f", "at", "historicMoment"] + Parameters.secrets
        declaredNames =
            takesOther
            ? nil
            : Set((around + refuses + self.parameters.map(\.name)).map { $0.lowercased() })
        self.view = view
        self.handler = handler
    }

    /// Every parameter, in the order of documents.
    var allParameters: [ParameterDescription] {
        // OGC API names all of its own.
        guard style != .ogc, style != .bare else { return parameters }
        var format = Known.f.description
        format.form = .choice(formats)
        return parameters + (formats.isEmpty ? [] : [format]) + [Known.token.description]
    }

    /// Whether its paths are of nothing.
    var isUnknown: Bool { label == Self.unknown }

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
