// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Platform
internal import Synchronization

/// An owned `OGRSpatialReference`, x before y.
@safe
struct SpatialReferenceHandle: ~Copyable {
    let handle: OGRSpatialReferenceH?

    /// The system of a number (EPSG, else ESRI), otherwise of WKT; nil when neither is understood.
    init?(wkid: Int?, wkt: String?) {
        // A log of its own: a number unknown to EPSG, but not to ESRI, is not a failure to report.
        let log = MessageLog()
        let made = unsafe log.listen { () -> OGRSpatialReferenceH? in
            if let wkid { return unsafe NumberedSystems.copy(wkid) }
            // Any other text GDAL would take for the name of a file.
            guard let wkt, wkt.contains("[") || wkt.hasPrefix("+"),
                let system = unsafe OSRNewSpatialReference(nil)
            else { return nil }
            if unsafe OSRSetFromUserInput(system, wkt) == OGRERR_NONE { return unsafe system }
            unsafe OSRDestroySpatialReference(system)
            return nil
        }
        guard let made = unsafe made else { return nil }
        unsafe handle = made
        unsafe OSRSetAxisMappingStrategy(handle, OAMS_TRADITIONAL_GIS_ORDER)
    }

    /// Keeps GDAL from finding a number for a system that has none: its driver of FlatGeobuf looks
    /// for one by the zone of UTM, whatever the unit is.
    func keepUnnumbered() {
        let log = MessageLog()
        log.listen {
            guard unsafe OSRGetAuthorityCode(handle, nil) == nil,
                let trial = unsafe OSRClone(handle)
            else { return }
            defer { unsafe OSRDestroySpatialReference(trial) }
            unsafe OSRAutoIdentifyEPSG(trial)
            guard unsafe OSRGetAuthorityCode(trial, nil) != nil else { return }
            unsafe OSRSetAuthority(handle, nil, "CAIRN", 0)
        }
    }

    deinit { unsafe OSRDestroySpatialReference(handle) }

    /// Whether data in this system hold latitude (or northing) before longitude.
    static func isLatitudeFirst(_ handle: OGRSpatialReferenceH?) -> Bool {
        guard let handle = unsafe handle else { return false }
        let log = MessageLog()
        return log.listen {
            guard
                unsafe OSREPSGTreatsAsLatLong(handle) != 0
                    || OSREPSGTreatsAsNorthingEasting(handle) != 0
            else { return false }
            var count: Int32 = 0
            guard let axes = unsafe OSRGetDataAxisToSRSAxisMapping(handle, &count), count >= 2
            else { return false }
            return unsafe axes[0] == 1
        }
    }

    /// A source's coordinate system; nil for none.
    static func describe(_ handle: OGRSpatialReferenceH?) -> SourceSpatialReference? {
        guard let source = unsafe handle else { return nil }
        let log = MessageLog()
        return log.listen { () -> SourceSpatialReference? in
            guard let handle = unsafe OSRClone(source) else { return nil }
            defer { unsafe OSRDestroySpatialReference(handle) }
            // Heights are dropped, and with them the third axis of the system.
            unsafe OSRStripVertical(handle)
            unsafe OSRDemoteTo2D(handle, nil)
            let wkt = unsafe text(handle)
            let number = unsafe stated(handle) ?? recognised(handle)
            return wkt.isEmpty && number == nil
                ? nil : SourceSpatialReference(wkid: number, wkt: wkt)
        }
    }

    /// The system defined by a text, a definition or a name; nil for none.
    static func meaning(of text: String) -> SourceSpatialReference? {
        let log = MessageLog()
        return log.listen { () -> SourceSpatialReference? in
            guard let system = unsafe OSRNewSpatialReference(nil) else { return nil }
            defer { unsafe OSRDestroySpatialReference(system) }
            guard unsafe OSRSetFromUserInput(system, text) == OGRERR_NONE else { return nil }
            return unsafe describe(system)
        }
    }

    /// The system as WKT 2; nil when PROJ cannot write it.
    func wkt() -> String? {
        guard let handle = unsafe handle else { return nil }
        let text = unsafe Self.text(handle)
        return text.isEmpty ? nil : text
    }

