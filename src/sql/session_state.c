#include "sql/session_state.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

const struct sql_state *
sql_state_new(struct region *r, const struct sql_image *image, uint32_t session)
{
	struct sql_state *s = region_take0(r, sizeof *s);
	if (session < image->session_count)
		s->sequences = image->sessions[session].sequences;
	return s;
}

/* ---- What lasts ---- */

static struct sql_state *copy_state(struct sql_move *m,
                                    const struct sql_state *s)
{
	struct sql_state *copy = region_take(m->region, sizeof *copy);
	*copy = *s;
	return copy;
}

/* Writes up to `old`, which last already, copied to what lasts. */
static const struct sql_write *keep_writes(struct sql_move *m,
                                           const struct sql_write *new,
                                           const struct sql_write *old)
{
	if (new == old) return old;
	assert(new); /* `old` is among those before it */
	struct sql_write *w = region_take(m->region, sizeof *w);
	*w = *new;
	w->older = keep_writes(m, new->older, old);
	w->key = value_copy(m->region, new->key);
	w->row = value_copy(m->region, new->row);
	return w;
}

static struct guest_note *make_note(struct sql_move *m,
                                    const struct guest_note *older,
                                    const char *name, struct value v)
{
	struct guest_note *n = region_take0(m->region, sizeof *n);
	n->older = older;
	n->count = older ? older->count + 1 : 1;
	n->name = name;
	n->value = value_copy(m->region, v);
	return n;
}

static struct guest_note *note_of_step(struct sql_move *m,
                                       const struct guest_note *older,
                                       uint32_t step, struct value v)
{
	struct guest_note *n =
		make_note(m, older, m->image->catalog.steps[step].name, v);
	n->place = m->image->step_places[step];
	return n;
}

/* ---- Emitting ---- */

static struct sql_emitted *emit(struct sql_move *m, enum guest_request kind,
                                const struct sql_state *after)
{
	struct sql_emitted *e = region_take0(m->scratch, sizeof *e);
	if (!m->first) m->last = &m->first;
	*m->last = e;
	m->last = &e->next;
	e->step.kind = kind;
	e->step.notes = after->notes;
	e->step.findings = after->findings;
	e->step.pruned = after->repeats;
	e->step.failure = after->failure;
	e->state = after;
	return e;
}

static struct sql_emitted *emit_read(struct sql_move *m,
                                     const struct sql_state *s,
                                     const struct sql_read *read)
{
	struct sql_emitted *e = emit(m, GUEST_GET, s);
	e->step.key = value_copy(m->region, read->key);
	e->step.global = read->global;
	e->step.point = read->point;
	e->step.strength = read->strength;
	e->step.joined = read->joined;
	e->reads = m->answer_count + 1;
	return e;
}

/* The read that the statement waits for, and those behind it. */
static void emit_wanted(struct sql_move *m, const struct sql_state *s,
                        const struct sql_run *x)
{
	size_t size = x->foreseen.count * sizeof *x->foreseen.keys;
	struct sql_foreseen *f;
	struct value *keys;
	struct sql_emitted *e = emit_read(m, s, &x->wanted);
	if (!size) return;
	f = region_take(m->region, sizeof *f);
	keys = region_take(m->region, size);
	*f = x->foreseen;
	f->keys = memcpy(keys, x->foreseen.keys, size);
	e->foreseen = f;
}

static void emit_write(struct sql_move *m, const struct sql_state *s,
                       const struct sql_write *w, bool joined)
{
	struct guest_step *step = &emit(m, GUEST_PUT, s)->step;
	step->global = w->global;
	step->key = value_copy(m->region, w->key);
	step->value = value_copy(m->region, w->row);
	step->point = w->point;
	step->strength = w->strength;
	step->joined = joined;
}

static void emit_given_up(struct sql_move *m, const struct sql_state *s,
                          uint32_t global, struct value key, uint32_t point)
{
	struct guest_step *step = &emit(m, GUEST_GIVE_UP, s)->step;
	step->global = global;
	step->key = value_copy(m->region, key);
	step->point = point;
}

