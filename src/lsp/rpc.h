/* Messages of the Language Server Protocol 3.17 on a stream: headers, an empty
 * line, and JSON. */
#ifndef ISO_LSP_RPC_H
#define ISO_LSP_RPC_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

/* Codes of JSON-RPC 2.0 and of the protocol. */
enum rpc_error {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_UNKNOWN = -32601,
	RPC_PARAMS = -32602,
	RPC_NOT_INITIALIZED = -32002
};

/* What has come, and is not a whole message yet. */
struct rpc_input {
	struct text bytes; /* owned */
	size_t skip;       /* of a message that is too large */
};

enum rpc_kind {
	RPC_NOTHING, /* more has to come */
	RPC_MESSAGE,
	RPC_BROKEN /* what is no message; `why` says so */
};

/* Takes the next message. */
enum rpc_kind rpc_next(struct rpc_input *in, json_t **out, const char **why);
/* Adds a message to what is to be written; takes the object over. */
void rpc_put(struct text *out, json_t *message);
/* An answer; takes the result over. `id` is borrowed. */
void rpc_answer(struct text *out, const json_t *id, json_t *result);
void rpc_refuse(struct text *out, const json_t *id, enum rpc_error code,
                const char *why);

#endif
