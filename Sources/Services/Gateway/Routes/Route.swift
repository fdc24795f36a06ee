// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms

/// A resource: its paths, requirement, handler and page layout.
///
/// All that the gateway knows of a resource is in its row of `RouteTable`.
struct Route: Sendable {
    typealias Handler =
        @Sendable (GatewayService) ->
        @Sendable (Call) async throws(Failure) ->
        GatewayResponse

    /// The HTTP methods it supports, besides OPTIONS.
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

    /// The processing around the handler, and the form of failures.
    enum Style: Hashable, Sendable {
        /// None: no parameters are parsed, no permission is required, no limit is counted.
        case bare
        /// Esri's `f` selects JSON or a page; failures are Esri's error bodies.
        case esri
        /// The handler's bytes have one form; failures are Esri's error bodies.
        case bytes
        /// As `bytes`; failures are OWS exception reports with their HTTP status.
        case wmts
        /// As `bytes`; failures are those of `ogc`.
        case ogcBytes
        /// As `bytes`; failures are OSRM's, with its HTTP status.
        case osrm
        /// OGC APIs: formats by `f` and Accept, failures with their HTTP status.
        case ogc
        /// Always a page.
        case session
    }

    /// The label of paths without a resource.
    static let unknown = "unknown"

    /// The first is the canonical one.
    let patterns: [RoutePattern]
    /// Label of its requests in metrics; several rows may share one.
    let label: String
    let summary: String
    let requirement: Requirement.Rule
    /// Whether it changes state: pages of other servers may not request it, and a login by cookie
    /// has to be proved.
    let isChange: Bool
    let methods: Methods
    let style: Style
    /// Parameters read by its handler, besides `f` and `token`.
    let parameters: [ParameterDescription]
    /// Parameters that its handler refuses.
    let refuses: [String]
    /// Whether its handler reads further parameters, with names from the site's data.
    let takesOther: Bool
    /// The values of `f`; empty where it does not apply.
    let formats: [String]
    /// The media types of its answers.
    let mediaTypes: [String]
    let view: View
    let handler: Handler
    /// Which tiles its paths name by level, row and column; nil where they name none.
    let tile: TileFace?
    /// Names that its handler may read, in lower case; nil where it may read any.
    let declaredNames: Set<String>?
    /// Index of its label in the table.
    var labelIndex = 0

    init(
        _ patterns: String..., label: String, _ summary: String,
        requires requirement: Requirement.Rule,
        isChange: Bool = false, methods: Methods = .form, style: Style = .esri,
        asks parameters: [any DescribedParameter] = [], refuses: [String] = [],
        takesOther: Bool = false, formats: [String] = Format.esri, mediaTypes: [String]? = nil,
        view: View = .value, tile: TileFace? = nil, handler: @escaping Handler
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
        // Read by the processing around the handlers.
        let around = ["f", "at", "historicMoment"] + Parameters.secrets
        declaredNames =
            takesOther
            ? nil
            : Set((around + refuses + self.parameters.map(\.name)).map { $0.lowercased() })
        self.view = view
        self.tile = tile
        self.handler = handler
    }

    /// Every parameter, in document order.
    var allParameters: [ParameterDescription] {
        // OGC API routes declare all of theirs.
        guard style != .ogc, style != .bare else { return parameters }
        var format = Known.f.description
        format.form = .choice(formats)
        return parameters + (formats.isEmpty ? [] : [format]) + [Known.token.description]
    }

    /// Whether its paths have no resource.
    var isUnknown: Bool { label == Self.unknown }

    /// The names of its methods but OPTIONS, as `Allow` has them.
    var methodNames: [String] { methods == .read ? ["GET", "HEAD"] : ["GET", "HEAD", "POST"] }
}

/// A matched path with its route and captures.
struct RouteMatch: Sendable {
    let route: Route
    let captures: Captures

    var requirement: Requirement { route.requirement.requirement(of: captures) }

    /// Name of the map; nil for a path of no map, or of several.
    var mapName: String? {
        if case .service(.map(let name), _) = requirement { name } else { nil }
    }
}

/// A request with its matched route.
struct Call: Sendable {
    var match: RouteMatch
    var parameters = Parameters([:])
    let request: GatewayRequest
    var caller = Caller(user: nil, grants: [])

    var captures: Captures { match.captures }
    var route: Route { match.route }
}
