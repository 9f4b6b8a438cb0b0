#include "formats/formats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "formats/parsers.h"

/* Not all are read or written in one piece: histories of isoscope are read line
 * by line, and those of Cobra are folders. */
static const struct {
	format_parser *parse;
	format_printer *print;
} formats[FORMAT_COUNT] = {
	[FORMAT_ISOSCOPE] = { NULL, isoscope_print },
	[FORMAT_PLUME] = { plume_parse, plume_print },
	[FORMAT_AWDIT] = { awdit_text_parse, awdit_text_print },
	[FORMAT_DBCOP_BINCODE] = { dbcop_bincode_parse, dbcop_bincode_print },
	[FORMAT_DBCOP_JSON] = { dbcop_json_parse, dbcop_json_print },
	[FORMAT_DBCOP_TEXT] = { dbcop_text_parse, dbcop_text_print },
	[FORMAT_REGISTER_EDN] = { register_edn_parse, register_edn_print },
	[FORMAT_REGISTER_JSON] = { register_json_parse, register_json_print },
	[FORMAT_LIST_EDN] = { list_edn_parse, list_edn_print },
	[FORMAT_LIST_JSON] = { list_json_parse, list_json_print },
	[FORMAT_ISOPREDICT] = { isopredict_parse, isopredict_print },
	[FORMAT_COBRA] = { cobra_parse_log, NULL },
};

bool format_is_folder(enum format f)
{
	return f == FORMAT_COBRA;
}

bool format_print(struct text *t, enum format f, const struct trace *r,
                  const uint32_t *order, struct diags *d)
{
	assert(t && r);
	if (f < FORMAT_COUNT && formats[f].print)
		return formats[f].print(t, r, order, d);
	diags_add(d, DIAG_ERROR, NULL, 0, 0, NULL,
	          "histories in the format %s are folders: name one to write "
	          "to",
	          format_word(f));
	return false;
}

static bool no_folder(const char *path, enum format f, struct diags *d)
{
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
	          "histories in the format %s are files, not folders",
	          format_word(f));
	return false;
}

bool format_can_be_folder(enum format f, const struct trace *r, struct diags *d)
{
	return f == FORMAT_COBRA ? cobra_can_write(r, d)
	                         : no_folder(r->file, f, d);
}

bool format_write_folder(const char *path, enum format f, const struct trace *r,
                         struct diags *d)
{
	return f == FORMAT_COBRA ? cobra_write_folder(path, r, d)
	                         : no_folder(path, f, d);
}

/* ==== opening histories, and reading one after the other ==== */

struct history_reader {
	struct reader_options options;
	enum format format;
	char *path;
	struct input in;
	const char *at; /* isoscope: the next line */
	uint32_t line;
	bool done;
};

/* ---- opening ---- */

static bool is_folder(const char *path)
{
	struct stat s;
	return strcmp(path, "-") != 0 && !stat(path, &s) && S_ISDIR(s.st_mode);
}

/* Other checkers take a folder with one of these files in it. */
static bool find_in_folder(struct history_reader *r)
{
	static const char *const names[] = { "history.txt", "history.bincode",
		                             "history.edn", "history.jsonl",
		                             "history.json" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct text path = { 0 };
		struct stat s;
		text_format(&path, "%s/%s", r->path, names[i]);
		if (!stat(text_get(&path), &s) && S_ISREG(s.st_mode)) {
			free(r->path);
			r->path = path.data;
			return true;
		}
		text_free(&path);
	}
	return false;
}

static bool open_folder(struct history_reader *r, struct diags *d)
{
	if (r->format == FORMAT_COBRA || cobra_detect_folder(r->path)) {
		if (r->format == FORMAT_COUNT) r->format = FORMAT_COBRA;
		if (r->format == FORMAT_COBRA) return true;
		diags_add(d, DIAG_ERROR, r->path, 0, 0, NULL,
		          "this is a folder with Cobra logs, which are not "
		          "in the format %s",
		          format_word(r->format));
		return false;
	}
	diags_add(d, DIAG_ERROR, r->path, 0, 0, NULL,
	          "this is a folder without a history: neither logs "
	          "T<n>.log as Cobra writes them, nor a file history.txt, "
	          ".bincode, .edn, .jsonl or .json; name the file itself");
	return false;
}

