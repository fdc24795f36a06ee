// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Blobs that no job needs any more are about to be removed, as recorded in the stream
/// `site-blobs`.
public struct SiteBlobsSwept: EventPayload {
    /// The stable type name.
    public static let eventType = "site.blobs.swept"
    /// Jobs that ended before this moment keep only what ``keepsProducts`` states.
    public var before: Timestamp
    /// Whether inputs and products stay.
    public var keepsProducts: Bool
    /// Number of blobs.
    public var blobCount: Int
    /// Their bytes.
    public var byteCount: Int64

    /// Makes the event.
    public init(before: Timestamp, keepsProducts: Bool, blobCount: Int, byteCount: Int64) {
        self.before = before
        self.keepsProducts = keepsProducts
        self.blobCount = blobCount
        self.byteCount = byteCount
    }
}

/// Datasets, rasters and locator files that nothing refers to are about to be removed, as recorded
/// in the stream `site-blobs`.
public struct SiteDataSwept: EventPayload {
    /// The stable type name.
    public static let eventType = "site.data.swept"
    /// Their names.
    public var data: [ContentID]
    /// Their bytes.
    public var byteCount: Int64

    /// Makes the event.
    public init(data: [ContentID], byteCount: Int64) {
        self.data = data
        self.byteCount = byteCount
    }
}
