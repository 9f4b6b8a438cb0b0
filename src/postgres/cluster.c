/* Three processes: this one; a keeper, its child (keeper.c); and the server,
 * the keeper's. */
#include "postgres/cluster_parts.h"

#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "postgres/wire.h"

/* A server that does not answer after so many seconds will not. */
enum { PATIENCE = 60 };

static bool find_user(struct cluster *c, struct text *why)
{
	c->user = geteuid();
	c->group = getegid();
	if (c->user) return true;
	const struct passwd *p = getpwnam("postgres");
	if (!p) {
		text_string(why,
		            "PostgreSQL does not run as root, and there is "
		            "no user \"postgres\"");
		return false;
	}
	c->user = p->pw_uid;
	c->group = p->pw_gid;
	c->other = true;
	return true;
}

/* Can the server's user get there? */
static bool is_reached(const struct cluster *c, const char *path)
{
	char part[sizeof c->folder];
	bool fine = true;
	for (size_t i = 1; fine && c->other && path[i - 1]; i++) {
		struct stat s;
		if (path[i] && path[i] != '/') continue;
		snprintf(part, sizeof part, "%.*s", (int)i, path);
		fine = !stat(part, &s) && s.st_mode & S_IXOTH;
	}
	return fine;
}

static bool answers(const struct cluster *c)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	snprintf(to.sun_path, sizeof to.sun_path, "%s/.s.PGSQL.%u", c->folder,
	         cluster_port(c));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool fine = fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to);
	if (fd >= 0) close(fd);
	return fine;
}

/* The postmaster writes there when it takes connections. */
static bool is_ready(const struct cluster *c)
{
	char path[96], buffer[512];
	snprintf(path, sizeof path, "%s/data/postmaster.pid", c->folder);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(buffer, 1, sizeof buffer - 1, f) : 0;
	if (f) fclose(f);
	buffer[n] = 0;
	return strstr(buffer, "\nready") && answers(c);
}

static bool is_interrupted(const struct cluster *c)
{
	const atomic_bool *flag = c->options.interrupt;
	return flag && atomic_load(flag);
}

static bool is_marked_ended(const struct cluster *c)
{
	char ended[96];
	snprintf(ended, sizeof ended, "%s/ended", c->folder);
	return !access(ended, F_OK);
}

static bool wait_for_server(const struct cluster *c)
{
	double until = seconds_now() + PATIENCE;
	while (!is_ready(c)) {
		if (seconds_now() > until || is_interrupted(c) ||
		    is_marked_ended(c))
			return false;
		usleep(5000);
	}
	return true;
}

static bool is_of_full_disk(const char *words)
{
	return strstr(words, strerror(ENOSPC)) || strstr(words, "wrote only");
}

/* How well a line says why. A full disk ends initdb in words that are none of
 * its errors; what comes of it, or is said of tidying up, is not the reason. */
static int says_why(const char *line)
{
	if (is_of_full_disk(line)) return 2;
	if (strstr(line, "could not bind")) return 2;
	return strstr(line, "FATAL") || strstr(line, "PANIC") ||
	       strstr(line, "error");
}

/* Without the time, the process and what initdb was at. */
static const char *its_words(const char *line)
{
	static const char *const marks[] = { "FATAL:  ", "PANIC:  ", "ERROR:  ",
		                             "error: " };
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *at = strstr(line, marks[i]);
		if (at) return at + strlen(marks[i]);
	}
	return line;
}

static void advise(const struct cluster *c, const char *words, struct text *why)
{
	/* Headers call what a server of an earlier minor version lacks. */
	if (strstr(words, "undefined symbol"))
		text_string(why, "\nthis isoscope was built for "
		                 "PostgreSQL " ISO_POSTGRES_VERSION
		                 " and needs it or a later one of its kind; on "
		                 "Debian: apt-get install postgresql-15");
	if (is_of_full_disk(words))
		text_format(why,
		            "\nthe disk of %.*s is full; TMPDIR=FOLDER has "
		            "isoscope use another one",
		            (int)(strrchr(c->folder, '/') - c->folder),
		            c->folder);
}

static FILE *open_log(const struct cluster *c)
{
	char path[96];
	snprintf(path, sizeof path, "%s/log", c->folder);
	return fopen(path, "r");
}

