// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnTerminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const char shown[] = "\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[2J";
static const char hidden[] = "\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[0m\x1b[?25h\x1b[?1049l";
static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGQUIT};
static const int asked[] = {SIGWINCH, SIGTERM, SIGINT, SIGHUP};
enum { fatal_count = sizeof fatal / sizeof *fatal, asked_count = sizeof asked / sizeof *asked };

static struct termios saved, raw;
static struct sigaction old_fatal[fatal_count], old_asked[asked_count];
static volatile sig_atomic_t entered, resized, ending, woken;
static int terminal = -1, wakes = -1;

static void write_all(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(terminal, bytes, count);
        if (written < 0 && errno != EINTR) return;
        if (written > 0) bytes += written, count -= (size_t)written;
    }
}

void cairn_terminal_wake(void) {
    int kept = errno;
    uint64_t one = 1;
    woken = 1;
    if (wakes >= 0 && write(wakes, &one, sizeof one) < 0) errno = kept;
    errno = kept;
}

static void on_asked(int signal) {
    if (signal == SIGWINCH) resized = 1; else ending = 1;
    cairn_terminal_wake();
}

static void on_fatal(int signal, siginfo_t *info, void *context) {
    (void)context;
    cairn_terminal_leave();
    // What was there before takes over: the faulting instruction runs again, or the signal is raised.
    for (int i = 0; i < fatal_count; i++)
        if (fatal[i] == signal) sigaction(signal, &old_fatal[i], NULL);
    if (info->si_code <= 0 || signal == SIGABRT) raise(signal);
}

static void install(const int *signals, int count, struct sigaction action, struct sigaction *old) {
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < count; i++) sigaction(signals[i], &action, &old[i]);
}

int cairn_terminal_enter(int fd) {
    if (entered) return 0;
    if (tcgetattr(fd, &saved) != 0) return -1;
    if (wakes < 0 && (wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0) return -1;
    raw = saved;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(fd, TCSAFLUSH, &raw) != 0) return -1;
    terminal = fd;
    resized = ending = woken = 0;
    struct sigaction on_fault = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO};
    struct sigaction on_wish = {.sa_handler = on_asked};
    install(fatal, fatal_count, on_fault, old_fatal);
    install(asked, asked_count, on_wish, old_asked);
    entered = 1;
    write_all(shown, sizeof shown - 1);
    return 0;
}

void cairn_terminal_leave(void) {
    int kept = errno;
    if (!entered) return;
    entered = 0;
    write_all(hidden, sizeof hidden - 1);
    tcsetattr(terminal, TCSADRAIN, &saved);
    for (int i = 0; i < asked_count; i++) sigaction(asked[i], &old_asked[i], NULL);
    errno = kept;
}

void cairn_terminal_suspend(void) {
    if (!entered) return;
    cairn_terminal_leave();
    raise(SIGSTOP);
    cairn_terminal_enter(terminal);
    resized = 1;
    cairn_terminal_wake();
}

int cairn_terminal_size(int fd, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

int cairn_terminal_wait(int timeout_ms) {
    struct pollfd polled[2] = {{terminal, POLLIN, 0}, {wakes, POLLIN, 0}};
    int found = poll(polled, 2, timeout_ms);
    if (found < 0 && errno != EINTR) return -1;
    int bits = 0;
    if (found > 0 && (polled[0].revents & (POLLIN | POLLHUP | POLLERR))) bits |= 1;
    if (found > 0 && (polled[1].revents & POLLIN)) {
        uint64_t count;
        if (read(wakes, &count, sizeof count) < 0) bits |= 0;
    }
    if (resized) resized = 0, bits |= 2;
    if (ending) bits |= 4;
    if (woken) woken = 0, bits |= 8;
    return bits;
}
