/* settings_file.h - which file has the settings. */
#ifndef PSD_BASE_SETTINGS_FILE_H
#define PSD_BASE_SETTINGS_FILE_H

#include "base/sentences.h"
#include "base/settings.h"

/* Reads the file at `path`, which must exist; where that is NULL, the file $PSD_CONFIG_FILE names,
 * which must exist too; else the first of
 *
 *     $XDG_CONFIG_HOME/poseidon/poseidon.conf      ~/.config/... where that is not set
 *     /etc/poseidon.conf
 *
 * or none. A wrong line, or a file that cannot be read, is added to `mistakes`; one that nobody
 * named and we may not open, to `warnings`. */
psd_status psd_settings_file_load(struct psd_settings *settings, const char *path,
                                  char *const *environment, struct psd_sentences *mistakes,
                                  struct psd_sentences *warnings);

#endif
