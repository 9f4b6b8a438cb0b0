/* Programs through isoscope.h: explored, run, compared, in parts, in C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_support.h"

static bool count_run(void *payload, const iso_run *run)
{
	uint64_t *count = (uint64_t *)payload;
	++*count;
	expect(iso_history_satisfies(run->history, ISO_LEVEL_SI) == 1,
	       "a run satisfies its level", "");
	expect(iso_history_satisfies(run->history, ISO_LEVEL_SER) ==
	               run->serializable,
	       "a run is serializable", "");
	return true;
}

static void run_program(const iso_program *p, const char *file)
{
	struct said wanted =
		ask("run --json -i si --runs 20 --seed 5 --coverage -j1 "
	            "--max-histories 300",
	            file);
	uint64_t count = 0;
	iso_run_options o;
	iso_result *r;
	memset(&o, 0, sizeof o);
	o.size = sizeof o;
	o.level = ISO_LEVEL_SI;
	o.runs = 20;
	o.seed = 5;
	o.coverage = true;
	o.max_histories = 300;
	o.threads = 1;
	o.run = count_run;
	o.payload = &count;
	if (iso_program_run(&r, p, &o) != ISO_OK) abort();
	expect(count <= 20, "runs that are told", file);
	expect(exit_code(iso_result_verdict(r)) == wanted.code,
	       "the exit code of run", file);
	compare("run", file, &wanted, iso_result_json(r));
	iso_result_free(r);
}

static void record_program(const iso_program *p, const char *file)
{
	struct said wanted = ask("record --seed 3", file);
	iso_history *h;
	iso_replay replay;
	char *text;
	uint64_t seed = 3;
	int status = iso_program_record(&h, p, &seed, NULL);
	expect(wanted.code == (status < 0 ? 4 : 0), "the exit code of record",
	       file);
	if (status < 0) {
		free(wanted.out);
		return;
	}
	if (iso_history_print(h, ISO_FORMAT_ISOSCOPE, &text, NULL, NULL) < 0)
		abort();
	compare("record", file, &wanted, text);
	iso_free(text);
	replay.size = sizeof replay;
	status = iso_program_replay(p, h, ISO_LEVEL_SER, &replay, NULL);
	expect(status == ISO_OK && !replay.diverged && replay.serializable,
	       "a recorded run can be replayed", file);
	iso_history_free(h);
}

/* An exploration that ended early comes with an estimate, which is random. */
static void leave_out_estimate(char *json)
{
	char *begin = strstr(json, ",\"estimate\":{");
	char *end = begin ? strchr(begin, '}') : NULL;
	if (end) memmove(begin, end + 1, strlen(end + 1) + 1);
}

/* The members of the JSON say what the check says. */
static void look_into(iso_check *c, const iso_result *r, const char *file)
{
	iso_stats stats;
	iso_violation v;
	uint64_t n = 0;
	double number = -1;
	char name[80];
	stats.size = sizeof stats;
	v.size = sizeof v;
	expect(iso_check_stats(c, &stats) == ISO_OK &&
	               iso_result_count(r, "stats.histories", &n) == ISO_OK &&
	               n == stats.histories,
	       "stats.histories", file);
	expect(iso_result_number(r, "stats.seconds", &number) == ISO_OK &&
	               number >= 0,
	       "stats.seconds", file);
	expect(iso_result_count(r, "version", &n) == ISO_OK && n == 1,
	       "version", file);
	expect(iso_result_flag(r, "complete") == (stats.stop == ISO_STOP_NONE),
	       "complete", file);
	expect(iso_result_count(r, "verdict", &n) == ISO_E_RANGE &&
	               iso_result_flag(r, "nothing.such") == ISO_E_RANGE &&
	               !iso_result_string(r, "stats.histories") &&
	               !iso_result_size(r, "verdict"),
	       "no such member", file);
	for (size_t i = 0; i < iso_check_violation_count(c); i++) {
		iso_history *h;
		if (iso_check_violation(c, i, &v) != ISO_OK) abort();
		if (!v.example || v.kind != ISO_VIOLATION_ASSERTION) continue;
		size_t a = 0;
		for (; a < iso_result_size(r, "assertions"); a++) {
			snprintf(name, sizeof name, "assertions.%zu.line", a);
			if (iso_result_count(r, name, &n) == ISO_OK &&
			    n == v.line)
				break;
		}
		snprintf(name, sizeof name, "assertions.%zu.violated", a);
		expect(iso_result_count(r, name, &n) == ISO_OK &&
		               n == v.histories,
		       name, file);
		snprintf(name, sizeof name, "assertions.%zu.example", a);
		if (iso_result_history(&h, r, name) != ISO_OK) abort();
		expect(iso_history_transaction_count(h) ==
		               iso_history_transaction_count(v.example),
		       name, file);
		iso_history_free(h);
	}
}

