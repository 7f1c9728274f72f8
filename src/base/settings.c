/* settings.c - the list of settings; a value yields only to one of equal or stronger origin. */
#include "base/settings.h"
#include "base/alloc.h"
#include "base/sentences.h"
#include "base/settings_file.h"
#include "base/suggest.h"

#include <ctype.h>
#include <string.h>

/* What an entry shows as borrowed it owns here. */
struct slot {
    struct psd_settings_entry entry;
    void *config; /* borrowed */
    char *flag, *variable, *text, *place;
};

struct psd_settings {
    struct slot *slots; /* owned */
    size_t count;
    struct psd_sentences warnings;
};

psd_status psd_settings_create(struct psd_settings **out)
{
    struct psd_settings *settings = psd_alloc_zero(1, sizeof *settings);

    if (!settings)
        return PSD_ENOMEM;
    *out = settings;
    return PSD_OK;
}

void psd_settings_destroy(struct psd_settings *settings)
{
    if (!settings)
        return;
    for (size_t i = 0; i < settings->count; i++) {
        struct slot *slot = &settings->slots[i];
        psd_value_clear(&slot->entry.setting->value, slot->config);
        psd_alloc_free(slot->flag);
        psd_alloc_free(slot->variable);
        psd_alloc_free(slot->text);
        psd_alloc_free(slot->place);
    }
    psd_alloc_free(settings->slots);
    psd_alloc_free(settings);
}

static bool is_joint(char letter)
{
    return letter == '.' || letter == '-' || letter == '_';
}

static bool same_name(const char *known, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (known[i] != name[i] && !(is_joint(known[i]) && is_joint(name[i])))
            return false;
    }
    return known[length] == 0;
}

static struct slot *find_slot(const struct psd_settings *settings, const char *name, size_t length)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (same_name(settings->slots[i].entry.setting->name, name, length))
            return &settings->slots[i];
    }
    return NULL;
}

static void join_with(char *name, char joint)
{
    for (; *name; name++) {
        if (is_joint(*name))
            *name = joint;
    }
}

/* net.timeout becomes net-timeout and PSD_NET_TIMEOUT. */
static psd_status spell(struct slot *slot)
{
    const char *name = slot->entry.setting->name;

    slot->entry.flag = slot->flag = psd_alloc_text("%s", name);
    slot->entry.variable = slot->variable = psd_alloc_text("PSD_%s", name);
    if (!slot->flag || !slot->variable)
        return PSD_ENOMEM;
    join_with(slot->flag, '-');
    join_with(slot->variable, '_');
    for (char *letter = slot->variable; *letter; letter++)
        *letter = (char)toupper(*letter);
    return PSD_OK;
}

static psd_status store(struct slot *slot, const char *text, enum psd_origin origin,
                        const char *place)
{
    char *text_copy = psd_alloc_text("%s", text);
    char *place_copy = psd_alloc_text("%s", place);
    psd_status status = PSD_ENOMEM;

    if (text_copy && place_copy)
        status = psd_value_parse(&slot->entry.setting->value, text, slot->config);
    if (status != PSD_OK) {
        psd_alloc_free(text_copy);
        psd_alloc_free(place_copy);
        return status;
    }
    psd_alloc_free(slot->text);
    psd_alloc_free(slot->place);
    slot->entry.text = slot->text = text_copy;
    slot->entry.place = slot->place = place_copy;
    slot->entry.origin = origin;
    return PSD_OK;
}

/* A slot counts from the moment it exists, so that destroy frees what a failure leaves. */
static psd_status add_one(struct psd_settings *settings, const struct psd_setting *setting,
                          void *config)
{
    if (find_slot(settings, setting->name, strlen(setting->name)))
        return psd_fail(PSD_EINVAL, "the setting %s is there twice", setting->name);
    struct slot *slots =
        psd_alloc_resize(settings->slots, settings->count + 1, sizeof *settings->slots);
    if (!slots)
        return PSD_ENOMEM;
    settings->slots = slots;
    struct slot *slot = &slots[settings->count++];
    *slot = (struct slot){.entry.setting = setting, .config = config};
    PSD_TRY(spell(slot));
    return store(slot, setting->initial, PSD_ORIGIN_DEFAULT, "default");
}

