/* address_fuzz.c - any text as an address: what is read can be written, and is read again as the same. */
#include "fuzz.h"
#include "net/tcp/address.h"

#include <nss.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_alone; /* nobody is asked for names */
    struct psd_tcp_address address, again;
    char text[300] = "", written[PSD_TCP_TEXT];

    is_alone = is_alone || __nss_configure_lookup("hosts", "files") == 0;
    memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
    if (psd_tcp_address_read(text, &address) != PSD_OK || address.name.any.sa_family == AF_UNSPEC)
        return 0;
    if (address.first > address.last)
        abort();
    psd_tcp_name_set_port(&address.name, address.last);
    psd_tcp_name_write(&address.name, written);
    if (psd_tcp_address_read(written, &again) != PSD_OK)
        abort();
    if (!psd_tcp_name_is_same_host(&again.name, &address.name))
        abort();
    if (again.name.any.sa_family == AF_INET6 &&
        again.name.v6.sin6_scope_id != address.name.v6.sin6_scope_id)
        abort();
    if (address.last > 0 && (again.first != address.last || again.last != address.last))
        abort();
    return 0;
}
