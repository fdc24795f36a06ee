// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A draft shared by several writers in turn, as an encoder and its containers.
///
/// One thread at a time. It is behind a pointer: every use of a class's variable is checked for
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
