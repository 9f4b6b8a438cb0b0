/* Transactions whose answers may be out of date.
 *
 * They write nothing. So of an execution without them every level still says
 * what it says of those that are left: of two or three transactions each, of
 * versions that are all there, and of a session what is left in its order. It
 * is an execution of the others, and it is serializable if these are: what is
 * proved of the others holds of all executions, but for these answers.
 *
 * Where that is proved, each of them is looked at beside the others, and then
 * all together: what is not serializable then is so by their answers.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "prove/search.h"

/* ---- which ones ---- */

static bool writes(const struct summary *s)
{
	for (uint32_t i = 0; i < s->access_count; i++)
		if (s->accesses[i].write) return true;
	return false;
}

/* Those that are not marked come first; both keep their order. */
static void part(struct application *a)
{
	uint32_t count = a->summary_count + a->stale_count, kept = 0;
	struct summary *all = mem_take0((size_t)count + 1, sizeof *all);
	for (int stale = 0; stale < 2; stale++) {
		for (uint32_t i = 0; i < count; i++)
			if (a->summaries[i].stale_ok == stale)
				all[kept++] = a->summaries[i];
		if (!stale) a->summary_count = kept;
	}
	a->stale_count = count - a->summary_count;
	if (count) memcpy(a->summaries, all, count * sizeof *all);
	free(all);
}

static void mark_readers(struct application *a)
{
	for (uint32_t i = 0; i < a->summary_count; i++)
		a->summaries[i].stale_ok = !writes(&a->summaries[i]);
}

static bool mark_name(struct application *a, const char *name, size_t length,
                      struct text *why)
{
	uint32_t count = a->summary_count + a->stale_count;
	bool found = false;
	for (uint32_t i = 0; i < count; i++) {
		struct summary *s = &a->summaries[i];
		if (strlen(s->name) != length ||
		    memcmp(s->name, name, length) != 0)
			continue;
		found = true;
		s->stale_ok = true;
		if (!writes(s)) continue;
		text_format(why, "'%s' writes, so it cannot be stale ok",
		            s->name);
		return false;
	}
	if (found) return true;
	text_string(why, "there is no transaction '");
	text_bytes(why, name, length);
	text_char(why, '\'');
	return false;
}

bool prove_mark_stale(struct application *a, const char *words,
                      struct text *why)
{
	if (words && !strcmp(words, "read-only")) {
		mark_readers(a);
	} else if (words) {
		size_t length;
		do {
			length = strcspn(words, ",");
			if (!mark_name(a, words, length, why)) return false;
			words += length;
		} while (*words++);
	}
	part(a);
	return true;
}

/* ---- what they answer ---- */

/* The members are those that are not stale ok, and some that are. */
static enum verdict look_at(struct search *x, uint32_t transaction)
{
	struct proof *out = x->out;
	struct proof one = { .options = out->options };
	struct proved_stale *s = &out->stale[out->stale_count];
	search_apart(x, &one);
	enum verdict v = one.verdict;
	if (!out->stop) {
		*s = (struct proved_stale){ .transaction = transaction,
			                    .verdict = v };
		text_string(&s->cycle, text_get(&one.cycle));
		text_string(&s->client, text_get(&one.client));
		consequence_copy(&s->consequence, &one.consequence);
		out->stale_count++;
	}
	prove_free(&one);
	return v;
}

void search_stale(struct search *x)
{
	struct proof *out = x->out;
	const struct application *a = out->app;
	uint32_t others = x->member_count;
	bool fresh = true;
	assert(out->verdict == VERDICT_HOLDS);
	if (!a->stale_count) return;
	out->stale = mem_take0((size_t)a->stale_count + 1, sizeof *out->stale);
	x->member_count = others + 1;
	for (uint32_t i = 0; i < a->stale_count && !out->stop; i++) {
		x->members[others] = a->summary_count + i;
		fresh &= look_at(x, a->summary_count + i) == VERDICT_HOLDS;
	}
	for (uint32_t i = 0; i < a->stale_count; i++)
		x->members[others + i] = a->summary_count + i;
	x->member_count = others + a->stale_count;
	if (fresh && a->stale_count > 1 && !out->stop) look_at(x, UINT32_MAX);
	x->member_count = others;
}