/* The writes up to `old` that came after `from` or more, but less than `to`,
 * reads of the statement. */
static void emit_writes(struct sql_move *m, const struct sql_state *s,
                        const struct sql_write *w, const struct sql_write *old,
                        uint32_t from, uint32_t to)
{
	if (w == old || w->after < from) return;
	emit_writes(m, s, w->older, old, from, to);
	if (w->after < to) emit_write(m, s, w, w->joined);
}

/* What the statement has done since the last answer, and is done. */
static void emit_done(struct sql_move *m, const struct sql_state *s,
                      const struct sql_run *x, const struct sql_write *old)
{
	const struct sql_write *w = x->handled ? x->settled : x->writes;
	uint32_t from = m->answer_count;
	if (s->savepoints) w = old;
	for (uint32_t i = 0; i < x->given_count; i++) {
		const struct sql_given_up *g = &x->given_up[i];
		const struct sql_read *r = &x->reads[g->read];
		if (g->after < m->answer_count) continue;
		assert(g->after >= from && r->strength != STRENGTH_PLAIN);
		emit_writes(m, s, w, old, from, g->after);
		emit_given_up(m, s, r->global, r->key, r->point);
		from = g->after;
	}
	emit_writes(m, s, w, old, from, UINT32_MAX);
}

/* Those that were held back. The reads that locked their rows stand where they
 * were made. */
static void emit_held_back(struct sql_move *m, const struct sql_state *before,
                           struct sql_state *s, const struct sql_write *w)
{
	if (w == s->told) return;
	assert(w);
	emit_held_back(m, before, s, w->older);
	emit_write(m, before, w, w->joined || s->accessed);
	s->accessed = true;
}

/* Versions that others can read; and where a row went, though another may be
 * there by now. */
static void make_known(struct sql_move *m, const struct sql_write *writes)
{
	struct sql_run x = { .region = m->scratch, .writes = writes };
	for (const struct sql_write *w = writes; w; w = w->older)
		if (w->table &&
		    (sql_is_gone(w->row) ||
		     sql_own_write(&x, writes, w->global, w->key) == w) &&
		    !known_has(&m->image->known, w->table, w->key, w->row))
			sql_image_grew(m->image, w->table, w->key, w->row);
}

/* A run-time error. */
static const struct finding *wrong(struct sql_move *m, uint32_t point,
                                   const char *who, const char *what,
                                   const char *state)
{
	struct text t = { 0 };
	struct finding *f = region_take0(m->region, sizeof *f);
	text_format(&t, "%s: %s%s%s%s", who, what, *state ? " (" : "", state,
	            *state ? ")" : "");
	f->kind = FINDING_ERROR;
	f->point = point;
	f->message = region_copy_string(m->region, text_get(&t), t.length);
	text_free(&t);
	return f;
}

/* The statement took more than one may. */
static const struct finding *went_beyond(struct sql_move *m,
                                         const struct sql_run *x)
{
	struct finding *f = (struct finding *)wrong(m, x->point, x->beyond,
	                                            x->failure.message, "");
	f->endless = x->endless;
	return f;
}

/* ---- The ends of steps and transactions ---- */

static const struct sql_item *item_of(const struct sql_move *m,
                                      const struct sql_state *s)
{
	return &m->image->sessions[m->session].items[s->next];
}

/* A step ends: its result is noted. */
static void end_step(struct sql_move *m, struct sql_state *s)
{
	if (s->result) {
		struct guest_note *n = make_note(m, s->notes, s->result->name,
		                                 s->result->value);
		n->place = s->result->place;
		s->notes = n;
	}
	s->result = NULL;
}

static void next_item(struct sql_move *m, struct sql_state *s)
{
	const struct sql_item *item = item_of(m, s);
	if (++s->next == item->next_step) end_step(m, s);
}

/* The rest of the step is not carried out, as by the server that was sent all
 * of it at once. */
