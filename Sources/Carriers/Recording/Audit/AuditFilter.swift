// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// Which entries of an audit are wanted.
public struct AuditFilter: Hashable, Sendable {
    /// A feature that the answer showed.
    public var feature: Feature?
    /// The user, `anonymous` for callers without one.
    public var user: String?
    /// The map, ignoring case.
    public var map: String?
    /// Answered at this moment or later.
    public var from: Timestamp?
    /// Answered before this moment.
    public var to: Timestamp?

    /// The user of callers without a token.
    public static let anonymousName = "anonymous"

    /// A feature of a map.
    public struct Feature: Hashable, Sendable {
        /// The map.
        public var map: MapName
        /// The layer.
        public var layer: LayerID
        /// The object id.
        public var id: Int64

        /// Names a feature.
        public init(map: MapName, layer: LayerID, id: Int64) {
            self.map = map
            self.layer = layer
            self.id = id
        }

        /// Parses `MAP/LAYER/ID` or `FOLDER/MAP/LAYER/ID` with the layer's number; nil for any
        /// other text.
        public init?(parsing text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count >= 3, let id = Int64(parts[parts.count - 1]),
                let layer = LayerID(parts[parts.count - 2]),
                let map = MapName(rawValue: parts.dropLast(2).joined(separator: "/"))
            else { return nil }
            self.init(map: map, layer: layer, id: id)
        }
    }

    /// Takes every entry.
    public init() {}

    /// How an entry meets the filter.
    public enum Match: Sendable {
        /// In no way.
        case none
        /// It does.
        case met
        /// It does where this query, asked as of then, counts one feature: the answer showed it,
        /// unless it lay behind the answer's last page.
        case ifCounted(QueryRequest)
    }

    /// Compares an entry.
    public func match(_ entry: AuditEntry) -> Match {
        if let from, entry.at < from { return .none }
        if let to, entry.at >= to { return .none }
        if let user {
            guard !entry.isRedacted, (entry.user ?? Self.anonymousName) == user else {
                return .none
            }
        }
        if let map, entry.map?.lowercased() != map.lowercased() { return .none }
        guard let feature else { return .met }
        guard entry.map?.lowercased() == feature.map.rawValue.lowercased() else { return .none }
        if let isShown = entry.shows(feature.id, of: feature.layer) {
            return isShown ? .met : .none
        }
        guard case .request(let data)? = entry.question, entry.operation == "query",
            var request = try? CairnJSON.decode(QueryRequest.self, from: data),
            request.layer == feature.layer, let sequence = entry.sequence,
            request.objectIDs?.contains(feature.id) ?? true
        else { return .none }
        request.objectIDs = [feature.id]
        request.result = .count
        request.form = .esri
        request.order = []
        request.offset = 0
        request.limit = nil
        request.part = nil
        request.groupFields = []
        request.statistics = []
        request.having = nil
        request.returnDistinctValues = false
        request.minSequence = nil
        if request.at == nil && request.atTime == nil { request.at = sequence }
        request.isAuxiliary = true
        return .ifCounted(request)
    }

    /// Whether the answer to the query of a match counts a feature.
    public static func isCounted(_ answer: QueryAnswer) -> Bool {
        struct Body: Decodable { var count: Int }
        return (try? CairnJSON.decode(Body.self, from: Data(answer.body)).count > 0) ?? false
    }
}

/// An entry as programs read it: a line of `cairn audit --json`, an element of `/audit`.
public struct AuditLine: Hashable, Sendable, Codable {
    /// When it was answered.
    public var at: Timestamp
    /// The sequence number of the state that answered; absent where the answer depends on none.
    public var sequence: Int64?
    /// The user; absent for anonymous callers, where it is masked, and after a redaction.
    public var user: String?
    /// The client's address; absent where it is unknown, masked or redacted.
    public var address: String?
    /// The operation: `identify`, `query`, `geocode`.
    public var operation: String
    /// The map; absent for questions to locators.
    public var map: String?
    /// The place that was asked about: x, y and the WKID of their reference, 0 for the map's.
    public var point: [Double]?
    /// The request, for other questions.
    public var request: JSONValue?
    /// The features an identify showed, by layer.
    public var shown: [AuditEntry.Shown]?
    /// True where user, address and question have been removed.
    public var isRedacted: Bool?

    /// The line of an entry.
    public init(_ entry: AuditEntry) {
        at = entry.at
        sequence = entry.sequence
        user = entry.user
        address = entry.address.isEmpty ? nil : entry.address
        operation = entry.operation
        map = entry.map
        shown = entry.shown
        isRedacted = entry.isRedacted ? true : nil
        switch entry.question {
        case nil: break
        case .point(let x, let y, let wkid)?: point = [x, y, Double(wkid)]
        case .request(let data)?: request = try? CairnJSON.decode(JSONValue.self, from: data)
        }
    }

    /// The question in a few words.
    public var questionText: String {
        if let point { return "\(point[0]),\(point[1])" }
        if let request, let data = try? CairnJSON.encode(request) {
            return String(decoding: data, as: UTF8.self)
        }
        return isRedacted == true ? "redacted" : ""
    }

    /// The features shown in a few words: `0/17 2/4,5`.
    public var shownText: String {
        (shown ?? []).map { group in
            "\(group.layer)/" + group.ids.map { "\($0)" }.joined(separator: ",")
        }.joined(separator: " ")
    }
}
