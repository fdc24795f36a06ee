// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A color of four parts from 0 to 255.
public struct SymbolColor: Hashable, Sendable {
    /// Its parts; 255 of alpha is opaque.
    public var red, green, blue, alpha: UInt8

    /// Makes a color.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Opaque red, as CSS has it.
    public static let red = SymbolColor(red: 255, green: 0, blue: 0)
    /// Green as CSS has it, half as bright as pure green.
    public static let green = SymbolColor(red: 0, green: 128, blue: 0)
    /// Opaque blue, as CSS has it.
    public static let blue = SymbolColor(red: 0, green: 0, blue: 255)
    /// Opaque yellow, as CSS has it.
    public static let yellow = SymbolColor(red: 255, green: 255, blue: 0)
    /// Opaque orange, as CSS has it.
    public static let orange = SymbolColor(red: 255, green: 165, blue: 0)
    /// Opaque purple, as CSS has it.
    public static let purple = SymbolColor(red: 128, green: 0, blue: 128)
    /// Opaque cyan, as CSS has it.
    public static let cyan = SymbolColor(red: 0, green: 255, blue: 255)
    /// Opaque white, as CSS has it.
    public static let white = SymbolColor(red: 255, green: 255, blue: 255)
    /// Opaque black, as CSS has it.
    public static let black = SymbolColor(red: 0, green: 0, blue: 0)
    /// Half way from black to white.
    public static let gray = SymbolColor(red: 128, green: 128, blue: 128)
    /// Nothing: fully transparent.
    public static let clear = SymbolColor(red: 0, green: 0, blue: 0, alpha: 0)

    var json: JSON { .array([red, green, blue, alpha].map { .integer(Int64($0)) }) }

    /// Reads `[r, g, b, a]`, or `[r, g, b]` as opaque; nil for anything else.
    init?(_ json: JSON?) {
        let parts = (json?.elements ?? []).compactMap(\.number)
        guard 3...4 ~= parts.count, parts.count == json?.elements.count else { return nil }
        let bytes = parts.map { UInt8(min(max($0.isFinite ? $0 : 0, 0), 255)) }
        self.init(
            red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count > 3 ? bytes[3] : 255)
    }
}
