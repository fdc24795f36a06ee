// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// What a layer of a network analysis service says of itself.
public struct NetworkTaskInfo: Sendable {
    /// The name of the layer; empty before the task is loaded.
    public let name: String
    /// How one may travel; empty before the task is loaded.
    public let travelModes: [TravelMode]
    /// The name of the usual way to travel; empty where the service names none.
    public let defaultTravelModeName: String

    init(_ description: NetworkDescription?) {
        name = description?.json.text("layerName") ?? ""
        travelModes = description?.modes ?? []
        defaultTravelModeName = description?.defaultMode?.name ?? ""
    }
}

/// What the tasks over one layer of a network analysis service have in common.
public class NetworkTask: LoadableBase, @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; all state is behind locks.

    /// The URL of the layer, as `…/NAServer/Route`.
    public let url: URL
    private let described = Guarded<NetworkDescription?>(nil)
    private let token = Guarded<(any ArcGISCredential)?>(nil)

    init(layer url: URL) { self.url = url }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    /// The travel modes that the service names; empty before it is loaded.
    public var travelModes: [TravelMode] { described.current?.modes ?? [] }

    /// What the service says of itself; nothing before it is loaded.
    public var info: NetworkTaskInfo { NetworkTaskInfo(described.current) }

    override func performLoad() async throws {
        described.current = try await NetworkDescription.ask(url, credential)
    }

    /// What the layer says of itself, asked once.
    func description() async throws -> NetworkDescription {
        try await load()
        guard let known = described.current else { throw CancellationError() }
        return known
    }
}
