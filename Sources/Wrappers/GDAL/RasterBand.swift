// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// The description of a band of a raster.
public struct RasterBand: Hashable, Sendable {
    /// The interpretation of its values.
    public enum Kind: Hashable, Sendable {
        /// Whole numbers of at most 64 bits with a sign, exactly.
        case integer
        /// Numbers with a fraction.
        case real
        /// Neither: complex numbers, and whole numbers without a sign of 64 bits.
        case other
    }

    /// GDAL's name for the type, `Byte`, `Float32`.
    public let typeName: String
    /// The interpretation of its values.
    public let kind: Kind
    /// The band's name in the file; may be empty.
    public let name: String
    /// The names of the classes 0, 1 and so on; may be empty.
    public let categories: [String]

    init(_ band: GDALRasterBandH) {
        let type = unsafe GDALGetRasterDataType(band)
        typeName = unsafe GDALGetDataTypeName(type).map { unsafe String(cString: $0) } ?? ""
        switch type {
        case GDT_Byte, GDT_UInt16, GDT_Int16, GDT_UInt32, GDT_Int32, GDT_Int64: kind = .integer
        case GDT_Float32, GDT_Float64: kind = .real
        default: kind = .other
        }
        name = unsafe GDALGetDescription(band).map { unsafe String(cString: $0) } ?? ""
        let names = unsafe GDALGetRasterCategoryNames(band)
        categories = unsafe (0..<CSLCount(names)).map { index in
            unsafe CSLGetField(names, index).map { unsafe String(cString: $0) } ?? ""
        }
    }
}

/// A value of a pixel.
public enum RasterValue: Hashable, Sendable {
    /// A whole number.
    case integer(Int64)
    /// A finite number with a fraction.
    case real(Double)
}

/// A value in a raster's table of attributes.
public enum RasterTableValue: Hashable, Sendable {
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction, perhaps not finite.
    case real(Double)
    /// Text.
    case text(String)
}
