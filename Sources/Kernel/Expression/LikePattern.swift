// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A LIKE pattern: `%` matches any run of code points, `_` exactly one.
struct LikePattern: Sendable, Hashable {
    enum Element: Sendable, Hashable {
        case exactly(Unicode.Scalar)
        case one
        case run
    }

    private(set) var elements: [Element] = []

    /// Nil for an escape character at the end, or before anything but `%`, `_` or itself.
    init?(_ text: String, escape: Unicode.Scalar?) {
        var escaped = false
        for scalar in text.unicodeScalars {
            if escaped {
                guard scalar == "%" || scalar == "_" || scalar == escape else { return nil }
                elements.append(.exactly(scalar))
                escaped = false
            } else if scalar == escape {
                escaped = true
            } else if scalar == "%" {
                if elements.last != .run { elements.append(.run) }
            } else {
                elements.append(scalar == "_" ? .one : .exactly(scalar))
            }
        }
        if escaped { return nil }
    }

    /// The literal characters; nil in place of each wildcard.
    var fixedScalars: [Unicode.Scalar?] {
        elements.map { element in
            if case .exactly(let scalar) = element { scalar } else { nil }
        }
    }

    /// Whether the whole text has the pattern; at worst text × pattern steps, no recursion.
    func matches(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        var position = scalars.startIndex
        var element = 0
        var resume: (element: Int, position: String.UnicodeScalarView.Index)?
        while position < scalars.endIndex {
            if element < elements.count {
                switch elements[element] {
                case .run:
                    resume = (element + 1, position)
                    element += 1
                    continue
                case .one:
                    element += 1
                    scalars.formIndex(after: &position)
                    continue
                case .exactly(let scalar) where scalar == scalars[position]:
                    element += 1
                    scalars.formIndex(after: &position)
                    continue
                case .exactly: break
                }
            }
            guard let last = resume else { return false }
            let next = scalars.index(after: last.position)
            resume = (last.element, next)
            element = last.element
            position = next
        }
        while element < elements.count, elements[element] == .run { element += 1 }
        return element == elements.count
    }
}
