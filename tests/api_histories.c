/* Recorded and generated histories through isoscope.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_support.h"

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
	said_add(json, iso_result_json(r), strlen(iso_result_json(r)));
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
	said_add(&mine, "", 0);
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

void use_history(const char *file)
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

/* ---- generated histories ---- */

/* Levels of transactions, and reads that lock. */
static void use_generated_mix(void)
{
	static const char words[] = "generate --level rc+prc+ser --locks 0.25 "
				    "--seed 9 --sessions 4 --format";
	iso_generate_options o;
	iso_diags *diags = NULL;
	iso_history *h;
	char *text;
	memset(&o, 0, sizeof o);
	o.size = sizeof o;
	o.mix = "rc+prc+ser";
	o.locks = 0.25;
	o.seed = 9;
	o.sessions = 4;
	struct said wanted = ask(words, "isoscope");
	if (iso_history_generate(&h, &o, NULL) != ISO_OK) abort();
	if (iso_history_print(h, ISO_FORMAT_ISOSCOPE, &text, NULL, NULL) !=
	    ISO_OK)
		abort();
	compare(words, "isoscope", &wanted, text);
	iso_free(text);
	iso_history_free(h);
	o.mix = "rc+psi";
	expect(iso_history_generate(&h, &o, &diags) == ISO_E_ARGUMENT &&
	               iso_diags_count(diags) == 1,
	       "psi beside others", o.mix);
	iso_diags_free(diags);
}

void use_generated(void)
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
	use_generated_mix();
}
