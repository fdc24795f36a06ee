// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CCairo
import CairnCore
import CairnModel
import Cairo
import Foundation
import Platform
import TestKit

/// Code of Cairn's own beside the library that could take its place (decision 0219).
///
/// `theirs` is the library's; a ratio above 1 says that it takes longer, or makes more bytes.
struct OwnCode {
    let isShort: Bool

    private var rounds: Int { isShort ? 3 : 9 }

    func run() throws {
        for size in [256, 1024] { try pictures(size) }
        try identifiers()
        try numbers()
        try calendars()
    }

    /// A map of flat areas with lines around them, opaque and translucent.
    private func pictures(_ size: Int) throws {
        for isOpaque in [true, false] {
            let canvas = try Canvas(width: size, height: size, hasAlpha: true)
            var random = SeededGenerator(seed: 64)
            if isOpaque { canvas.paint(PaintColor(red: 0.9, green: 0.95, blue: 1)) }
            for _ in 0..<120 {
                let middle = (
                    Double.random(in: 0...1, using: &random),
                    Double.random(in: 0...1, using: &random)
                )
                let color = PaintColor(
                    red: .random(in: 0...1, using: &random),
                    green: .random(in: 0...1, using: &random),
                    blue: .random(in: 0...1, using: &random))
                for corner in 0..<60 {
                    let angle = 2 * Double.pi * Double(corner) / 60
                    let reach = Double.random(in: 0.04...0.09, using: &random)
                    let x = Double(size) * (middle.0 + reach * cos(angle))
                    let y = Double(size) * (middle.1 + reach * sin(angle))
                    if corner == 0 { canvas.move(to: x, y) } else { canvas.line(to: x, y) }
                }
                canvas.close()
                canvas.fill(color, .evenOdd)
                canvas.stroke(PaintColor(red: 0.2, green: 0.2, blue: 0.2), width: 1)
            }
            guard let file = try canvas.png(atMost: .max) else { return }
            let peer = try PNGPeer(rgba: try canvas.rgba(), size: size, isOpaque: isOpaque)
            let name = "PNG, \(size) pixels, \(isOpaque ? "opaque" : "translucent")"
            try compare(
                name, "cairo_surface_write_to_png_stream", 1, "ms", 1e3,
                { _ = try canvas.png(atMost: .max) }, { _ = peer.png() })
            try write(
                name, "cairo_surface_write_to_png_stream", Double(file.count),
                Double(peer.png().count), "bytes")
        }
    }

    private func identifiers() throws {
        let ids = (0..<10_000).map { _ in UUID() }
        let texts = ids.map(\.uuidString)
        var sum = 0
        try compare(
            "UUID to text", "Foundation", ids.count, "ns", 1e9,
            { for id in ids { sum &+= UUIDText.text(id.words, inCapitals: true).utf8.count } },
            { for id in ids { sum &+= id.uuidString.utf8.count } })
        try compare(
            "UUID from text", "Foundation", ids.count, "ns", 1e9,
            { for text in texts { sum &+= UUIDText.words(text) == nil ? 0 : 1 } },
            { for text in texts { sum &+= UUID(uuidString: text) == nil ? 0 : 1 } })
    }

    /// Coordinates of seven decimals, as maps have them.
    private func numbers() throws {
        var random = SeededGenerator(seed: 7)
        let numbers = (0..<20_000).map { _ in
            (Double.random(in: -180...180, using: &random) * 1e7).rounded() / 1e7
        }
        try compare(
            "a number to text", "description", numbers.count, "ns", 1e9,
            {
                var bytes: [UInt8] = []
                for number in numbers { DecimalText.append(number, to: &bytes) }
            },
            {
                var bytes: [UInt8] = []
                for number in numbers { bytes.append(contentsOf: number.description.utf8) }
            })
    }

    private func calendars() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        let moments = (0..<10_000).map { Int64($0) * 86_400_123 * 3 }
        var sum: Int64 = 0
        try compare(
            "calendar and clock of a moment", "Calendar", moments.count, "ns", 1e9,
            { for moment in moments { sum &+= CalendarClock(milliseconds: moment).day } },
            {
                for moment in moments {
                    let date = Date(timeIntervalSince1970: Double(moment) / 1000)
                    let parts = calendar.dateComponents(
                        [.year, .month, .day, .hour, .minute, .second, .nanosecond], from: date)
                    sum &+= Int64(parts.day ?? 0)
                }
            })
    }

    private func compare(
        _ name: String, _ peer: String, _ count: Int, _ unit: String, _ scale: Double,
        _ ours: @escaping () throws -> Void, _ theirs: @escaping () throws -> Void
    ) throws {
        let times = try Timing.medians(rounds: rounds, [ours, theirs]).map {
            $0 * scale / Double(count)
        }
        try write(name, peer, times[0], times[1], unit)
    }

    private func write(
        _ name: String, _ peer: String, _ ours: Double, _ theirs: Double, _ unit: String
    ) throws {
        try Line(
            case: name, peer: peer, ratio: theirs / ours, asked: "none", pass: true, ours: ours,
            theirs: theirs, unit: unit
        ).write()
    }
}

/// Cairo's own way to PNG.
@safe private final class PNGPeer {
    private let surface: OpaquePointer?

    init(rgba: [UInt8], size: Int, isOpaque: Bool) throws {
        let format = isOpaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32
        unsafe surface = cairo_image_surface_create(format, Int32(size), Int32(size))
        guard let data = unsafe cairo_image_surface_get_data(surface) else {
            throw Failure(.internal, "Cairo has no memory")
        }
        let stride = Int(unsafe cairo_image_surface_get_stride(surface))
        for row in 0..<size {
            for column in 0..<size {
                let place = (row * size + column) * 4
                let alpha = UInt32(rgba[place + 3])
                func part(_ offset: Int) -> UInt32 { UInt32(rgba[place + offset]) * alpha / 255 }
                let pixel = alpha << 24 | part(0) << 16 | part(1) << 8 | part(2)
                unsafe UnsafeMutableRawPointer(data + row * stride + column * 4)
                    .storeBytes(of: pixel, as: UInt32.self)
            }
        }
        unsafe cairo_surface_mark_dirty(surface)
    }

    deinit { unsafe cairo_surface_destroy(surface) }

    func png() -> [UInt8] {
        var bytes: [UInt8] = []
        _ = unsafe withUnsafeMutablePointer(to: &bytes) { bytes in
            unsafe cairo_surface_write_to_png_stream(
                surface,
                { closure, data, count in
                    unsafe closure?.assumingMemoryBound(to: [UInt8].self).pointee
                        .append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                    return CAIRO_STATUS_SUCCESS
                }, bytes)
        }
        return bytes
    }
}
