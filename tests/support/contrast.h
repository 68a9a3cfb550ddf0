/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TM_TEST_CONTRAST_H
#define TM_TEST_CONTRAST_H

#include <math.h>
#include <stdint.h>

/* Colours (0xRRGGBB) as eyes see them.  source: WCAG 2.1, relative luminance and contrast ratio */

static inline double contrast_linear(uint32_t channel)
{
    const double c = channel / 255.0;

    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static inline double contrast_luminance(uint32_t colour)
{
    return 0.2126 * contrast_linear(colour >> 16 & 255) + 0.7152 * contrast_linear(colour >> 8 & 255) +
           0.0722 * contrast_linear(colour & 255);
}

static inline double contrast_of(uint32_t a, uint32_t b)
{
    const double la = contrast_luminance(a) + 0.05, lb = contrast_luminance(b) + 0.05;

    return la > lb ? la / lb : lb / la;
}

#endif
