/* Members of JSON objects of which nothing is known. Each function returns
 * false, with an error added the first time, when the member is missing or is
 * something else; then `out` is left alone. */
#ifndef ISO_DISTRIBUTE_MEMBERS_H
#define ISO_DISTRIBUTE_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diags;

struct members {
	const char *file;
	struct diags *diags;
	bool failed;
};

/* What is wrong with the member; always false. */
bool member_wrong(struct members *m, const char *name, const char *expected);
/* Whole numbers up to `most`; those beyond 2^63 - 1 are strings of digits. */
bool member_count(struct members *m, const json_t *object, const char *name,
                  uint64_t most, uint64_t *out);
bool member_number(struct members *m, const json_t *object, const char *name,
                   uint32_t most, uint32_t *out);
bool member_seconds(struct members *m, const json_t *object, const char *name,
                    double *out);
bool member_flag(struct members *m, const json_t *object, const char *name,
                 bool *out);
/* 16 digits to the base 16, in a string. */
bool member_hash(struct members *m, const json_t *object, const char *name,
                 uint64_t *out);
/* NULL if it is none; borrowed. */
const char *member_string(struct members *m, const json_t *object,
                          const char *name);
const json_t *member_object(struct members *m, const json_t *object,
                            const char *name);
const json_t *member_array(struct members *m, const json_t *object,
                           const char *name);
/* Is it null? Then nothing is wrong. */
bool member_is_null(const json_t *object, const char *name);

bool value_count(const json_t *value, uint64_t most, uint64_t *out);

#endif
