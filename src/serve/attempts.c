#include "serve/attempts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/library.h"
#include "vm/bytecode.h"

enum {
	TRIES_MOST = 200, /* to minimize */
	REPEATS = 3       /* of what is to be so each time */
};

struct attempting {
	const struct attempts_options *options;
	struct attempts *out;
	bool begun; /* the last run could */
	bool broken;
};

static bool control(struct attempting *x, struct service_run *run,
                    const char *sql)
{
	struct server_library *l =
		server_of(x->options->service.program->library);
	(void)server_was_reset(l);
	if (connection_run(&l->setup, sql)) return true;
	text_format(&run->problem, "PostgreSQL: %s",
	            text_get(&l->setup.message));
	return false;
}

/* Sequences go on from where set-up has left them, each time. */
static bool note_sequences(struct attempting *x, struct service_run *run)
{
	return control(x, run,
	               "CREATE TABLE isoscope_engine.sequences USING heap "
	               "AS SELECT "
	               "seqrelid::regclass AS name, seqstart AS first, "
	               "pg_sequence_last_value(seqrelid::regclass) AS last "
	               "FROM pg_sequence");
}

/* Tables that clients made while they were served go; what they took from those
 * of set-up is gone. */
static bool begin_anew(struct attempting *x, struct service_run *run)
{
	struct server_library *l =
		server_of(x->options->service.program->library);
	uint32_t tables = 0;
	for (uint32_t i = 0; i < l->relation_count; i++)
		tables += !l->relations[i]->index;
	if (!control(x, run,
	             "SET client_min_messages = error;"
	             "DO $$ DECLARE t regclass; BEGIN "
	             "FOR t IN SELECT c.oid FROM pg_class c JOIN pg_am a "
	             "ON a.oid = c.relam WHERE a.amname = 'heap' AND c.oid >= "
	             "16384 AND c.relkind IN ('r', 'm') AND c.relnamespace NOT "
	             "IN ('isoscope_engine'::regnamespace, "
	             "'pg_toast'::regnamespace) AND c.relpersistence <> 't' "
	             "LOOP BEGIN EXECUTE format('DROP TABLE %s CASCADE', t); "
	             "EXCEPTION WHEN undefined_table OR wrong_object_type THEN "
	             "NULL; END; END LOOP; END $$;"
	             "SELECT FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
	             "WHERE a.amname = 'isoscope' AND c.relkind = 'r'"))
		return false;
	if (l->setup.row_count == tables) return true;
	run->interrupted = true;
	text_string(&run->lost, "the command has dropped tables of set-up, so "
	                        "there is no other run");
	return true;
}

static bool restore_sequences(struct attempting *x, struct service_run *run)
{
	return control(x, run,
	               "SELECT setval(name, coalesce(last, first), last IS NOT "
	               "NULL) FROM isoscope_engine.sequences WHERE EXISTS "
	               "(SELECT FROM pg_class WHERE oid = name)");
}

/* What the command prints when it fails is worth reading; not that of others.
 */
static void show(FILE *output)
{
	char buffer[1 << 12];
	size_t n;
	rewind(output);
	while ((n = fread(buffer, 1, sizeof buffer, output)))
		fwrite(buffer, 1, n, stderr);
	fflush(stderr);
}

static bool attempt(struct attempting *x, struct service_run *run,
                    uint64_t seed, const struct stale_reads *only, bool faults)
{
	struct service_options o = x->options->service;
	FILE *output = o.notes_stale ? tmpfile() : NULL;
	if (output) o.output = fileno(output) + 1;
	o.seed = seed;
	o.only = only;
	if (!faults) o.faults = 0;
	*run = (struct service_run){ 0 };
	bool fine = begin_anew(x, run);
	x->begun = fine && !run->interrupted;
	if (x->begun) fine = restore_sequences(x, run) && service_run(run, &o);
	if (!fine) x->broken = true;
	if (output && fine && run->code && !only) show(output);
	if (output) fclose(output);
	return fine;
}

static void tick(const struct attempting *x, uint64_t run)
{
	if (x->options->tick) x->options->tick(x->options->payload, run);
}

/* ---- Fewer stale reads ---- */

/* What is known is worth telling. */
static void stop(struct attempting *x, struct service_run *run)
{
	x->broken = true;
	x->out->last.interrupted = true;
	if (!x->out->last.lost.length) {
		x->out->last.lost = run->lost;
		run->lost = (struct text){ 0 };
	}
}

/* Does the command fail with no stale reads but these? If *had, those that the
 * run had are put there. */
static bool fails(struct attempting *x, const struct stale_reads *only,
                  bool faults, struct stale_reads *had)
{
	struct service_run run;
	tick(x, 0);
	bool failed = attempt(x, &run, x->out->seed, only, faults) &&
	              run.code && !run.interrupted;
	x->out->tries += x->begun;
	if (run.interrupted) stop(x, &run);
	if (had) {
		*had = run.stale;
		run.stale = (struct stale_reads){ 0 };
	}
	service_run_free(&run);
	return failed;
}

/* If it does, those that it had are what is left. */
static bool fails_with(struct attempting *x, const struct stale_reads *only)
{
	struct stale_reads had;
	bool failed = fails(x, only, true, &had);
	if (failed) {
		struct stale_reads before = x->out->reads;
		x->out->reads = had;
		had = before;
	}
	stale_reads_free(&had);
	return failed;
}

