/* Writes JSON, append only: it keeps commas and nesting itself, so that nobody
 * else counts who comes first. (Reading is done elsewhere.)
 *
 *	struct json j = json_to(&text);
 *	json_open(&j, NULL, '{');
 *	json_text(&j, "program", path);
 *	json_open(&j, "levels", '[');
 *	json_text(&j, NULL, "cc");
 *	json_close(&j);
 *	json_close(&j);
 *
 * A value in an object has a name; one in an array, and the outermost one, has
 * none: NULL. There are no blanks, and no line ends but those asked for.
 */
#ifndef ISO_BASE_JSON_H
#define ISO_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { JSON_DEPTH = 64 }; /* objects and arrays in each other */

struct json {
	struct text *to;
	unsigned depth;
	bool line;        /* before the next value */
	uint64_t begun;   /* bit d: at depth d there is something already */
	uint64_t objects; /* bit d: what was opened at depth d is an object */
};

struct json json_to(struct text *to);

/* An object for '{', an array for '['. */
void json_open(struct json *j, const char *name, char kind);
void json_close(struct json *j);
/* The next value begins a line of its own. */
void json_line(struct json *j);
/* The string, or null for NULL. */
void json_text(struct json *j, const char *name, const char *value);
/* The same, and empties it. */
void json_taken(struct json *j, const char *name, struct text *value);
void json_int(struct json *j, const char *name, int64_t n);
void json_count(struct json *j, const char *name, uint64_t n);
/* The count, or null if nobody knows. */
void json_count_if(struct json *j, const char *name, bool known, uint64_t n);
/* Whole numbers are exact up to 2^53; null for NAN, which nobody knows. */
void json_number(struct json *j, const char *name, double n);
/* To a microsecond. */
void json_seconds(struct json *j, const char *name, double seconds);
void json_bool(struct json *j, const char *name, bool value);
/* Begins a value that the caller prints to `to` by itself. */
struct text *json_value(struct json *j, const char *name);

#endif
