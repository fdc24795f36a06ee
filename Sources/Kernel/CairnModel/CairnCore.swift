// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The domain's values are made of the core's: an import of the domain brings both.
@_exported public import CairnCore
