/* What a session is seen to do from a step on: shared by run.c, where SQL of
 * ours is carried out, and clients.c, where a command says what is. */
#ifndef ISO_POSTGRES_RUN_H
#define ISO_POSTGRES_RUN_H

#include "postgres/guest.h"
#include "postgres/wire.h"

struct run {
	struct guest *guest;
	struct seat *seat;
	uint32_t session;
	struct region *to;
	struct server_step_node *first, *last;
	const struct guest_note *notes;
	const struct finding *findings;
	const char *failure;
	struct value answer; /* that leads to the first one */
	struct server_step_node *from;
	bool replays;  /* what is done was seen before */
	bool again;    /* and so is the end: all of it is compared */
	bool frontier; /* it waits for what is not known */
	bool done;
	/* Steps since the last request, before their notes are known. */
	struct server_step_node *open;
	/* The steps that lead there, to compare, and requests among them. */
	const struct server_step_node **known;
	uint32_t known_count, known_at;
	const struct asked_keys **path;
	struct value **path_answers;
	uint32_t path_count, path_at;
	bool broken;
	bool lost;    /* since its backend has died: it may be run again */
	bool repeats; /* something else that is explored */
};

/* Of a session from this step on, with this answer; false: it was given up. */
bool run_begin(struct run *r, struct guest *g, struct server_step_node *from,
               struct value answer, struct region *to);
/* The session waits there itself, and is told; false: it is to begin anew. */
bool run_answer(struct run *r, bool *fine);
void run_find_path(struct run *r, struct value answer);
void run_free_path(struct run *r);
/* A step; NULL: it was seen before, and is the same. */
struct server_step_node *run_emit(struct run *r, enum guest_request kind);
struct server_step_node *run_emit_step(struct run *r, struct guest_step like);
void run_fail(struct run *r, const char *why);
/* Its backend has died. */
void run_lose(struct run *r);
/* server_tries_again() */
bool run_tries_again(struct run *r, uint32_t *tries);
/* What a backend says. */
void run_take_record(struct run *r, const struct wire_head *h,
                     const char *body);
/* What the step at hand has returned is noted. */
void run_note(struct run *r, struct value v);
/* What was emitted since the last read gets its results. */
void run_close_steps(struct run *r);
/* The first of the steps, when all are there; false: NULL is to be returned. */
struct server_step_node *run_done(struct run *r, bool fine);

#endif