    private static func text(_ handle: OGRSpatialReferenceH) -> String {
        var pointer: UnsafeMutablePointer<CChar>?
        let options = StringList(["FORMAT=WKT2_2019"])
        unsafe OSRExportToWktEx(handle, &pointer, options.constant)
        defer { unsafe VSIFree(pointer) }
        return unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    private static func stated(_ handle: OGRSpatialReferenceH) -> Int? {
        guard let authority = unsafe OSRGetAuthorityName(handle, nil),
            let code = unsafe OSRGetAuthorityCode(handle, nil)
        else { return nil }
        let text = unsafe String(cString: code)
        switch (unsafe String(cString: authority), text) {
        case ("OGC", "CRS84"): return 4326
        case ("OGC", "CRS83"): return 4269
        case ("OGC", "CRS27"): return 4267
        case ("EPSG", _), ("ESRI", _): return Int(text).flatMap { $0 > 0 ? $0 : nil }
        default: return nil
        }
    }

    /// The number of the one system in PROJ's database that is the same but for its name.
    private static func recognised(_ handle: OGRSpatialReferenceH) -> Int? {
        var count: Int32 = 0
        var confidences: UnsafeMutablePointer<Int32>?
        let matches = unsafe OSRFindMatches(handle, nil, &count, &confidences)
        defer {
            unsafe OSRFreeSRSArray(matches)
            unsafe VSIFree(confidences)
        }
        for index in 0..<Int(count) {
            guard let match = unsafe matches?[index], let number = unsafe stated(match) else {
                continue
            }
            if unsafe confidences?[index] ?? 0 >= 90 || isSame(handle, match) { return number }
        }
        guard let degrees = SpatialReferenceHandle(wkid: 4326, wkt: nil) else { return nil }
        return unsafe isSame(handle, degrees.handle) ? 4326 : nil
    }

    /// Whether both are the same but for names and the order of degrees.
    private static func isSame(
        _ left: OGRSpatialReferenceH?, _ right: OGRSpatialReferenceH?
    ) -> Bool {
        let options = StringList([
            "CRITERION=EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS",
            "IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
        ])
        return unsafe OSRIsSameEx(left, right, options.constant) != 0
    }
}

/// Coordinate systems by number, independent of what the process has read before.
///
/// PROJ 9 describes EPSG:4326 by its datum ensemble, but by a plain datum once the same context has
/// looked that datum up for a text that names it, as many a GeoPackage's does
/// (`AuthorityFactory::createGeodeticDatumOrEnsemble` finds it in its cache), and GDAL has a
/// context for each thread. So each system is made once, on a thread of its own.
private enum NumberedSystems {
    @safe
    private final class System: @unchecked Sendable {
        /// Read only under the lock of `known`.
        let handle: OGRSpatialReferenceH

        init(_ handle: OGRSpatialReferenceH) { unsafe self.handle = handle }

        deinit { unsafe OSRDestroySpatialReference(handle) }
    }

    /// Most systems cached; beyond it the cache is cleared.
    private static let limit = 64
    private static let known = Mutex<[Int: System]>([:])

    /// A copy, which the caller destroys; nil for a number that neither EPSG nor ESRI has.
    static func copy(_ number: Int) -> OGRSpatialReferenceH? {
        let copy = unsafe known.withLock { known in
            unsafe known[number].flatMap { unsafe OSRClone($0.handle) }
        }
        if let copy = unsafe copy { return unsafe copy }
        guard let system = try? BackgroundThread("numbered-system", { make(number) }).value() else {
            return nil
        }
        return unsafe known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known[number] = system
            return unsafe OSRClone(system.handle)
        }
    }

    private static func make(_ number: Int) -> System? {
        guard let handle = unsafe OSRNewSpatialReference(nil) else { return nil }
        let system = unsafe System(handle)
        let log = MessageLog()
        let result = log.listen { () -> OGRErr in
            let result = unsafe OSRImportFromEPSG(system.handle, Int32(clamping: number))
            return result == OGRERR_NONE
                ? result : unsafe OSRSetFromUserInput(system.handle, "ESRI:\(number)")
        }
        return result == OGRERR_NONE ? system : nil
    }
}
