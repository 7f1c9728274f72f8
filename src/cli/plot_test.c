/* plot_test.c - the picture: where points are, what is written, and that XML stays XML. */
#include "cli/plot.h"
#include "test.h"

static char picture[100000];

static void draw(const struct psd_plot *plot)
{
    memset(picture, 0, sizeof picture);
    FILE *out = fmemopen(picture, sizeof picture, "w");

    CHECK(out);
    psd_plot_write(plot, out);
    CHECK(!ferror(out));
    fclose(out);
}

static int count(const char *text)
{
    int times = 0;

    for (const char *at = picture; (at = strstr(at, text)); at++)
        times++;
    return times;
}

static const double nodes[] = {1, 2, 4, 8}, fast[] = {1, 2, 4, 8}, slow[] = {1, 1.5, 2, 2.5};
static const char *const names[] = {"slow", "ideal"};
static const struct psd_plot_line lines[] = {{nodes, slow, 4}, {nodes, fast, 4}};
static const struct psd_plot_panel panels[] = {{"here", lines}, {"there", lines}};
static const struct psd_plot plot = {.title = "a title",
                                     .x_name = "nodes",
                                     .y_name = "speed-up",
                                     .names = names,
                                     .n_names = 2,
                                     .has_reference = true,
                                     .ticks = nodes,
                                     .n_ticks = 4,
                                     .panels = panels,
                                     .n_panels = 2};

static void every_line_is_in_every_panel_and_in_the_legend_once(void)
{
    draw(&plot);
    CHECK(strncmp(picture, "<svg ", 5) == 0 && strstr(picture, "</svg>\n"));
    CHECK(strstr(picture, "width=\"700\""));
    CHECK(count("class=\"line\"") == 2 * 2 + 2);
    CHECK(count("<circle") == 2 * 4); /* the reference has no marks */
    CHECK(count("stroke-dasharray") == 3);
    CHECK(count(">slow<") == 1 && count(">ideal<") == 1);
    CHECK(count(">a title<") == 1 && count(">nodes<") == 2 && count(">speed-up<") == 2);
    CHECK(count(">here<") == 1 && count(">there<") == 1);
}

/* The axes of the first panel are 620 x 250 pixels; their corner is at 62, 84 + 250. */
static void points_are_where_the_axes_say(void)
{
    draw(&plot);
    CHECK(strstr(picture, "<circle cx=\"682.0\" cy=\"255.9\"")); /* 8 of 8, and 2.5 of 8 */
    CHECK(strstr(picture, "d=\"M139.5 302.8L217.0 271.5L372.0 209.0L682.0 84.0\""));
    CHECK(strstr(picture, ">8<") && strstr(picture, ">6<") && !strstr(picture, ">10<"));
}

static void crowded_numbers_are_left_out_and_the_largest_stays(void)
{
    static const double many[] = {1, 2, 3, 4, 500, 1000};
    static const struct psd_plot_line far = {many, many, 6};
    static const struct psd_plot_panel panel = {"", &far};
    struct psd_plot wide = plot;

    wide.n_names = 1;
    wide.ticks = many;
    wide.n_ticks = 6;
    wide.panels = &panel;
    wide.n_panels = 1;
    draw(&wide);
    CHECK(count("class=\"tick\"") == 6);
    CHECK(count(">4</text>") == 1 && count(">3</text>") == 0 && count(">1</text>") == 0);
    CHECK(count(">1000</text>") == 2); /* on both axes */
}

static void names_are_text_whatever_is_in_them(void)
{
    static const char *const strange[] = {"a<b>&c", "ideal"};
    struct psd_plot other = plot;

    other.title = "</svg>";
    other.names = strange;
    draw(&other);
    CHECK(count("a&lt;b&gt;&amp;c") == 1);
    CHECK(count("</svg>") == 1);
}

static void a_plot_without_points_has_axes(void)
{
    static const struct psd_plot_line empty[] = {{nodes, fast, 0}, {nodes, fast, 0}};
    static const struct psd_plot_panel panel = {"", empty};
    struct psd_plot other = plot;

    other.panels = &panel;
    other.n_panels = 1;
    draw(&other);
    CHECK(count("class=\"axis\"") == 1 && count("<circle") == 0);
    CHECK(!strstr(picture, "nan") && !strstr(picture, "inf"));
}

int main(int argc, char **argv)
{
    RUN(every_line_is_in_every_panel_and_in_the_legend_once)
    RUN(points_are_where_the_axes_say)
    RUN(crowded_numbers_are_left_out_and_the_largest_stays)
    RUN(names_are_text_whatever_is_in_them)
    RUN(a_plot_without_points_has_axes)
}
