/* Rows by their keys, and the versions of them that were told. */
#include "postgres/am/backend.h"

#include <access/genam.h>
#include <access/htup_details.h>
#include <access/relation.h>
#include <catalog/index.h>
#include <common/hashfn.h>
#include <utils/hsearch.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>

enum { BUCKETS_FIRST = 1 << 12 };

static MemoryContext memory; /* of what a session knows; reset as it begins
                              * anew */
static struct row **buckets;
static uint32 bucket_count, row_count;
static uint32 bare_count;    /* rows without versions */
static struct version *over; /* they go as the transaction ends */
/* Of these something is known for this transaction only. */
static struct row **passing;
static int passing_count, passing_capacity;
static HTAB *tables;

/* ---- Tables ---- */

static void make_memory(void)
{
	HASHCTL c = { .keysize = sizeof(Oid),
		      .entrysize = sizeof(struct table) };
	if (memory) return;
	memory = AllocSetContextCreate(TopMemoryContext, "isoscope",
	                               ALLOCSET_DEFAULT_SIZES);
	bucket_count = BUCKETS_FIRST;
	row_count = bare_count = 0;
	over = NULL;
	passing = NULL;
	passing_count = passing_capacity = 0;
	buckets =
		MemoryContextAllocZero(memory, bucket_count * sizeof *buckets);
	c.hcxt = memory;
	tables = hash_create("isoscope tables", 64, &c,
	                     HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

static void find_key(struct table *t, Relation rel)
{
	Oid oid;
	list_free(RelationGetIndexList(rel)); /* it finds rd_pkindex */
	oid = rel->rd_pkindex;
	if (!OidIsValid(oid)) return;
	Relation index = index_open(oid, AccessShareLock);
	t->key_count = IndexRelationGetNumberOfKeyAttributes(index);
	for (int i = 0; i < t->key_count; i++)
		t->key[i] = index->rd_index->indkey.values[i];
	index_close(index, AccessShareLock);
}

struct table *table_of(Relation rel)
{
	Oid oid = RelationGetRelid(rel);
	bool found;
	make_memory();
	struct table *t = hash_search(tables, &oid, HASH_ENTER, &found);
	if (found && t->desc) return t;
	MemoryContext old = MemoryContextSwitchTo(memory);
	memset(t, 0, sizeof *t);
	t->oid = oid;
	t->desc = CreateTupleDescCopyConstr(RelationGetDescr(rel));
	t->in = TupleDescGetAttInMetadata(t->desc);
	t->out = palloc0(t->desc->natts * sizeof *t->out);
	for (int i = 0; i < t->desc->natts; i++) {
		Oid function;
		bool varlena;
		if (TupleDescAttr(t->desc, i)->attisdropped) continue;
		getTypeOutputInfo(TupleDescAttr(t->desc, i)->atttypid,
		                  &function, &varlena);
		fmgr_info_cxt(function, &t->out[i], memory);
	}
	find_key(t, rel);
	MemoryContextSwitchTo(old);
	return t;
}

/* ---- Rows ---- */

/* As many buckets as rows, or more. */
static void widen_buckets(void)
{
	struct row **old = buckets;
	uint32 count = bucket_count;
	if (row_count < count) return;
	bucket_count = 2 * count;
	buckets =
		MemoryContextAllocZero(memory, bucket_count * sizeof *buckets);
	for (uint32 b = 0; b < count; b++)
		for (struct row *r = old[b], *next; r; r = next) {
			next = r->next;
			r->next = buckets[r->hash % bucket_count];
			buckets[r->hash % bucket_count] = r;
		}
	pfree(old);
}

struct row *row_find(Oid relation, const char *key, uint32 length)
{
	make_memory();
	widen_buckets();
	uint32 hash = hash_combine(
		hash_bytes((const unsigned char *)key, (int)length), relation);
	struct row **bucket = &buckets[hash % bucket_count];

	for (struct row *r = *bucket; r; r = r->next)
		if (r->hash == hash && r->relation == relation &&
		    r->key_length == length && !memcmp(r->key, key, length))
			return r;
	struct row *r = MemoryContextAllocZero(memory, sizeof *r);
	r->hash = hash;
	r->relation = relation;
	r->key = MemoryContextAlloc(memory, length + 1);
	memcpy(r->key, key, length);
	r->key_length = length;
	r->next = *bucket;
	*bucket = r;
	row_count++;
	bare_count++;
	return r;
}

/* ---- Versions ---- */

/* A row without versions, of those of its table perhaps. */
static void note_bare(const struct row *r)
{
	struct table *t = hash_search(tables, &r->relation, HASH_FIND, NULL);
	if (t) t->has_bare = true;
	bare_count++;
}

/* Who looks through them now may still stand there, so that it leads on. */
static void take_over(struct row *r, uint32 number)
{
	struct version **at = &r->versions;
	if (!number) r->gone = r->initial = false;
	while (number && *at && (*at)->number != number) at = &(*at)->older;
	if (!number || !*at) return;
	struct version *v = *at;
	*at = v->older;
	v->next_over = over;
	over = v;
	if (!r->versions) note_bare(r);
}

/* Is it one whose rows are told with answers only? */
static bool is_passing(Oid relation)
{
	const struct table *t = hash_search(tables, &relation, HASH_FIND, NULL);
	return iso_serves && (!t || !t->told);
}

static void note_passing(struct row *r)
{
	if (r->passing) return;
	r->passing = true;
	if (passing_count == passing_capacity) {
		int n = passing_capacity ? 2 * passing_capacity : 64;
		size_t size = n * sizeof *passing;
		passing = passing ? repalloc(passing, size)
		                  : MemoryContextAlloc(memory, size);
		passing_capacity = n;
	}
	passing[passing_count++] = r;
}

/* The table of the relation, or what stands for an index; NULL: the transaction
 * has dropped it. */
static struct table *table_told(Oid oid)
{
	struct table *t = hash_search(tables, &oid, HASH_FIND, NULL);
	if (t && (t->desc || t->index)) return t;
	Relation rel = try_relation_open(oid, AccessShareLock);
	if (!rel) return NULL;
	if (rel->rd_rel->relkind == RELKIND_INDEX) {
		t = hash_search(tables, &oid, HASH_ENTER, NULL);
		memset(t, 0, sizeof *t);
		t->oid = oid;
		t->index = true;
	} else {
		t = table_of(rel);
	}
	relation_close(rel, AccessShareLock);
	return t;
}

/* One of these was told before: a client that is served is told each that it
 * knows once. */
static bool is_told(const struct row *r, const struct wire_head *h)
{
	const struct version *v = r->versions;
	if (iso_serves && h->known) return false;
	while (v && (v->number != h->number || v->serial != h->owner))
		v = v->older;
	return v != NULL;
}

static void add_known_row(struct table *t, struct row *r)
{
	if (t->count == t->capacity) {
		size_t size;
		t->capacity = t->capacity ? 2 * t->capacity : 16;
		size = t->capacity * sizeof *t->rows;
		t->rows = t->rows ? repalloc(t->rows, size)
		                  : MemoryContextAlloc(memory, size);
	}
	t->rows[t->count++] = r;
	t->sorted = false;
}

static struct version *version_told(struct table *t, const char *image,
                                    uint32_t length)
{
	const char *rest;
	HeapTuple tuple =
		t->index ? NULL : tuple_of_image(t, image, length, &rest);
	MemoryContext old = MemoryContextSwitchTo(memory);
	struct version *v = palloc0(sizeof *v);
	if (t->index) {
		v->image = memcpy(palloc(length + 1), image, length);
		v->image_length = length;
	} else {
		v->tuple = heap_copytuple(tuple);
		heap_freetuple(tuple);
		v->origin_length = (uint32_t)(image + length - rest);
		if (v->origin_length)
			v->origin = memcpy(palloc(v->origin_length), rest,
			                   v->origin_length);
	}
	MemoryContextSwitchTo(old);
	return v;
}

/* One that was told for this transaction only; or NULL. */
static struct version *passing_version(const struct row *r,
                                       const struct wire_head *h)
{
	struct version *v = r->versions;
	while (v &&
	       !(v->passing && v->number == h->number && v->serial == h->owner))
		v = v->older;
	return v;
}

static void add_version(struct row *r, struct version *v)
{
	v->row = r;
	if (!r->versions) bare_count--;
	v->older = r->versions;
	r->versions = v;
}

static void take_version(struct row *r, const struct wire_head *h,
                         const char *image, uint32_t length)
{
	struct table *t = table_told(r->relation);
	if (!t || is_told(r, h)) return;
	struct version *v = passing_version(r, h);
	if (!v) add_version(r, v = version_told(t, image, length));
	v->number = h->number;
	v->serial = h->owner;
	v->known = h->known;
	v->passing = iso_serves && !h->known;
	if (v->passing) note_passing(r);
	if (!t->index && h->known && !r->known) add_known_row(t, r);
	r->known |= h->known;
	r->initial |= h->initial;
}

void known_take(const struct wire_head *h, const char *body)
{
	struct wire_key k;
	memcpy(&k, body, sizeof k);
	struct row *r = row_find(k.relation, body + sizeof k, k.length);
	r->number = k.number;
	if (h->kind == WIRE_GONE) {
		r->gone = true;
		if (is_passing(r->relation)) note_passing(r);
	} else if (h->kind == WIRE_OVER) {
		take_over(r, h->number);
	} else {
		take_version(r, h, body + sizeof k + k.length,
		             h->length - (uint32_t)sizeof k - k.length);
	}
}

void known_restart(void)
{
	if (memory) MemoryContextDelete(memory);
	memory = NULL;
	make_memory();
}

/* ---- What is over ---- */

static void free_version(struct version *v)
{
	if (v->tuple) heap_freetuple(v->tuple);
	if (v->origin) pfree(v->origin);
	if (v->image) pfree(v->image);
	pfree(v);
}

void known_leave_bare(struct table *t)
{
	int kept = 0;
	if (!t->has_bare) return;
	for (int i = 0; i < t->count; i++) {
		struct row *r = t->rows[i];
		r->known = r->versions != NULL;
		if (r->known) t->rows[kept++] = r;
	}
	t->count = kept;
	t->has_bare = false;
}

/* Of what is known by a key that never was, or is no more, there is nothing to
 * keep. */
static void free_bare_rows(void)
{
	HASH_SEQ_STATUS all;
	struct table *t;
	hash_seq_init(&all, tables);
	while ((t = hash_seq_search(&all))) known_leave_bare(t);
	for (uint32 b = 0; b < bucket_count; b++)
		for (struct row **at = &buckets[b]; *at;) {
			struct row *r = *at;
			if (r->versions) {
				at = &r->next;
				continue;
			}
			*at = r->next;
			pfree(r->key);
			pfree(r);
			row_count--;
		}
	bare_count = 0;
}

static void forget_passing(struct row *r)
{
	r->passing = false;
	if (is_passing(r->relation)) r->gone = r->initial = false;
	for (struct version **at = &r->versions; *at;) {
		struct version *v = *at;
		if (!v->passing) {
			at = &v->older;
			continue;
		}
		*at = v->older;
		free_version(v);
		if (!r->versions) note_bare(r);
	}
}

/* No transaction is at hand that could stand on it. */
void known_forget(void)
{
	enum { MANY = 1024 };
	if (!iso_serves || !memory) return;
	while (passing_count) forget_passing(passing[--passing_count]);
	while (over) {
		struct version *v = over;
		over = v->next_over;
		free_version(v);
	}
	if (bare_count > row_count / 2 + MANY) free_bare_rows();
}
