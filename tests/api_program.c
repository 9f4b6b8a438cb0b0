/* Uses each part of isoscope.h as a program of somebody else would, and
 * compares what it finds with what isoscope prints for the same input.
 *
 *     api_program ISOSCOPE histories FILE...
 *     api_program ISOSCOPE programs FILE...
 *     api_program ISOSCOPE parts FILE...
 *     api_program ISOSCOPE clients FILE...
 *     api_program ISOSCOPE generated
 *     api_program ISOSCOPE memory
 *     api_program ISOSCOPE mistakes FILE PROGRAM
 *
 * It is C and C++ at once.
 */
#include <isoscope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int passed, failed;
static const char *isoscope;

static void expect(int fine, const char *what, const char *of)
{
	if (fine) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL %s: %s\n", what, of);
}

/* ---- what the program says ---- */

struct said {
	char *out;
	size_t length;
	int code;
};

static void add(struct said *s, const char *bytes, size_t count)
{
	s->out = (char *)realloc(s->out, s->length + count + 1);
	if (!s->out) abort();
	memcpy(s->out + s->length, bytes, count);
	s->length += count;
	s->out[s->length] = 0;
}

static struct said ask_shell(const char *command)
{
	struct said s = { NULL, 0, 0 };
	char chunk[4096];
	size_t n;
	FILE *f = popen(command, "r");
	if (!f) abort();
	add(&s, "", 0);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) add(&s, chunk, n);
	s.code = pclose(f);
	s.code = s.code & 0x7f ? -1 : s.code >> 8;
	return s;
}

/* What `isoscope WORDS FILE` prints. */
static struct said ask(const char *words, const char *file)
{
	char command[4096];
	snprintf(command, sizeof command, "'%s' %s '%s' 2>/dev/null", isoscope,
	         words, file);
	return ask_shell(command);
}

/* Times and memory are not the same twice. */
static void blur(char *json)
{
	struct said plain = { NULL, 0, 0 };
	char *to = json;
	add(&plain, json, strlen(json));
	for (const char *s = plain.out; *s;) {
		size_t digits = strspn(s, "0123456789"), at = s - plain.out;
		int memory = digits && at > 14 &&
		             (!strncmp(s - 9, "\"memory\":", 9) ||
		              !strncmp(s - 14, "\"memory_peak\":", 14));
		if (memory) {
			*to++ = '#';
			s += digits;
		} else if (digits && s[digits] == '.') {
			*to++ = '#';
			s += digits + 1;
			s += strspn(s, "0123456789e+-");
		} else {
			size_t step = digits ? digits : 1;
			memcpy(to, s, step);
			to += step;
			s += step;
		}
	}
	*to = 0;
	free(plain.out);
}

/* Does the program say this? */
static void compare(const char *what, const char *file, struct said *wanted,
                    const char *found)
{
	struct said mine = { NULL, 0, 0 };
	add(&mine, found, strlen(found));
	blur(wanted->out);
	blur(mine.out);
	if (strcmp(wanted->out, mine.out) != 0)
		printf("isoscope: %.2000s\nlibrary:  %.2000s\n", wanted->out,
		       mine.out);
	expect(!strcmp(wanted->out, mine.out), what, file);
	free(mine.out);
	free(wanted->out);
}

static int exit_code(int verdict)
{
	return verdict == ISO_NO_VIOLATION   ? 0
	       : verdict == ISO_INCONCLUSIVE ? 4
	                                     : verdict;
}

/* ---- histories ---- */

/* Reads are of a transaction that writes the key, or of init. */
static void look_at(const iso_history *h, const char *file)
{
	size_t count = iso_history_transaction_count(h), events = 0;
	int fine = 1;
	for (size_t i = 0; i < count; i++) {
		iso_transaction t;
		t.size = sizeof t;
		fine &= iso_history_transaction(h, i, &t) == ISO_OK;
		fine &= !i == (t.session == ISO_NONE);
		fine &= !i || iso_history_session_name(h, t.session) != NULL;
		for (size_t e = 0; e < t.event_count; e++) {
			iso_event v;
			v.size = sizeof v;
			fine &= iso_history_event(h, i, e, &v) == ISO_OK;
			fine &= v.writer == ISO_NONE || v.writer < count;
			fine &= !v.write || v.writer == ISO_NONE;
		}
		events += t.event_count;
	}
	expect(fine && events == iso_history_event_count(h),
	       "its transactions and events", file);
}