static void skip_step(struct sql_move *m, struct sql_state *s,
                      const struct sql_failure *why)
{
	const struct sql_item *item = item_of(m, s);
	s->result = NULL;
	assert(s->next < item->next_step);
	s->next = item->next_step;
	if (item->step == SQL_NO_STEP) {
		s->findings = wrong(m, item->statement->point,
		                    "the session's setup failed", why->message,
		                    why->state);
		return;
	}
	struct value pair[] = { value_string(m->scratch, "error", 5),
		                value_string(m->scratch, why->state,
		                             strlen(why->state)) };
	s->notes = note_of_step(m, s->notes, item->step,
	                        value_record(m->scratch, pair, 1));
}

static void forget_transaction(struct sql_state *s)
{
	s->transaction = TXN_NONE;
	s->writes = s->told = NULL;
	s->savepoints = NULL;
	s->locks = NULL;
	s->accessed = s->ran = s->read_only = false;
	s->failure = NULL;
}

static void commit(struct sql_move *m, const struct sql_state *before,
                   const struct sql_write *writes, struct sql_state *after)
{
	assert(after->transaction == TXN_IMPLICIT ||
	       after->transaction == TXN_OPEN);
	emit_held_back(m, before, after, writes);
	make_known(m, writes);
	forget_transaction(after);
	emit(m, GUEST_COMMIT, after);
}

/* ---- Statements ---- */

/* What a statement returned, as a list of tuples. */
static struct value rows_value(struct sql_move *m, const struct sql_rows *rows,
                               uint32_t columns)
{
	struct value *all =
		region_take(m->scratch, (rows->count + 1) * sizeof *all);
	for (uint32_t i = 0; i < rows->count; i++)
		all[i] = value_sequence(m->scratch, VALUE_TUPLE, rows->items[i],
		                        columns);
	return value_sequence(m->scratch, VALUE_LIST, all, rows->count);
}

static void note_result(struct sql_move *m, struct sql_state *s,
                        const struct sql_rows *rows)
{
	const struct sql_item *item = item_of(m, s);
	uint32_t columns = sql_result_columns(item->statement);
	if (!columns || item->step == SQL_NO_STEP) return;
	s->result =
		note_of_step(m, NULL, item->step, rows_value(m, rows, columns));
}

/* The locks that were taken since the savepoint end. */
static void give_up_locks(struct sql_move *m, struct sql_state *s,
                          const struct sql_savepoint *p)
{
	for (; s->locks != p->locks; s->locks = s->locks->older) {
		assert(s->locks);
		emit_given_up(m, s, s->locks->global, s->locks->key,
		              s->locks->point);
		s->accessed = false; /* what comes is a statement of its own */
	}
}

/* Those that a statement has taken. */
static void keep_locks(struct sql_move *m, struct sql_state *s,
                       const struct sql_run *x)
{
	for (uint32_t i = 0; i < x->read_count; i++) {
		const struct sql_read *r = &x->reads[i];
		if (r->strength == STRENGTH_PLAIN || r->given_up) continue;
		struct sql_lock *l = region_take(m->region, sizeof *l);
		*l = (struct sql_lock){ s->locks, r->global, r->point,
			                value_copy(m->region, r->key) };
		s->locks = l;
	}
}

/* The transaction fails. It has aborted at once, unless it can go back to a
 * savepoint; then what was done since the last one is over. */
static bool fail(struct sql_move *m, struct sql_state *s,
                 const struct sql_failure *why)
{
	bool explicit = s->transaction == TXN_OPEN;
	bool returns = explicit && s->savepoints;
	struct text words = { 0 };
	text_format(&words, "%s: %s", why->state, why->message);
	const char *failure =
		region_copy_string(m->region, text_get(&words), words.length);
	text_free(&words);
	skip_step(m, s, why);
	if (returns) {
		s->transaction = TXN_FAILED;
		s->failure = failure;
		give_up_locks(m, s, s->savepoints);
		return false;
	}
	forget_transaction(s);
	s->failure = failure;
	if (explicit) s->transaction = TXN_FAILED_ENDED;
	emit(m, GUEST_ABORT, s);
	return true;
}

static const struct sql_savepoint *find_savepoint(const struct sql_savepoint *p,
                                                  const char *name)
{
	while (p && strcmp(p->name, name)) p = p->older;
	return p;
}

