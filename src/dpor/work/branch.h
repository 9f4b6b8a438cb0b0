/* A branch of an exploration: a state that is still to be explored, as a small
 * value of its own. It holds neither pointers into an exploration nor numbers
 * that depend on one, so that it can be given to another thread, written into
 * a file, and explored on another machine.
 *
 * What a state is follows from its transactions in the order <, and from where
 * each of their reads has its value: the program does the rest. So a branch is
 * that script, and the path of choices that leads there from the root; paths
 * tell which branch comes first when an exploration goes depth first.
 */
#ifndef ISO_DPOR_WORK_BRANCH_H
#define ISO_DPOR_WORK_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*     identifier, word in files */
#define BRANCH_KIND_TABLE(X)                                                 \
	/* all transactions of the script have ended */                      \
	X(BRANCH_BETWEEN, "between")                                         \
	/* the last one is pending, just behind the last read of the script, \
	 * or at its beginning */                                            \
	X(BRANCH_PENDING, "pending")                                         \
	/* likewise, but nobody was there yet: what begins or reads last is  \
	 * still to be counted */                                            \
	X(BRANCH_FRESH, "fresh")                                             \
	/* likewise, but that read was put there by a swap that may violate  \
	 * the level: then nothing is there */                               \
	X(BRANCH_SWAP, "swap")                                               \
	/* a complete execution: only to look at it again */                 \
	X(BRANCH_END, "end")

enum branch_kind {
#define X(id, word) id,
	BRANCH_KIND_TABLE(X)
#undef X
		BRANCH_KIND_COUNT
};

const char *branch_kind_word(enum branch_kind k);
/* False if it is no such word. */
bool branch_kind_from_word(const char *word, enum branch_kind *out);

/* One block of memory, from malloc. */
struct branch {
	enum branch_kind kind;
	/* Numbers of the alternatives taken, outermost choice first. */
	uint32_t path_length;
	const uint32_t *path;
	/* For each transaction: its session; how many external reads; for
	 * each of them two words, the session of the writer plus 1 and its
	 * place in that session from 0; two zeroes for init. */
	uint32_t script_length;
	const uint32_t *script;
};

struct branch_list {
	struct branch **items; /* owned, as is each of them */
	size_t count, capacity;
};

/* Copies both arrays. Freed with free(). */
struct branch *branch_new(enum branch_kind kind, const uint32_t *path,
                          uint32_t path_length, const uint32_t *script,
                          uint32_t script_length);
struct branch *branch_copy(const struct branch *b);
/* That one takes of memory. */
size_t branch_bytes(size_t path_length, size_t script_length);
/* Every session becomes another one. */
void branch_rename(struct branch *b, const uint32_t *sessions);
/* The whole exploration. */
struct branch *branch_root(void);
/* Is it well formed for a program with so many sessions: every number in
 * range, every source before its reader? Says nothing of whether the program
 * can do that. */
bool branch_is_sound(const struct branch *b, uint32_t sessions);
/* < 0, 0, > 0: in the order of going depth first; what leads to something
 * else comes before it. */
int branch_compare(const struct branch *a, const struct branch *b);

/* Takes the branch over. */
void branch_list_add(struct branch_list *l, struct branch *b);
/* First in depth-first order first. */
void branch_list_sort(struct branch_list *l);
void branch_list_copy(struct branch_list *to, const struct branch_list *from);
void branch_list_free(struct branch_list *l);

#endif
