/* Queries of random expressions of all types. */
#include "random_sql.h"

#include <stdbool.h>
#include <string.h>

static void bool_expr(struct text *t, struct rng *r, int depth);
static void int_expr(struct text *t, struct rng *r, int depth);
static void text_expr(struct text *t, struct rng *r, int depth);
static void number_expr(struct text *t, struct rng *r, int depth);
static void date_expr(struct text *t, struct rng *r, int depth);
static void stamp_expr(struct text *t, struct rng *r, int depth);
static void span_expr(struct text *t, struct rng *r, int depth);
static void array_expr(struct text *t, struct rng *r, int depth);

typedef void maker(struct text *t, struct rng *r, int depth);

/* The format with %B, %I, %T, %N, %D, %S, %V, %Y for expressions, and %O, %A
 * for operators. */
static void fill(struct text *t, struct rng *r, int depth, const char *format)
{
	static const char *const compare[] = {
		"=", "<>", "<", "<=", ">", ">="
	};
	static const char *const compute[] = { "+", "-", "*", "/", "%" };
	for (; *format; format++) {
		if (*format != '%' || !strchr("BITNDSVYOA", format[1])) {
			text_char(t, *format);
			continue;
		}
		switch (*++format) {
		case 'B': bool_expr(t, r, depth - 1); break;
		case 'I': int_expr(t, r, depth - 1); break;
		case 'T': text_expr(t, r, depth - 1); break;
		case 'N': number_expr(t, r, depth - 1); break;
		case 'D': date_expr(t, r, depth - 1); break;
		case 'S': stamp_expr(t, r, depth - 1); break;
		case 'V': span_expr(t, r, depth - 1); break;
		case 'Y': array_expr(t, r, depth - 1); break;
		case 'O': text_string(t, ONE_OF(r, compare)); break;
		default: text_string(t, ONE_OF(r, compute)); break;
		}
	}
}

