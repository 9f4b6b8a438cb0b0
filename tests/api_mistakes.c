/* isoscope.h with too little memory, and used wrongly: errors, no crashes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api_support.h"

/* ---- memory ---- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define TAKES_ALL_ADDRESSES 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAKES_ALL_ADDRESSES 1
#endif
#endif

/* Bytes of addresses that the process has. */
static uint64_t addresses(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%lu", &pages) != 1) abort();
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory that runs out while a solver works is an error like any other. */
void use_too_little(void)
{
	iso_generate_options g;
	iso_predict_options o;
	iso_history *h;
	int without = 0;
#ifdef TAKES_ALL_ADDRESSES
	return;
#endif
	memset(&g, 0, sizeof g);
	memset(&o, 0, sizeof o);
	g.transactions = 800;
	g.sessions = 12;
	g.keys = 20;
	g.seed = 3;
	o.level = ISO_LEVEL_PSI;
	o.wanted = 100000;
	o.limits.timeout = 1;
	o.no_witness = true;
	if (iso_history_generate(&h, &g, NULL) != ISO_OK) abort();
	for (uint64_t more = 2; more <= 64; more++) {
		struct rlimit all, some;
		iso_result *r;
		if (getrlimit(RLIMIT_AS, &all)) abort();
		some = all;
		some.rlim_cur = addresses() + (more << 20);
		if (setrlimit(RLIMIT_AS, &some)) abort();
		int status = iso_history_predict(&r, h, &o, NULL);
		if (setrlimit(RLIMIT_AS, &all)) abort();
		expect(status == (r ? ISO_OK : ISO_E_MEMORY), "little memory",
		       iso_strerror(status));
		without += status == ISO_E_MEMORY;
		iso_result_free(r);
		if (status == ISO_OK) break;
	}
	expect(without > 0, "too little", "memory");
	iso_history_free(h);
}

/* ---- mistakes ---- */

static bool stop_at_once(void *payload)
{
	(void)payload;
	return true;
}

void use_wrongly(const char *file, const char *program)
{
	iso_history *h;
	iso_program *p;
	iso_result *r;
	iso_diags *diags;
	iso_transaction t;
	iso_event e;
	iso_run_options run;
	iso_history_check_options check;
	iso_generate_options g;
	iso_predict_options predict;
	char *text;
	memset(&run, 0, sizeof run);
	memset(&check, 0, sizeof check);
	memset(&g, 0, sizeof g);
	memset(&predict, 0, sizeof predict);
	if (iso_history_read(&h, file, NULL, NULL) < 0) abort();
	if (iso_program_load(&p, program, NULL) < 0) abort();
	expect(iso_history_read(NULL, file, NULL, NULL) == ISO_E_ARGUMENT,
	       "no place for it", "iso_history_read");
	iso_history *none;
	expect(iso_history_read(&none, NULL, NULL, NULL) == ISO_E_ARGUMENT,
	       "no path", "iso_history_read");
	expect(iso_history_read(&none, "/nowhere/h", NULL, &diags) ==
	                       ISO_E_HISTORY &&
	               !none && iso_diags_count(diags) == 1,
	       "no such file", "iso_history_read");
	iso_diags_free(diags);
	t.size = sizeof t;
	e.size = sizeof e;
	expect(iso_history_transaction(h, iso_history_transaction_count(h),
	                               &t) == ISO_E_RANGE,
	       "no such transaction", file);
	expect(iso_history_event(h, 1, iso_history_event_count(h), &e) ==
	               ISO_E_RANGE,
	       "no such event", file);
	t.size = sizeof t + 1;
	expect(iso_history_transaction(h, 0, &t) == ISO_E_ARGUMENT,
	       "a structure of the future", "iso_transaction");
	check.size = sizeof check + 8;
	expect(iso_history_check(&r, h, &check) == ISO_E_ARGUMENT,
	       "options of the future", "iso_history_check");
	check.size = 0;
	check.levels = 1u << ISO_LEVEL_CC;
	if (iso_history_check(&r, h, &check) != ISO_OK) abort();
	expect(iso_result_level(r, ISO_LEVEL_SER) == ISO_E_RANGE,
	       "a level that was not asked for", file);
	expect(iso_result_level(r, ISO_LEVEL_CC) == ISO_HOLDS,
	       "the one that was", file);
	expect(strncmp(iso_result_text(r), "holds: ", 7) == 0, "in words",
	       iso_result_text(r));
	iso_result_free(r);
	expect(iso_history_print(h, ISO_FORMAT_COBRA, &text, NULL, &diags) ==
	                       ISO_E_HISTORY &&
	               iso_diags_count(diags) == 1,
	       "a folder is no text", "iso_history_print");
	iso_diags_free(diags);
	expect(iso_history_write(h, ISO_FORMAT_DETECT, "/nowhere/h", &diags) ==
	                       ISO_E_FILE &&
	               iso_diags_count(diags) == 1,
	       "no such folder", "iso_history_write");
	iso_diags_free(diags);
	predict.level = ISO_LEVEL_SER;
	expect(iso_history_predict(&r, h, &predict, &diags) == ISO_E_ARGUMENT &&
	               !r && iso_diags_count(diags) == 1,
	       "nothing is predicted under ser", file);
	iso_diags_free(diags);
	predict.level = ISO_LEVEL_CC;
	predict.program = p;
	expect(iso_history_predict(&r, h, &predict, &diags) == ISO_E_HISTORY &&
	               iso_diags_count(diags) > 0,
	       "a history of another program", file);
	iso_diags_free(diags);
	iso_replay replay;
	replay.size = sizeof replay;
	expect(iso_program_replay(p, h, ISO_LEVEL_CC, &replay, NULL) ==
	               ISO_E_HISTORY,
	       "cannot be replayed", file);
	run.policy = "strange";
	expect(iso_program_run(&r, p, &run) == ISO_E_ARGUMENT, "no such policy",
	       run.policy);
	run.policy = "weak=1";
	run.runs = 1000000000;
	run.limits.stop = stop_at_once;
	expect(iso_program_run(&r, p, &run) == ISO_OK &&
	               iso_result_verdict(r) != ISO_HOLDS,
	       "runs that are stopped", program);
	iso_result_free(r);
	iso_options many;
	iso_check *c;
	memset(&many, 0, sizeof many);
	many.threads = 4097;
	expect(iso_check_new(&c, p, &many) == ISO_E_ARGUMENT,
	       "too many threads", program);
	g.anomaly = "strange";
	expect(iso_history_generate(&none, &g, &diags) == ISO_E_ARGUMENT &&
	               iso_diags_count(diags) == 1,
	       "no such anomaly", g.anomaly);
	iso_diags_free(diags);
	expect(iso_result_verdict(NULL) == ISO_E_ARGUMENT &&
	               !iso_result_json(NULL) &&
	               !iso_result_prediction_count(NULL),
	       "no result", "NULL");
	for (int i = 0; i >= -12; i--)
		expect(iso_strerror(i) && *iso_strerror(i), "an error's text",
		       iso_strerror(i));
	iso_history_free(h);
	iso_program_free(p);
}