/* The last of the lines that say most. */
static void read_log(const struct cluster *c, char *out, size_t size)
{
	char line[512];
	int most = 0;
	FILE *f = open_log(c);
	while (f && fgets(line, sizeof line, f)) {
		int says = says_why(line);
		if (says >= most) snprintf(out, size, "%s", line);
		if (says > most) most = says;
	}
	if (f) fclose(f);
	out[strcspn(out, "\n")] = 0;
}

/* A signal that has ended it; else what its log says. */
static void tell_why(const struct cluster *c, const char *what,
                     struct text *why)
{
	char path[96], said[512] = "";
	snprintf(path, sizeof path, "%s/ended", c->folder);
	FILE *f = fopen(path, "r");
	if (!f || !fgets(said, sizeof said, f)) read_log(c, said, sizeof said);
	if (f) fclose(f);
	const char *words = its_words(said);
	text_format(why, "%s%s%s", what, *words ? ": " : "", words);
	advise(c, words, why);
}

static bool make_doors(const struct cluster *c)
{
	bool fine = cluster_make_folder(c, "") &&
	            (!c->options.opens ||
	             cluster_make_folder(c, WIRE_DOOR_OF_SETUP)) &&
	            (!c->options.serves ||
	             cluster_make_folder(c, WIRE_DOOR_OF_SERVICE));
	assert(c->options.doors <= CLUSTER_DOORS_MOST);
	for (uint32_t i = 0; i < c->options.doors && fine; i++) {
		char name[16];
		snprintf(name, sizeof name, WIRE_DOOR, i);
		fine = cluster_make_folder(c, name);
	}
	return fine;
}

static bool find_programs(struct text *why)
{
	if (!*ISO_POSTGRES_PROGRAMS)
		text_string(why,
		            "this isoscope was built without PostgreSQL; on "
		            "Debian: apt-get install postgresql-15 "
		            "postgresql-server-dev-15, and build it anew");
	else if (access(ISO_POSTGRES_PROGRAMS "/postgres", X_OK) ||
	         access(ISO_POSTGRES_PROGRAMS "/initdb", X_OK))
		text_string(why, "PostgreSQL is missing: there is no postgres "
		                 "or no initdb in " ISO_POSTGRES_PROGRAMS
		                 "; on Debian: apt-get install postgresql-15");
	else
		return true;
	return false;
}

/* Lists of hosts and of settings, URLs and shells take names of sockets apart
 * at other characters. */
static bool is_plain(const char *path, struct text *why)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:=@~";
	while (*path && (strchr(plain, *path) || *path & 0x80)) path++;
	if (*path)
		text_format(why,
		            "the name of a socket cannot have the character "
		            "'%c'",
		            *path);
	return !*path;
}

/* $TMPDIR, if it is usable, and the path of a socket there is short enough.
 * NULL: it is a mistake. */
static const char *place(const struct cluster *c, struct text *why)
{
	enum { PLACE_MOST = 40 };
	const char *at = getenv("TMPDIR");
	if (!at || !*at) return "/tmp";
	if (access(at, F_OK))
		text_string(why, strerror(errno));
	else if (*at != '/')
		text_string(why, "it does not begin with '/'");
	else if (strlen(at) > PLACE_MOST || !is_reached(c, at))
		return "/tmp";
	else if (is_plain(at, why))
		return at;
	return NULL;
}

static bool make_own_folder(struct cluster *c, struct text *why)
{
	struct text wrong = { 0 };
	const char *at = place(c, &wrong);
	if (at) {
		snprintf(c->folder, sizeof c->folder, "%s/isoscope-XXXXXX", at);
		assert(strlen(c->folder) < sizeof c->folder - 1);
		if (mkdtemp(c->folder)) return true;
		*c->folder = 0;
		text_string(&wrong, strerror(errno));
	} else {
		at = getenv("TMPDIR");
	}
	text_format(why,
	            "cannot make a folder in %s: %s (set TMPDIR to use another "
	            "folder)",
	            at, text_get(&wrong));
	text_free(&wrong);
	return false;
}