/* Carries out a query or a change. True if something was emitted. */
static bool run_statement(struct sql_move *m, const struct sql_state *before,
                          struct sql_state *s)
{
	const struct sql_image *image = m->image;
	const struct sql_item *item = item_of(m, s);
	uint32_t n = image->catalog.sequence_count;
	struct sql_run x = { .region = m->scratch,
		             .inner = sql_inner(),
		             .known = &m->image->known,
		             .writes = s->writes,
		             .guarded = s->savepoints != NULL,
		             .read_only = s->read_only,
		             .answers = m->answers,
		             .answer_count = m->answer_count,
		             .gives_up = m->gives_up,
		             .gives_up_data = m->gives_up_data,
		             .session = image->sessions[m->session].name,
		             .statement = s->next };
	x.sequence_count = n;
	x.sequences =
		region_take(m->region, (n + (size_t)1) * sizeof *x.sequences);
	if (n) memcpy(x.sequences, s->sequences, n * sizeof *x.sequences);
	bool fine = sql_run_statement(&x, item->statement);
	bool waits = !fine && x.stop == SQL_WAITS;
	m->gave_up = x.stop == SQL_GIVES_UP;
	if (m->gave_up) return true;
	assert(waits || x.read_count == m->answer_count);
	assert(!x.handled || waits || x.stop == SQL_REPEATS);
	emit_done(m, before, &x, s->writes);
	if (waits) {
		emit_wanted(m, before, &x);
		return true;
	}
	s->accessed |= x.read_count || x.writes != s->writes;
	s->ran = true;
	m->answer_count = 0;
	s->sequences = x.sequences;
	if (x.beyond) s->findings = went_beyond(m, &x);
	if (x.stop == SQL_REPEATS) {
		s->next = image->sessions[m->session].count;
		s->repeats = true;
		forget_transaction(s);
		emit(m, GUEST_ABORT, s);
		return true;
	}
	if (s->savepoints) keep_locks(m, s, &x);
	if (!fine) return fail(m, s, &x.failure);
	note_result(m, s, &x.result);
	s->writes = keep_writes(m, x.writes, s->writes);
	if (!s->savepoints) s->told = s->writes;
	next_item(m, s);
	return false;
}

static const char no_block[] = "can only be used in transaction blocks";

static bool run_savepoint(struct sql_move *m, const struct sql_state *before,
                          struct sql_state *s, const struct sql_statement *st)
{
	struct sql_failure why = { 0 };
	const struct sql_savepoint *p = find_savepoint(s->savepoints, st->name);
	if (s->transaction == TXN_IMPLICIT) {
		sql_fail(m->scratch, &why, "25P01", "%s", no_block);
		return fail(m, s, &why);
	}
	if (st->kind == STATEMENT_SAVEPOINT) {
		struct sql_savepoint *new = region_take(m->region, sizeof *new);
		*new = (struct sql_savepoint){ s->savepoints, st->name,
			                       s->writes, s->locks };
		s->savepoints = new;
	} else if (!p) {
		sql_fail(m->scratch, &why, "3B001",
		         "savepoint \"%s\" does not exist", st->name);
		return fail(m, s, &why);
	} else if (st->kind == STATEMENT_ROLLBACK_TO) {
		s->savepoints = p;
		s->writes = p->writes;
		give_up_locks(m, s, p);
	} else {
		s->savepoints = p->older;
	}
	if (!s->savepoints) {
		emit_held_back(m, before, s, s->writes);
		s->told = s->writes;
		s->locks = NULL;
	}
	next_item(m, s);
	return false;
}

/* The level is the transaction's from its beginning on: find_levels(). */
static bool set_modes(struct sql_move *m, struct sql_state *s,
                      const struct sql_modes *modes)
{
	struct sql_failure why = { 0 };
	if (s->ran && (modes->level || (s->read_only && modes->read_write))) {
		sql_fail(m->scratch, &why, "25001",
		         modes->level
		                 ? "SET TRANSACTION ISOLATION LEVEL must be "
		                   "called before any query"
		                 : "transaction read-write mode must be set "
		                   "before any query");
		return fail(m, s, &why);
	}
	s->read_only = (s->read_only || modes->read_only) && !modes->read_write;
	next_item(m, s);
	return false;
}

