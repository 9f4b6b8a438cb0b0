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
	uint32_t error_slot; /* of run-time errors, wherever they happen */
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

/* ---- run-time errors in the code of sessions ---- */

static uint32_t slot_of_place(const struct orbit *m, uint32_t point)
{
	struct engine *e = m->engine;
	return tally_error_slot(&e->tally, program_position(e->program, point));
}

/* The error that ended the session, or NULL. */
static const struct finding *error_of(const struct orbit *m, uint32_t session)
{
	const struct finding *f = machine_findings(state_of(m, session));
	while (f && f->kind != FINDING_ERROR) f = f->older;
	return f;
}

/* The same place in the code of this session; SYMMETRY_NONE: it has none. */
static uint32_t point_counterpart(const struct symmetry *y, uint32_t twin,
                                  uint32_t session)
{
	for (uint32_t i = 0; i < y->point_count; i++)
		if (y->point_session[i] == session && y->point_twin[i] == twin)
			return i;
	return SYMMETRY_NONE;
}

/* As of assertions: that of session `in` is in its own code. */
static void tell_twin_errors(struct orbit *m, uint32_t point, uint32_t in)
{
	const struct symmetry *y = m->symmetry;
	uint32_t twin = y->point_twin[point], count = 0, size = 0;
	for (uint32_t s = 0; s < y->session_count; s++) {
		if (y->class_of[s] != y->class_of[in]) continue;
		const struct finding *f = error_of(m, s);
		size++;
		count += f && f->point == point_counterpart(y, twin, s);
	}
	uint64_t histories = histories_of(m, count, size);
	for (uint32_t s = 0; s < y->session_count; s++) {
		if (y->class_of[s] != y->class_of[in]) continue;
		uint32_t there = point_counterpart(y, twin, s);
		const struct finding *f = error_of(m, s);
		if (there == SYMMETRY_NONE) continue;
		if (f && f->point != there) f = NULL;
		no_change(m);
		m->image[in] = s;
		m->image[s] = in;
		tell(m, slot_of_place(m, there), histories, f,
		     f ? NULL : m->image);
	}
}

static void tell_error(struct orbit *m, const struct finding *f, uint32_t in)
{
	const struct symmetry *y = m->symmetry;
	tell(m, m->error_slot, m->engine->weight, f, NULL);
	if (y->point_session[f->point] == SYMMETRY_NONE)
		tell(m, slot_of_place(m, f->point), m->engine->weight, f, NULL);
	else
		tell_twin_errors(m, f->point, in);
}

static void tell_of_sessions(struct orbit *m)
{
	const struct symmetry *y = m->symmetry;
	for (uint32_t s = 0; s < y->session_count; s++) {
		const struct finding *f = machine_findings(state_of(m, s));
		for (; f; f = f->older) {
			if (f->kind == FINDING_ASSUME) continue;
			if (f->kind == FINDING_ERROR)
				tell_error(m, f, s);
			else if (y->assertion_session[f->assertion] !=
			         SYMMETRY_NONE)
				tell_twins(m, f->assertion, s);
			else
				tell(m, f->assertion, m->engine->weight, f,
				     NULL);
		}
	}
}

/* ---- final assertions ---- */

static const struct finding *evaluate(struct orbit *m, uint32_t assertion)
{
	return machine_final_assertion(&m->engine->context.machine, assertion,
	                               m->finals);
}

/* Images that violate a slot. */
struct outcome {
	struct outcome *next;
	uint32_t slot;
	uint64_t images;
	uint64_t latest; /* the number of one of them */
	uint32_t *first; /* who stood in the places there */
};