static bool start(struct cluster *c, struct text *why)
{
	if (!cluster_start_keeper(c))
		text_format(why, "cannot start PostgreSQL: %s",
		            strerror(errno));
	else if (!make_doors(c))
		text_format(why, "cannot make a folder in %s: %s", c->folder,
		            strerror(errno));
	else if (cluster_make_files(c)) {
		cluster_start_server(c);
		if (wait_for_server(c)) return true;
	}
	if (is_interrupted(c))
		text_string(why, "interrupted while PostgreSQL was started");
	else if (!why->length)
		tell_why(c, "PostgreSQL does not start", why);
	return false;
}

struct cluster *cluster_start(const struct cluster_options *o, struct text *why)
{
	struct cluster *c = mem_take0(1, sizeof *c);
	c->options = *o;
	c->alive = -1;
	if (find_programs(why) && find_user(c, why)) {
		if (o->module && access(o->module, R_OK))
			text_format(why,
			            "%s is missing: install isoscope again",
			            o->module);
		else if (make_own_folder(c, why) && start(c, why)) {
			/* They are the caller's. */
			c->options.module = NULL;
			c->options.interrupt = NULL;
			return c;
		}
	}
	cluster_stop(c);
	return NULL;
}

const char *cluster_module(struct text *t)
{
	char self[1024];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	char *slash = strrchr(self, '/');
	if (slash) {
		*slash = 0;
		text_format(t, "%s/.libs/isoscope-postgres.so", self);
		if (!access(text_get(t), R_OK)) return text_get(t);
		text_clear(t);
		text_format(t, "%s/../lib/isoscope/isoscope-postgres.so", self);
		if (!access(text_get(t), R_OK)) return text_get(t);
		text_clear(t);
	}
	text_string(t, ISO_POSTGRES_MODULE);
	return text_get(t);
}

const char *cluster_folder(const struct cluster *c)
{
	return c->folder;
}

const struct address *cluster_address(const struct cluster *c)
{
	return c->options.address;
}

unsigned cluster_port(const struct cluster *c)
{
	enum { OF_POSTGRES = 5432 };
	return c->options.address ? c->options.address->port : OF_POSTGRES;
}

/* Before it is told to; how, as of waitid(), which leaves it to be waited for.
 */
static bool keeper_has_ended(const struct cluster *c, siginfo_t *how)
{
	*how = (siginfo_t){ 0 };
	return !waitid(P_PID, (id_t)c->keeper, how,
	               WEXITED | WNOHANG | WNOWAIT) &&
	       how->si_pid;
}

bool cluster_has_ended(const struct cluster *c, struct text *why)
{
	siginfo_t keeper;
	if (keeper_has_ended(c, &keeper))
		text_format(why,
		            "PostgreSQL has ended with the process that "
		            "watches over it, which was ended by signal %d "
		            "(%s)",
		            keeper.si_status, strsignal(keeper.si_status));
	else if (is_marked_ended(c))
		tell_why(c, "PostgreSQL has ended", why);
	else
		return false;
	return true;
}

long cluster_log_end(const struct cluster *c)
{
	FILE *f = open_log(c);
	long at = f && !fseek(f, 0, SEEK_END) ? ftell(f) : 0;
	if (f) fclose(f);
	return at;
}

void cluster_tell_deaths(const struct cluster *c, long from, struct text *how)
{
	static const char what[] = "server process (PID ";
	char line[512];
	FILE *f = open_log(c);
	bool fine = f && !fseek(f, from, SEEK_SET);
	while (fine && !how->length && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, what), *was;
		if (!at || !(was = strstr(at, ") was "))) continue;
		text_bytes(how, was + 2, strcspn(was + 2, "\n"));
	}
	if (f) fclose(f);
}

bool cluster_was_lost(const struct cluster *c, struct text *why)
{
	enum { LOOKS = 100, PAUSE = 10000 /* microseconds */ };
	for (int i = 0; i < LOOKS; i++) {
		if (cluster_has_ended(c, why)) return true;
		if (answers(c)) return false;
		usleep(PAUSE);
	}
	return false;
}

void cluster_stop(struct cluster *c)
{
	if (!c) return;
	if (c->alive >= 0) close(c->alive);
	if (c->keeper > 0)
		while (waitpid(c->keeper, NULL, 0) < 0 && errno == EINTR)
			continue;
	if (*c->folder) cluster_remove_folder(c->folder); /* if it could not */
	free(c);
}
