// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension LayerSource {
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) for a malformed source.
    ///
    /// Whether the source is reachable shows when the layer loads.
    func check() throws(Failure) {
        switch self {
        case .dataset, .raster: break
        case .wms(let source):
            try Self.check(source.url, source.credential)
            guard 1...100 ~= source.layers.count,
                source.layers.allSatisfy({ 1...MapLimits.layerNameBytes ~= $0.utf8.count }),
                !source.layers.contains(where: { $0.contains(",") })
            else {
                throw Failure(
                    .invalidParameter,
                    "WMS layers: expected 1 to 100 names of 1 to \(MapLimits.layerNameBytes) "
                        + "bytes, "
                        + "without ','")
            }
            guard [nil, "1.1.1", "1.3.0"].contains(source.version) else {
                throw Failure(.invalidParameter, "WMS version: expected 1.1.1 or 1.3.0")
            }
        case .mapService(let source):
            try Self.check(source.url, source.credential)
            guard source.layers.map({ 1...1000 ~= $0.count }) ?? true,
                source.layers?.allSatisfy({ 0...1_000_000 ~= $0 }) ?? true
            else {
                throw Failure(
                    .invalidParameter, "map service layers: expected 1 to 1000 numbers from 0")
            }
        case .featureService(let source):
            try Self.check(source.url, source.credential)
            guard source.layers == nil else {
                throw Failure(
                    .invalidParameter,
                    "URL: expected a layer of a feature service, …/FeatureServer/0")
            }
        case .tiles(let source): try Self.check(source.url, source.credential)
        case .graphics(let source): try source.spatialReference.checkForm()
        }
    }

    /// Throws unless the text is the URL of a server, without a secret in it.
    private static func check(_ url: String, _ credential: String?) throws(Failure) {
        let lowered = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowered.hasPrefix($0) }),
            url.utf8.count <= 2048, url.utf8.allSatisfy({ 33...126 ~= $0 }), !url.contains("#")
        else {
            throw Failure(
                .invalidParameter,
                "URL: expected http:// or https://, and at most 2048 printable ASCII characters "
                    + "without '#'")
        }
        let host = lowered.dropFirst(scheme.count).prefix { !"/?".contains($0) }
        let isSecret = ["token=", "password=", "apikey=", "api_key=", "access_token="]
            .contains { lowered.contains($0) }
        guard !host.isEmpty, !host.contains("@"), !isSecret else {
            throw Failure(
                .invalidParameter,
                "URL: expected a host, and no secret: the log keeps URLs for ever, so give the "
                    + "name "
                    + "of a credential instead")
        }
        if let credential {
            guard 1...64 ~= credential.utf8.count,
                credential.allSatisfy({
                    $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0))
                })
            else {
                throw Failure(
                    .invalidParameter,
                    "credential: expected a name of 1 to 64 letters, digits, '-' or '_'")
            }
        }
    }

    /// Whether its features have columns, known once it is loaded.
    var hasFields: Bool {
        switch self {
        case .dataset, .featureService: true
        case .raster, .wms, .mapService, .tiles, .graphics: false
        }
    }
}

extension LayerDescription {
    /// The word for it in messages: `group`, `feature`, `raster`.
    var kindName: String { kind.source?.kindName ?? "group" }
}

extension SpatialReference {
    /// Throws unless it has a wkid, or a WKT within the size limit.
    fileprivate func checkForm() throws(Failure) {
        guard wkid != nil || wkt?.isEmpty == false else {
            throw Failure(.invalidParameter, "spatial reference: expected a wkid or WKT")
        }
        guard (wkt?.utf8.count ?? 0) <= MapLimits.expressionBytes else {
            throw Failure(
                .tooLarge,
                "spatial reference: expected at most \(MapLimits.expressionBytes) bytes of WKT")
        }
    }
}
