#include "lsp/rpc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum {
	MESSAGE_MOST = 64 << 20, /* bytes */
	HEADER_MOST = 4096
};

static void drop(struct text *t, size_t count)
{
	assert(count <= t->length);
	if (!count) return;
	memmove(t->data, t->data + count, t->length - count);
	t->length -= count;
	t->data[t->length] = '\0';
}

/* The length that the headers name; false if they name none. */
static bool read_length(const char *head, size_t size, size_t *out)
{
	static const char name[] = "Content-Length:";
	bool found = false;
	while (size) {
		const char *end = memchr(head, '\n', size);
		size_t line = end ? (size_t)(end - head) + 1 : size;
		if (line > sizeof name &&
		    !strncasecmp(head, name, sizeof name - 1)) {
			char *rest;
			const char *at = head + sizeof name - 1;
			at += strspn(at, " \t");
			*out = strtoul(at, &rest, 10);
			found = *at >= '0' && *at <= '9' &&
			        (*rest == '\r' || *rest == '\n');
		}
		head += line;
		size -= line;
	}
	return found;
}

/* Behind the empty line; 0: it has not come. */
static size_t head_end(const struct text *t)
{
	const char *crlf = strstr(text_get(t), "\r\n\r\n");
	const char *lf = strstr(text_get(t), "\n\n");
	size_t a = crlf ? (size_t)(crlf - t->data) + 4 : 0;
	size_t b = lf ? (size_t)(lf - t->data) + 2 : 0;
	return a && b ? (a < b ? a : b) : a + b;
}

static void skip_some(struct rpc_input *in)
{
	size_t n = in->skip < in->bytes.length ? in->skip : in->bytes.length;
	drop(&in->bytes, n);
	in->skip -= n;
}

static enum rpc_kind broken(const char **why, const char *words)
{
	*why = words;
	return RPC_BROKEN;
}

enum rpc_kind rpc_next(struct rpc_input *in, json_t **out, const char **why)
{
	size_t length = 0;
	skip_some(in);
	if (in->skip || !in->bytes.length) return RPC_NOTHING;
	/* A zero byte would hide what comes behind it. */
	size_t head = head_end(&in->bytes);
	if (!head && (in->bytes.length > HEADER_MOST ||
	              strlen(in->bytes.data) < in->bytes.length)) {
		text_clear(&in->bytes);
		return broken(why, "headers without an end");
	}
	if (!head) return RPC_NOTHING;
	if (!read_length(in->bytes.data, head, &length)) {
		drop(&in->bytes, head);
		return broken(why, "headers without Content-Length");
	}
	if (length > MESSAGE_MOST) {
		drop(&in->bytes, head);
		in->skip = length;
		skip_some(in);
		return broken(why, "a message of more than 64 MiB");
	}
	if (in->bytes.length - head < length) return RPC_NOTHING;
	json_error_t e;
	*out = json_loadb(in->bytes.data + head, length,
	                  JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);
	drop(&in->bytes, head + length);
	return *out ? RPC_MESSAGE : broken(why, "a message that is not JSON");
}

void rpc_put(struct text *out, json_t *message)
{
	char *words = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	if (!words) return; /* no memory */
	text_format(out, "Content-Length: %zu\r\n\r\n", strlen(words));
	text_string(out, words);
	free(words);
}

void rpc_answer(struct text *out, const json_t *id, json_t *result)
{
	rpc_put(out, json_pack("{sssOso}", "jsonrpc", "2.0", "id", id, "result",
	                       result ? result : json_null()));
}

void rpc_refuse(struct text *out, const json_t *id, enum rpc_error code,
                const char *why)
{
	json_t *none = json_null();
	rpc_put(out, json_pack("{sssOs{siss}}", "jsonrpc", "2.0", "id",
	                       id ? id : none, "error", "code", (int)code,
	                       "message", why));
}