/* Inside a transaction. */
static bool run_inside(struct sql_move *m, const struct sql_state *before,
                       struct sql_state *s)
{
	const struct sql_statement *st = item_of(m, s)->statement;
	switch (st->kind) {
	case STATEMENT_COMMIT:
		next_item(m, s);
		commit(m, before, before->writes, s);
		return true;
	case STATEMENT_ROLLBACK:
		next_item(m, s);
		forget_transaction(s);
		emit(m, GUEST_ABORT, s);
		return true;
	case STATEMENT_SAVEPOINT:
	case STATEMENT_ROLLBACK_TO:
	case STATEMENT_RELEASE: return run_savepoint(m, before, s, st);
	case STATEMENT_BEGIN: /* what came before it in the step is inside */
		s->transaction = TXN_OPEN;
		return set_modes(m, s, &st->modes);
	case STATEMENT_SET_TRANSACTION: return set_modes(m, s, &st->modes);
	case STATEMENT_NOTHING: next_item(m, s); return false;
	default: return run_statement(m, before, s);
	}
}

/* After an error, before the end of the transaction. */
static bool run_failed(struct sql_move *m, struct sql_state *s)
{
	const struct sql_statement *st = item_of(m, s)->statement;
	bool ended = s->transaction == TXN_FAILED_ENDED;
	const struct sql_savepoint *p;
	struct sql_failure why = { 0 };
	assert(ended || s->transaction == TXN_FAILED);
	if (st->kind == STATEMENT_COMMIT || st->kind == STATEMENT_ROLLBACK) {
		const char *failure = s->failure;
		next_item(m, s);
		forget_transaction(s);
		s->failure = failure;
		if (!ended) emit(m, GUEST_ABORT, s);
		return !ended;
	}
	if (st->kind == STATEMENT_ROLLBACK_TO &&
	    (p = find_savepoint(s->savepoints, st->name))) {
		s->transaction = TXN_OPEN;
		s->savepoints = p;
		s->writes = p->writes;
		s->failure = NULL;
		give_up_locks(m, s, p);
		next_item(m, s);
		return false;
	}
	sql_fail(m->scratch, &why,
	         st->kind == STATEMENT_ROLLBACK_TO ? "3B001" : "25P02",
	         "current transaction is aborted, commands ignored until end "
	         "of transaction block");
	skip_step(m, s, &why);
	return false;
}

static bool begin(struct sql_move *m, struct sql_state *s)
{
	const struct sql_item *item = item_of(m, s);
	struct sql_failure why = { 0 };
	assert(!s->writes && !s->told && !s->savepoints);
	switch (item->statement->kind) {
	case STATEMENT_BEGIN:
		s->transaction = TXN_OPEN;
		s->read_only = item->statement->modes.read_only;
		next_item(m, s);
		break;
	case STATEMENT_SET_TRANSACTION: /* a warning, if it stands alone */
		if (s->next + 1 < item->next_step) {
			s->transaction = TXN_IMPLICIT;
			break;
		}
		next_item(m, s);
		return false;
	case STATEMENT_COMMIT:
	case STATEMENT_ROLLBACK: /* a warning */
	case STATEMENT_NOTHING: next_item(m, s); return false;
	case STATEMENT_SAVEPOINT:
	case STATEMENT_ROLLBACK_TO:
	case STATEMENT_RELEASE:
		sql_fail(m->scratch, &why, "25P01", "%s", no_block);
		skip_step(m, s, &why);
		return false;
	default: s->transaction = TXN_IMPLICIT; break;
	}
	emit(m, GUEST_BEGIN, s)->step.name = item->name;
	s->failure = NULL; /* that of the one before */
	return true;
}

/* The statements of a step, which the server gets at once, are one transaction
 * as far as they are in no other: it ends with the step. */