static void unknown_format(const struct history_reader *r, struct diags *d)
{
	struct text t = { 0 };
	text_string(&t, "this is a history in none of the formats that are "
	                "known:");
	for (enum format f = 0; f < FORMAT_COUNT; f++)
		text_format(&t, "%s %s", f ? "," : "", format_word(f));
	text_format(&t, "; choose one with %s to be told what is wrong",
	            r->options.option ? r->options.option
	                              : "isoscope check --format");
	diags_add(d, DIAG_ERROR, r->in.file, 0, 0, NULL, "%s", text_get(&t));
	text_free(&t);
}

/* A mark of UTF-8 that some editors put in front of texts. */
static void skip_mark(struct input *in)
{
	if (in->length < 3 || memcmp(in->bytes, "\xef\xbb\xbf", 3) != 0) return;
	in->bytes += 3;
	in->length -= 3;
}

static bool open_file(struct history_reader *r, struct diags *d)
{
	if (r->format == FORMAT_COBRA) {
		diags_add(d, DIAG_ERROR, r->path, 0, 0, NULL,
		          "Cobra logs are read from their folder: name that "
		          "(a log T<n>.log for each session)");
		return false;
	}
	if (!input_open(&r->in, r->path, d)) return false;
	if (r->format != FORMAT_DBCOP_BINCODE) skip_mark(&r->in);
	if (r->format == FORMAT_COUNT) r->format = format_detect(&r->in);
	if (r->format == FORMAT_COUNT) unknown_format(r, d);
	return r->format != FORMAT_COUNT;
}

struct history_reader *history_reader_open(const char *path,
                                           const struct reader_options *o,
                                           struct diags *d)
{
	struct history_reader *r = mem_take0(1, sizeof *r);
	r->options = *o;
	r->format = o->format;
	r->path = mem_copy_string(path);
	bool folder = is_folder(path);
	if (folder && r->format != FORMAT_COBRA && !cobra_detect_folder(path) &&
	    find_in_folder(r))
		folder = false;
	if (folder ? open_folder(r, d) : open_file(r, d)) {
		r->at = r->in.bytes;
		return r;
	}
	history_reader_close(r);
	return NULL;
}

/* ---- reading ---- */

static bool line_is_blank(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
	return at == end;
}

static struct trace *next_line(struct history_reader *r, struct diags *d)
{
	const char *end = r->in.bytes + r->in.length;
	assert(r->format == FORMAT_ISOSCOPE || !r->path);
	while (r->at < end) {
		const char *at = r->at;
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop) stop = end;
		r->at = stop < end ? stop + 1 : end;
		r->line++;
		input_passed(&r->in, at);
		if (!line_is_blank(at, stop))
			return isoscope_parse(&r->in, at, stop, r->line,
			                      &r->options, d);
	}
	return NULL;
}

struct trace *format_parse(struct input *in, enum format f,
                           const struct reader_options *o, struct diags *d)
{
	assert(f < FORMAT_COUNT);
	if (f != FORMAT_ISOSCOPE) return formats[f].parse(in, o, d);
	struct history_reader r = { .options = *o, .in = *in, .at = in->bytes };
	return next_line(&r, d);
}

struct trace *history_reader_next(struct history_reader *r, struct diags *d)
{
	if (r->done) return NULL;
	struct trace *t;
	if (r->format == FORMAT_ISOSCOPE) {
		t = next_line(r, d);
		r->done = !t;
		return t;
	}
	assert(r->format < FORMAT_COUNT);
	r->done = true;
	if (r->format == FORMAT_COBRA)
		return cobra_parse_folder(r->path, &r->options, d);
	t = formats[r->format].parse(&r->in, &r->options, d);
	input_close(&r->in);
	return t;
}

enum format history_reader_format(const struct history_reader *r)
{
	return r->format;
}

void history_reader_close(struct history_reader *r)
{
	if (!r) return;
	input_close(&r->in);
	free(r->path);
	free(r);
}
