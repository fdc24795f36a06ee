// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// What a path names.
enum Resource: Hashable {
    /// `/healthz`.
    case health
    /// `/readyz`.
    case ready
    /// `/metrics`.
    case metrics
    /// `/arcgis/rest/info`.
    case info
    /// `generateToken`, below every root where clients look for it.
    case generateToken
    /// `/sharing/rest/community/self`: who the client is.
    case communitySelf
    /// `/arcgis/rest/services`, or a folder below it.
    case services(folder: String?)
    /// `…/<map>/MapServer` and what lies below it.
    case map(String, MapPart)
    /// `…/<map>/FeatureServer` and what lies below it.
    case features(String, FeaturePart)
    /// `…/<locator>/GeocodeServer` and what lies below it.
    case locator(String, LocatorPart)
    /// `Jobs/GPServer` and what lies below it.
    case jobs(JobPart)
    /// `/ogc` and what lies below it.
    case ogc(OGCPart)
    /// `/pages/login` and `/pages/logout`, where pages send their readers' passwords.
    case session(SessionPart)
    /// `/pages/<name>`: what pages are made with.
    case asset(String)
    /// Below the services, but nothing that is served; with a sentence.
    case unknownService(String)
    /// Not a path of this server.
    case nowhere

    /// What begins and ends a login by cookie.
    enum SessionPart: String, Hashable {
        case login, logout

        /// Its path.
        var path: String { "/pages/" + rawValue }
    }

    /// What lies below `MapServer`.
    enum MapPart: Hashable {
        case root, layers, legend, layer(LayerID), query(LayerID), identify, follow, find, export
        case changes
        /// A feature, by its object id.
        case feature(LayerID, Int64)
        case tile(TilePart)
    }

    /// A tile as the path names it, in the scheme or not.
    struct TilePart: Hashable { var level, row, column: Int }

    /// What lies below `FeatureServer`.
    enum FeaturePart: Hashable {
        case root, layers, layer(LayerID), query(LayerID), queryAll
        /// A feature, by its object id.
        case feature(LayerID, Int64)
        case edit(LayerID, EditOperation), editAll
    }

    /// What is done to features.
    enum EditOperation: String, Hashable, CaseIterable {
        case add = "addfeatures"
        case update = "updatefeatures"
        case delete = "deletefeatures"
        case apply = "applyedits"
    }

    /// What lies below `GeocodeServer`.
    enum LocatorPart: Hashable {
        case root, findAddressCandidates, geocodeAddresses, suggest, reverseGeocode
    }

    /// What lies below `GPServer`; names of tasks and results, and ids of jobs, as the client writes them.
    enum JobPart: Hashable {
        case root, upload, task(String), submit(String), jobs(String)
        case job(String, String, Detail)

        /// What of a job.
        enum Detail: Hashable {
            case status, cancel, follow, result(String), product(String), input(String)
        }
    }

    /// Reads the path of a URL, still percent-encoded and without the query.
    ///
    /// Empty segments do not
    /// count, so a slash at the end changes nothing; resource words are matched in any letter case.
    init(path: some Sequence<UInt8>) {
        let segments = Array(path).split(separator: UInt8(ascii: "/")).map {
            Parameters.decode($0)
        }
        if let own: Resource = ["healthz": .health, "readyz": .ready, "metrics": .metrics][
            segments.count == 1 ? segments[0] : ""]
        {
            self = own
            return
        }
        if segments.first == "ogc" {
            self = .ogc(OGCPart(Array(segments.dropFirst())))
            return
        }
        if segments.first == "pages", segments.count > 1 {
            let name = segments.dropFirst().joined(separator: "/")
            self = SessionPart(rawValue: name).map { .session($0) } ?? .asset(name)
            return
        }
        let words = segments.map { $0.lowercased() }
        guard words.starts(with: ["arcgis", "rest"]) else {
            self = Resource(portal: words)
            return
        }
        switch words.dropFirst(2).first {
        case "info" where words.count == 3: self = .info
        case "generatetoken" where words.count == 3: self = .generateToken
        case "tokens": self = Resource(portal: ["arcgis"] + words.dropFirst(2))
        case nil: self = .services(folder: nil)
        case "services": self = Resource(service: Array(segments.dropFirst(3)))
        default: self = .nowhere
        }
    }

    /// What lies beside `/arcgis/rest`, as ArcGIS servers and portals have it.
    private init(portal words: [String]) {
        switch words {
        case ["arcgis", "tokens"], ["arcgis", "tokens", "generatetoken"],
            ["sharing", "generatetoken"], ["sharing", "rest", "generatetoken"]:
            self = .generateToken
        case ["sharing", "rest", "community", "self"], ["sharing", "community", "self"]:
            self = .communitySelf
        default: self = .nowhere
        }
    }

    private static let serviceKinds: Set = [
        "mapserver", "featureserver", "geocodeserver", "gpserver",
    ]