static bool ends_with_step(const struct sql_move *m,
                           const struct sql_state *before,
                           const struct sql_state *s)
{
	return s->transaction == TXN_IMPLICIT &&
	       s->next == item_of(m, before)->next_step;
}

static void move_session(struct sql_move *m)
{
	const struct sql_session *session = &m->image->sessions[m->session];
	const struct sql_state *before = m->from;
	for (;;) {
		struct sql_state *s = copy_state(m, before);
		bool emitted;
		if (s->next == session->count) {
			bool open = s->transaction == TXN_OPEN ||
			            s->transaction == TXN_FAILED;
			const char *failure = s->failure;
			forget_transaction(s);
			s->failure = failure;
			if (open) emit(m, GUEST_ABORT, s);
			emit(m, GUEST_END, s)->step.value = value_bool(true);
			return;
		}
		switch (s->transaction) {
		case TXN_NONE: emitted = begin(m, s); break;
		case TXN_IMPLICIT:
		case TXN_OPEN:
			emitted = run_inside(m, before, s);
			if (emitted || !ends_with_step(m, before, s)) break;
			commit(m, before, s->writes, s);
			emitted = true;
			break;
		default: emitted = run_failed(m, s); break;
		}
		if (emitted) return;
		before = s;
	}
}

/* ---- The last transaction ---- */

/* Can a row that is known be one that some assertion asks for? */
static bool is_asked(struct sql_run *x, const struct sql_image *image,
                     const struct sql_table *t, const struct known_row *row)
{
	for (uint32_t i = 0; i < image->asked.count; i++) {
		const struct sql_relation *relation = image->asked.relations[i];
		if (relation->table == t && sql_may_match(x, relation, row))
			return true;
	}
	return false;
}

/* Rows of the table that assertions may ask for, as (key, row). */
static bool read_table(struct sql_move *m, struct sql_run *x,
                       const struct sql_table *t, struct value *out)
{
	const struct known_rows *rows = known_of(&m->image->known, t->global);
	size_t size = (rows->count + (size_t)1) * sizeof(struct value);
	struct value *keys = region_take(m->scratch, size);
	struct value *found = region_take(m->scratch, size);
	uint32_t asked = 0, count = 0;
	for (uint32_t i = 0; i < rows->count; i++)
		if (is_asked(x, m->image, t, rows->items[i]))
			keys[asked++] = rows->items[i]->key;
	for (uint32_t i = 0; i < asked; i++) {
		struct value pair[2] = { keys[i] };
		if (!sql_read(x, t->global, pair[0], STRENGTH_PLAIN,
		              &pair[1])) {
			if (x->stop == SQL_WAITS)
				sql_foresee(x, t->global, keys + i + 1,
				            asked - i - 1, STRENGTH_PLAIN);
			return false;
		}
		x->anew = 0;
		if (sql_is_gone(pair[1])) continue;
		found[count++] =
			value_sequence(m->scratch, VALUE_TUPLE, pair, 2);
	}
	*out = value_sequence(m->scratch, VALUE_LIST, found, count);
	return true;
}

static void move_finally(struct sql_move *m)
{
	const struct sql_catalog *c = &m->image->catalog;
	struct sql_state *s = copy_state(m, m->from);
	struct sql_run x = { .region = m->scratch,
		             .inner = sql_inner(),
		             .known = &m->image->known,
		             .answers = m->answers,
		             .answer_count = m->answer_count };
	if (s->next++ == 0) {
		emit(m, GUEST_BEGIN, s)->step.name = m->image->finally_name;
		return;
	}
	if (s->next > 2) {
		emit(m, GUEST_END, s)->step.value = value_bool(true);
		return;
	}
	for (uint32_t i = 0; i < c->table_count; i++) {
		struct value rows;
		if (!read_table(m, &x, c->tables[i], &rows)) {
			if (x.stop == SQL_WAITS) {
				emit_wanted(m, m->from, &x);
				return;
			}
			s->findings =
				wrong(m, m->image->assertions[0].query->point,
			              "what assertions ask for cannot be read",
			              x.failure.message, "");
			emit(m, GUEST_ABORT, s);
			return;
		}
		if (rows.o->length)
			s->notes = make_note(m, s->notes, c->tables[i]->name,
			                     rows);
	}
	emit(m, GUEST_COMMIT, s);
}

