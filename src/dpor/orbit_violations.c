#include "dpor/orbit_violations.h"

#include <string.h>

#include "dpor/engine.h"
#include "vm/program.h"
#include "analyse/symmetry.h"

typedef void visitor(struct engine *e, const struct orbit_violation *v);

struct orbit {
	struct engine *engine;
	const struct symmetry *symmetry;
	visitor *visit;
	uint32_t error_slot;
	const struct machine_state **finals; /* by session: of the image */
	uint32_t *image; /* to be filled in: by session, what it becomes */
	bool *taken;     /* by session: its state is in `finals` */
	/* Final assertions with a run-time error in some image. */
	uint32_t *failing;
	uint32_t failing_count;
};

static void tell(struct orbit *m, uint32_t slot, uint64_t histories,
                 const struct finding *f, const uint32_t *image)
{
	struct orbit_violation v = { slot, histories, f, image };
	m->visit(m->engine, &v);
}

/* So many of `all` images are so many histories of the class. */
static uint64_t histories_of(const struct orbit *m, uint64_t images,
                             uint64_t all)
{
	uint64_t weight = m->engine->weight;
	return weight / all * images + weight % all * images / all;
}

static const struct machine_state *state_of(const struct orbit *m,
                                            uint32_t session)
{
	return engine_state(m->engine)->execution.points[session].state;
}

static void no_change(struct orbit *m)
{
	for (uint32_t i = 0; i < m->symmetry->session_count; i++)
		m->image[i] = i;
}

/* ---- assertions in the code of sessions ---- */

static const struct finding *find_failed(const struct orbit *m,
                                         uint32_t session, uint32_t assertion)
{
	const struct finding *f = machine_findings(state_of(m, session));
	while (f && (f->kind != FINDING_ASSERT || f->assertion != assertion))
		f = f->older;
	return f;
}

static uint32_t counterpart(const struct symmetry *y, uint32_t twin,
                            uint32_t session)
{
	uint32_t a = 0;
	while (y->assertion_session[a] != session ||
	       y->assertion_twin[a] != twin)
		a++;
	return a;
}

/* One that stands in the same place of the code of all sessions of a class:
 * where it failed in some of them, it fails in each of them in as many images
 * as in any other. */
static void tell_twins(struct orbit *m, uint32_t failed, uint32_t in)
{
	const struct symmetry *y = m->symmetry;
	uint32_t twin = y->assertion_twin[failed], count = 0, size = 0;
	for (uint32_t s = 0; s < y->session_count; s++) {
		if (y->class_of[s] != y->class_of[in]) continue;
		size++;
		count += find_failed(m, s, counterpart(y, twin, s)) != NULL;
	}
	uint64_t histories = histories_of(m, count, size);
	for (uint32_t s = 0; s < y->session_count; s++) {
		if (y->class_of[s] != y->class_of[in]) continue;
		uint32_t slot = counterpart(y, twin, s);
		const struct finding *f = find_failed(m, s, slot);
		no_change(m);
		m->image[in] = s;
		m->image[s] = in;
		tell(m, slot, histories, f, f ? NULL : m->image);
	}
}

/* True if there was a run-time error. */
static bool tell_of_sessions(struct orbit *m)
{
	const struct symmetry *y = m->symmetry;
	bool error = false;
	for (uint32_t s = 0; s < y->session_count; s++) {
		const struct finding *f = machine_findings(state_of(m, s));
		for (; f; f = f->older) {
			uint32_t slot = f->assertion;
			if (f->kind == FINDING_ASSUME) continue;
			error |= f->kind == FINDING_ERROR;
			if (f->kind == FINDING_ERROR) slot = m->error_slot;
			if (f->kind == FINDING_ASSERT &&
			    y->assertion_session[slot] != SYMMETRY_NONE)
				tell_twins(m, slot, s);
			else
				tell(m, slot, m->engine->weight, f, NULL);
		}
	}
	return error;
}

/* ---- final assertions ---- */

static const struct finding *evaluate(struct orbit *m, uint32_t assertion)
{
	return machine_final_assertion(&m->engine->context.machine, assertion,
	                               m->finals);
}

/* Ways in which others take the places of some sessions. */
struct places {
	struct orbit *images;
	const uint32_t *sessions;
	uint32_t count;
	const uint32_t *assertions; /* evaluated in each */
	uint32_t assertion_count;
	uint64_t all, failed, wrong; /* how many there are; in which one
	                              * fails; in which one is in error */
	uint32_t *failed_first, *wrong_first; /* who stood there */
};

static void note_first(const struct places *p, uint32_t *first)
{
	const struct machine_state *const *finals = p->images->finals;
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t s = 0;
		while (state_of(p->images, s) != finals[p->sessions[i]]) s++;
		first[i] = s;
	}
}

static void look_at_places(struct places *p)
{
	struct region *r = &p->images->engine->context.region;
	bool failed = false, wrong = false;
	for (uint32_t i = 0; i < p->assertion_count; i++) {
		struct region_mark mark = region_mark(r);
		const struct finding *f = evaluate(p->images, p->assertions[i]);
		failed |= f && f->kind == FINDING_ASSERT;
		wrong |= f && f->kind == FINDING_ERROR;
		region_release(r, mark);
	}
	if (failed && !p->failed++) note_first(p, p->failed_first);
	if (wrong && !p->wrong++) note_first(p, p->wrong_first);
	p->all++;
}

