// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension UUID {
    /// A global id as servers write it: in either letter case, with and without braces.
    init?(globalID text: String) {
        self.init(uuidString: text.trimmingCharacters(in: CharacterSet(charactersIn: "{} ")))
    }

    /// The id in capitals and braces, as services and files have it.
    var globalIDText: String { "{\(uuidString)}" }
}