/* ---- Assertions ---- */

static struct value note_key(struct sql_move *m, const char *session,
                             const char *name)
{
	struct value pair[] = { value_string(m->region, session,
		                             strlen(session)),
		                value_string(m->region, name, strlen(name)) };
	return value_sequence(m->region, VALUE_TUPLE, pair, 2);
}

/* Results of steps and rows of tables, from what was noted of them. */
static void take_notes(struct sql_move *m, const struct sql_assertion *a,
                       struct sql_run *x)
{
	const struct sql_catalog *c = &m->image->catalog;
	struct sql_rows *steps =
		region_take0(m->scratch, (c->step_count + 1) * sizeof *steps);
	struct sql_rows *tables =
		region_take0(m->scratch, (c->table_count + 1) * sizeof *tables);
	struct value *errors =
		region_take0(m->scratch, (c->step_count + 1) * sizeof *errors);
	for (uint32_t i = 0; i < m->answer_count; i++) {
		struct value v = m->answers[i];
		bool step = i < a->step_count;
		uint32_t n = step ? a->steps[i] : i - a->step_count;
		assert(n < (step ? c->step_count : c->table_count));
		if (v.tag == VALUE_RECORD) errors[n] = v.o->items[1];
		for (uint32_t k = 0; v.tag == VALUE_LIST && k < v.o->length;
		     k++) {
			const struct value *row = v.o->items[k].o->items;
			if (step)
				sql_rows_add(m->scratch, &steps[n], row);
			else
				sql_rows_add(m->scratch, &tables[n],
				             sql_columns(x, c->tables[n],
				                         row[0], row[1]));
		}
	}
	x->steps = steps;
	x->tables = tables;
	x->step_errors = errors;
}

static void move_assertion(struct sql_move *m, uint32_t number)
{
	const struct sql_catalog *c = &m->image->catalog;
	const struct sql_assertion *a = &m->image->assertions[number];
	uint32_t tables = m->image->asked.count ? c->table_count : 0;
	uint32_t n = m->answer_count, point = a->query->point;
	static const char undecided[] = "the assertion cannot be decided";
	struct sql_run x = { .region = m->scratch,
		             .inner = sql_inner(),
		             .known = &m->image->known,
		             .gives_up = m->gives_up,
		             .gives_up_data = m->gives_up_data };
	if (n < a->step_count + tables) {
		struct sql_emitted *e = emit(m, GUEST_NOTED, m->from);
		e->step.key =
			n < a->step_count
				? note_key(m,
		                           m->image->step_sessions[a->steps[n]],
		                           c->steps[a->steps[n]].name)
				: note_key(m, "finally",
		                           c->tables[n - a->step_count]->name);
		e->step.point = point;
		if (n < a->step_count)
			e->step.place = m->image->step_places[a->steps[n]];
		e->reads = n + 1;
		return;
	}
	take_notes(m, a, &x);
	struct guest_step *end = &emit(m, GUEST_END, m->from)->step;
	end->point = point;
	end->value = value_bool(false);
	if (!sql_run_statement(&x, a->query)) {
		m->gave_up = x.stop == SQL_GIVES_UP;
		end->findings = wrong(m, point, undecided, x.failure.message,
		                      x.failure.state);
	} else if (x.result.count != 1)
		end->findings =
			wrong(m, point, undecided,
		              x.result.count ? "it has more than one row"
		                             : "it has no row",
		              "");
	else if (sql_is_null(x.result.items[0][0]))
		end->findings = wrong(m, point, undecided, "it is NULL", "");
	else
		end->value = x.result.items[0][0];
}

void sql_move(struct sql_move *m)
{
	uint32_t sessions = m->image->program->sessions_count;
	if (m->session < m->image->session_count)
		move_session(m);
	else if (m->session < sessions)
		move_finally(m);
	else
		move_assertion(m, m->session - sessions);
}
