/* screen.c - the live line is drawn after a carriage return, and erased by the terminal's own code.
 */
#include "cli/screen.h"
#include "base/clock.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { REDRAWS = 10, WIDTH = 80 }; /* a second; columns where the terminal does not say */

const char psd_screen_erase[] = "\r\033[K"; /* to the end of the line */

void psd_screen_init(struct psd_screen *screen, FILE *err)
{
    *screen = (struct psd_screen){.err = err, .live = fileno(err) >= 0 && isatty(fileno(err))};
    pthread_mutex_init(&screen->lock, NULL);
}

void psd_screen_fini(struct psd_screen *screen)
{
    psd_screen_clear(screen);
    pthread_mutex_destroy(&screen->lock);
}

static void clear(struct psd_screen *screen)
{
    if (screen->drawn)
        fputs(psd_screen_erase, screen->err);
    screen->drawn = false;
}

/* Standard error has no buffer, so a line is one write. */
void psd_screen_write(void *screen, const char *line, size_t length)
{
    struct psd_screen *s = screen;

    pthread_mutex_lock(&s->lock);
    clear(s);
    fwrite(line, 1, length, s->err);
    pthread_mutex_unlock(&s->lock);
}

bool psd_screen_wants_status(struct psd_screen *screen)
{
    if (!screen->live)
        return false;
    pthread_mutex_lock(&screen->lock);
    bool due = psd_clock_now() >= screen->next;
    pthread_mutex_unlock(&screen->lock);
    return due;
}

static int width(const struct psd_screen *screen)
{
    struct winsize size = {0};

    if (ioctl(fileno(screen->err), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH;
    return size.ws_col;
}

/* The last column stays free: writing there makes some terminals go to the next line. */
void psd_screen_status(struct psd_screen *screen, const char *text)
{
    if (!screen->live)
        return;
    pthread_mutex_lock(&screen->lock);
    fprintf(screen->err, "%s%.*s", psd_screen_erase, width(screen) - 1, text);
    screen->drawn = true;
    screen->next = psd_clock_now() + PSD_CLOCK_S / REDRAWS;
    pthread_mutex_unlock(&screen->lock);
}

void psd_screen_clear(struct psd_screen *screen)
{
    pthread_mutex_lock(&screen->lock);
    clear(screen);
    pthread_mutex_unlock(&screen->lock);
}
