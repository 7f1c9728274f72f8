/* socket.c - send and recv as a BIO. */
#include "net/tcp/socket.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* After a call that failed: does it make sense to wait? */
static bool is_for_later(struct psd_socket *socket)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return true;
    socket->error = errno;
    return false;
}

static int send_now(BIO *bio, struct psd_socket *socket, const char *from, int length)
{
    ssize_t sent = send(socket->fd, from, (size_t)length, MSG_NOSIGNAL);

    if (sent < 0 && is_for_later(socket))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static int write_some(BIO *bio, const char *from, int length)
{
    struct psd_socket *socket = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (!socket->out)
        return send_now(bio, socket, from, length);
    if (PSD_SOCKET_OUT - socket->out_end < (size_t)length)
        return -1;
    memcpy(socket->out + socket->out_end, from, (size_t)length);
    socket->out_end += (size_t)length;
    return length;
}

size_t psd_socket_receive(struct psd_socket *socket, void *to, size_t most)
{
    ssize_t count = recv(socket->fd, to, most < socket->left ? most : socket->left, 0);

    if (count < 0)
        (void)is_for_later(socket);
    if (count <= 0) {
        socket->is_ended = count == 0;
        return 0;
    }
    if (socket->left != SIZE_MAX)
        socket->left -= (size_t)count;
    return (size_t)count;
}

static size_t take_hello(struct psd_hello *hello, void *to, size_t most)
{
    size_t left = hello->count - hello->taken, count = most < left ? most : left;

    memcpy(to, hello->bytes + hello->taken, count);
    hello->taken += count;
    return count;
}

/* Fills the buffer when it is empty, and takes from it. */
static size_t take_in(struct psd_socket *socket, void *to, size_t most)
{
    if (socket->in_at == socket->in_end) {
        socket->in_at = 0;
        socket->in_end = psd_socket_receive(socket, socket->in, PSD_SOCKET_IN);
    }
    size_t left = socket->in_end - socket->in_at, count = most < left ? most : left;
    memcpy(to, socket->in + socket->in_at, count);
    socket->in_at += count;
    return count;
}

/* More than a stranger may send is as good as an end. */
static int read_some(BIO *bio, char *to, int length)
{
    struct psd_socket *socket = BIO_get_data(bio);
    size_t count = take_hello(&socket->hello, to, (size_t)length);

    BIO_clear_retry_flags(bio);
    if (count == 0 && socket->in)
        count = take_in(socket, to, (size_t)length);
    else if (count == 0 && socket->left > 0)
        count = psd_socket_receive(socket, to, (size_t)length);
    if (count == 0 && socket->left > 0 && !socket->is_ended && !socket->error)
        BIO_set_retry_read(bio);
    return count ? (int)count : -1;
}

/* OpenSSL flushes now and then, and asks for things that we have not. */
static long control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

BIO_METHOD *psd_socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_TYPE_START, "poseidon socket");

    if (!method)
        return NULL;
    BIO_meth_set_write(method, write_some);
    BIO_meth_set_read(method, read_some);
    BIO_meth_set_ctrl(method, control);
    return method;
}

BIO *psd_socket_bio(const BIO_METHOD *method, struct psd_socket *socket)
{
    BIO *bio = BIO_new(method);

    if (!bio)
        return NULL;
    BIO_set_data(bio, socket);
    BIO_set_init(bio, 1);
    return bio;
}

bool psd_socket_has_room(const struct psd_socket *socket)
{
    return PSD_SOCKET_OUT - socket->out_end >= PSD_SOCKET_RECORD;
}

bool psd_socket_flush(struct psd_socket *socket)
{
    while (socket->out_at < socket->out_end) {
        ssize_t sent = send(socket->fd, socket->out + socket->out_at,
                            socket->out_end - socket->out_at, MSG_NOSIGNAL);
        if (sent < 0) {
            (void)is_for_later(socket);
            return false;
        }
        socket->out_at += (size_t)sent;
    }
    socket->out_at = socket->out_end = 0;
    return true;
}