static void check_history(const iso_history *h, int orders, struct said *json,
                          int *worst)
{
	iso_history_check_options o;
	iso_result *r;
	memset(&o, 0, sizeof o);
	o.size = sizeof o;
	o.orders = orders;
	if (iso_history_check(&r, h, &o) != ISO_OK) abort();
	add(json, iso_result_json(r), strlen(iso_result_json(r)));
	int verdict = iso_result_verdict(r), any = ISO_HOLDS;
	for (int l = ISO_LEVEL_NONE; l <= ISO_LEVEL_SER; l++) {
		int one = iso_result_level(r, (iso_level)l);
		int holds = iso_history_satisfies(h, (iso_level)l);
		expect(one == (holds ? ISO_HOLDS : ISO_VIOLATED),
		       "iso_history_satisfies", iso_level_word((iso_level)l));
		if (one == ISO_VIOLATED) any = one;
		const iso_history *part = iso_result_witness(r, (iso_level)l);
		if (part)
			expect(!iso_history_satisfies(part, (iso_level)l),
			       "a witness violates its level",
			       iso_level_word((iso_level)l));
		const uint32_t *order = iso_result_order(r, (iso_level)l);
		expect(!order || (orders && one == ISO_HOLDS && !order[0]),
		       "a commit order", iso_level_word((iso_level)l));
	}
	expect(verdict == any, "the verdict is of all levels", "");
	if (verdict > *worst || *worst == 4) *worst = exit_code(verdict);
	iso_level by;
	const char *anomaly = iso_history_anomaly(h, &by);
	expect((verdict == ISO_VIOLATED) == (anomaly != NULL),
	       "iso_history_anomaly", anomaly ? anomaly : "none");
	iso_result_free(r);
}

static void check_file(const char *file, int orders)
{
	struct said mine = { NULL, 0, 0 };
	struct said wanted = ask(
		orders ? "check --json --commit-order" : "check --json", file);
	iso_reader *reader;
	iso_history *h;
	int status, code = 0;
	add(&mine, "", 0);
	status = iso_reader_open(&reader, file, NULL, NULL);
	while (status >= 0 &&
	       (status = iso_reader_next(reader, &h, NULL)) > 0) {
		if (!orders) look_at(h, file);
		check_history(h, orders, &mine, &code);
		iso_history_free(h);
	}
	iso_reader_close(reader);
	if (status < 0) code = 3;
	if (!mine.length && status == 0) code = 3; /* there is none */
	expect(code == wanted.code, "the exit code of check", file);
	compare("check", file, &wanted, mine.out);
	free(mine.out);
}

static void convert_file(const iso_history *h, const char *file)
{
	char words[80];
	for (int f = ISO_FORMAT_ISOSCOPE; f <= ISO_FORMAT_ISOPREDICT; f++) {
		char *text;
		size_t length;
		if (f == ISO_FORMAT_COBRA || f == ISO_FORMAT_DBCOP_BINCODE)
			continue;
		snprintf(words, sizeof words, "convert --history 1 --to %s",
		         iso_format_word((iso_format)f));
		struct said wanted = ask(words, file);
		int status = iso_history_print(h, (iso_format)f, &text, &length,
		                               NULL);
		expect(wanted.code == (status < 0 ? 3 : 0),
		       "the exit code of convert", file);
		expect((status < 0 && !text) ||
		               (length == wanted.length &&
		                !memcmp(text, wanted.out, length)),
		       words, file);
		iso_free(text);
		free(wanted.out);
	}
}