/* Ways in which others take the places of some sessions. */
struct places {
	struct orbit *images;
	const uint32_t *sessions;
	uint32_t count;
	const uint32_t *assertions; /* evaluated in each */
	uint32_t assertion_count;
	uint64_t all; /* how many there are */
	struct outcome *outcomes;
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

static void note_outcome(struct places *p, uint32_t slot)
{
	struct region *r = &p->images->engine->context.region;
	struct outcome *o = p->outcomes;
	while (o && o->slot != slot) o = o->next;
	if (!o) {
		o = region_take0(r, sizeof *o);
		*o = (struct outcome){ .next = p->outcomes, .slot = slot };
		o->first = region_take(r, p->count * sizeof *o->first);
		note_first(p, o->first);
		p->outcomes = o;
	}
	if (o->latest == p->all) return;
	o->latest = p->all;
	o->images++;
}

static void look_at_places(struct places *p)
{
	struct orbit *m = p->images;
	struct region *r = &m->engine->context.region;
	p->all++;
	for (uint32_t i = 0; i < p->assertion_count; i++) {
		struct region_mark mark = region_mark(r);
		const struct finding *f = evaluate(m, p->assertions[i]);
		bool failed = f, wrong = f && f->kind == FINDING_ERROR;
		uint32_t point = f ? f->point : 0;
		region_release(r, mark);
		if (wrong) {
			note_outcome(p, m->error_slot);
			note_outcome(p, slot_of_place(m, point));
		} else if (failed) {
			note_outcome(p, p->assertions[i]);
		}
	}
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

/* Of the history itself: a finding of the slot, or NULL. */
static const struct finding *own_finding(struct orbit *m,
                                         const struct places *p, uint32_t slot)
{
	for (uint32_t i = 0; i < p->assertion_count; i++) {
		const struct finding *f = evaluate(m, p->assertions[i]);
		if (!f) continue;
		if (f->kind == FINDING_ERROR
		            ? slot == m->error_slot ||
		                      slot == slot_of_place(m, f->point)
		            : slot == p->assertions[i])
			return f;
	}
	return NULL;
}

static void tell_places(struct orbit *m, const struct places *p,
                        const struct outcome *o)
{
	const struct finding *own = own_finding(m, p, o->slot);
	if (!own) make_image(m, p, o->first);
	tell(m, o->slot, histories_of(m, o->images, p->all), own,
	     own ? NULL : m->image);
}

static void tell_named(struct orbit *m, const struct symmetry_named *named)
{
	struct places p = { .images = m,
		            .sessions = named->sessions,
		            .count = named->count,
		            .assertions = &named->assertion,
		            .assertion_count = 1 };
	fill_places(&p, 0);
	for (const struct outcome *o = p.outcomes; o; o = o->next) {
		if (o->slot == named->assertion)
			tell_places(m, &p, o);
		else if (o->slot == m->error_slot)
			m->failing[m->failing_count++] = named->assertion;
	}
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
	struct places p = { .images = m,
		            .sessions = sessions,
		            .count = count,
		            .assertions = m->failing,
		            .assertion_count = m->failing_count };
	fill_places(&p, 0);
	for (const struct outcome *o = p.outcomes; o; o = o->next)
		if (o->slot >= m->error_slot) tell_places(m, &p, o);
}

static void tell_final(struct orbit *m)
{
	const struct program *p = m->engine->program;
	const struct symmetry *y = m->symmetry;
	uint32_t next = 0;
	for (uint32_t i = 0; i < program_final_bound(p); i++) {
		if (program_assertion(p, i)->kind != ASSERTION_FINAL) continue;
		if (next < y->named_count && y->named[next].assertion == i) {
			tell_named(m, &y->named[next++]);
			continue;
		}
		const struct finding *f = evaluate(m, i);
		if (!f) continue;
		uint32_t slot = i;
		if (f->kind == FINDING_ERROR) {
			tell(m, m->error_slot, m->engine->weight, f, NULL);
			slot = slot_of_place(m, f->point);
		}
		tell(m, slot, m->engine->weight, f, NULL);
	}
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
	tell_of_sessions(&m);
	tell_final(&m);
	/* In all images what the session's own code or another assertion was
	 * in error with counts already. */
	if (m.failing_count) tell_errors(&m);
	region_release(r, mark);
}
