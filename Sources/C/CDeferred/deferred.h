// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
//
// What an assembly file needs to list the functions of a library that is loaded with the first call:
//
//     #define LIBRARY cairn_libfoo     described in load.c
//     FUNCTION(foo_open)
//
// Each is a jump through a slot. The slot leads to the finder at first, which puts the function's address there;
// registers and stack are then as the caller left them, so that any function can be called in this way, also
// one with a variable number of arguments.

#define FUNCTION(name) deferred name, LIBRARY

#if defined(__x86_64__)

.macro deferred name, library
    .text
    .balign 16
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    jmpq *deferred_slot_\name(%rip)
deferred_first_\name:
    leaq deferred_slot_\name(%rip), %r11
    jmp cairn_deferred_enter
    .cfi_endproc
    .size \name, . - \name
    deferred_entry \name, \library
.endm

#elif defined(__aarch64__)

.macro deferred name, library
    .text
    .balign 16
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .cfi_startproc
    adrp x17, deferred_slot_\name
    add x17, x17, :lo12:deferred_slot_\name
    ldr x16, [x17]
    br x16
deferred_first_\name:
    b cairn_deferred_enter
    .cfi_endproc
    .size \name, . - \name
    deferred_entry \name, \library
.endm

#else
#error "CDeferred has to be told how this processor jumps through a slot"
#endif

// A `struct deferred_function`.
.macro deferred_entry name, library
    .section cairn_deferred, "aw", @progbits
    .balign 8
deferred_slot_\name:
    .quad deferred_first_\name
    .quad deferred_name_\name
    .quad \library
    .section .rodata.str1.1, "aMS", @progbits, 1
deferred_name_\name:
    .asciz "\name"
.endm

.section .note.GNU-stack, "", @progbits
