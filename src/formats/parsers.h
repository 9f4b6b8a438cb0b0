/* Behind formats.h: an input in memory, and a parser and a printer for each
 * format. */
#ifndef ISO_FORMATS_PARSERS_H
#define ISO_FORMATS_PARSERS_H

#include <stdint.h>

#include "formats/formats.h"

/* The whole content of a file. */
struct input {
	const char *file;  /* name for messages */
	const char *bytes; /* followed by a zero byte that does not belong */
	size_t length;
	/* What input_close gives back: text on the heap, or pages. */
	char *text;
	struct input_pages *pages; /* NULL: there are none */
	size_t passed;             /* bytes that input_passed gave back */
};

/* The path "-" is standard input. False with an error added: no such file, a
 * folder, an input that holds nothing but blanks, or one that is compressed.
 * `path` stays borrowed. */
bool input_open(struct input *in, const char *path, struct diags *d);
/* The same, whatever the content. */
bool input_open_any(struct input *in, const char *path, struct diags *d);
void input_close(struct input *in);
/* An error at this byte: line and column are counted, the line is quoted. */
void input_error(const struct input *in, struct diags *d, const char *at,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for what is no text: the place is the number of the byte. */
void input_error_byte(const struct input *in, struct diags *d, const char *at,
                      const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The length of the valid UTF-8 sequence at `at`, which has `left` > 0 bytes;
 * 0: there is none, or it is a zero byte. */
unsigned input_utf8_length(const char *at, size_t left);
/* Pages before this byte are not needed again (keeps memory small). */
void input_passed(struct input *in, const char *at);

/* Every parser takes the whole input and returns one trace, or NULL with an
 * error added. */
typedef struct trace *format_parser(struct input *in,
                                    const struct reader_options *o,
                                    struct diags *d);
format_parser plume_parse, awdit_text_parse, dbcop_bincode_parse,
	dbcop_json_parse, dbcop_text_parse, register_edn_parse,
	register_json_parse, list_edn_parse, list_json_parse, isopredict_parse;
/* A line of an isoscope file: [at, end), the `line`th. */
struct trace *isoscope_parse(const struct input *in, const char *at,
                             const char *end, uint32_t line,
                             const struct reader_options *o, struct diags *d);
struct trace *cobra_parse_folder(const char *path,
                                 const struct reader_options *o,
                                 struct diags *d);
/* A log by itself is a history of one session. */
format_parser cobra_parse_log;
/* An input in memory that is in this format; the first history of an isoscope
 * file, a log of Cobra. */
struct trace *format_parse(struct input *in, enum format f,
                           const struct reader_options *o, struct diags *d);

typedef bool format_printer(struct text *t, const struct trace *r,
                            const uint32_t *order, struct diags *d);
format_printer isoscope_print, plume_print, awdit_text_print,
	dbcop_bincode_print, dbcop_json_print, dbcop_text_print,
	register_edn_print, register_json_print, list_edn_print,
	list_json_print, isopredict_print;
bool cobra_can_write(const struct trace *r, struct diags *d);
bool cobra_write_folder(const char *path, const struct trace *r,
                        struct diags *d);

/* The format that the content is of, or FORMAT_COUNT. Looks at the beginning
 * only, but for what elle_detect does. */
enum format format_detect(const struct input *in);
/* Used by it for what looks like EDN or JSON of Elle; tells registers and lists
 * apart. FORMAT_COUNT: not Elle. */
enum format elle_detect(const struct input *in);
bool dbcop_bincode_detect(const struct input *in);
/* Is a line of [at, end) an operation as IsoPredict writes it? */
bool isopredict_detect(const char *at, const char *end);
/* Does the folder hold a file T<n>.log? */
bool cobra_detect_folder(const char *path);

#endif
