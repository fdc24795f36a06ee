// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

#define LIBRARY cairn_libpango
FUNCTION(pango_context_load_fontset)
FUNCTION(pango_context_set_round_glyph_positions)
FUNCTION(pango_font_description_free)
FUNCTION(pango_font_description_new)
FUNCTION(pango_font_description_set_absolute_size)
FUNCTION(pango_font_description_set_family)
FUNCTION(pango_font_description_set_style)
FUNCTION(pango_font_description_set_weight)
FUNCTION(pango_font_has_char)
FUNCTION(pango_fontset_get_font)
FUNCTION(pango_language_from_string)
FUNCTION(pango_layout_get_context)
FUNCTION(pango_layout_get_size)
FUNCTION(pango_layout_set_alignment)
FUNCTION(pango_layout_set_font_description)
FUNCTION(pango_layout_set_text)

#undef LIBRARY
#define LIBRARY cairn_libpangocairo
FUNCTION(pango_cairo_context_set_font_options)
FUNCTION(pango_cairo_create_layout)
FUNCTION(pango_cairo_font_get_scaled_font)
FUNCTION(pango_cairo_layout_path)

#undef LIBRARY
#define LIBRARY cairn_libgobject
FUNCTION(g_object_unref)
