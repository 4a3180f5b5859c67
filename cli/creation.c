/* SPDX-License-Identifier: Apache-2.0 */
#include "creation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

#include "creation_table.h"
#include "options.h"
#include "parse.h"
#include "terminal.h"
#include "text.h"

#define LONGEST_KEY 40
#define MOST_SHOWN  1e9 /* a larger most is no news */

/* Names ---------------------------------------------------------------------------------------- */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* The first size letters of a, and all of b; capitals are the same letters. */
static bool same_name(const char *a, size_t size, const char *b)
{
    if (strlen(b) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (upper(a[i]) != upper(b[i]))
            return false;
    }
    return true;
}

static creation_id find_option(const char *name, size_t size)
{
    int id = 0;
    while (id < CO_COUNT && !same_name(name, size, creation_options[id].name))
        id++;
    return (creation_id)id;
}

static const creation_word *find_word(const creation_option *option, const char *text)
{
    const creation_word *word = option->words;
    while (word != NULL && word->text != NULL && !same_name(text, strlen(text), word->text))
        word++;
    return word != NULL && word->text != NULL ? word : NULL;
}

static const char *option_name(const void *list, size_t index)
{
    (void)list;
    return index < CO_COUNT ? creation_options[index].name : NULL;
}

static const char *word_name(const void *list, size_t index)
{
    return ((const creation_word *)list)[index].text;
}

/* Suggestions go by capitals. */
static const char *nearest(const char *text, size_t size,
                           const char *(*name)(const void *list, size_t index), const void *list)
{
    char word[LONGEST_KEY + 1] = "";
    for (size_t i = 0; i < size && size < sizeof word; i++)
        word[i] = upper(text[i]);
    return suggest(word, name, list);
}

/* Values --------------------------------------------------------------------------------------- */

static bool parse_bits(creation *c, const char *text, double most)
{
    const char *at = text;
    uint64_t value;
    c->discard_count = 0;
    do {
        if (c->discard_count == CREATION_LIST || !parse_uint(&at, (uint64_t)most, &value))
            return false;
        c->discard[c->discard_count++] = (uint8_t)value;
    } while (parse_char(&at, ','));
    return *at == '\0';
}

static bool parse_number(const creation_option *option, const char *text, double *out)
{
    const char *at = text;
    bool whole = option->kind == CREATION_NUMBER;
    bool read = parse_real(&at, out) && *at == '\0' && isfinite(*out);
    return read && *out >= option->least && *out <= option->most &&
           (!whole || (floor(*out) == *out && strspn(text, "0123456789") == strlen(text)));
}

static bool add_domain(creation *c, const char *text)
{
    if (c->domain_count == CREATION_DOMAINS)
        return false;
    c->domains[c->domain_count++] = same_name(text, strlen(text), "_DEFAULT_") ? "" : text;
    return true;
}

static bool read_value(creation *c, creation_id id, const char *text)
{
    const creation_option *option = &creation_options[id];
    const creation_word *word = find_word(option, text);
    if (word != NULL)
        c->value[id] = word->value;
    if (word != NULL || option->kind == CREATION_WORD)
        return word != NULL;
    if (option->kind == CREATION_BITS)
        return parse_bits(c, text, option->most);
    if (option->kind == CREATION_TEXT)
        return add_domain(c, text);
    return parse_number(option, text, &c->value[id]);
}

/* Messages ------------------------------------------------------------------------------------- */

/* What may stand there, for people: "1 to 12 or FAST". Refused words and second names apart. */
static void list_values(const creation_option *option, char *buffer, size_t size)
{
    size_t used = 0;
    char least[TEXT_NUMBER];
    char most[TEXT_NUMBER];
    buffer[0] = '\0';
    bool is_number = option->kind == CREATION_NUMBER || option->kind == CREATION_REAL;
    text_double(least, option->least);
    if (is_number && option->most < MOST_SHOWN)
        used += (size_t)snprintf(buffer, size, "%s to %s", least, text_double(most, option->most));
    else if (is_number)
        used += (size_t)snprintf(buffer, size, "from %s on", least);
    for (const creation_word *word = option->words; word != NULL && word->text != NULL; word++) {
        bool known = word->refused != NULL;
        for (const creation_word *before = option->words; before != word; before++)
            known = known || before->value == word->value;
        if (!known && used < size)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     word->text);
    }
}

