/* SPDX-License-Identifier: Apache-2.0
 * Between the files of the parser. An error is said once and ends the text: from then on every
 * token is the end, so that whoever reads stops by himself. */
#ifndef TESTS_PTX_PTX_PARSE_H
#define TESTS_PTX_PTX_PARSE_H

#include "ptx/ptx_pool.h"
#include "ptx/ptx_program.h"

/* Bounds of what a text may ask for. */
#define PTX_MAX_REGISTERS    ((uint64_t)1 << 20) /* of a function */
#define PTX_MAX_THREAD_SPACE ((uint64_t)1 << 24) /* bytes of .param, .local or .shared */
#define PTX_MAX_MODULE_SPACE ((uint64_t)1 << 28) /* bytes of .global or .const */
#define PTX_MAX_DIMENSIONS   4

/* ---------------------------------------------------------------------------------------------
 * Tokens
 * ------------------------------------------------------------------------------------------ */

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* mov, %r1, $L__BB0_1 */
    PTX_TOKEN_WORD,   /* .global: with its dot */
    PTX_TOKEN_NUMBER, /* never with a sign */
    PTX_TOKEN_STRING, /* with its quotes */
    PTX_TOKEN_MARK    /* one character */
} ptx_token_kind;

typedef struct ptx_token {
    ptx_token_kind kind;
    const char *text;
    size_t size;
    int line;
    uint64_t value;       /* of a number: its bits */
    ptx_type number_type; /* U64; F32: 0f...; F64: 0d... and decimal fractions */
} ptx_token;

/* A name or a whole mnemonic, once for all places where it stands, and what it means where the
 * reader is. */
typedef struct ptx_name ptx_name;
typedef struct ptx_symbol ptx_symbol;
struct ptx_name {
    char *text;
    size_t size;
    uint64_t hash;
    ptx_name *next;                   /* of the same bucket */
    ptx_symbol *symbol, *range;       /* innermost; a range: NAME<count> */
    struct ptx_callable *callable;    /* a function of that name */
    const ptx_instruction *operation; /* a mnemonic, decoded */
};

/* ---------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------ */

typedef enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER, /* first */
    PTX_SYMBOL_RANGE,    /* count registers from first */
    PTX_SYMBOL_VECTOR,   /* the same, of .v2 and .v4 */
    PTX_SYMBOL_SPECIAL,  /* first: a ptx_special */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_LABEL,  /* first: index of an instruction */
    PTX_SYMBOL_TARGETS /* of .branchtargets: list, count */
} ptx_symbol_kind;

struct ptx_symbol {
    ptx_symbol_kind kind;
    int line;
    uint32_t depth; /* of the scope; 0: the module's */
    uint32_t first, count;
    const ptx_variable *variable;
    uint32_t *list;
    ptx_name *name;
    ptx_symbol *outer; /* what the name means outside of the scope */
    ptx_symbol *older; /* of the same scope */
};

typedef struct ptx_scope {
    ptx_symbol *newest;
    uint32_t first_jump; /* jumps of this scope begin there */
    uint64_t param_top;  /* of the function, before the scope */
    int line;
} ptx_scope;

/* A use of a label, which is only known when the scope ends. */
typedef struct ptx_jump {
    ptx_name *name;
    uint32_t instruction; /* its first operand is the label */
    uint32_t *place;      /* of .branchtargets; NULL: none */
    int line;
} ptx_jump;

/* A function by name, from its first declaration or call on. */
typedef struct ptx_callable {
    ptx_function function;
    bool is_declared, is_defined;
    int line;      /* of the declaration */
    int call_line; /* of the first call; 0: none */
} ptx_callable;

/* A .shared variable, placed when all of the text is known. */
typedef struct ptx_shared {
    ptx_variable *variable;
    const ptx_function *kernel; /* whose own it is; NULL: the module's or a function's */
    bool is_extern;
} ptx_shared;

typedef struct ptx_reader {
    const char *at; /* after the token */
    int line;
    ptx_token token;
    ptx_error *error;
    bool failed;
    ptx_pool *pool;    /* what stays */
    ptx_pool *scratch; /* what ends with the parser */

    ptx_name **buckets;
    uint32_t bucket_count, name_count;
    ptx_scope *scopes; /* [0]: the module */
    uint32_t scope_count, scope_capacity;

    ptx_module *module;
    ptx_callable **callables;
    uint32_t callable_count, callable_capacity;
    uint32_t variable_capacity;
    ptx_shared *shared;
    uint32_t shared_count, shared_capacity;

    /* of the function that is being read; NULL: none */
    ptx_function *function;
    uint64_t param_top;
    uint32_t register_capacity;
    ptx_instruction *instructions; /* one place for all functions in turn */
    uint32_t instruction_count, instruction_capacity;
    uint32_t used_bytes; /* of the next instruction: see ptx_instruction */
    ptx_jump *jumps;
    uint32_t jump_count, jump_capacity;
} ptx_reader;

