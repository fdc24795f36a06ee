// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// `{}`: the payload of a question that needs none.
public struct Nothing: Hashable, Sendable, Codable {
    /// Makes it.
    public init() {}
}

extension Operation where Request == AppendRequest, Answer == AppendResult {
    /// Appends events, all or none.
    public static var append: Self { Self("append", at: .log) }
}

extension Operation where Request == ClaimRequest, Answer == WriterClaim {
    /// Takes the right to append to the streams of a category.
    public static var claim: Self {
        Self("claim", at: .log, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == ReadRequest, Answer == ReadPage {
    /// Reads a page of events; also answered in the canonical layout (`CanonicalRecords`).
    public static var read: Self { Self("read", at: .log, requestBound: OperationPlace.shortBound) }
}

extension Operation where Request == Nothing, Answer == LogHead {
    /// The log's last sequence number.
    public static var head: Self { Self("head", at: .log, requestBound: OperationPlace.shortBound) }
}

extension Operation where Request == VerifyRequest, Answer == VerifyPage {
    /// Checks a range of the log.
    public static var verify: Self {
        Self("verify", at: .log, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == ArchiveRequest, Answer == UpkeepStatus {
    /// Moves the log's older part into an archive.
    public static var archive: Self {
        Self("archive", at: .log, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == BackupRequest, Answer == UpkeepStatus {
    /// Copies the log into a file.
    public static var backup: Self {
        Self("backup", at: .log, requestBound: OperationPlace.shortBound)
    }
}
