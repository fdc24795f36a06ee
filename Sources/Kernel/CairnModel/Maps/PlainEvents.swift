// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
public import Platform

// A log is mostly a few kinds of events: leases, results, progress, and layers turned on and off.
// The exact output of Cairn's own encoder for these is parsed here directly. Any other text,
// however little it differs, falls back to the general reader; both give equal values. A kind
// belongs here when it is a large part of real logs, not because it can.

extension ChunkAttempt {
    fileprivate init(
        plain json: inout CanonicalJSONCursor, _ bytes: RawSpan
    ) throws(CanonicalJSONCursor.IrregularForm) {
        try json.pass("{\"chunk\":", in: bytes)
        let chunk = try json.integer(in: bytes)
        try json.pass(",\"lease\":", in: bytes)
        let lease = UUID(words: try json.uuid(in: bytes))
        try json.pass(",\"number\":", in: bytes)
        let number = try json.integer(in: bytes)
        try json.pass("}", in: bytes)
        self.init(chunk: chunk, number: number, lease: lease)
    }
}

extension JobChunkLeased {
    /// Reads the text of an event as it is nearly always written; throws for any other.
    public static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm)
        -> JobChunkLeased
    {
        var json = CanonicalJSONCursor()
        try json.pass("{\"attempt\":", in: bytes)
        let attempt = try ChunkAttempt(plain: &json, bytes)
        try json.pass(",\"processID\":", in: bytes)
        guard let processID = Int32(exactly: try json.integer(in: bytes)) else {
            throw CanonicalJSONCursor.IrregularForm()
        }
        try json.pass(",\"worker\":", in: bytes)
        let worker = UUID(words: try json.uuid(in: bytes))
        try json.pass("}", in: bytes)
        try json.end(bytes)
        return JobChunkLeased(attempt: attempt, worker: worker, processID: processID)
    }
}

extension JobChunkCompleted {
    /// Parses an event without texts for the user; throws for any other.
    public static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm)
        -> JobChunkCompleted
    {
        var json = CanonicalJSONCursor()
        try json.pass("{\"attempt\":", in: bytes)
        let attempt = try ChunkAttempt(plain: &json, bytes)
        var blob: BlobReference?
        if json.takes(",\"blob\":{\"byteCount\":", in: bytes) {
            let byteCount = try json.integer(in: bytes)
            try json.pass(",\"id\":", in: bytes)
            guard let id = ContentID(rawValue: try json.text(in: bytes)) else {
                throw CanonicalJSONCursor.IrregularForm()
            }
            try json.pass(",\"mediaType\":", in: bytes)
            let mediaType = try json.text(in: bytes)
            try json.pass("}", in: bytes)
            blob = BlobReference(id: id, byteCount: Int64(byteCount), mediaType: mediaType)
        }
        try json.pass(",\"messages\":[]}", in: bytes)
        try json.end(bytes)
        return JobChunkCompleted(attempt: attempt, blob: blob, messages: [])
    }
}

extension JobProgressed {
    /// Reads the text of an event as it is nearly always written; throws for any other.
    public static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm)
        -> JobProgressed
    {
        var json = CanonicalJSONCursor()
        try json.pass("{\"progress\":", in: bytes)
        let progress = try json.real(in: bytes)
        try json.pass("}", in: bytes)
        try json.end(bytes)
        return JobProgressed(progress: progress)
    }
}

extension LayerVisibilityChanged {
    /// Reads the text of an event as it is written; throws for any other.
    public static func plain(
        _ bytes: RawSpan
    ) throws(CanonicalJSONCursor.IrregularForm) -> LayerVisibilityChanged {
        var json = CanonicalJSONCursor()
        let isVisible = json.takes("{\"isVisible\":true", in: bytes)
        if !isVisible { try json.pass("{\"isVisible\":false", in: bytes) }
        try json.pass(",\"layer\":", in: bytes)
        let layer = try json.integer(in: bytes)
        try json.pass("}", in: bytes)
        try json.end(bytes)
        return LayerVisibilityChanged(layer: layer, isVisible: isVisible)
    }
}

extension LayerScaleRangeChanged {
    /// Reads the text of an event as it is nearly always written; throws for any other.
    public static func plain(
        _ bytes: RawSpan
    ) throws(CanonicalJSONCursor.IrregularForm) -> LayerScaleRangeChanged {
        var json = CanonicalJSONCursor()
        try json.pass("{\"layer\":", in: bytes)
        let layer = try json.integer(in: bytes)
        try json.pass(",\"scaleRange\":{\"maxScale\":", in: bytes)
        let maximum = try json.real(in: bytes)
        try json.pass(",\"minScale\":", in: bytes)
        let minimum = try json.real(in: bytes)
        try json.pass("}}", in: bytes)
        try json.end(bytes)
        return LayerScaleRangeChanged(
            layer: layer, scaleRange: ScaleRange(minScale: minimum, maxScale: maximum))
    }
}

extension LayerRenamed {
    /// Reads the text of an event with a name of plain words; throws for any other.
    public static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm)
        -> LayerRenamed
    {
        var json = CanonicalJSONCursor()
        try json.pass("{\"layer\":", in: bytes)
        let layer = try json.integer(in: bytes)
        try json.pass(",\"name\":", in: bytes)
        let name = try json.text(in: bytes)
        try json.pass("}", in: bytes)
        try json.end(bytes)
        return LayerRenamed(layer: layer, name: name)
    }
}
