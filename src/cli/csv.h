/* csv.h - comma-separated values. */
#ifndef PSD_CLI_CSV_H
#define PSD_CLI_CSV_H

#include <stdio.h>

/* Writes a text between quotes; a quote inside is doubled, as usual. */
void psd_csv_text(FILE *out, const char *text);

#endif