    /// `NAME/KIND/…` or `FOLDER/NAME/KIND/…`.
    private init(service segments: [String]) {
        guard segments.count >= 2 else {
            self = .services(folder: segments.first)
            return
        }
        let place = Self.serviceKinds.contains(segments[1].lowercased()) ? 1 : 2
        guard place < segments.count else {
            self = Self.unknown(segments)
            return
        }
        let name = segments[..<place].joined(separator: "/")
        let below = Array(segments[(place + 1)...])
        let rest = below.map { $0.lowercased() }
        let resource: Resource? =
            switch segments[place].lowercased() {
            case "mapserver": MapPart(rest).map { .map(name, $0) }
            case "featureserver": FeaturePart(rest).map { .features(name, $0) }
            case "geocodeserver": LocatorPart(rest).map { .locator(name, $0) }
            case "gpserver" where name.isEqualIgnoringCase(JobResource.serviceName):
                JobPart(below).map { .jobs($0) }
            default: nil
            }
        self = resource ?? Self.unknown(segments)
    }

    private static func unknown(_ segments: [String]) -> Resource {
        let path = segments.joined(separator: "/")
        return .unknownService("Service \(path.prefix(200)) not found")
    }
}

extension Resource.MapPart {
    fileprivate init?(_ words: [String]) {
        switch words {
        case []: self = .root
        case ["layers"]: self = .layers
        case ["legend"]: self = .legend
        case ["identify"]: self = .identify
        case ["identify", "changes"]: self = .follow
        case ["find"]: self = .find
        case ["changes"]: self = .changes
        case ["export"]: self = .export
        case _ where words.count == 4 && words[0] == "tile":
            let numbers = words.dropFirst().compactMap { Int($0) }
            guard numbers.count == 3 else { return nil }
            self = .tile(
                Resource.TilePart(level: numbers[0], row: numbers[1], column: numbers[2]))
        default:
            guard let (id, rest) = Resource.layer(words) else { return nil }
            switch rest {
            case []: self = .layer(id)
            case ["query"]: self = .query(id)
            default:
                guard let feature = Resource.objectID(rest) else { return nil }
                self = .feature(id, feature)
            }
        }
    }
}

extension Resource.JobPart {
    fileprivate init?(_ segments: [String]) {
        let words = segments.map { $0.lowercased() }
        guard let task = segments.first else {
            self = .root
            return
        }
        if words == ["uploads", "upload"] {
            self = .upload
        } else if segments.count == 1 {
            self = .task(task)
        } else if words.dropFirst() == ["submitjob"] {
            self = .submit(task)
        } else if words.dropFirst() == ["jobs"] {
            self = .jobs(task)
        } else if words.count >= 3, words[1] == "jobs", let part = Detail(segments, words) {
            self = .job(task, segments[2], part)
        } else {
            return nil
        }
    }
}

extension Resource.JobPart.Detail {
    /// From the fourth segment on.
    fileprivate init?(_ segments: [String], _ words: [String]) {
        switch Array(words.dropFirst(3)) {
        case []: self = .status
        case ["cancel"]: self = .cancel
        case ["changes"]: self = .follow
        case let rest where rest.count == 2 && rest[0] == "results": self = .result(segments[4])
        case let rest where rest.count == 3 && rest[0] == "results" && rest[2] == "file":
            self = .product(segments[4])
        case let rest where rest.count == 2 && rest[0] == "inputs": self = .input(segments[4])
        default: return nil
        }
    }
}

extension Resource.FeaturePart {
    fileprivate init?(_ words: [String]) {
        switch words {
        case []: self = .root
        case ["layers"]: self = .layers
        case ["query"]: self = .queryAll
        case [Resource.EditOperation.apply.rawValue]: self = .editAll
        default:
            guard let (id, rest) = Resource.layer(words) else { return nil }
            switch rest {
            case []: self = .layer(id)
            case ["query"]: self = .query(id)
            default:
                if let feature = Resource.objectID(rest) {
                    self = .feature(id, feature)
                    return
                }
                guard rest.count == 1,
                    let operation = rest.first.flatMap({ Resource.EditOperation(rawValue: $0) })
                else { return nil }
                self = .edit(id, operation)
            }
        }
    }
}

extension Resource {
    /// Whether only GET makes sense.
    var isReadOnly: Bool {
        switch self {
        case .ogc, .asset: true
        default: false
        }
    }

    /// A layer's number and what follows it.
    fileprivate static func layer(_ words: [String]) -> (LayerID, ArraySlice<String>)? {
        guard let first = words.first, let id = Int(first), 0...Int(Int32.max) ~= id else {
            return nil
        }
        return (id, words.dropFirst())
    }

    /// The object id that follows a layer's number, alone.
    fileprivate static func objectID(_ words: ArraySlice<String>) -> Int64? {
        words.count == 1 ? words.first.flatMap { Int64($0) } : nil
    }
}

extension Resource.LocatorPart {
    fileprivate init?(_ words: [String]) {
        switch words {
        case []: self = .root
        case ["findaddresscandidates"]: self = .findAddressCandidates
        case ["geocodeaddresses"]: self = .geocodeAddresses
        case ["suggest"]: self = .suggest
        case ["reversegeocode"]: self = .reverseGeocode
        default: return nil
        }
    }
}
