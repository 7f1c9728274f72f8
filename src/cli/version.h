/* version.h - what this program is, for people who report a bug. */
#ifndef PSD_CLI_VERSION_H
#define PSD_CLI_VERSION_H

#include <stdio.h>

/* Prints version, commit, features, CPU and compiler, a line each. */
void psd_version_show(FILE *out);

#endif
