/* Histories that the kernels of the axioms decide: small ones, of which a word
 * is a row; and of any size, where nothing else does. */
#include <assert.h>
#include <stdlib.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "check/check.h"
#include "history/relation.h"

static void fill_so(struct relation *r, const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++) {
		word *row = r->so + (size_t)t * r->words;
		bits_add(row, HISTORY_INIT);
		for (uint32_t u = 1; u < f->n; u++)
			if (facts_so(f, u, t)) bits_add(row, u);
	}
}

static void fill_events(struct relation *r, const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++) {
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			relation_add_read(
				r, (struct relation_read){
					   t, f->reads[i].key, f->reads[i].from,
					   f->reads[i].statement,
					   f->reads[i].strength, false });
		for (uint32_t i = f->lock_first[t]; i < f->lock_first[t + 1];
		     i++)
			relation_add_write(r,
			                   (struct relation_write){
						   t, f->locks[i].key,
						   f->locks[i].statement,
						   f->locks[i].strength,
						   f->locks[i].reads_own },
			                   false);
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			bits_add(r->writers + (size_t)f->writes[i] * r->words,
			         t);
	}
	for (uint32_t x = 0; x < f->key_count; x++)
		bits_add(r->writers + (size_t)x * r->words, HISTORY_INIT);
	relation_close(r);
}

static bool kernel_allows(const struct facts *f, enum level l,
                          struct level_scratch *scratch)
{
	uint32_t words = BITS_WORDS(f->n);
	size_t rows = (size_t)f->n * words;
	word *memory = mem_take0(3 * rows, sizeof *memory);
	struct relation r = {
		.n = f->n,
		.words = words,
		.key_count = f->key_count,
		.order_count = f->n,
		.order = f->order,
		.so = memory,
		.direct = memory + rows,
		.past = memory + 2 * rows,
		.writers = mem_take0(((size_t)f->key_count + 1) * words,
		                     sizeof(word)),
		.reads = mem_take(((size_t)f->read_first[f->n] + 1) *
		                  sizeof *r.reads),
		.writes = mem_take(((size_t)f->lock_first[f->n] + 1) *
		                   sizeof *r.writes),
		.known_count = f->known_count,
		.known = f->known,
		.owns = f->owns,
		.ssi = f->ssi
	};
	fill_so(&r, f);
	fill_events(&r, f);
	assert(r.read_count == f->read_first[f->n]);
	bool allowed = level_allows(l, &r, scratch);
	free(r.writers);
	free(r.reads);
	free(r.writes);
	free(memory);
	return allowed;
}

/* All of it; the parts that matter are found when it is explained. */
static void core_of_all(const struct facts *f, struct check_result *out)
{
	out->core = mem_take(f->n * sizeof *out->core);
	out->core_count = f->n - 1;
	for (uint32_t t = 1; t < f->n; t++) out->core[t - 1] = t;
}

static bool is_over(void *clock)
{
	return check_clock_over(clock);
}

static void decide(const struct facts *f, enum level l, struct check_clock *c,
                   struct check_result *out)
{
	struct level_scratch *scratch = level_scratch_new();
	if (c) level_scratch_stop_when(scratch, is_over, c);
	bool allowed = f->order && kernel_allows(f, l, scratch);
	level_scratch_free(scratch);
	*out = (struct check_result){ .verdict = allowed ? VERDICT_HOLDS
		                                         : VERDICT_VIOLATED };
	if (c && check_clock_over(c))
		*out = (struct check_result){ .verdict = VERDICT_UNDECIDED,
			                      .reason = check_clock_reason(c) };
	else if (!allowed)
		core_of_all(f, out);
}

void check_small(const struct facts *f, enum level l, struct check_result *out)
{
	assert(f->n <= CHECK_SMALL);
	decide(f, l, NULL, out);
}

void check_by_kernel(const struct facts *f, enum level l, struct check_clock *c,
                     struct check_result *out)
{
	uint64_t row = (uint64_t)BITS_WORDS(f->n) * sizeof(word);
	*out = (struct check_result){ .verdict = VERDICT_UNDECIDED,
		                      .reason = CHECK_MEMORY };
	if (!check_clock_too_large(c, 9 * row * (f->n + (uint64_t)64) +
	                                      row * f->key_count))
		decide(f, l, c, out);
}
