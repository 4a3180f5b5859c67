/* SPDX-License-Identifier: Apache-2.0
 * Mnemonics: "ld.global.v2.u32" is cut into its words, once for all places where it stands. */
#include "ptx/ptx_parse.h"

#include <string.h>

#define NAME_TEXT(name) #name,
static const char *const operations[] = {PTX_OPERATIONS(NAME_TEXT)};
static const char *const modifiers[] = {PTX_MODIFIERS(NAME_TEXT)};
#undef NAME_TEXT

static const struct {
    const char *word;
    ptx_type type;
    uint32_t size;
} types[] = {{"pred", PTX_PRED, 1}, {"b8", PTX_B8, 1},   {"b16", PTX_B16, 2}, {"b32", PTX_B32, 4},
             {"b64", PTX_B64, 8},   {"u8", PTX_U8, 1},   {"u16", PTX_U16, 2}, {"u32", PTX_U32, 4},
             {"u64", PTX_U64, 8},   {"s8", PTX_S8, 1},   {"s16", PTX_S16, 2}, {"s32", PTX_S32, 4},
             {"s64", PTX_S64, 8},   {"f16", PTX_F16, 2}, {"f32", PTX_F32, 4}, {"f64", PTX_F64, 8}};

static const struct {
    const char *word;
    ptx_space space;
} spaces[] = {{"global", PTX_GLOBAL},
              {"shared", PTX_SHARED},
              {"local", PTX_LOCAL},
              {"param", PTX_PARAM},
              {"const", PTX_CONST}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_word(const char *word, const char *text, size_t size)
{
    return strlen(word) == size && memcmp(word, text, size) == 0;
}

static size_t find_word(const char *const *words, size_t count, const char *text, size_t size)
{
    size_t i = 0;
    while (i < count && !is_word(words[i], text, size))
        i++;
    return i;
}

ptx_type ptx_type_of(const char *word, size_t size)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (is_word(types[i].word, word, size))
            return types[i].type;
    return PTX_NO_TYPE;
}

uint32_t ptx_type_size(ptx_type type)
{
    size_t i = 0;
    while (i + 1 < COUNT(types) && types[i].type != type)
        i++;
    return types[i].size;
}

static ptx_space space_of(const char *word, size_t size)
{
    for (size_t i = 0; i < COUNT(spaces); i++)
        if (is_word(spaces[i].word, word, size))
            return spaces[i].space;
    return PTX_GENERIC;
}

/* A word after the first. NULL: fine; else what is wrong with it. */
static const char *add_word(ptx_instruction *operation, const char *word, size_t size)
{
    ptx_type type = ptx_type_of(word, size);
    ptx_space space = space_of(word, size);
    size_t modifier = find_word(modifiers, COUNT(modifiers), word, size);
    if (type != PTX_NO_TYPE) {
        if (operation->type_count == COUNT(operation->types))
            return "a type too many";
        operation->types[operation->type_count++] = type;
    } else if (space != PTX_GENERIC) {
        if (operation->space != PTX_GENERIC)
            return "a second space";
        operation->space = space;
    } else if (is_word("v2", word, size) || is_word("v4", word, size)) {
        if (operation->vector != 1)
            return "a second vector";
        operation->vector = (uint32_t)(word[1] - '0');
    } else if (modifier < COUNT(modifiers)) {
        if (ptx_has(operation, (ptx_modifier)modifier))
            return "twice";
        operation->modifiers.bits[modifier / 64] |= (uint64_t)1 << modifier % 64;
    } else {
        return "an unknown modifier";
    }
    return NULL;
}

static bool decode_first(ptx_reader *reader, const ptx_name *name, int line, ptx_operation *number)
{
    size_t size = strcspn(name->text, ".");
    size_t found = find_word(operations, COUNT(operations), name->text, size);
    *number = (ptx_operation)found;
    return found < COUNT(operations) ||
           ptx_fail(reader, line, "'%.100s': unknown operation '%.*s'", name->text,
                    (int)(size < 60 ? size : 60), name->text);
}

const ptx_instruction *ptx_decode_mnemonic(ptx_reader *reader, ptx_name *name, int line)
{
    if (name->operation != NULL)
        return name->operation;
    ptx_instruction *operation = ptx_pool_array(reader->scratch, 1, sizeof *operation);
    operation->text = name->text;
    operation->vector = 1;
    operation->guard = PTX_NO_REGISTER;
    if (!decode_first(reader, name, line, &operation->operation))
        return NULL;
    const char *word = strchr(name->text, '.');
    while (word != NULL) {
        word++;
        size_t size = strcspn(word, ".");
        const char *wrong = add_word(operation, word, size);
        if (wrong != NULL) {
            ptx_fail(reader, line, "'%.100s': %s '.%.*s'", name->text, wrong,
                     (int)(size < 60 ? size : 60), word);
            return NULL;
        }
        word = strchr(word, '.');
    }
    name->operation = operation;
    return operation;
}