static bool refuse(const creation_option *option, const char *text, const char *reason)
{
    char before[LONGEST_KEY + 20];
    char after[256];
    snprintf(before, sizeof before, "%s cannot be", option->name);
    snprintf(after, sizeof after, ": %s", reason);
    term_usage(before, text, after);
    return false;
}

static bool wrong_value(const creation_option *option, const char *text)
{
    char before[LONGEST_KEY + 20];
    char values[250];
    const char *near =
        option->words != NULL ? nearest(text, strlen(text), word_name, option->words) : NULL;
    if (near != NULL) {
        snprintf(before, sizeof before, "%s cannot be", option->name);
        usage_unknown(before, text, "", near);
        return false;
    }
    if (option->kind == CREATION_BITS)
        return refuse(option, text, "a number of bits, or one for each band with commas between");
    if (option->kind == CREATION_TEXT)
        return refuse(option, text, "it was given too often");
    list_values(option, values, sizeof values);
    return refuse(option, text, values);
}

static bool unknown_option(const char *text, size_t size)
{
    char name[LONGEST_KEY + 1] = "";
    if (size < sizeof name)
        memcpy(name, text, size);
    usage_unknown("unknown creation option", name[0] != '\0' ? name : text, "",
                  nearest(text, size, option_name, NULL));
    return false;
}

/* The whole ------------------------------------------------------------------------------------ */

void creation_start(creation *c)
{
    *c = (creation){0};
    for (int id = 0; id < CO_COUNT; id++) {
        if (creation_options[id].normal[0] != '\0')
            (void)read_value(c, (creation_id)id, creation_options[id].normal);
    }
}

static bool set_value(creation *c, creation_id id, const char *text)
{
    const creation_option *option = &creation_options[id];
    const creation_word *word = find_word(option, text);
    double normal = c->value[id];
    if (word != NULL && word->refused != NULL)
        return refuse(option, text, word->refused);
    if (option->refused != NULL && option->kind == CREATION_TEXT)
        return refuse(option, text, option->refused);
    if (!read_value(c, id, text))
        return wrong_value(option, text);
    if (option->refused != NULL && c->value[id] != normal)
        return refuse(option, text, option->refused);
    return true;
}

bool creation_set(creation *c, const char *text)
{
    size_t size = strcspn(text, "=");
    if (text[size] == '\0') {
        term_usage("--co needs KEY=VALUE, not", text, "");
        return false;
    }
    creation_id id = find_option(text, size);
    if (id == CO_COUNT)
        return unknown_option(text, size);
    if (c->given[id] && id != CO_SRC_MDD) {
        term_usage(creation_options[id].name, NULL, " is given twice");
        return false;
    }
    c->given[id] = true;
    return set_value(c, id, text + size + 1);
}

/* The bit of the table for the compression that was chosen. */
static unsigned codec_bit(const creation *c)
{
    static const struct {
        int compression;
        unsigned bit;
    } bits[] = {{TZ_COMPRESSION_LZW, FOR_LZW},
                {TZ_COMPRESSION_DEFLATE, FOR_DEFLATE},
                {TZ_COMPRESSION_ZSTD, FOR_ZSTD},
                {TZ_COMPRESSION_LZMA, FOR_LZMA},
                {TZ_COMPRESSION_LZ4, FOR_LZ4},
                {TZ_COMPRESSION_JPEG, FOR_JPEG},
                {TZ_COMPRESSION_WEBP, FOR_WEBP},
                {TZ_COMPRESSION_JXL, FOR_JXL},
                {TZ_COMPRESSION_JPEG2000, FOR_JPEG2000},
                {TZ_COMPRESSION_LERC, FOR_LERC},
                {CREATION_LERC_DEFLATE, FOR_LERC_DEFLATE},
                {CREATION_LERC_ZSTD, FOR_LERC_ZSTD}};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        if (bits[i].compression == creation_number(c, CO_COMPRESS))
            return bits[i].bit;
    }
    return 0;
}

static const char *compression_word(const creation *c)
{
    const creation_word *word = creation_options[CO_COMPRESS].words;
    while (word->value != c->value[CO_COMPRESS])
        word++;
    return word->text;
}

