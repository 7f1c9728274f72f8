/* tcp_clear_test.c - the contract of transports, over sockets: in clear, on lanes. */
#include "net_contract.h"
#include "net_endings.h"
#include "net_tcp.h"

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7, .in_clear = true, .lanes = 2, .streams = 1});
    often = 30;
    RUN_CONTRACT
    RUN_ENDINGS
}
