#include "serve/attempts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/library.h"
#include "vm/bytecode.h"

enum { TRIES_MOST = 200 }; /* to minimize */

struct attempting {
	const struct attempts_options *options;
	struct attempts *out;
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
                    uint64_t seed, const struct stale_reads *only)
{
	struct service_options o = x->options->service;
	FILE *output = o.notes_stale ? tmpfile() : NULL;
	if (output) o.output = fileno(output) + 1;
	o.seed = seed;
	o.only = only;
	*run = (struct service_run){ 0 };
	bool fine = begin_anew(x, run) &&
	            (run->interrupted ||
	             (restore_sequences(x, run) && service_run(run, &o)));
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

/* Does the command fail with no stale reads but these? Then they become what
 * such reads that run had. */
static bool fails_with(struct attempting *x, const struct stale_reads *only)
{
	struct service_run run;
	tick(x, 0);
	x->out->tries++;
	bool fails = attempt(x, &run, x->out->seed, only) && run.code &&
	             !run.interrupted;
	if (run.interrupted) {
		/* What is known is worth telling. */
		x->out->last.interrupted = true;
		x->broken = true;
	}
	if (fails) {
		struct stale_reads before = x->out->reads;
		x->out->reads = run.stale;
		run.stale = before;
	}
	service_run_free(&run);
	return fails;
}

static bool leave_out(struct attempting *x, uint32_t first, uint32_t count)
{
	struct stale_reads fewer;
	if (count >= x->out->reads.count) return false; /* that was tried */
	stale_reads_without(&fewer, &x->out->reads, first, count);
	bool fails = fails_with(x, &fewer);
	stale_reads_free(&fewer);
	return fails;
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

static void minimize(struct attempting *x)
{
	struct attempts *a = x->out;
	const struct stale_reads none = { 0 };
	struct stale_reads all = a->last.stale;
	a->cause = CAUSE_UNSURE;
	if (fails_with(x, &none)) {
		a->cause = CAUSE_NONE;
	} else if (!gives_up(x) && fails_with(x, &all)) {
		a->cause = CAUSE_PART;
		leave_out_all(x);
		if (!gives_up(x)) a->cause = CAUSE_FOUND;
	} else {
		a->reads = all;
		a->last.stale = none;
	}
}

/* ---- Runs ---- */

bool attempts_run(struct attempts *out, const struct attempts_options *o)
{
	double began = seconds_now();
	struct attempting x = { .options = o, .out = out };
	*out = (struct attempts){ .seed = o->service.seed };
	assert(o->runs);
	bool fine = note_sequences(&x, &out->last);
	while (fine && out->runs < o->runs && !out->last.code &&
	       !out->last.interrupted) {
		service_run_free(&out->last);
		out->seed = o->service.seed + out->runs++;
		tick(&x, out->runs);
		fine = attempt(&x, &out->last, out->seed, NULL);
	}
	if (fine && o->service.notes_stale && out->last.code) minimize(&x);
	out->seconds = seconds_now() - began;
	return fine;
}

void attempts_free(struct attempts *a)
{
	service_run_free(&a->last);
	stale_reads_free(&a->reads);
}
