// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A typed value of an attribute.
///
/// In a tile a whole number of 0 or more is a `uint_value`, a negative one a `sint_value`, whatever
/// its type here; so equal numbers are one value of a layer.
public enum VectorTileValue: Hashable, Sendable {
    /// Text.
    case string(String)
    /// A whole number with a sign.
    case int64(Int64)
    /// A whole number of 0 or more.
    case uint64(UInt64)
    /// A number of double precision; equal where its bits are.
    case double(Double)
    /// A number of single precision; equal where its bits are.
    case float(Float)
    /// A truth value.
    case bool(Bool)

    /// The message `Value` of the specification, section 4.4.
    var message: [UInt8] {
        var writer = ProtobufWriter()
        switch self {
        case .string(let text): writer.field(1, text)
        case .float(let number): writer.field(2, fixed: number.bitPattern)
        case .double(let number): writer.field(3, fixed: number.bitPattern)
        case .int64(let number) where number < 0: writer.field(6, ProtobufWriter.zigzag(number))
        case .int64(let number): writer.field(5, UInt64(number))
        case .uint64(let number): writer.field(5, number)
        case .bool(let truth): writer.field(7, truth ? 1 : 0)
        }
        return writer.bytes
    }
}
