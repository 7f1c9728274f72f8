/* svg.h - what all pictures share. */
#ifndef PSD_CLI_SVG_H
#define PSD_CLI_SVG_H

#include <stdio.h>

/* Writes text between tags so that nothing of it is taken for markup. Bytes that XML does not allow, which are control
 * characters and what is no UTF-8, become a question mark. */
void psd_svg_text(FILE *out, const char *text);

#endif
