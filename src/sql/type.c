#include "sql/type.h"

#include <assert.h>

const char *sql_kind_name(enum sql_kind k)
{
	static const char *const names[] = {
#define X(kind, name, category, preferred) name,
		SQL_TYPE_TABLE(X)
#undef X
	};
	assert(k < SQL_KIND_COUNT);
	return names[k];
}

void sql_type_print(struct text *t, struct sql_type type)
{
	if (type.kind == SQL_ARRAY) {
		sql_type_print(t, sql_element_type(type));
		text_string(t, "[]");
		return;
	}
	text_string(t, type.kind == SQL_ENUM && type.labels
	                       ? type.labels->name
	                       : sql_kind_name(type.kind));
	if (type.kind == SQL_NUMERIC && type.length)
		text_format(t, "(%d,%d)", (int)type.length >> 16,
		            (int)type.length & 0xffff);
	else if (type.length)
		text_format(t, "(%d)", (int)type.length);
}

bool sql_same_type(struct sql_type a, struct sql_type b)
{
	return a.kind == b.kind && a.element == b.element &&
	       a.labels == b.labels && (!b.length || a.length == b.length);
}

char sql_kind_category(enum sql_kind k)
{
	static const char categories[] = {
#define X(kind, name, category, preferred) category,
		SQL_TYPE_TABLE(X)
#undef X
	};
	assert(k < SQL_KIND_COUNT);
	return categories[k];
}

bool sql_kind_is_preferred(enum sql_kind k)
{
	static const bool preferred_ones[] = {
#define X(kind, name, category, preferred) preferred,
		SQL_TYPE_TABLE(X)
#undef X
	};
	assert(k < SQL_KIND_COUNT);
	return preferred_ones[k];
}

/* pg_cast. Of numbers, towards wider ones implicitly, else by assignment;
 * whatever has a text becomes one by assignment, and comes from one when that
 * is written. */
bool sql_can_coerce(enum sql_kind from, enum sql_kind to,
                    enum sql_coercion when)
{
	if (from == to || from == SQL_UNKNOWN) return true;
	if (sql_is_string(from) && sql_is_string(to)) return true;
	if (sql_kind_category(from) == 'N' && sql_kind_category(to) == 'N')
		return from < to || when >= COERCE_ASSIGNMENT;
	if (from == SQL_VOID || to == SQL_VOID) return false;
	if (sql_is_string(to)) return when >= COERCE_ASSIGNMENT;
	if (sql_is_string(from)) return when == COERCE_EXPLICIT;
	if (sql_kind_category(from) == 'D' && sql_kind_category(to) == 'D')
		return from < to || when >= COERCE_ASSIGNMENT;
	if (from == SQL_BOOL && to == SQL_INT4) return when == COERCE_EXPLICIT;
	if (from == SQL_INT4 && to == SQL_BOOL) return when == COERCE_EXPLICIT;
	return false;
}
