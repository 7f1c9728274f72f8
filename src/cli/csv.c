/* csv.c - texts that may contain anything. */
#include "cli/csv.h"

void psd_csv_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' ? "\"" : "", *text);
    fputc('"', out);
}
