/* What the files that read our own format share: isoscope_json.c passes over
 * the line for its sessions and transactions, isoscope_events.c reads what is
 * in them. */
#ifndef ISO_FORMATS_LINE_PARSER_H
#define ISO_FORMATS_LINE_PARSER_H

#include "base/access.h"
#include "base/region.h"
#include "base/text.h"
#include "formats/forms.h"
#include "history/trace_build.h"

/* A part of the line. */
struct extent {
	const char *at, *end; /* NULL: absent */
};

/* A part of parser.names. */
struct name {
	size_t at, length;
	bool given;
};

struct session_entry {
	struct name name;
	uint32_t first, count; /* of parser.transactions */
	bool after_all;
};

struct transaction_place {
	struct name name;
	struct extent events;
	uint32_t handle;
	enum trace_status status;
	own_level own;
};

#define LINE_NONE UINT32_MAX

struct line_parser {
	struct forms f;
	struct trace_builder *builder;
	uint32_t line;
	/* Where it is, for messages. */
	uint32_t session, transaction, event;
	struct session_entry *sessions;
	size_t session_count, session_capacity;
	struct transaction_place *transactions;
	size_t transaction_count, transaction_capacity;
	struct extent init, versions;
	struct trace_value *values; /* of one key's versions */
	uint32_t value_count, value_capacity;
	bool *versioned; /* by key: its versions were given */
	uint32_t versioned_count, versioned_capacity;
	struct name program, level;
	bool has_sessions, valueless;
	/* Of the transaction: is the next event in a statement, that of the
	 * event before it; and that statement's number. */
	bool grouped, joined;
	bool locked; /* has the statement locked or written? */
	int64_t statement;
	struct text names, scratch;
	struct region region; /* of values on their way */
};

/* An error, with the path to the place: sessions[0].transactions[2].events[1];
 * false. */
bool line_wrong(struct line_parser *p, const struct form *x, const char *format,
                ...) __attribute__((format(printf, 3, 4)));
bool line_expected(struct line_parser *p, const struct form *x,
                   const char *what);
/* Does the form open such a collection? Else an error. */
bool line_opened(struct line_parser *p, struct form *x, char bracket,
                 const char *what);
bool line_next_opened(struct line_parser *p, struct form *x, char bracket,
                      const char *what);

/* isoscope_events.c, each where it was passed over: the events of a
 * transaction, initial values, and the order of writes. */
bool line_read_events(struct line_parser *p, const struct transaction_place *t);
bool line_read_init(struct line_parser *p);
bool line_read_versions(struct line_parser *p);

#endif
