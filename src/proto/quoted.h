/* quoted.h - strings as the text format writes them, between quotation marks.
 *
 *     'it\'s'   "\x41\102\u00e9\n"   ->  bytes  ->  "it\'s"   "AB\303\251\n"
 */
#ifndef PSD_PROTO_QUOTED_H
#define PSD_PROTO_QUOTED_H

#include <stddef.h>

/* Writes the bytes that a quoted string stands for; `out` has room for `length` bytes and
 * *out_length tells how many there are. NULL when all is well, else what is wrong, a constant. */
const char *psd_quoted_bytes(const char *text, size_t length, char *out, size_t *out_length);

/* Writes one byte as it stands between quotation marks and returns how many characters it took, 4
 * at most. What is not printable ASCII becomes an octal escape, as in Caffe's own files. */
size_t psd_quoted_print(char byte, char *out);

#endif
