/* arithmetic.c - hands it to the helpers of a seat. */
#include "comm/arithmetic.h"
#include "comm/seat.h"

psd_status psd_arithmetic_set(struct psd_comm *comm, const struct psd_arithmetic *arithmetic)
{
    return psd_helpers_pretend(comm->helpers, arithmetic);
}