static void explore_as(const iso_program *p, const char *file,
                       const char *words, const iso_options *options)
{
	struct said wanted = ask(words, file);
	iso_check *c;
	iso_result *r;
	if (iso_check_new(&c, p, options) != ISO_OK) abort();
	expect(iso_check_result(&r, c) == ISO_E_STATE, "too early", file);
	int verdict = iso_check_run(c);
	if (iso_check_result(&r, c) != ISO_OK) abort();
	expect(verdict == iso_result_verdict(r) &&
	               exit_code(verdict) == wanted.code,
	       "the exit code of explore", file);
	look_into(c, r, file);
	struct said mine = { NULL, 0, 0 };
	said_add(&mine, iso_result_json(r), strlen(iso_result_json(r)));
	leave_out_estimate(wanted.out);
	leave_out_estimate(mine.out);
	compare(words, file, &wanted, mine.out);
	free(mine.out);
	iso_result_free(r);
	iso_check_free(c);
}

static void explore_from(const iso_program *p, const char *file)
{
	struct said json;
	char words[200], *text;
	iso_options o;
	iso_history *h;
	memset(&o, 0, sizeof o);
	o.level = ISO_LEVEL_CC;
	if (iso_program_record(&h, p, NULL, NULL) != ISO_OK) return;
	if (iso_history_write(h, ISO_FORMAT_ISOSCOPE, "from.jsonl", NULL) < 0)
		abort();
	iso_history_free(h);
	if (iso_history_read(&h, "from.jsonl", NULL, NULL) < 0) abort();
	o.from = h;
	o.bounded = true;
	o.max_changes = 1;
	snprintf(words, sizeof words,
	         "explore --json -i cc --from from.jsonl --max-changes 1");
	explore_as(p, file, words, &o);
	json = ask("convert --to isoscope", "from.jsonl");
	if (iso_history_print(h, ISO_FORMAT_ISOSCOPE, &text, NULL, NULL) < 0)
		abort();
	compare("what was written", file, &json, text);
	iso_free(text);
	iso_history_free(h);
}

static void explore_otherwise(const iso_program *p, const char *file)
{
	struct said wanted = ask("explore --json --levels -j1", file);
	iso_result *r;
	expect(iso_program_levels(&r, p, NULL) == ISO_OK &&
	               exit_code(iso_result_verdict(r)) == wanted.code,
	       "the exit code of --levels", file);
	compare("explore --levels", file, &wanted, iso_result_json(r));
	iso_result_free(r);
	expect(iso_program_estimate(&r, p, NULL, 0.01, 1) == ISO_OK &&
	               strstr(iso_result_json(r), "\"outlook\":"),
	       "an estimate", file);
	iso_result_free(r);
	expect(iso_program_sample(&r, p, NULL, 5, 1) == ISO_OK &&
	               strstr(iso_result_json(r), "\"sample\":{"),
	       "a sample", file);
	iso_result_free(r);
}

/* The names of its sessions, the last one first; NULL: there is none, or
 * `finally`, which has no place in an order. */
static const char *reversed(const iso_program *p, char *to, size_t size)
{
	size_t length = 0;
	for (size_t i = iso_program_session_count(p); i-- > 0;) {
		const char *name = iso_program_session_name(p, i);
		if (!strcmp(name, "finally")) return NULL;
		length += (size_t)snprintf(to + length, size - length, "%s%s",
		                           length ? "," : "", name);
	}
	return length ? to : NULL;
}

static void explore_program(const iso_program *p, const char *file)
{
	char words[200], command[300];
	iso_options o;
	memset(&o, 0, sizeof o);
	o.level = ISO_LEVEL_SI;
	o.threads = 1;
	explore_as(p, file, "explore --json -i si -j1", &o);
	o.symmetry = true;
	explore_as(p, file, "explore --json -q -i si -j1 --symmetry", &o);
	o.symmetry = false;
	o.bounded = true;
	o.max_changes = 1;
	o.robust = true;
	explore_as(p, file, "explore --json -i si -j1 --robust --max-changes 1",
	           &o);
	o.bounded = o.robust = false;
	o.sessions_order = reversed(p, words, sizeof words);
	if (o.sessions_order) {
		snprintf(command, sizeof command,
		         "explore --json -i si -j1 --sessions-order %s", words);
		explore_as(p, file, command, &o);
	}
	explore_from(p, file);
	explore_otherwise(p, file);
}

