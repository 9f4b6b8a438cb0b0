#include "audit/all_classes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/confirm.h"
#include "audit/lift.h"
#include "base/memory.h"
#include "lang/source.h"
#include "prove/prove.h"
#include "vm/program.h"

static const double TIME_LEAST = 0.001;

static void on_question(void *payload, uint32_t length, uint64_t questions,
                        double seconds)
{
	const struct audit *a = payload;
	(void)length;
	(void)seconds;
	if (!a->options.tick) return;
	a->options.tick(a->options.payload,
	                &(struct audit_progress){ .done = questions,
	                                          .proves = true,
	                                          .classes = a->classes.count,
	                                          .seconds = seconds_now() -
	                                                     a->begun });
}

/* The first class that has no function, so that it is not known what conflicts
 * with it; else NULL. */
static char *refusal(const struct audit *a, const struct lifted *l)
{
	struct text t = { 0 };
	for (uint32_t i = 0; i < l->count; i++) {
		if (!l->refused[i] || a->classes.items[i].ignored) continue;
		text_format(&t, "T%u has no function: %s", i + 1,
		            l->refused[i]);
		return t.data;
	}
	return NULL;
}

static char *first_words(const struct diags *d)
{
	return mem_copy_string(d->count ? d->items[0].message
	                                : "the transactions cannot be loaded");
}

static char *what_proof_lacks(const struct proof *p)
{
	struct text t = { 0 };
	if (p->verdict == VERDICT_VIOLATED)
		text_format(&t, "this happens: %s", text_get(&p->cycle));
	else if (p->stop)
		text_string(&t, stop_text(p->stop));
	else if (p->candidate.length)
		text_format(&t, "it cannot rule out %s",
		            text_get(&p->candidate));
	else
		text_string(&t, "the solver gave up");
	return t.data;
}

static void clear(struct audit *a)
{
	for (uint32_t i = 0; i < a->anomaly_count; i++)
		confirmed_free(&a->anomalies[i].confirmed);
	memset(a->confirmations, 0, sizeof a->confirmations);
	a->anomaly_count = 0;
	free(a->protected);
	a->protected = NULL;
	a->protected_count = 0;
	a->unprotectable = 0;
	a->edges_proof = a->edges_found;
	a->edges_found = 0;
}

static void prove_lifted(struct audit *a, const struct lifted *l)
{
	struct application app;
	struct diags d = { 0 };
	struct load_text text = { .path = "audit.sql",
		                  .text = text_get(&l->program),
		                  .length = l->program.length };
	struct program *p = prove_load(&app, text.path, &text, &d);
	a->proof.why = p ? NULL : first_words(&d);
	if (p) {
		struct proof found;
		struct prove_options o = {
			.terms = { .level = a->options.level },
			.max_length = PROVE_LENGTH,
			.tick = on_question,
			.payload = a
		};
		o.interrupt = a->options.interrupt;
		if (a->limit.end > 0)
			o.timeout =
				fmax(a->limit.end - seconds_now(), TIME_LEAST);
		prove(&found, &app, &o);
		a->proof.verdict = found.verdict;
		a->proof.seconds = found.costs.seconds;
		if (found.verdict != VERDICT_HOLDS)
			a->proof.why = what_proof_lacks(&found);
		prove_free(&found);
	}
	program_free(p);
	application_free(&app);
	diags_free(&d);
}

void prove_all_classes(struct audit *a)
{
	struct lifted l;
	assert(a->options.proves && a->anomaly_count);
	a->proof.verdict = VERDICT_INCONCLUSIVE;
	lift(&l, a);
	if (limit_reached(&a->limit))
		a->proof.why = mem_copy_string(stop_text(a->limit.stop));
	else if (a->classes.loops)
		a->proof.why = mem_copy_string(
			"loops of the log may have more rounds than are read");
	else
		a->proof.why = refusal(a, &l);
	if (!a->proof.why) prove_lifted(a, &l);
	if (a->proof.verdict == VERDICT_HOLDS) {
		clear(a);
		a->proof.assumed = l.assumed;
		a->proof.assumed_count = l.assumed_count;
		l.assumed = NULL;
		l.assumed_count = 0;
	}
	lift_free(&l);
}
