/* The general log of MySQL and MariaDB: an entry is a time or two tabs, the
 * number of the connection, a command, a tab, and a text that may go on in
 * lines below. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "audit/log.h"
#include "base/memory.h"

enum { ENTRY_MOST = 16 << 20 };

static const char *digits(const char *s)
{
	while (isdigit((unsigned char)*s)) s++;
	return s;
}

static const char *blanks(const char *s)
{
	while (*s == ' ' || *s == '\t') s++;
	return s;
}

/* Past "160718 11:35:02", "2016-11-02T14:43:16.123456Z" or nothing, and a tab;
 * NULL if the line does not begin so. */
static const char *past_time(const char *line)
{
	const char *s = line;
	if (*s == '\t') return s[1] == '\t' ? s + 2 : NULL;
	if (log_begins_with_time(s)) {
		s += strlen("2016-11-02T14:43:16");
		while (*s && !strchr("\t ", *s)) s++;
		return s;
	}
	const char *day = digits(s);
	if (day - s != 6 || *day != ' ') return NULL;
	for (s = day; *s && *s != '\t'; s++)
		if (!strchr(" :0123456789", *s)) return NULL;
	return *s ? s : NULL;
}

static const char *const commands[] = {
	"Query",        "Execute",    "Prepare",     "Connect",
	"Quit",         "Init DB",    "Close stmt",  "Field List",
	"Statistics",   "Ping",       "Change user", "Reset stmt",
	"Long Data",    "Set option", "Fetch",       "Sleep",
	"Refresh",      "Shutdown",   "Processlist", "Connect Out",
	"Kill",         "Debug",      "Time",        "Delayed insert",
	"Binlog Dump",  "Table Dump", "Daemon",      "Register Slave",
	"Create DB",    "Drop DB",    "Error",       "Reset Connection",
	"Bulk_execute",
};

struct mysql_head {
	uint64_t connection;
	const char *command, *text;
};

static bool head_read(const char *line, struct mysql_head *h)
{
	const char *s = past_time(line);
	if (!s) return false;
	s = blanks(s);
	const char *end = digits(s);
	if (end == s || end - s > 19 || *end != ' ') return false;
	h->connection = 0;
	while (s < end)
		h->connection = h->connection * 10 + (unsigned)(*s++ - '0');
	s = blanks(s);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		size_t n = strlen(commands[i]);
		if (strncmp(s, commands[i], n) || (s[n] && s[n] != '\t'))
			continue;
		h->command = commands[i];
		h->text = s[n] ? s + n + 1 : s + n;
		return true;
	}
	return false;
}

bool log_mysql_fits(const char *line)
{
	struct mysql_head h;
	return head_read(line, &h);
}

/* What the server writes when it opens the file. */
static bool is_banner(const char *line)
{
	const char *version = strstr(line, ", Version: ");
	return (version && strchr("./", *line)) ||
	       !strncmp(line, "Tcp port: ", 10) ||
	       !strncmp(line, "TCP Port: ", 10) ||
	       (!strncmp(line, "Time ", 5) && strstr(line, " Id Command")) ||
	       !*blanks(line);
}

struct mysql_entry {
	struct mysql_head head;
	struct text text;
	uint32_t line; /* 0: none was begun */
	bool cut;
};

static void entry_end(struct log_source *s, struct mysql_entry *e)
{
	struct log_entry say = { .session = e->head.connection,
		                 .text = text_get(&e->text),
		                 .length = e->text.length,
		                 .line = e->line };
	if (!e->line) return;
	assert(e->head.command);
	const char *c = e->head.command;
	bool query = !strcmp(c, "Query") || !strcmp(c, "Execute");
	if (!strcmp(c, "Connect") || !strcmp(c, "Quit") ||
	    !strcmp(c, "Change user") || !strcmp(c, "Reset Connection"))
		say.event = LOG_END;
	if (query && e->cut)
		log_skip(s, SKIP_LONG, e->line);
	else if (query || say.event == LOG_END)
		log_say(s, &say);
	e->line = 0;
}

void log_mysql_read(struct log_source *s)
{
	struct mysql_entry e = { 0 };
	struct mysql_head h;
	struct log_line line;
	while (log_next(s, &line)) {
		if (head_read(line.text, &h)) {
			entry_end(s, &e);
			e.head = h;
			e.line = line.number;
			e.cut = line.cut;
			text_clear(&e.text);
			text_bytes(&e.text, h.text,
			           line.length - (size_t)(h.text - line.text));
		} else if (is_banner(line.text) && *blanks(line.text)) {
			entry_end(s, &e);
		} else if (!e.line) {
			if (line.length) log_skip(s, SKIP_STRAY, line.number);
		} else if (e.text.length + line.length > ENTRY_MOST) {
			e.cut = true;
		} else {
			text_char(&e.text, '\n');
			text_bytes(&e.text, line.text, line.length);
			e.cut |= line.cut;
		}
	}
	entry_end(s, &e);
	text_free(&e.text);
	assert(!e.line);
}
