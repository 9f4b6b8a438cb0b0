/* isoscope.h: programs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "api/programs.h"
#include "dpor/known_rows.h"
#include "base/memory.h"
#include "compile/load.h"
#include "lang/format.h"
#include "vm/program.h"

/* Wraps what was compiled, or NULL, and hands over or drops the list. */
static int finish_load(iso_program **out, struct program *compiled,
                       struct diags *list, iso_diags **diags)
{
	diags_give(diags, list);
	if (!compiled) return ISO_E_PROGRAM;
	*out = mem_take0(1, sizeof **out);
	(*out)->compiled = compiled;
	return ISO_OK;
}

static int try_program_load(iso_program **out, const char *path,
                            const iso_load_options *options, iso_diags **diags)
{
	iso_load_options given;
	struct diags list = { 0 };
	struct code_in_c c = CODE_IN_C;
	if (diags) *diags = NULL;
	if (!out || !path || !options_read(&given, sizeof given, options) ||
	    !(given.step_timeout >= 0) || !(given.timeout >= 0))
		return ISO_E_ARGUMENT;
	*out = NULL;
	if (given.step_timeout > 0) c.step_timeout = given.step_timeout;
	if (given.max_transactions)
		c.bounds.transactions = given.max_transactions;
	if (given.max_accesses) c.bounds.accesses = given.max_accesses;
	c.memory = given.memory;
	c.timeout = given.timeout;
	c.shows_output = given.shows_output;
	c.ssi = given.postgres_serializable;
	c.sql = (struct sql_arguments){ .sessions = given.sessions,
		                        .asserts = given.asserts,
		                        .all_rows = given.read_all_rows };
	struct program *p = program_load_as(path, &c, &list);
	return finish_load(out, p, &list, diags);
}

int iso_program_load(iso_program **out, const char *path, iso_diags **diags)
{
	return iso_program_load_with(out, path, NULL, diags);
}

int iso_program_load_with(iso_program **out, const char *path,
                          const iso_load_options *options, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status, try_program_load(out, path, options, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

static int try_program_load_text(iso_program **out, const char *path,
                                 const char *source, size_t length,
                                 iso_diags **diags)
{
	if (diags) *diags = NULL;
	if (!out || !path || !source) return ISO_E_ARGUMENT;
	*out = NULL;
	struct diags list = { 0 };
	struct program *p = load_program_text(path, source, length, &list);
	if (p) explorer_know_rows(p, NULL, 0);
	return finish_load(out, p, &list, diags);
}

int iso_program_load_text(iso_program **out, const char *path,
                          const char *source, size_t length, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_program_load_text(out, path, source, length, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}

void iso_program_free(iso_program *program)
{
	if (!program) return;
	program_free(program->compiled);
	free(program);
}

size_t iso_program_session_count(const iso_program *program)
{
	return program ? program_session_count(program->compiled) : 0;
}

const char *iso_program_session_name(const iso_program *program, size_t session)
{
	if (session >= iso_program_session_count(program)) return NULL;
	return program_session_name(program->compiled, (uint32_t)session);
}

/* Those met come first. */
size_t iso_program_assertion_count(const iso_program *program)
{
	uint32_t n = 0;
	if (!program) return 0;
	const struct program *p = program->compiled;
	while (n < program_assertion_count(p) && program_assertion_met(p, n))
		n++;
	return n;
}

const char *iso_program_assertion_text(const iso_program *program,
                                       size_t assertion)
{
	if (assertion >= iso_program_assertion_count(program)) return NULL;
	return program_assertion(program->compiled, (uint32_t)assertion)->text;
}

const char *iso_program_fault(const iso_program *program)
{
	return program ? program_fault(program->compiled) : NULL;
}

static int try_program_print(const iso_program *program, char **out)
{
	struct text t = { 0 };
	if (!program || !out) return ISO_E_ARGUMENT;
	*out = NULL;
	if (program_is_native(program->compiled)) return ISO_E_PROGRAM;
	dump_program(program->compiled, &t);
	text_get(&t);
	*out = t.data;
	return ISO_OK;
}

int iso_program_print(const iso_program *program, char **out)
{
	int status;
	CALL_IN(NULL, status, try_program_print(program, out));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	return status;
}

static int try_source_format(char **out, const char *path, const char *source,
                             size_t length, iso_diags **diags)
{
	struct text t = { 0 };
	struct diags list = { 0 };
	if (diags) *diags = NULL;
	if (!out || !path || !source) return ISO_E_ARGUMENT;
	bool fine = format_program_text(path, source, length, &t, &list);
	assert(fine == !list.errors);
	diags_give(diags, &list);
	text_get(&t);
	*out = fine ? t.data : NULL;
	if (!fine) text_free(&t);
	return fine ? ISO_OK : ISO_E_PROGRAM;
}

int iso_source_format(char **out, const char *path, const char *source,
                      size_t length, iso_diags **diags)
{
	int status;
	CALL_IN(NULL, status,
	        try_source_format(out, path, source, length, diags));
	if (status == ISO_E_MEMORY && out) *out = NULL;
	if (status == ISO_E_MEMORY && diags) *diags = NULL;
	return status;
}