/* As GDAL does, options of other codecs are ignored, but not silently. */
static void drop_useless(creation *c)
{
    unsigned codec = codec_bit(c);
    creation defaults;
    char message[128];
    creation_start(&defaults);
    for (int id = 0; id < CO_COUNT; id++) {
        const creation_option *option = &creation_options[id];
        if (option->codecs == 0 || (option->codecs & codec) != 0)
            continue;
        if (c->value[id] != defaults.value[id]) {
            snprintf(message, sizeof message, "%s has no effect with COMPRESS=%s", option->name,
                     compression_word(c));
            term_warning(message, 1);
        }
        c->value[id] = defaults.value[id];
        c->given[id] = false;
    }
}

bool creation_check(creation *c)
{
    const char *problem = NULL;
    drop_useless(c);
    if (c->given[CO_BLOCKXSIZE] && c->value[CO_TILED] == 0)
        problem = "BLOCKXSIZE needs TILED=YES: strips are as wide as the image";
    else if ((c->given[CO_JXL_DISTANCE] || c->given[CO_JXL_ALPHA_DISTANCE]) &&
             c->value[CO_JXL_LOSSLESS] != 0)
        problem = "JXL_DISTANCE and JXL_ALPHA_DISTANCE need JXL_LOSSLESS=NO";
    else if (c->given[CO_WEBP_LEVEL] && c->value[CO_WEBP_LOSSLESS] != 0)
        problem = "WEBP_LEVEL needs WEBP_LOSSLESS=NO";
    else if (c->given[CO_JPEG2000_QUALITY] && c->value[CO_JPEG2000_LOSSLESS] != 0)
        problem = "JPEG2000_QUALITY needs JPEG2000_LOSSLESS=NO";
    else if (c->value[CO_STATISTICS] != 0 && c->value[CO_PROFILE] != PROFILE_GDAL)
        problem = "STATISTICS=YES needs PROFILE=GDALGeoTIFF: they are GDAL metadata";
    else if (c->value[CO_TFW] != 0 && c->value[CO_WORLDFILE] != 0)
        problem = "TFW and WORLDFILE: one world file is enough";
    else if (c->domain_count > 0 && c->given[CO_COPY_SRC_MDD] && c->value[CO_COPY_SRC_MDD] == 0)
        problem = "SRC_MDD and COPY_SRC_MDD=NO do not go together";
    if (problem != NULL)
        term_usage(problem, NULL, "");
    return problem == NULL;
}

int64_t creation_number(const creation *c, creation_id id)
{
    return (int64_t)c->value[id];
}

uint16_t creation_compression(const creation *c)
{
    int64_t value = creation_number(c, CO_COMPRESS);
    bool lerc = value == CREATION_LERC_DEFLATE || value == CREATION_LERC_ZSTD;
    return lerc ? TZ_COMPRESSION_LERC : (uint16_t)value;
}

/* Help ----------------------------------------------------------------------------------------- */

/* The second column, cut into lines between words. */
static void print_wrapped(const char *text)
{
    const size_t room = HELP_COLUMNS - HELP_COLUMN;
    size_t used = 0;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (used > 0 && used + 1 + size > room) {
            printf("\n%*s", HELP_COLUMN, "");
            used = 0;
        }
        used += (size_t)printf("%s%.*s", used > 0 ? " " : "", (int)size, text);
        text += size + (text[size] == ' ');
    }
    putchar('\n');
}

void creation_print_help(void)
{
    putchar('\n');
    term_put(TERM_HEADING, "Creation options");
    printf(", by the names of GDAL's GTiff driver, with defaults in brackets\n");
    for (int id = 0; id < CO_COUNT; id++) {
        const creation_option *option = &creation_options[id];
        bool has_normal = option->normal[0] != '\0';
        char values[250];
        char line[500];
        if (option->text == NULL)
            continue;
        list_values(option, values, sizeof values);
        snprintf(line, sizeof line, "%s%s%s%s%s%s", values, has_normal ? " [" : "", option->normal,
                 has_normal ? "]" : "", values[0] != '\0' ? ": " : "", option->text);
        printf("  %-*s", HELP_COLUMN - 2, option->name);
        print_wrapped(line);
    }
}
