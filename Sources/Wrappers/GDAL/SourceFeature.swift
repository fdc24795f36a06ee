// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Glibc

/// One feature of a source, lent for the length of a call.
@safe
public struct SourceFeature: ~Copyable {
    private let handle: OGRFeatureH
    private let kinds: [SourceField.Kind]
    private let swapsAxes: Bool
    /// GDAL's warnings from the read of the feature; empty as a rule.
    public let complaints: [String]

    /// Takes ownership of `handle`.
    init(
        _ handle: OGRFeatureH, kinds: [SourceField.Kind], swapsAxes: Bool, complaints: [String]
    ) {
        unsafe self.handle = handle
        self.kinds = kinds
        self.swapsAxes = swapsAxes
        self.complaints = complaints
    }

    /// The source's own number for the feature.
    public var id: Int64 { unsafe OGR_F_GetFID(handle) }

    /// Writes the geometry to the front of `bytes`, which grow where they must: little-endian ISO
    /// WKB, x first, then y, and Z and M where it has them, curves replaced by chains of segments.
    ///
    /// How many bytes it is; nil when the feature has none or it cannot be expressed.
    public func wkb(into bytes: inout [UInt8]) -> Int? {
        guard let own = unsafe OGR_F_GetGeometryRef(handle) else { return nil }
        if unsafe OGR_G_HasCurveGeometry(own, 0) != 0 {
            guard let linear = unsafe OGR_G_GetLinearGeometry(own, 0, nil) else { return nil }
            defer { unsafe OGR_G_DestroyGeometry(linear) }
            return unsafe plainWKB(linear, &bytes)
        }
        return unsafe plainWKB(own, &bytes)
    }

    private func plainWKB(_ geometry: OGRGeometryH, _ bytes: inout [UInt8]) -> Int? {
        if swapsAxes { unsafe OGR_G_SwapXY(geometry) }
        let count = Int(unsafe OGR_G_WkbSize(geometry))
        guard count > 0 else { return nil }
        if bytes.count < count { bytes = [UInt8](repeating: 0, count: 2 * count) }
        let result = unsafe OGR_G_ExportToIsoWkb(geometry, wkbNDR, &bytes)
        return result == OGRERR_NONE ? count : nil
    }

    /// The value of the column of that place in the layer's fields.
    public func value(at index: Int) -> SourceValue {
        guard kinds.indices.contains(index),
            unsafe OGR_F_IsFieldSetAndNotNull(handle, Int32(index)) != 0
        else { return .null }
        let field = Int32(index)
        switch kinds[index] {
        case .boolean, .integer16, .integer32:
            return .integer(Int64(unsafe OGR_F_GetFieldAsInteger(handle, field)))
        case .integer64:
            return .integer(Int64(unsafe OGR_F_GetFieldAsInteger64(handle, field)))
        case .real32, .real64: return .real(unsafe OGR_F_GetFieldAsDouble(handle, field))
        case .date: return date(field)
        case .binary: return .null
        case .text:
            if let list = list(field) { return .text(Array(list.utf8)) }
            guard let text = unsafe OGR_F_GetFieldAsString(handle, field) else { return .null }
            return .text(unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text))))
        }
    }

    /// A list as JSON, the form that GeoJSON gives it; nil for other fields.
    private func list(_ field: Int32) -> String? {
        var count: Int32 = 0
        var items: [String] = []
        switch unsafe OGR_Fld_GetType(OGR_F_GetFieldDefnRef(handle, field)) {
        case OFTIntegerList:
            guard let list = unsafe OGR_F_GetFieldAsIntegerList(handle, field, &count) else {
                return "[]"
            }
            items = (0..<Int(count)).map { "\(unsafe list[$0])" }
        case OFTInteger64List:
            guard let list = unsafe OGR_F_GetFieldAsInteger64List(handle, field, &count) else {
                return "[]"
            }
            items = (0..<Int(count)).map { "\(unsafe list[$0])" }
        case OFTRealList:
            guard let list = unsafe OGR_F_GetFieldAsDoubleList(handle, field, &count) else {
                return "[]"
            }
            items = (0..<Int(count)).map {
                let value = unsafe list[$0]
                return value.isFinite ? "\(value)" : "null"
            }
        case OFTStringList:
            var next = unsafe OGR_F_GetFieldAsStringList(handle, field)
            while let text = unsafe next?.pointee {
                items.append(Self.quoted(unsafe String(cString: text)))
                unsafe next = unsafe next?.successor()
            }
        default: return nil
        }
        return "[" + items.joined(separator: ",") + "]"
    }

    /// A text of JSON.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private func date(_ field: Int32) -> SourceValue {
        var parts: (Int32, Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0, 0)
        var seconds: Float = 0
        let isDate = unsafe OGR_F_GetFieldAsDateTimeEx(
            handle, field, &parts.0, &parts.1, &parts.2, &parts.3, &parts.4, &seconds, &parts.5)
        guard isDate != 0 else { return .null }
        // With 32 bits, the seconds may round to a minute.
        let milliseconds = Int((Double(seconds) * 1000).rounded())
        return .moment(
            CivilMoment(
                year: Int(parts.0), month: Int(parts.1), day: Int(parts.2), hour: Int(parts.3),
                minute: Int(parts.4),
                milliseconds: seconds < 60 ? min(milliseconds, 59_999) : milliseconds,
                // 100 is UTC, each step 15 minutes; 0 is unknown and 1 local.
                zoneMinutes: parts.5 > 1 ? (Int(parts.5) - 100) * 15 : 0))
    }

    deinit { unsafe OGR_F_Destroy(handle) }
}
