#include "postgres/library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "postgres/wire.h"
#include "vm/bytecode.h"
#include "vm/value.h"

/* Types of PostgreSQL that have values of their own; others are texts. */
enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, OID = 26 };

struct value server_value(struct region *r, uint32_t type, const char *text,
                          uint32_t length)
{
	if (!text) return value_null();
	switch (type) {
	case BOOL: return value_bool(*text == 't');
	case INT8:
	case INT2:
	case INT4:
	case OID: {
		char digits[32] = "";
		memcpy(digits, text, length < 31 ? length : 31);
		return value_int(strtoll(digits, NULL, 10));
	}
	default: return value_string(r, text, length);
	}
}

struct server_relation *server_relation(struct server_library *l, uint32_t oid)
{
	for (uint32_t i = 0; i < l->relation_count; i++)
		if (l->relations[i]->oid == oid) return l->relations[i];
	return NULL;
}

/* ---- Keys ---- */

static uint32_t key_type(const struct server_relation *r, uint32_t i)
{
	if (r->index) return r->types[i];
	return r->key_count ? r->types[r->key[i]] : 0;
}

/* Session, transaction, number. */
static struct value birth_value(struct region *r, const char *image,
                                uint32_t length)
{
	struct value items[3];
	const char *end = image + length, *text;
	uint32_t n, count = 0;
	while (count < 3 && image_next(&image, end, &text, &n)) {
		items[count] = server_value(r, count ? INT8 : 0, text, n);
		count++;
	}
	return value_sequence(r, VALUE_TUPLE, items, count);
}

static struct value key_value(struct region *r,
                              const struct server_relation *relation,
                              const char *image, uint32_t length)
{
	struct value items[64];
	const char *end = image + length, *text;
	uint32_t n, count = 0;
	if (!relation->index && !relation->key_count)
		return birth_value(r, image, length);
	while (count < 64 && image_next(&image, end, &text, &n)) {
		uint32_t type = key_type(relation, count);
		items[count++] = server_value(r, type, text, n);
	}
	return value_sequence(r, VALUE_TUPLE, items, count);
}

struct server_key *server_key(struct server_library *l,
                              struct server_relation *r, const char *image,
                              uint32_t length)
{
	uint64_t hash = hash_bytes(r->oid, image, length);
	struct table_probe probe = table_probe(hash);
	uint32_t i;
	if (!l->by_key.slots) table_init(&l->by_key, 0);
	while ((i = table_next(&l->by_key, &probe)) != TABLE_NONE) {
		struct server_key *k = l->keys[i];
		if (k->relation == r && k->length == length &&
		    !memcmp(k->image, image, length))
			return k;
	}
	struct server_key *k = region_take0(&l->region, sizeof *k);
	k->relation = r;
	k->number = l->key_count;
	k->image = region_copy_string(&l->region, image, length);
	k->length = length;
	k->value = key_value(&l->region, r, image, length);
	VEC_RESERVE(l->keys, l->key_count, l->key_capacity);
	table_put(&l->by_key, probe, l->key_count);
	l->keys[l->key_count++] = k;
	assert(l->by_key.count == l->key_count);
	return k;
}

struct server_key *server_key_told(struct server_library *l, const char **at,
                                   const char *end)
{
	struct wire_key k;
	if (end - *at < (ptrdiff_t)sizeof k) return NULL;
	memcpy(&k, *at, sizeof k);
	*at += sizeof k;
	if (k.number)
		return k.number <= l->key_count ? l->keys[k.number - 1] : NULL;
	struct server_relation *r = server_relation(l, k.relation);
	if (!r || (size_t)(end - *at) < k.length) return NULL;
	const char *image = *at;
	*at += k.length;
	return server_key(l, r, image, k.length);
}

/* ---- Versions ---- */

static struct value row_value(struct region *r, const struct server_relation *t,
                              const char *image, uint32_t length)
{
	struct value *pairs =
		mem_take((t->column_count + (size_t)1) * 2 * sizeof *pairs);
	const char *end = image + length, *text;
	uint32_t n, c = 0;
	while (c < t->column_count && image_next(&image, end, &text, &n)) {
		pairs[2 * c] =
			value_string(r, t->columns[c], strlen(t->columns[c]));
		pairs[2 * c + 1] = server_value(r, t->types[c], text, n);
		c++;
	}
	/* As in sql/row.c: a field without a name. */
	uint32_t past = image < end;
	if (past) {
		pairs[2 * c] = value_string(r, "", 0);
		struct value pair[] = { birth_value(r, image,
			                            (uint32_t)(end - image)),
			                value_null() };
		pairs[2 * c + 1] = value_sequence(r, VALUE_TUPLE, pair, 2);
	}
	struct value v = value_record(r, pairs, c + past);
	free(pairs);
	return v;
}

