/* tcp_test.c - the contract of transports, over sockets: encrypted, all on one loop. */
#include "net_contract.h"
#include "net_endings.h"
#include "net_tcp.h"

int main(int argc, char **argv)
{
    seats_over_tcp((struct psd_net_config){.job = 7});
    often = 30;
    RUN_CONTRACT
    RUN_ENDINGS
}
