#include "native/host/declarations.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

void declarations_note_file(struct declarations *d, const char *client)
{
	assert(client);
	memset(d, 0, sizeof *d);
	stat(client, &d->file);
}

static uint64_t hash_string(uint64_t hash, struct wire_reader *w)
{
	size_t length;
	const char *s = wire_get_string(w, &length);
	return hash_bytes(hash, s, length);
}

static uint64_t hash_value(uint64_t hash, struct wire_reader *w)
{
	struct iso_value v = wire_get_value(w);
	hash = hash_mix(hash, (uint64_t)v.kind);
	if (v.kind == ISO_INT) return hash_mix(hash, (uint64_t)v.integer);
	return v.kind == ISO_BYTES ? hash_bytes(hash, v.bytes, v.length) : hash;
}

/* Of one declaration; addresses of calls are not part of it. */
static uint64_t hash_declaration(uint64_t hash, uint8_t kind,
                                 struct wire_reader *w)
{
	hash = hash_mix(hash, kind);
	switch (kind) {
	case STEP_INITIAL: return hash_value(hash_value(hash, w), w);
	case STEP_SESSION:
	case STEP_EXPECT:
	case STEP_ISOLATION:
	case STEP_ERROR: return hash_string(hash, w);
	default: return hash;
	}
}

static uint64_t hash_of(const struct wire *reply)
{
	struct wire_reader w = wire_read(reply);
	uint64_t hash = 0;
	while (wire_more(&w) && !w.bad) {
		uint8_t kind = wire_get_u8(&w);
		wire_get_u64(&w);
		hash = hash_declaration(hash, kind, &w);
	}
	return hash;
}

void declarations_note(struct declarations *d, const struct wire *reply)
{
	d->hash = hash_of(reply);
}

/* The error in the reply, or NULL. */
static const char *error_in(const struct wire *reply)
{
	struct wire_reader w = wire_read(reply);
	while (wire_more(&w) && !w.bad) {
		size_t length;
		uint8_t kind = wire_get_u8(&w);
		wire_get_u64(&w);
		if (kind == STEP_ERROR) return wire_get_string(&w, &length);
		hash_declaration(0, kind, &w);
	}
	return NULL;
}

static bool is_same_file(const struct declarations *d, const char *client)
{
	struct stat now;
	return !stat(client, &now) && now.st_dev == d->file.st_dev &&
	       now.st_ino == d->file.st_ino && now.st_size == d->file.st_size &&
	       now.st_mtim.tv_sec == d->file.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == d->file.st_mtim.tv_nsec;
}

bool declarations_hold(const struct declarations *d, const char *client,
                       const struct wire *reply, struct text *why)
{
	const char *error = error_in(reply);
	if (!is_same_file(d, client))
		text_string(why, "the file was changed while it was at work: "
		                 "begin again");
	else if (error)
		text_format(why, "it cannot be loaded again: %s", error);
	else if (hash_of(reply) != d->hash)
		text_string(why,
		            "iso_client() declared something else when it "
		            "was called again: sessions, initial values and "
		            "expectations may not depend on the clock, random "
		            "numbers, addresses or files");
	else
		return true;
	return false;
}
