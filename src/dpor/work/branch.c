#include "dpor/work/branch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

size_t branch_bytes(size_t path_length, size_t script_length)
{
	return sizeof(struct branch) +
	       (path_length + script_length) * sizeof(uint32_t);
}

struct branch *branch_new(enum branch_kind kind, const uint32_t *path,
                          uint32_t path_length, const uint32_t *script,
                          uint32_t script_length)
{
	assert((!path_length || path) && (!script_length || script));
	struct branch *b = mem_take(branch_bytes(path_length, script_length));
	uint32_t *place = (uint32_t *)(b + 1);
	if (path_length) memcpy(place, path, path_length * sizeof *place);
	if (script_length)
		memcpy(place + path_length, script,
		       script_length * sizeof *place);
	*b = (struct branch){ .kind = kind,
		              .path_length = path_length,
		              .path = place,
		              .script_length = script_length,
		              .script = place + path_length };
	return b;
}

struct branch *branch_copy(const struct branch *b)
{
	return branch_new(b->kind, b->path, b->path_length, b->script,
	                  b->script_length);
}

void branch_rename(struct branch *b, const uint32_t *sessions)
{
	uint32_t *w = (uint32_t *)(b + 1) + b->path_length;
	const uint32_t *end = b->script + b->script_length;
	while (w < end) {
		uint32_t reads = w[1];
		w[0] = sessions[w[0]];
		for (w += 2; reads--; w += 2)
			if (w[0]) w[0] = sessions[w[0] - 1] + 1;
	}
	assert(w == end);
}

struct branch *branch_root(void)
{
	return branch_new(BRANCH_BETWEEN, NULL, 0, NULL, 0);
}

/* Does transaction `index` of a session, the writer of a read, stand before
 * the reader in the script? `done` counts what did, by session. */
static bool source_is_sound(uint32_t session, uint32_t index,
                            const uint32_t *done, uint32_t sessions)
{
	if (!session) return index == 0;
	return session <= sessions && index < done[session - 1];
}

bool branch_is_sound(const struct branch *b, uint32_t sessions)
{
	uint32_t *done = mem_take0((size_t)sessions + 1, sizeof *done);
	const uint32_t *w = b->script, *end = w + b->script_length;
	uint32_t reads = 0;
	bool sound = true;
	while (sound && w < end) {
		sound = end - w >= 2 && w[0] < sessions &&
		        w[1] <= (size_t)(end - w - 2) / 2;
		if (!sound) break;
		reads = w[1];
		for (uint32_t i = 0; i < reads; i++)
			sound = sound &&
			        source_is_sound(w[2 + 2 * i], w[3 + 2 * i],
			                        done, sessions);
		done[w[0]]++;
		w += 2 + 2 * (size_t)reads;
	}
	free(done);
	if (b->kind == BRANCH_SWAP) return sound && reads > 0;
	if (b->kind == BRANCH_BETWEEN || b->kind == BRANCH_END) return sound;
	return sound && b->script_length;
}

int branch_compare(const struct branch *a, const struct branch *b)
{
	uint32_t shorter = a->path_length < b->path_length ? a->path_length
	                                                   : b->path_length;
	for (uint32_t i = 0; i < shorter; i++)
		if (a->path[i] != b->path[i])
			return a->path[i] < b->path[i] ? -1 : 1;
	return (a->path_length > b->path_length) -
	       (a->path_length < b->path_length);
}

void branch_list_add(struct branch_list *l, struct branch *b)
{
	assert(b);
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] = b;
}

static int compare_items(const void *a, const void *b)
{
	return branch_compare(*(struct branch *const *)a,
	                      *(struct branch *const *)b);
}

void branch_list_sort(struct branch_list *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, compare_items);
}

void branch_list_copy(struct branch_list *to, const struct branch_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		branch_list_add(to, branch_copy(from->items[i]));
}

void branch_list_free(struct branch_list *l)
{
	for (size_t i = 0; i < l->count; i++) free(l->items[i]);
	free(l->items);
	*l = (struct branch_list){ 0 };
}

static const char *const kind_words[] = {
#define X(id, word) [id] = (word),
	BRANCH_KIND_TABLE(X)
#undef X
};

const char *branch_kind_word(enum branch_kind k)
{
	assert(k < BRANCH_KIND_COUNT);
	return kind_words[k];
}

bool branch_kind_from_word(const char *word, enum branch_kind *out)
{
	for (enum branch_kind k = 0; k < BRANCH_KIND_COUNT; k++) {
		if (strcmp(word, kind_words[k])) continue;
		*out = k;
		return true;
	}
	return false;
}
