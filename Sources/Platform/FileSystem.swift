// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// What the file system says of a path.
public enum FileSystem {
    /// How many bytes the file has; nil where there is none or it may not be looked at.
    public static func byteCount(of path: String) -> Int64? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The magic number statfs(2) gives for a path; throws what it says.
    public static func type(of path: String) throws(PlatformError) -> Int {
        let type = unsafe cairn_filesystem_type(path)
        guard type >= 0 else { throw PlatformError(operation: "statfs", subject: path) }
        return type
    }

    /// Whether a file system of that number lies on another machine, where neither locks nor memory
    /// shared between processes can be relied on: NFS, SMB (three numbers), AFS (two), Ceph, Coda,
    /// NCP, Lustre, GPFS.
    public static func isRemote(type: Int) -> Bool {
        switch type {
        case 0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x5346_414f, 0x6b41_4653, 0x00c3_6400,
            0x7375_7245, 0x564c, 0x0bd0_0bd0, 0x4750_4653:
            true
        default: false
        }
    }
}
