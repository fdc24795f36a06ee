// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension LayerSource {
    /// Throws `Failure` (`invalidParameter`, `tooLarge`) for a source that no layer can have.
    ///
    /// Whether there is anything at the other end shows when the layer loads.
    func check() throws(Failure) {
        switch self {
        case .dataset, .raster: break
        case .graphics(let source): try source.spatialReference.checkForm()
        }
    }

    /// Whether its features have columns that are known once it is loaded.
    var hasFields: Bool {
        switch self {
        case .dataset: true
        case .raster, .graphics: false
        }
    }
}

extension LayerDescription {
    /// What to call it, for people: `group`, `feature`, `raster`.
    var kindName: String { kind.source?.kindName ?? "group" }
}

extension SpatialReference {
    /// Throws unless there is a number or a text of bearable length.
    fileprivate func checkForm() throws(Failure) {
        guard wkid != nil || wkt?.isEmpty == false else {
            throw Failure(.invalidParameter, "spatial reference: expected a wkid or WKT")
        }
        guard (wkt?.utf8.count ?? 0) <= MapLimits.expressionBytes else {
            throw Failure(
                .tooLarge,
                "spatial reference: the most is \(MapLimits.expressionBytes) bytes of WKT")
        }
    }
}
