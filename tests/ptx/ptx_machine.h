/* SPDX-License-Identifier: Apache-2.0
 * Declarations that the files of the interpreter share. Lowering turns each instruction into one or
 * a few codes: a handler, which does what this operation does for these types, and the slots of its
 * operands. A thread is run by calling one handler after the other. */
#ifndef TESTS_PTX_PTX_MACHINE_H
#define TESTS_PTX_PTX_MACHINE_H

#include "ptx/ptx_program.h"

typedef struct ptx_code ptx_code;
typedef struct ptx_thread ptx_thread;
typedef struct ptx_block ptx_block;
typedef struct ptx_lowered ptx_lowered;

/* Does c with the slots r of the frame on top, and says which code is next; NULL: the thread stops
 * here, because it ended, waits or did something wrong. */
typedef const ptx_code *ptx_handler(ptx_thread *t, uint64_t *r, const ptx_code *c);

struct ptx_code {
    ptx_handler *run;
    union {
        uint64_t value;         /* bytes to add to an address, or what the handler says */
        const ptx_code *target; /* of a branch; an index until all codes are there */
        const void *data;
    };
    uint32_t d, a, b, c, e; /* slots: destination, sources, and what the handler says */
    uint32_t at;            /* which instruction of the function */
};

/* The slots of a frame: registers, these, temporaries, and constants. All are 64 bits wide; the
 * bits above an operand's type mean nothing. Predicates are 0 or 1. */
enum {
    PTX_SLOT_ZERO = PTX_CLOCK64 + 1, /* before it: one for each ptx_special */
    PTX_SLOT_NOWHERE,                /* what is written and never read */
    PTX_SLOT_LOCAL,                  /* where this frame's .local begins */
    PTX_FIXED_SLOTS
};

struct ptx_lowered {
    const ptx_function *function;
    ptx_code *codes;
    uint32_t code_count, code_room;
    uint32_t fixed;    /* first of PTX_FIXED_SLOTS */
    uint32_t constant; /* first slot of constants: after all others */
    uint32_t slot_count;
    uint64_t *constants;
    uint32_t constant_count, constant_room;
};

/* Addresses that are not a pointer of any x86-64 or AArch64 process: windows of the generic space
 * onto .shared and .local. All other generic addresses are global. */
#define PTX_SHARED_WINDOW (UINT64_C(0x51000000) << 32)
#define PTX_LOCAL_WINDOW  (UINT64_C(0x52000000) << 32)

static inline bool ptx_in_window(uint64_t address, uint64_t window)
{
    return address >> 32 == window >> 32;
}

/* ---------------------------------------------------------------------------------------------
 * A block that runs
 * ------------------------------------------------------------------------------------------ */

typedef struct ptx_frame {
    const ptx_lowered *lowered;
    const ptx_code *back; /* where the caller goes on; its instruction is the one before */
    uint32_t slots;       /* where it begins, in the thread's slots */
    uint64_t params, locals;
} ptx_frame;

#define PTX_MOST_FRAMES  64
#define PTX_MOST_THREADS 1024
#define PTX_LANES        32u
#define PTX_BARRIERS     16u

typedef enum ptx_state { PTX_READY, PTX_AT_BARRIER, PTX_AT_WARP, PTX_ENDED } ptx_state;

struct ptx_thread {
    uint64_t *slots; /* of the frame on top */
    ptx_block *block;
    const ptx_code *next; /* where it goes on; what it waits at, when it waits */
    ptx_state state;
    uint32_t number; /* in the block */
    bool carry;
    uint64_t left;  /* of its budget */
    uint64_t ticks; /* of %clock64 */
    /* what it waits for */
    uint32_t barrier, count; /* PTX_AT_BARRIER; 0: all threads */
    uint32_t mask;           /* PTX_AT_WARP: of lanes */
    uint32_t arrived;        /* barriers that it came to without waiting, a bit for each */
    /* all frames, in three stacks */
    ptx_frame frames[PTX_MOST_FRAMES];
    uint32_t depth; /* frames in use: the first is the kernel */
    uint64_t *slot_stack;
    uint8_t *param_stack, *local_stack;
    uint64_t slot_room, param_room, local_room;
};

/* The state of a byte of shared memory. An interval is the time between two barriers of the
 * whole block; the numbers go on from block to block. */
typedef struct ptx_shade {
    uint32_t wrote, read;             /* the last interval it was written in, and read in */
    uint16_t writer, reader;          /* by whom: a thread's number, see ptx_race.c */
    uint32_t write_clock, read_clock; /* the thread's clock then */
} ptx_shade;

typedef struct ptx_piece {
    uint64_t first, size;
    uint8_t *bytes;
} ptx_piece;

#define PTX_PIECES 256