static void compare_program(const iso_program *p, const char *file)
{
	struct said wanted =
		ask("compare --json -i cc --traces 2 --seeds 2 -j1 "
	            "--max-histories 300",
	            file);
	iso_compare_options o;
	iso_result *r;
	memset(&o, 0, sizeof o);
	o.level = ISO_LEVEL_CC;
	o.traces = 2;
	o.seeds = 2;
	o.max_histories = 300;
	o.threads = 1;
	if (iso_program_compare(&r, p, &o, NULL) != ISO_OK) abort();
	expect(exit_code(iso_result_verdict(r)) == wanted.code,
	       "the exit code of compare", file);
	compare("compare", file, &wanted, iso_result_json(r));
	iso_result_free(r);
}

static void print_program(const iso_program *p, const char *file)
{
	struct said source = { NULL, 0, 0 };
	struct said wanted = ask("compile --dump", file);
	char chunk[4096], *text;
	size_t n;
	if (iso_program_print(p, &text) != ISO_OK) abort();
	compare("compile --dump", file, &wanted, text);
	iso_free(text);
	FILE *f = fopen(file, "r");
	if (!f) abort();
	said_add(&source, "", 0);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		said_add(&source, chunk, n);
	fclose(f);
	wanted = ask("fmt", file);
	if (iso_source_format(&text, file, source.out, source.length, NULL) !=
	    ISO_OK)
		abort();
	compare("fmt", file, &wanted, text);
	iso_free(text);
	free(source.out);
}

void use_program(const char *file)
{
	iso_program *p;
	iso_diags *diags;
	int status = iso_program_load(&p, file, &diags);
	expect(status == ISO_OK, "it is loaded", file);
	iso_diags_free(diags);
	if (status != ISO_OK) return;
	print_program(p, file);
	explore_program(p, file);
	run_program(p, file);
	record_program(p, file);
	compare_program(p, file);
	iso_program_free(p);
}

/* ---- explorations in parts ---- */

static bool stop_after_two(void *payload, const iso_execution *e)
{
	(void)payload;
	return iso_execution_number(e) < 2;
}

/* The end of an exploration that files were asked of. */
static char *run_with(const iso_program *p, const iso_options *o,
                      const iso_check_files *f, bool early, const char *file)
{
	iso_check *c;
	iso_result *r;
	iso_diags *diags;
	iso_observer observer;
	struct said json = { NULL, 0, 0 };
	memset(&observer, 0, sizeof observer);
	observer.history = stop_after_two;
	int status = iso_check_with_files(&c, p, o, f, &diags);
	expect(status == ISO_OK && !iso_diags_count(diags), "files", file);
	iso_diags_free(diags);
	if (status != ISO_OK) abort();
	if (early && iso_check_observe(c, &observer, NULL) != ISO_OK) abort();
	expect(iso_check_run(c) >= 0 && !iso_check_problem(c), "all is written",
	       file);
	if (iso_check_result(&r, c) != ISO_OK) abort();
	said_add(&json, iso_result_json(r), strlen(iso_result_json(r)));
	leave_out_estimate(json.out);
	iso_result_free(r);
	iso_check_free(c);
	return json.out;
}

static void same_found(const char *what, const char *file, struct said *wanted,
                       char *found)
{
	leave_out_estimate(wanted->out);
	compare(what, file, wanted, found);
	free(found);
}

static void checkpoint_program(const iso_program *p, const char *file)
{
	struct said whole = ask("explore --json -i si -j1", file), lines;
	iso_check_files f;
	iso_options o;
	char *path;
	memset(&f, 0, sizeof f);
	memset(&o, 0, sizeof o);
	f.size = sizeof f;
	o.level = ISO_LEVEL_SI;
	f.checkpoint = "checkpoint.json";
	f.histories = "lines.jsonl";
	remove(f.checkpoint);
	free(run_with(p, &o, &f, true, file));
	expect(iso_part_program(&path, f.checkpoint, NULL) == ISO_OK &&
	               !strcmp(path, file),
	       "whose checkpoint it is", file);
	iso_free(path);
	memset(&o, 0, sizeof o);
	f.resume = f.checkpoint;
	f.checkpoint = f.histories = NULL;
	same_found("resume", file, &whole, run_with(p, &o, &f, false, file));
	lines = ask("explore -q -i si -j1 --histories=- --dot=dot", file);
	struct said mine = ask_shell("cat lines.jsonl");
	compare("histories", file, &lines, mine.out);
	free(mine.out);
}