static void fill_places(struct places *p, uint32_t at)
{
	struct orbit *m = p->images;
	const uint32_t *class_of = m->symmetry->class_of;
	if (at == p->count) {
		look_at_places(p);
		return;
	}
	uint32_t session = p->sessions[at];
	for (uint32_t s = 0; s < m->symmetry->session_count; s++) {
		if (m->taken[s] || class_of[s] != class_of[session]) continue;
		m->taken[s] = true;
		m->finals[session] = state_of(m, s);
		fill_places(p, at + 1);
		m->taken[s] = false;
	}
	m->finals[session] = state_of(m, session);
}

/* The image in which others stand in these places; all sessions that are left
 * take what is left of their class. */
static void make_image(struct orbit *m, const struct places *p,
                       const uint32_t *first)
{
	const struct symmetry *y = m->symmetry;
	uint32_t n = y->session_count;
	memset(m->image, 0xff, n * sizeof *m->image);
	for (uint32_t i = 0; i < p->count; i++) {
		m->image[first[i]] = p->sessions[i];
		m->taken[p->sessions[i]] = true;
	}
	for (uint32_t s = 0; s < n; s++) {
		uint32_t place = 0;
		if (m->image[s] != SYMMETRY_NONE) continue;
		while (m->taken[place] || y->class_of[place] != y->class_of[s])
			place++;
		m->image[s] = place;
		m->taken[place] = true;
	}
	memset(m->taken, 0, n * sizeof *m->taken);
}

static void begin_places(struct places *p, struct orbit *m)
{
	struct region *r = &m->engine->context.region;
	p->images = m;
	p->failed_first = region_take(r, p->count * sizeof(uint32_t));
	p->wrong_first = region_take(r, p->count * sizeof(uint32_t));
	fill_places(p, 0);
}

static void tell_places(struct orbit *m, const struct places *p, uint32_t slot,
                        uint64_t images, const uint32_t *first,
                        enum finding_kind kind)
{
	const struct finding *own = NULL;
	if (!images) return;
	for (uint32_t i = 0; i < p->assertion_count && !own; i++) {
		own = evaluate(m, p->assertions[i]);
		if (own && own->kind != kind) own = NULL;
	}
	if (!own) make_image(m, p, first);
	tell(m, slot, histories_of(m, images, p->all), own,
	     own ? NULL : m->image);
}

static void tell_named(struct orbit *m, const struct symmetry_named *named)
{
	struct places p = { .sessions = named->sessions,
		            .count = named->count,
		            .assertions = &named->assertion,
		            .assertion_count = 1 };
	begin_places(&p, m);
	tell_places(m, &p, named->assertion, p.failed, p.failed_first,
	            FINDING_ASSERT);
	if (p.wrong) m->failing[m->failing_count++] = named->assertion;
}

/* Of the images in which some assertion is in error. */
static void tell_errors(struct orbit *m)
{
	const struct symmetry *y = m->symmetry;
	struct region *r = &m->engine->context.region;
	uint32_t n = y->session_count, count = 0;
	bool *named = region_take0(r, n * sizeof *named);
	uint32_t *sessions = region_take(r, n * sizeof *sessions);
	for (uint32_t i = 0, f = 0; f < m->failing_count; i++) {
		const struct symmetry_named *a = &y->named[i];
		if (a->assertion != m->failing[f]) continue;
		for (uint32_t s = 0; s < a->count; s++)
			named[a->sessions[s]] = true;
		f++;
	}
	for (uint32_t s = 0; s < n; s++)
		if (named[s]) sessions[count++] = s;
	struct places p = { .sessions = sessions,
		            .count = count,
		            .assertions = m->failing,
		            .assertion_count = m->failing_count };
	begin_places(&p, m);
	tell_places(m, &p, m->error_slot, p.wrong, p.wrong_first,
	            FINDING_ERROR);
}

/* True if one that names no session was in error. */
static bool tell_final(struct orbit *m)
{
	const struct program *p = m->engine->program;
	const struct symmetry *y = m->symmetry;
	uint32_t next = 0;
	bool error = false;
	for (uint32_t i = 0; i < program_final_bound(p); i++) {
		if (program_assertion(p, i)->kind != ASSERTION_FINAL) continue;
		if (next < y->named_count && y->named[next].assertion == i) {
			tell_named(m, &y->named[next++]);
			continue;
		}
		const struct finding *f = evaluate(m, i);
		if (!f) continue;
		bool wrong = f->kind == FINDING_ERROR;
		tell(m, wrong ? m->error_slot : i, m->engine->weight, f, NULL);
		error |= wrong;
	}
	return error;
}

void orbit_violations(struct engine *e, visitor *visit)
{
	const struct symmetry *y = e->options.symmetry;
	struct region *r = &e->context.region;
	struct region_mark mark = region_mark(r);
	uint32_t n = y->session_count;
	struct orbit m = {
		.engine = e,
		.symmetry = y,
		.visit = visit,
		.error_slot = program_assertion_count(e->program),
		.finals = region_take(r, (n + 1) * sizeof *m.finals),
		.image = region_take(r, (n + 1) * sizeof *m.image),
		.taken = region_take0(r, (n + 1) * sizeof *m.taken),
		.failing = region_take(r, (y->named_count + 1) *
		                                  sizeof *m.failing),
	};
	for (uint32_t i = 0; i < n; i++) m.finals[i] = state_of(&m, i);
	bool error = tell_of_sessions(&m);
	error |= tell_final(&m);
	if (!error && m.failing_count) tell_errors(&m);
	region_release(r, mark);
}
