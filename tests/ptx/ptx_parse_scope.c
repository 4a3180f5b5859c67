/* SPDX-License-Identifier: Apache-2.0
 * Names and scopes. A name is looked up once by its text, and then knows what it means in the
 * innermost scope; scopes take back their meanings when they end. */
#include "ptx/ptx_parse.h"

#include <stdio.h>
#include <string.h>

#define FIRST_BUCKETS 1024u /* a power of two */

static uint64_t hash_of(const char *text, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ^ hash >> 32;
}

static void more_buckets(ptx_reader *reader)
{
    uint32_t count = reader->bucket_count == 0 ? FIRST_BUCKETS : 2 * reader->bucket_count;
    ptx_name **buckets = ptx_pool_array(reader->scratch, count, sizeof *buckets);
    for (uint32_t i = 0; i < reader->bucket_count; i++)
        for (ptx_name *name = reader->buckets[i], *next; name != NULL; name = next) {
            next = name->next;
            name->next = buckets[name->hash & (count - 1)];
            buckets[name->hash & (count - 1)] = name;
        }
    reader->buckets = buckets;
    reader->bucket_count = count;
}

static ptx_name *known_name(const ptx_reader *reader, const char *text, size_t size, uint64_t hash)
{
    if (reader->bucket_count == 0)
        return NULL;
    ptx_name *name = reader->buckets[hash & (reader->bucket_count - 1)];
    while (name != NULL &&
           (name->hash != hash || name->size != size || memcmp(name->text, text, size) != 0))
        name = name->next;
    return name;
}

ptx_name *ptx_name_of(ptx_reader *reader, const char *text, size_t size)
{
    uint64_t hash = hash_of(text, size);
    ptx_name *name = known_name(reader, text, size, hash);
    if (name != NULL)
        return name;
    if (reader->name_count >= reader->bucket_count)
        more_buckets(reader);
    name = ptx_pool_array(reader->scratch, 1, sizeof *name);
    name->text = ptx_pool_text(reader->pool, text, size);
    name->size = size;
    name->hash = hash;
    name->next = reader->buckets[hash & (reader->bucket_count - 1)];
    reader->buckets[hash & (reader->bucket_count - 1)] = name;
    reader->name_count++;
    return name;
}

ptx_name *ptx_need_name(ptx_reader *reader, const char *what)
{
    if (reader->token.kind != PTX_TOKEN_NAME) {
        ptx_expected(reader, what);
        return NULL;
    }
    ptx_name *name = ptx_name_of(reader, reader->token.text, reader->token.size);
    ptx_advance(reader);
    return name;
}

/* The range that a name with a number at its end is of. */
static const ptx_symbol *find_range(const ptx_reader *reader, const char *text, size_t size,
                                    uint32_t *number)
{
    size_t prefix = size;
    uint64_t value = 0, unit = 1;
    while (prefix > 1 && size - prefix < 9 && text[prefix - 1] >= '0' && text[prefix - 1] <= '9') {
        prefix--;
        value += unit * (uint64_t)(text[prefix] - '0');
        unit *= 10;
    }
    if (prefix == size || (text[prefix] == '0' && size - prefix > 1))
        return NULL;
    const ptx_name *name = known_name(reader, text, prefix, hash_of(text, prefix));
    if (name == NULL || name->range == NULL || value >= name->range->count)
        return NULL;
    *number = (uint32_t)value;
    return name->range;
}

const ptx_symbol *ptx_find(ptx_reader *reader, const char *text, size_t size, uint32_t *number)
{
    const ptx_name *name = known_name(reader, text, size, hash_of(text, size));
    const ptx_symbol *exact = name != NULL ? name->symbol : NULL;
    *number = 0;
    const ptx_symbol *range = find_range(reader, text, size, number);
    if (exact == NULL || (range != NULL && range->depth > exact->depth))
        return range;
    *number = 0;
    return exact;
}

/* A register that stands alone and would be of the range. */
static const ptx_symbol *single_of_range(const ptx_reader *reader, const ptx_scope *scope,
                                         const ptx_name *name)
{
    uint32_t number;
    for (const ptx_symbol *other = scope->newest; other != NULL; other = other->older)
        if (other->kind == PTX_SYMBOL_REGISTER && other->name->size > name->size &&
            memcmp(other->name->text, name->text, name->size) == 0 &&
            find_range(reader, other->name->text, other->name->size, &number) == name->range)
            return other;
    return NULL;
}

