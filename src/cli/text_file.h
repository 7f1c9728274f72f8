/* text_file.h - a text that is printed first and becomes a file when it is complete.
 *
 *     psd_text_file_try("a.csv");            before all the work
 *     psd_text_file_begin(&file);
 *     fprintf(file.out, ...);
 *     psd_text_file_save(&file, "a.csv");
 */
#ifndef PSD_CLI_TEXT_FILE_H
#define PSD_CLI_TEXT_FILE_H

#include "base/status.h"

#include <stdio.h>

struct psd_text_file {
    FILE *out; /* to print to; owned until it is saved, as is the text */
    char *text;
    size_t size;
};

/* Whether a file can be written at `path`, so that one knows before a long work; NULL is fine, and what
 * is no file, such as a pipe, is not touched. */
psd_status psd_text_file_try(const char *path);

psd_status psd_text_file_begin(struct psd_text_file *file);

/* Writes all of it to `path`, as psd_file_create does, and frees it either way; with NULL it is only
 * freed. */
psd_status psd_text_file_save(struct psd_text_file *file, const char *path);

#endif