struct value server_image_value(struct region *r, const struct server_key *k,
                                const char *image, uint32_t length)
{
	const struct server_relation *relation = k->relation;
	return relation->index ? key_value(r, relation->table, image, length)
	                       : row_value(r, relation, image, length);
}

struct server_version *server_version(struct server_library *l,
                                      struct server_key *k, const char *image,
                                      uint32_t length)
{
	struct table_probe probe =
		table_probe(hash_bytes(k->number, image, length));
	uint32_t i;
	if (!l->by_version.slots) table_init(&l->by_version, 0);
	while ((i = table_next(&l->by_version, &probe)) != TABLE_NONE) {
		struct server_version *v = l->versions[i];
		if (v->key == k && v->length == length &&
		    !memcmp(v->image, image, length))
			return v;
	}
	struct server_version *v = region_take0(&l->region, sizeof *v);
	v->key = k;
	v->image = region_copy_string(&l->region, image, length);
	v->length = length;
	v->value = server_image_value(&l->region, k, image, length);
	v->older = k->versions;
	k->versions = v;
	VEC_RESERVE(l->versions, l->version_count, l->version_capacity);
	table_put(&l->by_version, probe, l->version_count);
	l->versions[l->version_count++] = v;
	v->number = l->version_count;
	return v;
}

struct value server_initial(struct server_library *l,
                            const struct guest_step *read)
{
	struct value found = value_null();
	if (read->kind != GUEST_GET) return found;
	mem_lock(&l->lock);
	for (uint32_t i = 0; i < l->version_count; i++) {
		const struct server_version *v = l->versions[i];
		if (v->initial && v->key->relation->global == read->global &&
		    value_equal(v->key->value, read->key))
			found = v->value;
	}
	mem_unlock(&l->lock);
	return found;
}

/* ---- Places in commands ---- */

/* A line of a file of the session's name. */
uint32_t server_statement(struct server_library *l, uint32_t session,
                          uint32_t number, const char *text, uint32_t length)
{
	const char *name = l->sessions[session].name;
	struct table_probe probe =
		table_probe(hash_bytes(session << 16 ^ number, text, length));
	uint32_t i, first = l->program->positions_count;
	if (!l->by_statement.slots) table_init(&l->by_statement, 0);
	while ((i = table_next(&l->by_statement, &probe)) != TABLE_NONE) {
		const struct position *p = &l->statements[i];
		if (p->file == name && p->line == number &&
		    strlen(p->source_line) == length &&
		    !memcmp(p->source_line, text, length))
			return first + i;
	}
	VEC_RESERVE(l->statements, l->statement_count, l->statement_capacity);
	l->statements[l->statement_count] = (struct position){
		name, number, 1, region_copy_string(&l->region, text, length)
	};
	table_put(&l->by_statement, probe, l->statement_count);
	return first + l->statement_count++;
}

struct position server_position(struct server_library *l, uint32_t point)
{
	mem_lock(&l->lock);
	assert(point >= l->program->positions_count);
	assert(point - l->program->positions_count < l->statement_count);
	struct position at = l->statements[point - l->program->positions_count];
	mem_unlock(&l->lock);
	return at;
}

bool server_open_setup(struct server_library *l, struct text *why)
{
	return connection_open(&l->setup, l->cluster,
	                       "-c synchronous_commit=on", why);
}

bool server_was_reset(struct server_library *l)
{
	char said;
	struct text why = { 0 };
	/* An idle connection hears of nothing else. */
	if (connection_is_open(&l->setup) &&
	    recv(l->setup.fd, &said, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		return false;
	connection_close(&l->setup);
	server_open_setup(l, &why);
	text_free(&why);
	return true;
}

void server_library_free(struct server_library *l)
{
	server_guests_free(l);
	connection_close(&l->setup);
	if (l->listener > 0) close(l->listener);
	if (l->clients > 0) close(l->clients);
	cluster_stop(l->cluster);
	for (uint32_t i = 0; i < l->assertion_count; i++) {
		free(l->assertions[i].steps);
		free(l->assertions[i].errors);
		free(l->assertions[i].error_lengths);
		free(l->assertions[i].error_steps);
	}
	spec_free(&l->spec);
	sources_free(&l->all);
	free(l->relations);
	free(l->keys);
	free(l->versions);
	free(l->fault);
	free(l->lost);
	table_free(&l->by_key);
	table_free(&l->by_version);
	table_free(&l->by_statement);
	free(l->statements);
	pthread_mutex_destroy(&l->turn);
	pthread_mutex_destroy(&l->lock);
	region_free(&l->region);
	free(l);
}
