/* path.h - where a file is that another file names.
 *
 *     solver.prototxt says   net: "lenet.prototxt"
 *     tried in this order    ./lenet.prototxt, FOLDER OF solver.prototxt/lenet.prototxt
 *
 * The working directory comes first because Caffe knows no other, and its users run their commands
 * from the right place. */
#ifndef PSD_BASE_PATH_H
#define PSD_BASE_PATH_H

#include "base/status.h"

/* Finds `named`, as it stands in the file `in` (NULL: in none, a command line say). The caller owns
 * *out. PSD_ECONFIG: there is no such file; the sentence has the places that were tried. */
psd_status psd_path_find(const char *named, const char *in, char **out);

#endif
