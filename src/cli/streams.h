/* streams.h - how the program begins and ends with its standard streams. */
#ifndef PSD_CLI_STREAMS_H
#define PSD_CLI_STREAMS_H

#include <stdio.h>

/* Makes sure that 0, 1 and 2 are taken, so that no file we open becomes standard output by accident
 * where the caller has closed it; and that a closed pipe is a failed write instead of a signal. */
void psd_streams_start(void);

/* Shows sentences, one a line, each after "PROGRAM: ". One that begins with a position in a file, such as "lenet.prototxt:12:5: ...", says by itself where
 * it comes from and stands without the program's name. */
void psd_streams_show(FILE *err, const char *program, const char *lines);

/* Sees to it that everything has been written; `error` is the errno of a write that is known to have
 * failed, or 0. Returns 0 or, after showing why not, 1; a reader that went away needs no words. */
int psd_streams_end(FILE *out, int error, FILE *err, const char *program);

#endif
