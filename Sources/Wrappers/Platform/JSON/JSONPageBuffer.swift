// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A draft that several hold and write into in turn, as an encoder and its containers do.
///
/// One thread at a time. It lies behind a pointer: every use of a class's variable is watched for
/// overlap at run time (SE-0176), which takes nearly as long as the writing.
@safe
public final class JSONPageBuffer {
    private let pointer: UnsafeMutablePointer<JSONBuffer>

    /// An empty one.
    public init() {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: JSONBuffer())
    }

    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    /// The text so far.
    public var draft: JSONBuffer {
        unsafeAddress { unsafe UnsafePointer(pointer) }
        unsafeMutableAddress { unsafe pointer }
    }
}
