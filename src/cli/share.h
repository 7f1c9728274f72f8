/* share.h - data files that come with the program: descriptions of models, profiles of devices.
 *
 *     psd_share_find(NULL, "profiles", "titan-x", &path)        tried in this order:
 *
 *     titan-x                                             a file; what has a slash is nothing else
 *     PREFIX/share/poseidon/profiles/titan-x.txt          for PREFIX/bin/poseidon
 *     models/profiles/titan-x.txt                         for build/gcc/poseidon
 *
 * The program looks from where it is itself, so that an installation can be moved. */
#ifndef PSD_CLI_SHARE_H
#define PSD_CLI_SHARE_H

#include "base/status.h"

/* Finds the file that `name` means in `folder`, for the program at the path `program` (NULL: this
 * one). The caller owns *out. PSD_ECONFIG: there is none; the sentence lists those that there are. */
psd_status psd_share_find(const char *program, const char *folder, const char *name, char **out);

#endif