static void predict_file(const iso_history *h, const char *file,
                         const char *words, uint64_t count, iso_level level)
{
	struct said wanted = ask(words, file);
	iso_predict_options o;
	iso_result *r;
	memset(&o, 0, sizeof o);
	o.level = level;
	o.wanted = count;
	int status = iso_history_predict(&r, h, &o, NULL);
	expect(wanted.code ==
	               (status < 0 ? 3 : exit_code(iso_result_verdict(r))),
	       "the exit code of predict", file);
	compare(words, file, &wanted, r ? iso_result_json(r) : "");
	for (size_t i = 0; i < iso_result_prediction_count(r); i++) {
		iso_prediction p;
		p.size = sizeof p;
		if (iso_result_prediction(r, i, &p) != ISO_OK) abort();
		expect(iso_history_satisfies(p.history, level) == 1 &&
		               !iso_history_satisfies(p.history, ISO_LEVEL_SER),
		       "what is predicted", file);
		expect(p.observed || p.changed || !p.validated,
		       "what is changed", file);
	}
	iso_result_free(r);
}

static void use_history(const char *file)
{
	iso_history *h;
	iso_diags *diags;
	check_file(file, 0);
	check_file(file, 1);
	int status = iso_history_read(&h, file, NULL, &diags);
	expect((status == ISO_OK) == !iso_diags_count(diags), "diagnostics",
	       file);
	iso_diags_free(diags);
	if (status != ISO_OK) return;
	convert_file(h, file);
	predict_file(h, file, "predict --history 1 --json -i cc", 0,
	             ISO_LEVEL_CC);
	predict_file(h, file, "predict --history 1 --json -i si --all 3", 3,
	             ISO_LEVEL_SI);
	iso_history_free(h);
}

/* ---- programs ---- */

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
	add(&mine, iso_result_json(r), strlen(iso_result_json(r)));
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
	add(&source, "", 0);
	while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
		add(&source, chunk, n);
	fclose(f);
	wanted = ask("fmt", file);
	if (iso_source_format(&text, file, source.out, source.length, NULL) !=
	    ISO_OK)
		abort();
	compare("fmt", file, &wanted, text);
	iso_free(text);
	free(source.out);
}

static void use_program(const char *file)
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
	add(&json, iso_result_json(r), strlen(iso_result_json(r)));
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
	add(&said, iso_result_json(r), strlen(iso_result_json(r)));
	same_found("merge", file, &whole, said.out);
	iso_result_free(r);
}

static void use_parts(const char *file)
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

static void use_client(const char *file)
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

/* ---- generated histories ---- */

static void use_generated(void)
{
	char words[200];
	for (int l = ISO_LEVEL_NONE; l <= ISO_LEVEL_SER; l++) {
		iso_generate_options o;
		iso_history *h;
		char *text;
		memset(&o, 0, sizeof o);
		o.size = sizeof o;
		o.level = (iso_level)l;
		o.seed = 7;
		o.sessions = 3;
		o.writes = 0.25;
		o.anomaly = "write-skew";
		o.format = ISO_FORMAT_LIST_EDN;
		snprintf(words, sizeof words,
		         "generate --level %s --seed 7 --sessions 3 --reads "
		         "0.75 --anomaly write-skew --format",
		         iso_level_word(o.level));
		struct said wanted = ask(words, "list-edn");
		if (iso_history_generate(&h, &o, NULL) != ISO_OK) abort();
		if (iso_history_print(h, o.format, &text, NULL, NULL) != ISO_OK)
			abort();
		compare(words, "list-edn", &wanted, text);
		expect(!iso_history_satisfies(h, ISO_LEVEL_SER),
		       "what was planted", words);
		iso_free(text);
		iso_history_free(h);
	}
}

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
static void starve(void)
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

static void make_mistakes(const char *file, const char *program)
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

int main(int count, char **arguments)
{
	if (count < 3) return 99;
	isoscope = arguments[1];
	const char *what = arguments[2];
	expect(!strcmp(iso_version(), ISO_VERSION), "the version", ISO_VERSION);
	if (!strcmp(what, "generated")) use_generated();
	if (!strcmp(what, "memory")) starve();
	if (!strcmp(what, "mistakes") && count == 5)
		make_mistakes(arguments[3], arguments[4]);
	for (int i = 3; i < count; i++) {
		if (!strcmp(what, "histories")) use_history(arguments[i]);
		if (!strcmp(what, "programs")) use_program(arguments[i]);
		if (!strcmp(what, "parts")) use_parts(arguments[i]);
		if (!strcmp(what, "clients")) use_client(arguments[i]);
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
