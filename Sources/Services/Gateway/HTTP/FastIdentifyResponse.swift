// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NIOCore

/// An answer in the bytes of HTTP/1.1, with the headers that the general path gives the same
/// answer.
struct FastIdentifyResponse {
    private let crossOrigin: CrossOrigin
    private let middle: String
    /// What stands on every answer, without and with TLS, each with the line's end before it.
    private let safety: (plain: String, secure: String)

    init(_ crossOrigin: CrossOrigin, _ safety: SafetyHeaders) {
        self.crossOrigin = crossOrigin
        func lines(isSecure: Bool) -> String {
            safety.fields(isSecure: isSecure).map { "\r\n\($0.name): \($0.value)" }.joined()
        }
        self.safety = (lines(isSecure: false), lines(isSecure: true))
        middle =
            "\r\naccess-control-allow-methods: \(CrossOrigin.methods)\r\n"
            + "access-control-allow-headers: \(CrossOrigin.headers)\r\n"
            + "access-control-expose-headers: \(CrossOrigin.exposedHeaders)\r\n"
            + "server: Cairn\r\n"
    }

    private var dateSecond: Int64 = -1
    private var date = ""

    /// The whole answer to a page of that origin; `seconds` is the time of day since 1970, UTC.
    mutating func bytes(
        of response: GatewayResponse, to origin: String?, isSecure: Bool, at seconds: Int64,
        allocator: ByteBufferAllocator
    ) -> ByteBuffer {
        if seconds != dateSecond {
            dateSecond = seconds
            date = Self.date(seconds)
        }
        var buffer = allocator.buffer(capacity: response.body.count + 512)
        buffer.writeString(Self.statusLine(response.status))
        buffer.writeStaticString("\r\ncontent-type: ")
        buffer.writeString(response.contentType)
        if let origin = crossOrigin.answer(to: origin) {
            buffer.writeStaticString("\r\naccess-control-allow-origin: ")
            buffer.writeString(origin)
        }
        buffer.writeString(middle)
        buffer.writeStaticString("date: ")
        buffer.writeString(date)
        buffer.writeString(isSecure ? safety.secure : safety.plain)
        buffer.writeStaticString("\r\ncache-control: ")
        buffer.writeString(response.cacheControl)
        if let vary = crossOrigin.vary(response.headers["Vary"]) {
            buffer.writeStaticString("\r\nvary: ")
            buffer.writeString(vary)
        }
        for (name, value) in response.headers where name != "Cache-Control" && name != "Vary" {
            buffer.writeString("\r\n\(name): \(value)")
        }
        if let sequence = response.sequence {
            buffer.writeStaticString("\r\nx-cairn-sequence: ")
            buffer.writeString(String(sequence))
        }
        if response.isStale { buffer.writeStaticString("\r\nx-cairn-stale: true") }
        // Answers of these have no body and do not state a length (RFC 9110, 8.6).
        if response.status != 204 && response.status != 304 {
            buffer.writeStaticString("\r\ncontent-length: ")
            buffer.writeString(String(response.body.count))
        }
        buffer.writeStaticString("\r\n\r\n")
        buffer.writeBytes(response.body)
        return buffer
    }

    /// The status line of each status that is answered without the library.
    private static func statusLine(_ status: Int) -> String {
        switch status {
        case 204: "HTTP/1.1 204 No Content"
        case 304: "HTTP/1.1 304 Not Modified"
        case 401: "HTTP/1.1 401 Unauthorized"
        case 403: "HTTP/1.1 403 Forbidden"
        case 429: "HTTP/1.1 429 Too Many Requests"
        case 200: "HTTP/1.1 200 OK"
        default: "HTTP/1.1 \(status) "
        }
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), for moments from 1970 on.
    static func date(_ seconds: Int64) -> String {
        let clock = CalendarClock(milliseconds: seconds * 1000)
        let second = seconds % 86_400
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        return "\(days[Int(clock.dayNumber % 7)]), \(two(clock.day)) "
            + "\(months[Int(clock.month) - 1]) \(clock.year) "
            + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }
}
