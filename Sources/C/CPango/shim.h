// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <cairo/cairo.h>
#include <stdint.h>

// What Cairn uses of Pango 1 and GObject 2, whose interfaces do not change: their own headers are found only with
// options from pkg-config, which would have every program linked with all that they name.

#define PANGO_SCALE 1024

typedef struct _PangoContext PangoContext;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoFontset PangoFontset;
typedef struct _PangoFont PangoFont;
typedef struct _PangoLanguage PangoLanguage;

typedef enum { PANGO_STYLE_NORMAL, PANGO_STYLE_OBLIQUE, PANGO_STYLE_ITALIC } PangoStyle;
typedef enum { PANGO_WEIGHT_NORMAL = 400, PANGO_WEIGHT_BOLD = 700 } PangoWeight;
typedef enum { PANGO_ALIGN_LEFT, PANGO_ALIGN_CENTER, PANGO_ALIGN_RIGHT } PangoAlignment;

void pango_context_set_round_glyph_positions(PangoContext *context, int round_positions);

PangoFontDescription *pango_font_description_new(void);
void pango_font_description_free(PangoFontDescription *description);
void pango_font_description_set_family(PangoFontDescription *description, const char *family);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void pango_font_description_set_weight(PangoFontDescription *description, PangoWeight weight);
void pango_font_description_set_style(PangoFontDescription *description, PangoStyle style);

PangoContext *pango_layout_get_context(PangoLayout *layout);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_alignment(PangoLayout *layout, PangoAlignment alignment);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);
void pango_layout_get_size(PangoLayout *layout, int *width, int *height);

PangoFontset *pango_context_load_fontset(PangoContext *context, const PangoFontDescription *description, PangoLanguage *language);
PangoFont *pango_fontset_get_font(PangoFontset *fontset, unsigned int character);
PangoLanguage *pango_language_from_string(const char *language);
int pango_font_has_char(PangoFont *font, uint32_t character);

PangoLayout *pango_cairo_create_layout(cairo_t *cairo);
cairo_scaled_font_t *pango_cairo_font_get_scaled_font(PangoFont *font);
void pango_cairo_layout_path(cairo_t *cairo, PangoLayout *layout);
void pango_cairo_context_set_font_options(PangoContext *context, const cairo_font_options_t *options);

void g_object_unref(void *object);
