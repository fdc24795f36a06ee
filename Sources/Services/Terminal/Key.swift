// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A user's input at a terminal.
package enum Key: Hashable, Sendable {
    /// A printable character.
    case character(Character)
    /// Ctrl with a letter `a`–`z`.
    case control(Character)
    case enter, escape, tab, backTab, backspace, delete, insert
    case up, down, left, right, home, end, pageUp, pageDown
    /// An arrow with Shift held.
    case shiftUp, shiftDown, shiftLeft, shiftRight
    /// F1–F12.
    case function(Int)
    /// The left button was pressed on the cell, counted from 0 at the top left.
    case click(column: Int, row: Int)
    /// The wheel was turned on the cell, away from the user.
    case wheelUp(column: Int, row: Int)
    /// The wheel was turned on the cell, towards the user.
    case wheelDown(column: Int, row: Int)
    /// Pasted text, at most 4,096 bytes of it, without control characters.
    case paste(String)
}