/* ---------------------------------------------------------------------------------------------
 * ptx_parse_token.c
 * ------------------------------------------------------------------------------------------ */

/* Always false. */
bool ptx_fail(ptx_reader *reader, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "line N: expected WHAT, found TOKEN"; always false. */
bool ptx_expected(ptx_reader *reader, const char *what);

void ptx_advance(ptx_reader *reader);
void ptx_skip_line(ptx_reader *reader); /* the rest of the token's line */
bool ptx_is_mark(const ptx_reader *reader, char mark);
bool ptx_is_word(const ptx_reader *reader, const char *word);
bool ptx_take_mark(ptx_reader *reader, char mark); /* false: it is another, and stays */
bool ptx_take_word(ptx_reader *reader, const char *word);
bool ptx_need_mark(ptx_reader *reader, char mark); /* false: failed */
/* The token is a name that a word, such as .x, may follow at once, or all of a mnemonic. */
void ptx_extend_name(ptx_reader *reader);
/* The first character after the token that is not a blank; 0: the end. */
char ptx_peek(const ptx_reader *reader);
/* A number with its sign, of no fraction. */
bool ptx_need_integer(ptx_reader *reader, uint64_t *value);
bool ptx_need_count(ptx_reader *reader, uint64_t most, uint64_t *value);

/* ptx_parse_number.c: the token, from a first digit on; anything but a number fails. */
void ptx_read_number(ptx_reader *reader);
/* The bits of a float number as another type of floats has them. */
uint64_t ptx_float_bits(const ptx_token *token, ptx_type type);

/* ---------------------------------------------------------------------------------------------
 * ptx_parse_scope.c
 * ------------------------------------------------------------------------------------------ */

ptx_name *ptx_name_of(ptx_reader *reader, const char *text, size_t size);
ptx_name *ptx_need_name(ptx_reader *reader, const char *what); /* takes it; NULL: failed */
bool ptx_declare(ptx_reader *reader, ptx_name *name, const ptx_symbol *symbol);
/* Finds the symbol of a token: a name, or one of a range, with its *number. NULL: none. */
const ptx_symbol *ptx_find(ptx_reader *reader, const char *text, size_t size, uint32_t *number);
void ptx_open_scope(ptx_reader *reader);
void ptx_close_scope(ptx_reader *reader);
void ptx_add_jump(ptx_reader *reader, ptx_jump jump);
void ptx_declare_specials(ptx_reader *reader);

/* ---------------------------------------------------------------------------------------------
 * Declarations and instructions
 * ------------------------------------------------------------------------------------------ */

/* ptx_parse_word.c */
ptx_type ptx_type_of(const char *word, size_t size); /* PTX_NO_TYPE: it is none; without dot */
uint32_t ptx_type_size(ptx_type type);
const ptx_instruction *ptx_decode_mnemonic(ptx_reader *reader, ptx_name *name, int line);

/* ptx_parse_variable.c: after .reg, or the word of a space. */
void ptx_read_registers(ptx_reader *reader);
void ptx_read_variables(ptx_reader *reader, ptx_space space, bool is_extern);
ptx_variable *ptx_read_param(ptx_reader *reader); /* of a list, after .param */
uint64_t ptx_place(uint64_t *top, uint32_t align, uint64_t size);

/* ptx_parse_initial.c: after =. */
void ptx_read_initial(ptx_reader *reader, ptx_variable *variable, const uint64_t *dimensions,
                      uint32_t dimension_count);

/* ptx_parse_function.c: after .entry or .func. */
void ptx_read_function(ptx_reader *reader, bool is_kernel);
ptx_callable *ptx_callable_of(ptx_reader *reader, ptx_name *name);

/* ptx_parse_instruction.c: a label, or an instruction with its semicolon. */
void ptx_read_statement(ptx_reader *reader);
/* ptx_parse_operand.c */
bool ptx_read_operands(ptx_reader *reader, ptx_instruction *instruction);
/* ptx_parse_call.c */
bool ptx_read_call(ptx_reader *reader, ptx_instruction *instruction);
void ptx_check_calls(ptx_reader *reader);

#endif