static void bool_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "b", "true", "false", "b",
		                              "NULL::boolean" };
	static const char *const forms[] = {
		"(%I %O %I)",
		"(%T %O %T)",
		"(%B %O %B)",
		"(NOT %B)",
		"(%B AND %B)",
		"(%B OR %B)",
		"(%I IS NULL)",
		"(%T IS NOT NULL)",
		"(%B IS TRUE)",
		"(%B IS NOT FALSE)",
		"(%B IS UNKNOWN)",
		"(%I BETWEEN %I AND %I)",
		"(%I NOT BETWEEN %I AND %I)",
		"(%I BETWEEN SYMMETRIC %I AND %I)",
		"(%I IN (%I, %I, 3))",
		"(%T NOT IN (%T, 'ab'))",
		"(%T LIKE 'a%')",
		"(%T LIKE '_b%')",
		"(%T NOT LIKE '%b')",
		"(%T ILIKE 'A%')",
		"(%T NOT ILIKE %T)",
		"(c ILIKE 'AB__')",
		"starts_with(%T, %T)",
		"((%I, %T) = (i, t))",
		"((%I, %T, s) <> (%I, 'ab', 1))",
		"((%I, %B) < (s, %B))",
		"((%I, %T, k) >= (%I, %T, 3))",
		"((%I, t) IN ((1, 'ab'), (%I, %T)))",
		"((s, %T) NOT IN ((1, 'ab'), (%I, t)))",
		"((%I, t) IN (SELECT x.i, %T FROM e x))",
		"((i, s) NOT IN (SELECT x.s, x.i FROM e x WHERE x.k <> e.k))",
		"((k, s) > ANY (SELECT x.s, x.k FROM e x WHERE %B))",
		"((k, s) <= ALL (SELECT x.i, x.k FROM e x WHERE x.k < 4))",
		"((i, %T) IS DISTINCT FROM (s, t))",
		"((%I, t) = (SELECT x.i, %T FROM e x WHERE x.k = e.s))",
		"((%I, %T) < (SELECT max(x.i), min(x.t) FROM e x WHERE %B))",
		"(e IS NULL OR e.* IS DISTINCT FROM e)",
		"((%I, t) IS NULL)",
		"((%I, %T) IS NOT NULL)",
		"(%I IS DISTINCT FROM %I)",
		"(%T IS NOT DISTINCT FROM %T)",
		"CASE WHEN %B THEN %B ELSE %B END",
		"COALESCE(%B, %B)",
		"(i %O '2')",
		"(v %O 'ab')",
		"(c %O %T)",
		"(c %O 'ab')",
		"(i IN (SELECT s FROM e))",
		"EXISTS (SELECT 1 FROM e x WHERE x.i > e.i AND %B)",
		"(%I::boolean)",
		"(%N %O %N)",
		"(%N %O %I)",
		"(m %O '1.50')",
		"(%D %O %D)",
		"(d %O '2024-02-29')",
		"(%S %O %S)",
		"(%D %O %S)",
		"(p %O z)",
		"(%V %O %V)",
		"(o %O 'sad')",
		"(o %O o)",
		"(o IN ('ok', 'happy'))",
		"(q %O 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')",
		"(%I = ANY (%Y))",
		"(%I <> ALL (%Y))",
		"(%N > ANY (a))",
		"(t = ANY (y))",
		"(l = ANY ('{1,3,NULL}'))",
		"(%Y %O %Y)",
		"(i > ALL (SELECT s FROM e x WHERE x.k < e.k))",
		"(m = ANY (SELECT x.i FROM e x))",
		"(%N IS NOT DISTINCT FROM %N)",
		"(%S BETWEEN %D AND %S)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void int_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = {
		"i", "s", "l", "i", "0", "1", "-3", "7", "NULL::integer", "s",
	};
	static const char *const forms[] = {
		"(%I %A %I)",
		"(%I %A %I)",
		"(i + '4')",
		"(- %I)",
		"abs(%I)",
		"mod(%I, i)",
		"length(%T)",
		"length(c)",
		"CASE WHEN %B THEN %I WHEN %B THEN %I END",
		"CASE %I WHEN 1 THEN %I ELSE %I END",
		"COALESCE(%I, %I)",
		"GREATEST(%I, %I)",
		"LEAST(%I, %I, 5)",
		"NULLIF(%I, %I)",
		"(%I::smallint)",
		"(%I::bigint)",
		"(%B::integer)",
		"('12'::integer)",
		"(SELECT max(x.i) FROM e x WHERE x.k <= e.k)",
		"(SELECT count(*) FROM e x WHERE %B)",
		"(%N::integer)",
		"(m::bigint)",
		"(%D - %D)",
		"a[%I]",
		"cardinality(%Y)",
		"array_length(%Y, 1)",
		"(%I & %I)",
		"(%I | s)",
		"(%I # %I)",
		"(~ %I)",
		"(%I << 3)",
		"(i << s)",
		"(s << 1)",
		"(%I >> i)",
		"(- l)",
		"abs(-2147483648)",
		"(- ('-2147483648'::int))",
		"(s + 1::smallint)",
		"(s * s)",
		"(l / -1)",
		"(%I % -1)",
		"(%I::smallint - 32767::smallint)",
		"((%I)::bigint * 4611686018427387904)",
		"(- ('-9223372036854775808'::bigint))",
		"position(%T IN %T)",
		"strpos(%T, 'b')",
		"char_length(%T)",
		"octet_length(%T || 'é')",
		"octet_length(c)",
		"ascii(%T)",
	};
	/* Constant parts are computed before anything is run: there, no column
	 * means no error either. */
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void text_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "t",          "v",    "t",
		                              "'ab'",       "''",   "'a_%'",
		                              "NULL::text", "'Ab '" };
	static const char *const forms[] = {
		"(%T || %T)",
		"(%T || c)",
		"(t || %I)",
		"lower(%T)",
		"upper(%T)",
		"CASE WHEN %B THEN %T ELSE %T END",
		"COALESCE(%T, %T)",
		"NULLIF(%T, 'ab')",
		"GREATEST(%T, %T)",
		"(%I::text)",
		"(%B::text)",
		"(%T::varchar(2))",
		"(%T::char(3)::text)",
		"(c::text)",
		"(%N::text)",
		"(%D::text)",
		"(%S || t)",
		"(%V::text)",
		"(o::text)",
		"(%Y::text)",
		"(q::text)",
		"y[%I]",
		"substring(%T FROM %I FOR 2)",
		"substring(%T, 2)",
		"substr(%T, %I)",
		"substring('añbé', s, %I)",
		"trim(%T)",
		"trim(LEADING 'ab' FROM %T)",
		"rtrim(%T, %T)",
		"btrim('éxaé', 'éa')",
		"ltrim(c)",
		"replace(%T, %T, 'x')",
		"replace(%T, 'b', %T)",
		"concat(%T, %I, %B, c, NULL, %D)",
		"concat_ws(%T, t, %N, NULL, %T)",
		"format('%% %s|%L|%3$I|%2$-4s|%1$5s', %T, %I, 'Ab')",
		"format(%T || '%s', %T)",
		"left(%T, 2)",
		"left('añbé', %I)",
		"right(%T, s)",
		"right('añbé', -1)",
		"lpad(%T, 4)",
		"lpad(%T, s, %T)",
		"rpad(%T, 3, 'éx')",
		"repeat(%T, 2)",
		"reverse(%T || 'é')",
		"split_part(%T, 'b', s)",
		"split_part('a,b,,c', ',', -2)",
		"initcap(%T)",
		"translate(%T, 'ab', 'é')",
		"chr(%I)",
		"to_hex(%I)",
		"md5(%T)",
		"md5(repeat(%T, 30))",
		"quote_literal(%T)",
		"quote_ident(%T)",
		"quote_ident('user')",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void number_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "n",       "m",         "1.5",
		                              "0.0",     "-2.75",     "n",
		                              "100.001", "3::numeric" };
	static const char *const forms[] = {
		"(%N + %N)",
		"(%N - %N)",
		"(%N * %N)",
		"(%N / %N)",
		"(%N % %N)",
		"(%N * %I)",
		"(%I / %N)",
		"(- %N)",
		"abs(%N)",
		"sign(%N)",
		"round(%N)",
		"round(%N, 2)",
		"round(%N, -1)",
		"trunc(%N, 1)",
		"ceil(%N)",
		"floor(%N)",
		"mod(%N, m)",
		"sqrt(abs(%N))",
		"sqrt(m)",
		"(m ^ 2)",
		"power(%N, 3.0)",
		"((n / 7) ^ -2)",
		"power(m, k - 3)",
		"(%I::numeric)",
		"(%N::numeric(6,2))",
		"(%N::numeric(4))",
		"('1.250'::numeric)",
		"('12e-1'::numeric)",
		"CASE WHEN %B THEN %N ELSE %I END",
		"COALESCE(%N, %I)",
		"GREATEST(%N, %I)",
		"NULLIF(%N, %N)",
		"(SELECT avg(x.i) FROM e x WHERE x.k < e.k)",
		"(SELECT sum(x.m) FROM e x)",
		"(SELECT avg(x.n) FROM e x WHERE x.k > 1)",
		"(SELECT sum(x.s::bigint) FROM e x)",
		"extract(year FROM %D)",
		"extract(epoch FROM %S)",
		"extract(second FROM %S)",
		"extract(dow FROM %S)",
		"extract(doy FROM %D)",
		"extract(quarter FROM %D)",
		"extract(hour FROM %V)",
		"extract(month FROM %V)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void date_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "d", "d", "date '2023-12-31'",
		                              "'20240229'::date" };
	static const char *const forms[] = {
		"(%D + s)",   "(%D - 40)",        "(s + %D)",
		"(%S::date)", "GREATEST(%D, %D)", "COALESCE(%D, d)",
		"(z::date)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void stamp_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = {
		"p", "p", "timestamp '2024-03-31 12:34:56.789'",
		"'2023-01-30T23:59:59.5'::timestamp"
	};
	static const char *const forms[] = {
		"(%D + %V)",
		"(%S + %V)",
		"(%V + %S)",
		"(%S - %V)",
		"(%D::timestamp)",
		"(z::timestamp)",
		"date_trunc('month', %S)",
		"date_trunc('hour', %S)",
		"date_trunc('year', p)",
		"GREATEST(%S, %D)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void span_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "w",
		                              "interval '1 day'",
		                              "'1 month -1 day'::interval",
		                              "interval '2 hours 30 minutes'",
		                              "interval '1 year 2 mons'",
		                              "interval '-00:00:01.5'" };
	static const char *const forms[] = {
		"(%S - %S)", "(%V + %V)", "(%V - %V)",        "(- %V)",
		"(%V * 3)",  "(k * w)",   "GREATEST(%V, %V)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void array_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "a", "ARRAY[1, 2]",
		                              "'{3,NULL}'::int[]" };
	static const char *const forms[] = {
		"ARRAY[%I::integer, i]",
		"ARRAY[i, NULL, 7]",
		"COALESCE(%Y, a)",
		"(SELECT array_agg(x.i ORDER BY x.k DESC) FROM e x)",
		"(SELECT array_agg(DISTINCT x.i) FROM e x WHERE x.k < e.k)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void combination(struct text *t, struct rng *r, int depth)
{
	static const char *const words[] = { "UNION",     "UNION ALL",
		                             "INTERSECT", "INTERSECT ALL",
		                             "EXCEPT",    "EXCEPT ALL" };
	static const char *const heads[] = { "SELECT ", "SELECT DISTINCT " };
	const char *word = ONE_OF(r, words);
	/* Which one of equal numbers with different scales comes first, or
	 * stays, is not told: all have the same. */
	bool numbers = rng_below(r, 3) == 0;
	for (int i = 0; i < 2; i++) {
		text_string(t, ONE_OF(r, heads));
		text_string(t, "b, ");
		if (numbers) {
			text_string(t, "round(");
			number_expr(t, r, depth);
			text_string(t, ", 3)");
		} else {
			int_expr(t, r, depth);
		}
		text_string(t, i ? " FROM e x(k, b) WHERE k > 2" : " FROM e");
		if (!i) text_format(t, " %s ", word);
	}
	text_string(t, " ORDER BY 2, 1");
}

static void sets(struct text *t, struct rng *r, int depth)
{
	static const char *const lists[] = {
		"SELECT k, generate_series(1, s) FROM e WHERE k <> 4 ORDER BY "
		"1, 2",
		"SELECT k, unnest(a), unnest(y) FROM e ORDER BY k, 2, 3",
		"SELECT generate_series(%I % 20, %I % 50, 7) + k FROM e WHERE "
		"k "
		"< 3 ORDER BY 1 LIMIT 50",
		"SELECT DISTINCT unnest(%Y) FROM e ORDER BY 1",
		"SELECT generate_series(1, count(*)) FROM e WHERE %B",
		"SELECT x FROM generate_series(5, 1, -2) x",
		"SELECT x.n, e.k FROM generate_series(1, 3) x(n) LEFT JOIN e "
		"ON e.k = x.n AND %B ORDER BY 1",
		"SELECT * FROM unnest(ARRAY['b', NULL, 'a']) u(x) "
		"ORDER BY x",
		"SELECT generate_series(1.5, 4, 0.75)",
		"SELECT generate_series(date '2024-01-30', '2024-03-01', "
		"interval '1 month')",
		"SELECT * FROM generate_series(timestamp '2024-01-01', "
		"'2024-01-02', '7 hours') g(x)",
		"SELECT k FROM e WHERE i IN (SELECT generate_series(1, k)) "
		"ORDER BY k",
		"SELECT generate_series(1, 3, 0)",
		"SELECT k, x FROM e, LATERAL (SELECT max(y.i) FROM e y WHERE "
		"y.k < e.k AND %B) z(x) ORDER BY k",
		"SELECT k, x FROM e LEFT JOIN LATERAL (SELECT y.t FROM e y "
		"WHERE y.k > e.k ORDER BY y.k LIMIT 2) z(x) ON true ORDER BY "
		"1, "
		"2",
		"SELECT k, x FROM e, unnest(a) x WHERE %B ORDER BY 1, 2",
		"SELECT e.k, x FROM e LEFT JOIN generate_series(1, k) x ON x > "
		"2 ORDER BY 1, 2",
		"SELECT k FROM e RIGHT JOIN LATERAL (SELECT e.k + 1) z(x) ON "
		"true",
		"SELECT b, (b, b) IN (SELECT x.b, x.i > 1 FROM e x) FROM e "
		"GROUP BY b ORDER BY b",
		"SELECT k, CASE WHEN b THEN generate_series(1, 2) END FROM e",
		"SELECT k FROM e WHERE generate_series(1, 2) = 1",
		"SELECT sum(generate_series(1, 2)) FROM e",
		"SELECT upper(x) || unnest(y) FROM (SELECT t, y FROM e) z(x) "
		"ORDER BY 1",
	};
	fill(t, r, depth, ONE_OF(r, lists));
}

static void join(struct text *t, struct rng *r)
{
	static const char *const words[] = { "JOIN", "LEFT JOIN", "RIGHT JOIN",
		                             "FULL JOIN" };
	static const char *const conditions[] = { "ON x.i = y.s",
		                                  "ON x.k = y.k + 1 AND y.b",
		                                  "USING (k)", "USING (b)",
		                                  "ON x.t < y.t AND x.k > 2" };
	static const char *const wheres[] = { "", " WHERE x.k > 1",
		                              " WHERE y.k IS NULL",
		                              " WHERE x.i > y.k" };
	text_format(t, "SELECT x.k, y.k, g.* FROM e x %s e y %s",
	            ONE_OF(r, words), ONE_OF(r, conditions));
	text_format(t,
	            " %s (SELECT k, l FROM e WHERE k < 4) g(h) ON h = y.k%s "
	            "ORDER BY 1, 2, h",
	            ONE_OF(r, words), ONE_OF(r, wheres));
}

void random_query(struct text *t, struct rng *r)
{
	static maker *const makers[] = { bool_expr,   int_expr,  text_expr,
		                         number_expr, date_expr, stamp_expr,
		                         span_expr,   array_expr };
	enum { MAKERS = sizeof makers / sizeof *makers };
	int depth = 1 + (int)rng_below(r, 3);
	switch (rng_below(r, 12)) {
	case 10: sets(t, r, depth); return;
	case 3: combination(t, r, depth); return;
	case 4: join(t, r); return;
	case 5:
		text_string(t, "SELECT o, avg(l), max(d), min(n), "
		               "array_agg(t ORDER BY t, k DESC), max(o), "
		               "string_agg(DISTINCT t, ','), sum(l) FROM e "
		               "GROUP BY o ORDER BY o");
		return;
	case 0:
		text_string(t,
		            "SELECT b, count(*), sum(i), min(t), max(s), "
		            "bool_or(i > 1), count(DISTINCT s) FROM e WHERE ");
		bool_expr(t, r, depth);
		text_string(t, " GROUP BY b ORDER BY b NULLS FIRST");
		return;
	case 1:
		text_string(t, "SELECT x.k, y.k FROM e x LEFT JOIN e y ON "
		               "x.i = y.s AND y.k > 1 WHERE x.k < 4 "
		               "ORDER BY 1 DESC, y.k");
		if (rng_below(r, 2)) text_string(t, " LIMIT 3 OFFSET 1");
		return;
	case 2:
		text_string(t, "SELECT DISTINCT ");
		makers[rng_below(r, MAKERS)](t, r, depth);
		text_string(t, " FROM e ORDER BY 1");
		return;
	default:
		text_string(t, "SELECT k, ");
		makers[rng_below(r, MAKERS)](t, r, depth);
		text_string(t, " FROM e ORDER BY k");
	}
}
