// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Layers of a Web Map Service (OGC WMS 1.1.1 or 1.3.0).
public struct WMSSource: Hashable, Sendable, Codable {
    /// The service's address, `http://` or `https://`, without the parameters of the protocol.
    public var url: String
    /// The service's names of the layers, the first drawn below.
    public var layers: [String]
    /// `1.1.1` or `1.3.0`; nil for what the service prefers.
    public var version: String?
    /// The name of a credential of the site; nil for none.
    public var credential: String?

    /// Makes a source.
    public init(url: String, layers: [String], version: String? = nil, credential: String? = nil) {
        self.url = url
        self.layers = layers
        self.version = version
        self.credential = credential
    }
}

/// What is known of a layer on another server, once it is loaded.
public struct ServiceProperties: Hashable, Sendable, Codable {
    /// What the server calls it.
    public var title: String?
    /// The version of the protocol that is spoken with it.
    public var version: String?
    /// The form in which it tells of features.
    public var infoFormat: String?
    /// The layers there that may be asked.
    public var queryable: [String]
    /// The spatial references it knows, by number; at most 100.
    public var spatialReferences: [Int]

    /// Describes a service.
    public init(
        title: String? = nil, version: String? = nil, infoFormat: String? = nil,
        queryable: [String] = [], spatialReferences: [Int] = []
    ) {
        self.title = title
        self.version = version
        self.infoFormat = infoFormat
        self.queryable = queryable
        self.spatialReferences = spatialReferences
    }
}
