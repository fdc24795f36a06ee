// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Reads server-sent events (HTML standard, section 9.2) from a body.
struct EventStreamReader {
    struct Event {
        var name = "message"
        var data = ""
        var id: String?
    }

    /// Longest line, bytes.
    private static let lineLimit = 4 << 20

    private let body: ResponseBody
    private var waiting: [UInt8] = []
    private var place = 0

    init(_ body: ResponseBody) { self.body = body }

    /// The next event; nil at the end of the stream.
    mutating func next() async throws -> Event? {
        var event = Event()
        var hasData = false
        while let line = try await line() {
            if line.isEmpty {
                if hasData { return event }
                event = Event()
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? parts[1] : ""
            if value.first == " " { value = value.dropFirst() }
            switch parts[0] {
            case "event": event.name = String(value)
            case "id": event.id = String(value)
            case "data":
                event.data += (hasData ? "\n" : "") + value
                hasData = true
            default: break
            }
        }
        return nil
    }

    private mutating func line() async throws -> String? {
        var searched = place
        while true {
            if let end = waiting[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                var line = waiting[place..<end]
                if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
                place = end + 1
                return String(decoding: line, as: UTF8.self)
            }
            guard waiting.count - place <= Self.lineLimit else {
                throw TransportError(.tooLarge, "a line of the stream is longer than 4 MiB")
            }
            waiting.removeFirst(place)
            place = 0
            searched = waiting.count
            guard let piece = try await body.next() else { return nil }
            waiting += piece
        }
    }
}