static bool refuse_again(ptx_reader *reader, int line, const char *text, int earlier)
{
    return ptx_fail(reader, line, "'%.60s' is defined already, in line %d", text, earlier);
}

bool ptx_declare(ptx_reader *reader, ptx_name *name, const ptx_symbol *symbol)
{
    ptx_scope *scope = &reader->scopes[reader->scope_count - 1];
    uint32_t depth = reader->scope_count - 1;
    bool is_range = symbol->kind == PTX_SYMBOL_RANGE;
    ptx_symbol **meaning = is_range ? &name->range : &name->symbol;
    uint32_t number;
    const ptx_symbol *same =
        is_range ? name->range : ptx_find(reader, name->text, name->size, &number);
    if (same != NULL && same->depth == depth)
        return refuse_again(reader, symbol->line, name->text, same->line);
    ptx_symbol *own = ptx_pool_copy(reader->scratch, symbol, 1, sizeof *own);
    own->depth = depth;
    own->name = name;
    own->outer = *meaning;
    own->older = scope->newest;
    *meaning = own;
    scope->newest = own;
    const ptx_symbol *single = is_range ? single_of_range(reader, scope, name) : NULL;
    return single == NULL || refuse_again(reader, symbol->line, single->name->text, single->line);
}

void ptx_open_scope(ptx_reader *reader)
{
    reader->scopes = ptx_pool_grow(reader->scratch, reader->scopes, reader->scope_count,
                                   &reader->scope_capacity, sizeof *reader->scopes);
    reader->scopes[reader->scope_count++] = (ptx_scope){.first_jump = reader->jump_count,
                                                        .param_top = reader->param_top,
                                                        .line = reader->token.line};
}

void ptx_add_jump(ptx_reader *reader, ptx_jump jump)
{
    reader->jumps = ptx_pool_grow(reader->scratch, reader->jumps, reader->jump_count,
                                  &reader->jump_capacity, sizeof *reader->jumps);
    reader->jumps[reader->jump_count++] = jump;
}

static void land(ptx_reader *reader, const ptx_jump *jump, uint32_t target)
{
    if (jump->place != NULL)
        *jump->place = target;
    else
        reader->instructions[jump->instruction].operands[0].value = target;
}

/* Jumps to labels of the scope that ends are settled; others are left to the scope around it. */
static void settle_jumps(ptx_reader *reader, const ptx_scope *scope)
{
    uint32_t kept = scope->first_jump;
    for (uint32_t i = scope->first_jump; i < reader->jump_count; i++) {
        const ptx_jump *jump = &reader->jumps[i];
        const ptx_symbol *symbol = jump->name->symbol;
        bool is_inner = symbol != NULL && symbol->depth == reader->scope_count - 1;
        if (is_inner && symbol->kind == PTX_SYMBOL_LABEL)
            land(reader, jump, symbol->first);
        else if (reader->scope_count == 2 || is_inner)
            ptx_fail(reader, jump->line, "expected a label, found '%.60s'", jump->name->text);
        else
            reader->jumps[kept++] = *jump;
    }
    reader->jump_count = kept;
}

void ptx_close_scope(ptx_reader *reader)
{
    const ptx_scope *scope = &reader->scopes[reader->scope_count - 1];
    settle_jumps(reader, scope);
    for (const ptx_symbol *symbol = scope->newest; symbol != NULL; symbol = symbol->older) {
        if (symbol->kind == PTX_SYMBOL_RANGE)
            symbol->name->range = symbol->outer;
        else
            symbol->name->symbol = symbol->outer;
    }
    reader->param_top = scope->param_top;
    reader->scope_count--;
}

static void declare_special(ptx_reader *reader, const char *text, ptx_special special)
{
    ptx_symbol symbol = {.kind = PTX_SYMBOL_SPECIAL, .first = (uint32_t)special};
    ptx_declare(reader, ptx_name_of(reader, text, strlen(text)), &symbol);
}

void ptx_declare_specials(ptx_reader *reader)
{
    static const char *const spaces[] = {"tid", "ntid", "ctaid", "nctaid"};
    for (uint32_t i = 0; i < 12; i++) {
        char text[16];
        snprintf(text, sizeof text, "%%%s.%c", spaces[i / 3], "xyz"[i % 3]);
        declare_special(reader, text, (ptx_special)(PTX_TID_X + i));
    }
    declare_special(reader, "%laneid", PTX_LANEID);
    declare_special(reader, "%warpid", PTX_WARPID);
    declare_special(reader, "WARP_SZ", PTX_WARP_SIZE);
    declare_special(reader, "%clock64", PTX_CLOCK64);
}
