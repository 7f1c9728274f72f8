/* kernel_tls.c - what linux/tls.h wants to be told. */
#include "net/tcp/kernel_tls.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A word that the kernel counts by since it can change keys; each network namespace has the file. */
static bool can_change_keys(void)
{
    FILE *file = fopen("/proc/self/net/tls_stat", "re");
    char line[128];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, "TlsTxRekeyOk", strlen("TlsTxRekeyOk")) == 0;
    if (file)
        fclose(file);
    return found;
}

/* A kernel that has it says that the socket must be connected first. */
bool psd_kernel_tls_is_there(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return false;
    bool has_tls = psd_kernel_tls_prepare(fd) || errno == ENOTCONN;
    close(fd);
    return has_tls && can_change_keys();
}

bool psd_kernel_tls_prepare(int fd)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof "tls") == 0;
}

/* Our records have no padding; a kernel that knows so decrypts into the user's memory. */
static void expect_no_padding(int fd)
{
    int yes = 1;

    (void)setsockopt(fd, SOL_TLS, TLS_RX_EXPECT_NO_PAD, &yes, sizeof yes);
}

bool psd_kernel_tls_use(int fd, enum psd_kernel_tls_way way,
                        const unsigned char secret[PSD_TRAFFIC_SECRET])
{
    struct tls12_crypto_info_aes_gcm_128 info = {
        .info = {.version = TLS_1_3_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128}};
    unsigned char iv[PSD_TRAFFIC_IV];
    int option = way == PSD_KERNEL_TLS_SENDS ? TLS_TX : TLS_RX;

    errno = ENOMEM;
    bool done = psd_traffic_keys(secret, info.key, iv);
    memcpy(info.salt, iv, sizeof info.salt);
    memcpy(info.iv, iv + sizeof info.salt, sizeof info.iv);
    done = done && setsockopt(fd, SOL_TLS, option, &info, sizeof info) == 0;
    OPENSSL_cleanse(&info, sizeof info);
    OPENSSL_cleanse(iv, sizeof iv);
    if (done && way == PSD_KERNEL_TLS_RECEIVES)
        expect_no_padding(fd);
    return done;
}

/* A message with room for the type of one record. */
union type_space {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(1)];
};

ssize_t psd_kernel_tls_send(int fd, unsigned char type, const void *from, size_t size)
{
    union type_space space = {.head = {.cmsg_level = SOL_TLS,
                                       .cmsg_type = TLS_SET_RECORD_TYPE,
                                       .cmsg_len = CMSG_LEN(sizeof type)}};
    struct iovec span = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &span, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};

    *CMSG_DATA(&space.head) = type;
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t psd_kernel_tls_receive(int fd, unsigned char *type, void *to, size_t size)
{
    union type_space space = {.bytes = {0}};
    struct iovec span = {.iov_base = to, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &span, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};
    ssize_t count = recvmsg(fd, &message, 0);
    const struct cmsghdr *head = count >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

    *type = head && head->cmsg_level == SOL_TLS && head->cmsg_type == TLS_GET_RECORD_TYPE
                ? *CMSG_DATA(head)
                : 0;
    return count;
}

void psd_kernel_tls_leave(int fd)
{
    int unlimited = -1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unlimited, sizeof unlimited);
}