struct ptx_block {
    const ptx_launch *launch;
    const ptx_lowered *lowered;
    ptx_error *error;
    bool failed;
    uint32_t place[3]; /* in the grid */
    ptx_thread *threads;
    uint32_t thread_count;
    uint8_t *shared;
    ptx_shade *shades;
    uint64_t shared_size;
    /* intervals; and who knows of whom within one, by barriers of some threads only */
    uint32_t first_interval, interval;
    uint32_t *clocks, *known;     /* known[a * thread_count + b]: the clock of b that a knows of */
    bool some_synced;             /* in this interval */
    ptx_piece pieces[PTX_PIECES]; /* the last one that an instruction reached */
};

/* The thread did something wrong at c; always NULL. */
const ptx_code *ptx_stop(ptx_thread *t, const ptx_code *c, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for the thread that waits, or ran out of budget. */
void ptx_stop_waiting(ptx_thread *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ptx_thread_place(const ptx_thread *t, uint32_t place[3]);
int ptx_line_of(const ptx_thread *t, const ptx_code *c);

/* A frame of this function on top of the others; false: too many, or no memory. */
bool ptx_push_frame(ptx_thread *t, const ptx_lowered *lowered, const ptx_code *back);
bool ptx_block_run(ptx_block *block);
/* Does what the lanes of a mask wait for, all at once. */
void ptx_warp_meet(ptx_block *block, const uint32_t *threads, uint32_t count);
/* Let go of all warps and barriers that are complete; false: there are none. */
bool ptx_release_waiting(ptx_block *block);
/* No thread can go on: says why. */
void ptx_explain_stall(ptx_block *block);

/* Shared memory: may t touch these bytes, and how. NULL when it may, else what is wrong. */
typedef enum ptx_touch {
    PTX_READ,
    PTX_WRITE,
    PTX_ATOMIC_READ,
    PTX_ATOMIC_WRITE,
    PTX_ATOMIC_UPDATE /* reads, and writes what it makes of it */
} ptx_touch;
const char *ptx_touch_shared(ptx_thread *t, uint64_t offset, uint64_t bytes, ptx_touch touch,
                             uint32_t *other);
/* These threads met: what each did before is before what each does from now on. */
void ptx_race_meet(ptx_block *block, const uint32_t *threads, uint32_t count);

/* ---------------------------------------------------------------------------------------------
 * Lowering
 * ------------------------------------------------------------------------------------------ */

typedef struct ptx_lowering {
    ptx_lowered *to;
    const ptx_instruction *in;
    uint32_t at;           /* which one of its function */
    ptx_modifier_set left; /* modifiers that nobody took */
    bool space_taken, vector_taken;
    uint32_t types_taken;
    bool failed;
    uint32_t temporaries; /* of this instruction */
} ptx_lowering;

#define PTX_TEMPORARIES 8u

/* Lower l->in: false, or l->failed, when the form is not known. */
typedef bool ptx_lower_function(ptx_lowering *l);
ptx_lower_function ptx_lower_integer, ptx_lower_multiply, ptx_lower_bits, ptx_lower_logic,
    ptx_lower_compare, ptx_lower_choose, ptx_lower_float, ptx_lower_convert, ptx_lower_move,
    ptx_lower_load, ptx_lower_store, ptx_lower_atomic, ptx_lower_address, ptx_lower_control,
    ptx_lower_barrier, ptx_lower_warp, ptx_lower_divide;

/* Take a modifier: was it there? What is left at the end makes the form unknown. */
bool ptx_take(ptx_lowering *l, ptx_modifier modifier);
/* The next type, in the order written; PTX_NO_TYPE when there are no more. */
ptx_type ptx_take_type(ptx_lowering *l);
/* Checks the number of operands. */
bool ptx_operands(ptx_lowering *l, uint32_t count);
/* Slots of operands. A source that is a constant of type pred is 0 or 1. */
uint32_t ptx_source(ptx_lowering *l, uint32_t operand, ptx_type type);
uint32_t ptx_destination(ptx_lowering *l, uint32_t operand);
uint32_t ptx_constant(ptx_lowering *l, uint64_t value);
uint32_t ptx_fixed(const ptx_lowering *l, uint32_t which);
uint32_t ptx_temporary(ptx_lowering *l);
/* The slot and the bytes to add of an address, by which accesses to space go. */
uint32_t ptx_address(ptx_lowering *l, uint32_t operand, uint64_t *add);
/* One more code. NULL handler: the form is not known. */
bool ptx_emit(ptx_lowering *l, ptx_code code);
/* The address of a variable of .global or .const, and the size of all of them. */
uint64_t ptx_module_address(const ptx_module *module, const ptx_variable *variable);
uint64_t ptx_module_data_size(const ptx_module *module);
/* A code that makes d the address of a variable, in its space. */
bool ptx_emit_symbol(ptx_lowering *l, uint32_t d, const ptx_operand *symbol);

uint32_t ptx_bits_of(ptx_type type); /* of pred: 1 */
bool ptx_is_signed(ptx_type type);
bool ptx_is_float(ptx_type type);
/* 0, 1, 2 for integers and bits of 16, 32 and 64 bits; 3: another type */
uint32_t ptx_width_index(ptx_type type);

/* Handlers that are wanted in more than one file. */
ptx_handler ptx_do_move, ptx_do_not_pred;

#endif
