// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A named place of a map.
public final class Bookmark: Sendable {
    private let state: Guarded<(name: String, viewpoint: Viewpoint?)>

    /// Makes one.
    public init(name: String, viewpoint: Viewpoint?) { state = Guarded((name, viewpoint)) }

    /// Its name.
    public var name: String {
        get { state.current.name }
        set { state.withLock { $0.name = newValue } }
    }
    /// What a view shows; nil for nothing.
    public var viewpoint: Viewpoint? {
        get { state.current.viewpoint }
        set { state.withLock { $0.viewpoint = newValue } }
    }
}