psd_status psd_settings_add(struct psd_settings *settings, const struct psd_setting *table,
                            void *config)
{
    for (; table->name; table++)
        PSD_TRY(add_one(settings, table, config));
    return PSD_OK;
}

psd_status psd_settings_set(struct psd_settings *settings, const struct psd_setting *setting,
                            const char *text, enum psd_origin origin, const char *place)
{
    struct slot *slot = find_slot(settings, setting->name, strlen(setting->name));

    if (origin < slot->entry.origin)
        return psd_value_check(&setting->value, text);
    return store(slot, text, origin, place);
}

const struct psd_settings_entry *psd_settings_find(const struct psd_settings *settings,
                                                   const char *name, size_t length)
{
    const struct slot *slot = find_slot(settings, name, length);
    return slot ? &slot->entry : NULL;
}

const struct psd_settings_entry *psd_settings_entry(const struct psd_settings *settings, size_t i)
{
    return i < settings->count ? &settings->slots[i].entry : NULL;
}

/* Variables of ours that are no settings are none of our business, unless they look like one. */
static void warn_of_variable(struct psd_settings *settings, const char *variable, size_t length)
{
    static const size_t prefix = sizeof "PSD_" - 1;
    struct psd_suggest suggest;

    if (strncmp(variable, "PSD_CONFIG_FILE=", length + 1) == 0)
        return;
    psd_suggest_init(&suggest, variable + prefix, length - prefix);
    for (size_t i = 0; i < settings->count; i++)
        psd_suggest_offer(&suggest, settings->slots[i].variable + prefix);
    if (psd_suggest_best(&suggest))
        psd_sentences_add(&settings->warnings,
                          "environment %.*s is not a setting; did you mean PSD_%s?", (int)length,
                          variable, psd_suggest_best(&suggest));
}

static psd_status read_variable(struct psd_settings *settings, const char *variable, size_t length)
{
    const char *text = variable + length + 1;

    for (size_t i = 0; i < settings->count; i++) {
        struct slot *slot = &settings->slots[i];
        if (strncmp(slot->variable, variable, length) != 0 || slot->variable[length])
            continue;
        char *place = psd_alloc_text("environment %s", slot->variable);
        if (!place)
            return PSD_ENOMEM;
        psd_status status = *text ? psd_settings_set(settings, slot->entry.setting, text,
                                                     PSD_ORIGIN_ENVIRONMENT, place)
                                  : PSD_OK;
        psd_alloc_free(place);
        return status;
    }
    warn_of_variable(settings, variable, length);
    return PSD_OK;
}

static psd_status read_environment(struct psd_settings *settings, char *const *environment,
                                   struct psd_sentences *mistakes)
{
    for (; *environment; environment++) {
        size_t length = strcspn(*environment, "=");
        if (strncmp(*environment, "PSD_", 4) != 0 || (*environment)[length] != '=')
            continue;
        psd_status status = read_variable(settings, *environment, length);
        if (status == PSD_ECONFIG)
            psd_sentences_add(mistakes, "environment %.*s: %s", (int)length, *environment,
                              psd_error());
        else if (status != PSD_OK)
            return status;
    }
    return PSD_OK;
}

psd_status psd_settings_load(struct psd_settings *settings, const char *path,
                             char *const *environment)
{
    struct psd_sentences mistakes = {0};

    settings->warnings = (struct psd_sentences){0};
    PSD_TRY(psd_settings_file_load(settings, path, environment, &mistakes, &settings->warnings));
    PSD_TRY(read_environment(settings, environment, &mistakes));
    return psd_sentences_status(&mistakes);
}

const char *psd_settings_warnings(const struct psd_settings *settings)
{
    return settings->warnings.text;
}
