// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The replacement of a layer's data from one source, again and again.
public struct RefreshDefinition: Hashable, Sendable, Codable {
    /// Choices that count before the statements of the source, in the words of the command line.
    public struct Choices: Hashable, Sendable, Codable {
        /// The spatial reference; absent for the source's.
        public var spatialReference: SpatialReference?
        /// The column of x.
        public var x: String?
        /// The column of y.
        public var y: String?
        /// The column of geometries.
        public var geometry: String?
        /// The encoding of texts.
        public var encoding: String?
        /// `NAME:TYPE` of columns; absent for none.
        public var fields: [String]?
        /// The layers of the source to take; absent for all.
        public var layers: [String]?

        /// Chooses nothing.
        public init() {}
    }

    /// Its name in the site: 1 to 64 letters, digits, `-` or `_`.
    public var name: String
    /// The map of the layer.
    public var map: MapName
    /// The layer whose data are replaced.
    public var layer: LayerID
    /// The absolute path of the source, or its URL.
    public var source: String
    /// The column by which rows keep their object ids; absent for the source's ids.
    public var key: String?
    /// The seconds from one run to the next; absent for none.
    public var everySeconds: Int?
    /// `true` where a change of the source starts a run; absent otherwise.
    public var watches: Bool?
    /// `true` where more than half of the features may go; absent otherwise.
    public var allowsShrink: Bool?
    /// `true` where edits that conflict give way; absent otherwise.
    public var dropsEdits: Bool?
    /// `true` where the source may be fetched from another server; absent otherwise.
    public var allowsNetwork: Bool?
    /// The name of the credential for that server; absent for none.
    public var credential: String?
    /// What counts before the statements of the source; absent for nothing.
    public var choices: Choices?

    /// Makes one that runs by command alone.
    public init(name: String, map: MapName, layer: LayerID, source: String) {
        self.name = name
        self.map = map
        self.layer = layer
        self.source = source
    }
}

/// A refresh was defined.
public struct RefreshAdded: EventPayload {
    /// The stable type name.
    public static let eventType = "refresh.added"
    /// The definition.
    public var refresh: RefreshDefinition
    /// The state of the source's files by then; absent where there were none.
    public var fingerprint: String?
    /// Makes the event.
    public init(refresh: RefreshDefinition, fingerprint: String?) {
        self.refresh = refresh
        self.fingerprint = fingerprint
    }
}

/// A refresh was removed; its layer stays as it is.
public struct RefreshRemoved: EventPayload {
    /// The stable type name.
    public static let eventType = "refresh.removed"
    /// Its name.
    public var name: String
    /// Makes the event.
    public init(name: String) { self.name = name }
}

/// A run of a refresh replaced the layer's data, or found nothing to change.
public struct RefreshSucceeded: EventPayload {
    /// The stable type name.
    public static let eventType = "refresh.succeeded"
    /// Its name.
    public var name: String
    /// The state of the source's files before the run.
    public var fingerprint: String?
    /// Global position of the map's event; absent where nothing changed.
    public var sequence: Int64?
    /// Numbers of features.
    public var added, changed, removed: Int
    /// Number of features after the run.
    public var rowCount: Int
    /// Number of features whose edits were carried over.
    public var carried: Int
    /// Makes the event.
    public init(
        name: String, fingerprint: String?, sequence: Int64?, added: Int, changed: Int,
        removed: Int, rowCount: Int, carried: Int
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.sequence = sequence
        (self.added, self.changed, self.removed) = (added, changed, removed)
        self.rowCount = rowCount
        self.carried = carried
    }
}

/// A run of a refresh failed; the layer stayed as it was.
public struct RefreshFailed: EventPayload {
    /// The stable type name.
    public static let eventType = "refresh.failed"
    /// Its name.
    public var name: String
    /// The state of the source's files before the run.
    public var fingerprint: String?
    /// The reason.
    public var error: Failure
    /// Makes the event.
    public init(name: String, fingerprint: String?, error: Failure) {
        self.name = name
        self.fingerprint = fingerprint
        self.error = error
    }
}

/// Everything that can happen to a refresh, as recorded in the stream `refresh-<name>`.
public enum RefreshEvent: Hashable, Sendable {
    /// It was defined.
    case added(RefreshAdded)
    /// It was removed.
    case removed(RefreshRemoved)
    /// A run ended well.
    case succeeded(RefreshSucceeded)
    /// A run failed.
    case failed(RefreshFailed)

    /// The payload inside.
    public var payload: any EventPayload {
        switch self {
        case .added(let payload): payload
        case .removed(let payload): payload
        case .succeeded(let payload): payload
        case .failed(let payload): payload
        }
    }

    /// Decodes a record of a `refresh-` stream; throws `Failure` (`newerVersion`, `corrupt`).
    public init(_ event: NewEvent) throws(Failure) {
        switch event.type {
        case RefreshAdded.eventType: self = .added(try .decode(event))
        case RefreshRemoved.eventType: self = .removed(try .decode(event))
        case RefreshSucceeded.eventType: self = .succeeded(try .decode(event))
        case RefreshFailed.eventType: self = .failed(try .decode(event))
        default:
            throw Failure(
                .newerVersion, "event \(event.id) has type '\(event.type)', unknown to this build")
        }
    }
}
