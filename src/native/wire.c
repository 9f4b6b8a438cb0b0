#include "native/wire.h"

#include <assert.h>
#include <string.h>

#include "native/shared.h"

/* User code may write over the capacity too, at any time; nobody has a larger
 * wire than this. */
static uint64_t capacity_of(const struct wire *w)
{
	uint64_t capacity = *(const volatile uint64_t *)&w->capacity;
	return capacity < WIRE_BYTES ? capacity : WIRE_BYTES;
}

static uint64_t length_of(const struct wire *w)
{
	return atomic_load_explicit(&w->length, memory_order_acquire);
}

/* ---- Writing ---- */

void wire_clear(struct wire *w)
{
	atomic_store_explicit(&w->length, 0, memory_order_release);
}

struct wire_writer wire_write(struct wire *w)
{
	uint64_t at = length_of(w), room = capacity_of(w);
	assert(w != NULL);
	return (struct wire_writer){ w, at, room, at > room };
}

static void put(struct wire_writer *w, const void *bytes, uint64_t count)
{
	assert(bytes || !count);
	assert(w->full || w->at <= w->room);
	if (w->full || count > w->room - w->at) {
		w->full = true;
		return;
	}
	if (count) memcpy(w->wire->bytes + w->at, bytes, count);
	w->at += count;
}

void wire_put_u8(struct wire_writer *w, uint8_t v)
{
	put(w, &v, sizeof v);
}

void wire_put_u32(struct wire_writer *w, uint32_t v)
{
	put(w, &v, sizeof v);
}

void wire_put_u64(struct wire_writer *w, uint64_t v)
{
	put(w, &v, sizeof v);
}

void wire_put_string(struct wire_writer *w, const char *s, size_t length)
{
	wire_put_u64(w, length);
	put(w, s, length);
	wire_put_u8(w, 0);
}

void wire_put_value(struct wire_writer *w, struct iso_value v)
{
	wire_put_u8(w, (uint8_t)v.kind);
	if (v.kind == ISO_INT) wire_put_u64(w, (uint64_t)v.integer);
	if (v.kind == ISO_BYTES) wire_put_string(w, v.bytes, v.length);
}

bool wire_commit(struct wire_writer *w)
{
	if (w->full) return false;
	assert(w->at <= w->room);
	atomic_store_explicit(&w->wire->length, w->at, memory_order_release);
	return true;
}

/* ---- Reading ---- */

struct wire_reader wire_read(const struct wire *w)
{
	uint64_t end = length_of(w);
	if (end <= capacity_of(w))
		return (struct wire_reader){ .wire = w, .end = end };
	return (struct wire_reader){ .wire = w, .bad = true };
}

bool wire_more(const struct wire_reader *r)
{
	return !r->bad && r->at < r->end;
}

/* The next `count` bytes, or NULL. Nothing can be read after what is bad. */
static const unsigned char *get(struct wire_reader *r, uint64_t count)
{
	assert(r->bad || (r->at <= r->end && r->end <= WIRE_BYTES));
	if (r->bad || count > r->end - r->at) {
		r->bad = true;
		return NULL;
	}
	r->at += count;
	return r->wire->bytes + r->at - count;
}

uint8_t wire_get_u8(struct wire_reader *r)
{
	const unsigned char *p = get(r, 1);
	return p ? *p : 0;
}

uint32_t wire_get_u32(struct wire_reader *r)
{
	uint32_t v = 0;
	const unsigned char *p = get(r, sizeof v);
	if (p) memcpy(&v, p, sizeof v);
	return v;
}

uint64_t wire_get_u64(struct wire_reader *r)
{
	uint64_t v = 0;
	const unsigned char *p = get(r, sizeof v);
	if (p) memcpy(&v, p, sizeof v);
	return v;
}

const char *wire_get_string(struct wire_reader *r, size_t *length)
{
	uint64_t n = wire_get_u64(r);
	const unsigned char *p = get(r, n);
	if (wire_get_u8(r)) r->bad = true;
	*length = r->bad ? 0 : n;
	return r->bad ? "" : (const char *)p;
}

struct iso_value wire_get_value(struct wire_reader *r)
{
	struct iso_value v = { .kind = ISO_NULL };
	switch (wire_get_u8(r)) {
	case ISO_NULL: break;
	case ISO_INT:
		v.integer = (int64_t)wire_get_u64(r);
		v.kind = r->bad ? ISO_NULL : ISO_INT;
		break;
	case ISO_BYTES:
		v.bytes = wire_get_string(r, &v.length);
		v.kind = r->bad ? ISO_NULL : ISO_BYTES;
		break;
	default: r->bad = true;
	}
	if (v.kind == ISO_NULL) return (struct iso_value){ .kind = ISO_NULL };
	return v;
}
