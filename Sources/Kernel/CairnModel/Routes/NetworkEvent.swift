// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// An event about a road network, of a stream of category `network`.
public enum NetworkEvent: Hashable, Sendable {
    case published(NetworkPublished)
    case deleted(NetworkDeleted)
    case roadsChanged(RoadsChanged)
    case roadsRestored(RoadsRestored)
    case roadsFollowed(RoadsFollowed)

    /// Reads a stored event; throws `Failure`: `newerVersion` for a type that this build does not
    /// know, `corrupt` for an invalid one.
    public init(_ event: NewEvent) throws(Failure) {
        switch event.type {
        case NetworkPublished.eventType: self = .published(try .decode(event))
        case NetworkDeleted.eventType: self = .deleted(try .decode(event))
        case RoadsChanged.eventType: self = .roadsChanged(try .decode(event))
        case RoadsRestored.eventType: self = .roadsRestored(try .decode(event))
        case RoadsFollowed.eventType: self = .roadsFollowed(try .decode(event))
        default:
            throw Failure(.newerVersion, "no reader for events of type '\(event.type)'")
        }
    }

    /// The payload.
    public var payload: any EventPayload {
        switch self {
        case .published(let payload): payload
        case .deleted(let payload): payload
        case .roadsChanged(let payload): payload
        case .roadsRestored(let payload): payload
        case .roadsFollowed(let payload): payload
        }
    }
}
