// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import HummingbirdCore
internal import NIOCore

extension ResponseBody {
    /// Size of the pieces copied and written at a time; they stay in the processor's caches.
    private static let pieceByteCount = 128 << 10

    /// A body of these bytes, copied in pieces at the client's pace.
    init(_ bytes: [UInt8]) {
        guard bytes.count > Self.pieceByteCount else {
            self.init(byteBuffer: ByteBuffer(bytes: bytes))
            return
        }
        self.init(contentLength: bytes.count) { writer in
            var buffer = ByteBuffer()
            for start in stride(from: 0, to: bytes.count, by: Self.pieceByteCount) {
                buffer.clear()
                buffer.writeBytes(bytes[start..<min(start + Self.pieceByteCount, bytes.count)])
                try await writer.write(buffer)
            }
            try await writer.finish(nil)
        }
    }
}