/* Explores the unit, the first two histories first; or splits it again. */
static void explore_unit(const iso_program *p, unsigned i, const char *file)
{
	char unit[40];
	iso_check_files f;
	iso_split again;
	memset(&f, 0, sizeof f);
	snprintf(unit, sizeof unit, "parts/unit-%03u.json", i);
	f.unit = unit;
	if (i != 2) {
		if (i == 1) free(run_with(p, NULL, &f, true, file));
		free(run_with(p, NULL, &f, false, file));
		return;
	}
	again.size = sizeof again;
	if (iso_program_split(p, NULL, unit, 2, NULL, &again, NULL) == ISO_OK) {
		f.unit = "parts/unit-002.1.json";
		free(run_with(p, NULL, &f, false, file));
		f.unit = "parts/unit-002.2.json";
	}
	free(run_with(p, NULL, &f, false, file));
}

static void split_program(const iso_program *p, const char *file)
{
	static const char *const folders[] = { "parts" };
	struct said whole = ask("explore --json -i cc -j1", file);
	struct said said = ask_shell("rm -rf parts other");
	char words[80];
	iso_options o;
	iso_split made;
	iso_result *r;
	iso_diags *diags;
	free(said.out);
	memset(&o, 0, sizeof o);
	o.level = ISO_LEVEL_CC;
	made.size = sizeof made;
	if (iso_program_split(p, &o, NULL, 3, "parts", &made, NULL) != ISO_OK)
		abort();
	said = ask("split -i cc -n 3 -o other", file);
	snprintf(words, sizeof words,
	         "other: %u unit%s with %zu branch%s; %llu",
	         (unsigned)made.units, made.units == 1 ? "" : "s",
	         made.branches, made.branches == 1 ? "" : "es",
	         (unsigned long long)made.histories);
	expect(!strncmp(said.out, words, strlen(words)), "split", words);
	free(said.out);
	said = ask_shell("cat parts/unit-*.json");
	struct said wanted = ask_shell("cat other/unit-*.json");
	compare("the units", file, &wanted, said.out);
	free(said.out);
	int status = iso_program_merge(&r, p, folders, 1, false, &diags);
	expect(status == (made.units ? ISO_E_PART : ISO_OK) &&
	               !r == (made.units > 0) &&
	               iso_diags_count(diags) >= made.units,
	       "before anything is explored", file);
	iso_result_free(r);
	iso_diags_free(diags);
	for (unsigned i = 1; i <= made.units; i++) explore_unit(p, i, file);
	if (iso_program_merge(&r, p, folders, 1, false, NULL) != ISO_OK)
		abort();
	said = (struct said){ NULL, 0, 0 };
	said_add(&said, iso_result_json(r), strlen(iso_result_json(r)));
	same_found("merge", file, &whole, said.out);
	iso_result_free(r);
}

void use_parts(const char *file)
{
	iso_program *p, *other;
	iso_check *c;
	iso_check_files f;
	iso_diags *diags;
	memset(&f, 0, sizeof f);
	if (iso_program_load(&p, file, NULL) != ISO_OK) abort();
	checkpoint_program(p, file);
	split_program(p, file);
	static const char another[] = "session a { }";
	if (iso_program_load_text(&other, "a.tx", another, strlen(another),
	                          NULL) != ISO_OK)
		abort();
	f.resume = "checkpoint.json";
	expect(iso_check_with_files(&c, other, NULL, &f, &diags) ==
	                       ISO_E_PART &&
	               !c && iso_diags_count(diags) == 1,
	       "a checkpoint of another program", file);
	iso_diags_free(diags);
	f.resume = "lines.jsonl";
	expect(iso_check_with_files(&c, p, NULL, &f, NULL) == ISO_E_PART,
	       "no checkpoint", file);
	f.unit = "unit-001.json";
	expect(iso_check_with_files(&c, p, NULL, &f, NULL) == ISO_E_ARGUMENT,
	       "a checkpoint and a unit", file);
	iso_program_free(other);
	iso_program_free(p);
}

/* ---- code in C ---- */

void use_client(const char *file)
{
	iso_program *p;
	iso_load_options load;
	iso_options o;
	memset(&o, 0, sizeof o);
	memset(&load, 0, sizeof load);
	load.max_transactions = 1;
	load.max_accesses = 3;
	load.step_timeout = 5;
	load.memory = 1 << 20;
	load.timeout = 3600;
	o.level = ISO_LEVEL_CC;
	if (iso_program_load_with(&p, file, &load, NULL) != ISO_OK) abort();
	explore_as(p, file,
	           "explore --json -i cc -j1 --max-transactions 1 "
	           "--max-accesses 3",
	           &o);
	iso_program_free(p);
	load.timeout = -1;
	expect(iso_program_load_with(&p, file, &load, NULL) == ISO_E_ARGUMENT,
	       "a time that is no limit", file);
}
