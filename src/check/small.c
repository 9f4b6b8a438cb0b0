/* Histories of at most 64 transactions: one word is a row of them, and the
 * kernels of the axioms decide. */
#include <assert.h>
#include <stdlib.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "check/check.h"
#include "history/relation.h"

struct small {
	struct relation r;
	word so[CHECK_SMALL], direct[CHECK_SMALL], past[CHECK_SMALL];
};

static void fill_so(struct small *s, const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++) {
		s->so[t] = 1;
		for (uint32_t u = 1; u < f->n; u++)
			if (facts_so(f, u, t)) bits_add(&s->so[t], u);
	}
}

static void fill_events(struct small *s, const struct facts *f)
{
	struct relation *r = &s->r;
	for (uint32_t t = 1; t < f->n; t++) {
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			relation_add_read(r, (struct relation_read){
						     t, f->reads[i].key,
						     f->reads[i].from,
						     f->reads[i].statement,
						     f->reads[i].strength });
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
			bits_add(&r->writers[f->writes[i]], t);
	}
	for (uint32_t x = 0; x < f->key_count; x++) bits_add(&r->writers[x], 0);
	relation_close(r);
}

static bool small_allows(const struct facts *f, enum level l)
{
	struct small s = { 0 };
	s.r = (struct relation){
		.n = f->n,
		.words = 1,
		.key_count = f->key_count,
		.order_count = f->n,
		.order = f->order,
		.so = s.so,
		.direct = s.direct,
		.past = s.past,
		.writers = mem_take0((size_t)f->key_count + 1, sizeof(word)),
		.reads = mem_take(((size_t)f->read_first[f->n] + 1) *
		                  sizeof *s.r.reads),
		.writes = mem_take(((size_t)f->lock_first[f->n] + 1) *
		                   sizeof *s.r.writes),
		.known_count = f->known_count,
		.known = f->known,
		.owns = f->owns,
		.ssi = f->ssi
	};
	fill_so(&s, f);
	fill_events(&s, f);
	assert(s.r.read_count == f->read_first[f->n]);
	struct level_scratch *scratch = level_scratch_new();
	bool allowed = level_allows(l, &s.r, scratch);
	level_scratch_free(scratch);
	free(s.r.writers);
	free(s.r.reads);
	free(s.r.writes);
	return allowed;
}

/* All of it; the parts that matter are found when it is explained. */
static void core_of_all(const struct facts *f, struct check_result *out)
{
	out->core = mem_take(f->n * sizeof *out->core);
	out->core_count = f->n - 1;
	for (uint32_t t = 1; t < f->n; t++) out->core[t - 1] = t;
}

void check_small(const struct facts *f, enum level l, struct check_result *out)
{
	assert(f->n <= CHECK_SMALL);
	bool allowed = f->order && small_allows(f, l);
	*out = (struct check_result){ .verdict = allowed ? VERDICT_HOLDS
		                                         : VERDICT_VIOLATED };
	if (!allowed) core_of_all(f, out);
}