static bool leave_out(struct attempting *x, uint32_t first, uint32_t count)
{
	struct stale_reads fewer;
	if (count >= x->out->reads.count) return false; /* that was tried */
	stale_reads_without(&fewer, &x->out->reads, first, count);
	bool failed = fails_with(x, &fewer);
	stale_reads_free(&fewer);
	return failed;
}

static bool gives_up(const struct attempting *x)
{
	return x->broken || x->out->tries >= TRIES_MOST;
}

/* Halves, quarters, .., single ones; these until none can be left out. */
static void leave_out_all(struct attempting *x)
{
	struct stale_reads *s = &x->out->reads;
	uint32_t part = (s->count + 1) / 2;
	for (bool fewer = true; (part > 1 || fewer) && !gives_up(x);) {
		if (!fewer) part = (part + 1) / 2;
		fewer = false;
		for (uint32_t i = 0; i < s->count && !gives_up(x);)
			if (leave_out(x, i, part))
				fewer = true;
			else
				i += part;
	}
}

/* A run more of those that are alike. */
static void count_run(struct attempts_share *s, bool failed)
{
	s->runs++;
	s->failed += failed;
}

/* It may do something else each time: so many runs more. What is broken off
 * does not count. */
static void repeat(struct attempting *x, const struct stale_reads *only,
                   bool faults, struct attempts_share *s)
{
	for (int i = 0; i < REPEATS && !x->broken; i++) {
		bool failed = fails(x, only, faults, NULL);
		if (!x->broken) count_run(s, failed);
	}
}

/* The cause, if what was seen once is so each time. */
static void settle(struct attempts *a, enum attempts_cause cause)
{
	bool with = a->with.failed == a->with.runs;
	bool without = cause == CAUSE_NONE
	                       ? a->without.failed == a->without.runs
	                       : !a->without.failed;
	a->cause = with && without ? cause : CAUSE_CHANCE;
}

/* It fails with the faults alone. */
static void settle_faults(struct attempting *x, const struct stale_reads *none)
{
	count_run(&x->out->with, true);
	repeat(x, none, true, &x->out->with);
	repeat(x, none, false, &x->out->without);
	settle(x->out, CAUSE_FAULTS);
}

/* It does not fail without stale reads, but has with all that it had. */
static void settle_reads(struct attempting *x, const struct stale_reads *none)
{
	struct attempts *a = x->out;
	struct stale_reads left;
	leave_out_all(x);
	enum attempts_cause cause = gives_up(x) ? CAUSE_PART : CAUSE_FOUND;
	stale_reads_without(&left, &a->reads, 0, 0);
	count_run(&a->with, true);
	repeat(x, &left, true, &a->with);
	repeat(x, none, true, &a->without);
	stale_reads_free(&left);
	settle(a, cause);
}

static void minimize(struct attempting *x)
{
	struct attempts *a = x->out;
	const struct stale_reads none = { 0 };
	bool faults = x->options->service.faults > 0;
	bool failed = fails(x, &none, false, NULL);
	if (x->broken) return;
	/* It had none, but that was not seen again. */
	if (!a->last.stale.count && !faults) count_run(&a->without, true);
	count_run(&a->without, failed);
	if (failed) {
		repeat(x, &none, false, &a->without);
		settle(a, CAUSE_NONE);
		return;
	}
	bool of_faults = faults && fails(x, &none, true, NULL);
	if (x->broken) return;
	if (of_faults) {
		settle_faults(x, &none);
	} else if (a->last.stale.count && fails_with(x, &a->last.stale)) {
		settle_reads(x, &none);
	} else if (!x->broken) {
		a->cause = a->last.stale.count || faults ? CAUSE_UNSURE
		                                         : CAUSE_CHANCE;
		a->reads = a->last.stale;
		a->last.stale = none;
	}
}

/* ---- Runs ---- */

/* One that cannot begin leaves what is known of the one before. */
static bool run_next(struct attempting *x)
{
	struct attempts *a = x->out;
	struct service_run next;
	uint64_t seed = x->options->service.seed + a->runs;
	tick(x, a->runs + 1);
	bool fine = attempt(x, &next, seed, NULL, true);
	if (fine && a->runs && !x->begun) {
		stop(x, &next);
		service_run_free(&next);
		return fine;
	}
	service_run_free(&a->last);
	a->last = next;
	a->seed = seed;
	a->runs++;
	return fine;
}

bool attempts_run(struct attempts *out, const struct attempts_options *o)
{
	double began = seconds_now();
	struct attempting x = { .options = o, .out = out };
	*out = (struct attempts){ .seed = o->service.seed };
	assert(o->runs);
	bool fine = note_sequences(&x, &out->last);
	while (fine && out->runs < o->runs && !out->last.code &&
	       !out->last.interrupted)
		fine = run_next(&x);
	if (fine && o->service.notes_stale && out->last.code) minimize(&x);
	out->seconds = seconds_now() - began;
	return fine;
}

void attempts_free(struct attempts *a)
{
	service_run_free(&a->last);
	stale_reads_free(&a->reads);
}
