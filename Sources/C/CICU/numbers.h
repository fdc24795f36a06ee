// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

// The numbers of ICU's enumerations that are used.
enum {
    CAIRN_ICU_ZERO_ERROR = 0,
    CAIRN_ICU_BUFFER_OVERFLOW = 15,
    CAIRN_ICU_USING_DEFAULT = -127,
    CAIRN_ICU_FORWARD = 0,
    CAIRN_ICU_NORMALIZATION_MODE = 4,
    CAIRN_ICU_ON = 17,
    CAIRN_ICU_FULLNAME_CAPACITY = 157,
    CAIRN_ICU_LANGUAGE_CAPACITY = 12,
    CAIRN_ICU_SCRIPT_CAPACITY = 6,
};
