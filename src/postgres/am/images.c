/* Rows as isoscope has them (postgres/wire.h), and the order of their keys. */
#include "postgres/am/backend.h"

#include <access/htup_details.h>
#include <access/transam.h>
#include <port/pg_bswap.h>
#include <utils/lsyscache.h>
#include <utils/typcache.h>

void image_of_columns(StringInfo s, struct table *t, Datum *values, bool *nulls,
                      const AttrNumber *columns, int count)
{
	for (int i = 0; i < count; i++) {
		int a = columns ? columns[i] - 1 : i;
		if (TupleDescAttr(t->desc, a)->attisdropped) continue;
		if (nulls[a]) {
			uint32 none = pg_hton32(UINT32_MAX);
			appendBinaryStringInfo(s, (char *)&none, sizeof none);
			continue;
		}
		char *text = OutputFunctionCall(&t->out[a], values[a]);
		uint32 length = (uint32)strlen(text), n = pg_hton32(length);
		appendBinaryStringInfo(s, (char *)&n, sizeof n);
		appendBinaryStringInfo(s, text, (int)length);
		pfree(text);
	}
}

HeapTuple tuple_of_image(struct table *t, const char *image, uint32 length,
                         const char **rest)
{
	char **texts = palloc0(t->desc->natts * sizeof *texts);
	const char *end = image + length;
	for (int i = 0; i < t->desc->natts; i++) {
		uint32 n;
		if (TupleDescAttr(t->desc, i)->attisdropped) continue;
		if (end - image < (int)sizeof n)
			elog(ERROR, "a row of \"%s\" is too short",
			     get_rel_name(t->oid));
		memcpy(&n, image, sizeof n);
		n = pg_ntoh32(n);
		image += sizeof n;
		if (n == UINT32_MAX) continue;
		Assert(end - image >= n);
		texts[i] = pnstrdup(image, n);
		image += n;
	}
	*rest = image;
	HeapTuple tuple = BuildTupleFromCStrings(t->in, texts);
	for (int i = 0; i < t->desc->natts; i++)
		if (texts[i]) pfree(texts[i]);
	pfree(texts);
	tuple->t_tableOid = t->oid;
	HeapTupleHeaderSetXmin(tuple->t_data, FrozenTransactionId);
	return tuple;
}

/* Any version of it: they have one key. */
HeapTuple row_some_tuple(const struct row *r)
{
	for (struct version *v = r->versions; v; v = v->older)
		if (v->tuple) return v->tuple;
	for (struct version *v = r->own; v; v = v->older)
		if (v->tuple) return v->tuple;
	return NULL;
}

static int compare_births(const struct row *a, const struct row *b)
{
	const char *x = a->key, *y = b->key;
	for (int i = 0; i < 3; i++) {
		uint32 n, m;
		memcpy(&n, x, sizeof n);
		memcpy(&m, y, sizeof m);
		n = pg_ntoh32(n);
		m = pg_ntoh32(m);
		int order = i && n != m ? (n < m ? -1 : 1)
		                        : memcmp(x + 4, y + 4, Min(n, m));
		if (!order && n != m) order = n < m ? -1 : 1;
		if (order) return order;
		x += 4 + n;
		y += 4 + m;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct row *x = *(struct row *const *)a;
	const struct row *y = *(struct row *const *)b;
	const struct table *t = data;
	if (!t->key_count) return compare_births(x, y);
	for (int i = 0; i < t->key_count; i++) {
		Form_pg_attribute form = TupleDescAttr(t->desc, t->key[i] - 1);
		TypeCacheEntry *type = lookup_type_cache(
			form->atttypid, TYPECACHE_CMP_PROC_FINFO);
		bool none;
		Datum v = heap_getattr(row_some_tuple(x), t->key[i], t->desc,
		                       &none);
		Datum w = heap_getattr(row_some_tuple(y), t->key[i], t->desc,
		                       &none);
		int order = DatumGetInt32(FunctionCall2Coll(
			&type->cmp_proc_finfo, form->attcollation, v, w));
		if (order) return order;
	}
	return 0;
}

void rows_sort(struct table *t, Relation rel)
{
	known_leave_bare(t);
	if (t->sorted) return;
	qsort_arg(t->rows, t->count, sizeof *t->rows, compare_rows, t);
	t->sorted = true;
}

void rows_order(struct table *t, struct row **rows, int count)
{
	qsort_arg(rows, count, sizeof *rows, compare_rows, t);
}
