// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

/// The controlling terminal in raw mode. One per process: signal handlers restore it, so its state is
/// static. Every function is safe to call when the terminal was never entered.

/// Saves the modes of `fd`, makes it raw, shows the alternate screen with mouse reports and bracketed
/// paste, and installs handlers: SIGWINCH, SIGTERM, SIGINT, SIGHUP are reported by
/// `cairn_terminal_wait`; a fatal signal restores the terminal first. 0, or -1 and errno.
int cairn_terminal_enter(int fd);

/// Puts back the saved modes and the ordinary screen; async-signal-safe; a second call does nothing.
void cairn_terminal_leave(void);

/// Leaves, stops the process as Ctrl-Z does, and enters again when it is continued.
void cairn_terminal_suspend(void);

/// The size in character cells; 0, or -1 and errno.
int cairn_terminal_size(int fd, int *columns, int *rows);

/// Waits for input (bit 1), a new size (bit 2), a wish to end (bit 4) or a wake (bit 8); 0 after
/// `timeout_ms` milliseconds (negative: no limit); -1 and errno.
int cairn_terminal_wait(int timeout_ms);

/// Makes the present or next `cairn_terminal_wait` return bit 8; any thread, async-signal-safe.
void cairn_terminal_wake(void);
