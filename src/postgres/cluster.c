/* Three processes: this one; a keeper, its child; and the server, the keeper's.
 * The keeper waits until the pipe from this process is closed, however that
 * ends, and then ends the server and removes the folder. The server ends if the
 * keeper does. A prepared cluster is kept among the user's caches, since making
 * one takes a second.
 */
#include "postgres/cluster.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
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

struct cluster {
	char folder[64];
	pid_t keeper;
	int alive; /* the keeper's end of it sees when it is closed */
	uid_t user;
	gid_t group;
	bool other;  /* the server is run by another user: root must not */
	bool serves; /* clients, */
	bool opens;  /* doors, */
	uint32_t doors;
};

/* ---- Commands ---- */

/* In a child: becomes the user that runs the server. */
static void become(const struct cluster *c)
{
	if (!c->other) return;
	if (setgroups(1, &c->group) || setgid(c->group) || setuid(c->user))
		_exit(126);
}

static void direct_output(const struct cluster *c)
{
	char log[96];
	snprintf(log, sizeof log, "%s/log", c->folder);
	int null = open("/dev/null", O_RDONLY);
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (null >= 0) dup2(null, 0);
	if (out >= 0) {
		dup2(out, 1);
		dup2(out, 2);
	}
}

/* Runs a command to its end, as the server's user unless `self`. */
static bool run(const struct cluster *c, bool self, const char *const *words)
{
	int status;
	pid_t parent = getpid(), pid = fork();
	if (pid < 0) return false;
	if (!pid) {
		direct_output(c);
		if (!self) become(c);
		/* Behind the change of user, which undoes it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) _exit(126);
		if (chdir("/")) _exit(126);
		execvp(words[0], (char *const *)words);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void remove_folder(const struct cluster *c, const char *path)
{
	run(c, true, (const char *const[]){ "rm", "-rf", path, NULL });
}

/* ---- The keeper ---- */

static pid_t start_server(const struct cluster *c)
{
	char data[96];
	struct text sockets = { 0 };
	snprintf(data, sizeof data, "%s/data", c->folder);
	text_string(&sockets, c->folder);
	if (c->opens)
		text_format(&sockets, ",%s/" WIRE_DOOR_OF_SETUP, c->folder);
	if (c->serves)
		text_format(&sockets, ",%s/" WIRE_DOOR_OF_SERVICE, c->folder);
	for (uint32_t i = 0; i < c->doors; i++)
		text_format(&sockets, ",%s/" WIRE_DOOR, c->folder, i);
	pid_t parent = getpid(), pid = fork();
	if (pid) {
		text_free(&sockets);
		return pid;
	}
	become(c);
	/* Behind the change of user, which undoes it. */
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	if (getppid() != parent) _exit(1);
	if (chdir(c->folder)) _exit(126);
	/* It looks for its own files beside its name, or along PATH. */
	execl(ISO_POSTGRES_PROGRAMS "/postgres",
	      ISO_POSTGRES_PROGRAMS "/postgres", "-D", data, "-k",
	      text_get(&sockets), (char *)NULL);
	_exit(127);
}

/* A server that is killed leaves it behind, and its number in this file, which
 * one that ends by itself removes. */
static void remove_shared_memory(void)
{
	enum { LINE = 7 };
	FILE *f = fopen("data/postmaster.pid", "r");
	char line[512];
	int n = 0, id;
	while (f && n < LINE && fgets(line, sizeof line, f)) n++;
	if (n == LINE && sscanf(line, "%*u %d", &id) == 1)
		shmctl(id, IPC_RMID, NULL);
	if (f) fclose(f);
}

/* Groups of processes that are adopted. */
struct adopted {
	int *items;
	uint32_t count, capacity;
};

/* A number that has come: of a group, or less than zero to release it. False:
 * the pipe is closed. */
static bool take_number(struct adopted *a, int alive)
{
	int n;
	ssize_t got = read(alive, &n, sizeof n);
	if (got < 0 && errno == EINTR) return true;
	if (got != sizeof n) return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->items[i] == -n) a->items[i--] = a->items[--a->count];
	if (n < 0) return true;
	VEC_RESERVE(a->items, a->count, a->capacity);
	a->items[a->count++] = n;
	return true;
}

static void keep(const struct cluster *c, int alive)
{
	struct adopted adopted = { 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGTERM, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	signal(SIGCHLD, SIG_DFL);
	direct_output(c);
	if (chdir(c->folder)) _exit(1);
	struct pollfd p = { .fd = alive, .events = POLLIN };
	pid_t server = -1;
	char go;
	/* The files are there; or nobody waits for them any more. */
	if (read(alive, &go, 1) == 1) server = start_server(c);
	while (server > 0 && !waitpid(server, NULL, WNOHANG))
		if (poll(&p, 1, 200) > 0 && !take_number(&adopted, alive)) {
			for (uint32_t i = 0; i < adopted.count; i++)
				kill(-adopted.items[i], SIGKILL);
			kill(server, SIGQUIT);
			waitpid(server, NULL, 0);
			break;
		}
	remove_shared_memory();
	/* The folder says why it has ended, until this is closed. */
	int mark = openat(AT_FDCWD, "ended", O_WRONLY | O_CREAT, 0600);
	if (mark >= 0) close(mark);
	while (take_number(&adopted, alive)) continue;
	for (uint32_t i = 0; i < adopted.count; i++)
		kill(-adopted.items[i], SIGKILL);
	if (chdir("/")) _exit(1);
	/* Who was making files there may not have ended yet. */
	for (int i = 0; i < 20 && !access(c->folder, F_OK); i++) {
		if (i) usleep(100000);
		remove_folder(c, c->folder);
	}
	_exit(0);
}

static bool start_keeper(struct cluster *c)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC)) return false;
	c->keeper = fork();
	if (!c->keeper) {
		long most = sysconf(_SC_OPEN_MAX);
		for (int i = 3; i < most && i < 1 << 16; i++)
			if (i != ends[0]) close(i);
		keep(c, ends[0]);
	}
	close(ends[0]);
	c->alive = ends[1];
	return c->keeper > 0;
}

/* ---- The files ---- */

static bool write_settings(const struct cluster *c, bool module)
{
	struct text path = { 0 };
	text_format(&path, "%s/data/postgresql.auto.conf", c->folder);
	FILE *f = fopen(text_get(&path), "w");
	text_free(&path);
	if (!f) return false;
	fputs("listen_addresses = ''\n"
	      "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n"
	      "autovacuum = off\nmax_connections = 500\n"
	      "shared_buffers = 32MB\nmax_wal_size = 64MB\n"
	      "dynamic_shared_memory_type = mmap\n" /* in the folder */
	      "timezone = 'UTC'\nlog_timezone = 'UTC'\n"
	      "wal_level = minimal\nmax_wal_senders = 0\n",
	      f);
	if (!module) return !fclose(f);
	fprintf(f, "shared_preload_libraries = '%s/isoscope.so'\n", c->folder);
	fputs("max_parallel_workers_per_gather = 0\njit = off\n"
	      "plan_cache_mode = force_custom_plan\n"
	      "enable_hashjoin = off\nenable_mergejoin = off\n"
	      "enable_memoize = off\nenable_material = off\n"
	      "enable_bitmapscan = off\n"
	      "join_collapse_limit = 1\nfrom_collapse_limit = 100\n"
	      "geqo = off\n",
	      f);
	return !fclose(f);
}

/* Where a prepared cluster is kept; "": nowhere. */
static void find_cache(struct text *t)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (cache && *cache == '/')
		text_format(t, "%s/isoscope", cache);
	else if (home && *home == '/')
		text_format(t, "%s/.cache/isoscope", home);
}

static bool copy(const struct cluster *c, const char *from, const char *to)
{
	return run(c, true,
	           (const char *const[]){ "cp", "-a", "--reflink=auto", from,
	                                  to, NULL });
}

/* Others may do the same at the same moment: it appears at once. */
static void keep_prepared(const struct cluster *c, const char *data,
                          const char *folder, const char *prepared)
{
	struct text mine = { 0 };
	text_format(&mine, "%s.%d", prepared, (int)getpid());
	if (run(c, true,
	        (const char *const[]){ "mkdir", "-p", "-m", "700", folder,
	                               NULL }) &&
	    (!copy(c, data, text_get(&mine)) ||
	     rename(text_get(&mine), prepared)))
		remove_folder(c, text_get(&mine));
	text_free(&mine);
}

/* The files of an empty cluster, of one database: there is less to copy. */
static bool init_data(const struct cluster *c, const char *data)
{
	struct text drop = { 0 };
	text_format(&drop,
	            "printf '%%s\\n' "
	            "'UPDATE pg_database SET datistemplate = false;' "
	            "'DROP DATABASE template0;' 'DROP DATABASE template1;' "
	            "| " ISO_POSTGRES_PROGRAMS "/postgres --single -F "
	            "-c min_wal_size=2MB -c max_wal_size=2MB -D '%s' postgres",
	            data);
	bool fine =
		run(c, false,
	            (const char *const[]){
			    ISO_POSTGRES_PROGRAMS "/initdb", "-D", data, "-U",
			    "isoscope", "-A", "trust", "--no-locale", "-E",
			    "UTF8", "--no-sync", "--wal-segsize=1", NULL }) &&
		run(c, false,
	            (const char *const[]){ "sh", "-c", text_get(&drop), NULL });
	text_free(&drop);
	return fine;
}

static bool make_data(const struct cluster *c)
{
	struct text folder = { 0 }, prepared = { 0 }, data = { 0 };
	find_cache(&folder);
	text_format(&data, "%s/data", c->folder);
	text_format(&prepared, "%s/postgres-" ISO_POSTGRES_VERSION "-1-%u",
	            text_get(&folder), (unsigned)c->user);
	bool fine = folder.length &&
	            !access(text_get(&prepared), R_OK | X_OK) &&
	            copy(c, text_get(&prepared), text_get(&data));
	if (!fine) {
		remove_folder(c, text_get(&data));
		fine = init_data(c, text_get(&data));
		if (fine && folder.length)
			keep_prepared(c, text_get(&data), text_get(&folder),
			              text_get(&prepared));
	}
	text_free(&folder);
	text_free(&prepared);
	text_free(&data);
	return fine;
}

static bool take_module(const struct cluster *c, const char *module)
{
	struct text to = { 0 };
	text_format(&to, "%s/isoscope.so", c->folder);
	bool fine =
		copy(c, module, text_get(&to)) && !chmod(text_get(&to), 0755);
	text_free(&to);
	return fine;
}

/* ---- The whole ---- */

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
	snprintf(to.sun_path, sizeof to.sun_path, "%s/.s.PGSQL.5432",
	         c->folder);
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

static bool wait_for_server(const struct cluster *c)
{
	double until = seconds_now() + PATIENCE;
	char ended[96];
	snprintf(ended, sizeof ended, "%s/ended", c->folder);
	while (!is_ready(c)) {
		if (seconds_now() > until || !access(ended, F_OK)) return false;
		usleep(5000);
	}
	return true;
}

/* A full disk ends initdb in words that are none of its errors; what it then
 * says of tidying up is not the reason. */
static bool says_why(const char *line)
{
	return strstr(line, "FATAL") || strstr(line, "error") ||
	       strstr(line, strerror(ENOSPC));
}

/* What its log says of it. */
static void tell_log(const struct cluster *c, struct text *why)
{
	char path[96], line[512], last[512] = "";
	snprintf(path, sizeof path, "%s/log", c->folder);
	FILE *f = fopen(path, "r");
	bool fatal = false;
	while (f && fgets(line, sizeof line, f)) {
		bool says = says_why(line);
		if (says || !fatal) strcpy(last, line);
		fatal |= says;
	}
	if (f) fclose(f);
	last[strcspn(last, "\n")] = 0;
	text_format(why, "PostgreSQL does not start%s%s", *last ? ": " : "",
	            last);
	/* Headers call what a server of an earlier minor version lacks. */
	if (strstr(last, "undefined symbol"))
		text_string(why, "\nthis isoscope was built for "
		                 "PostgreSQL " ISO_POSTGRES_VERSION
		                 " and needs it or a later one of its kind; on "
		                 "Debian: apt-get install postgresql-15");
}

static bool make_folder(const struct cluster *c, const char *name)
{
	struct text path = { 0 };
	text_format(&path, "%s%s%s", c->folder, *name ? "/" : "", name);
	const char *at = text_get(&path);
	bool fine = (!*name || !mkdir(at, 0700)) &&
	            (!c->other || !chown(at, c->user, c->group));
	text_free(&path);
	return fine;
}

static bool make_doors(const struct cluster *c)
{
	bool fine = make_folder(c, "") &&
	            (!c->opens || make_folder(c, WIRE_DOOR_OF_SETUP)) &&
	            (!c->serves || make_folder(c, WIRE_DOOR_OF_SERVICE));
	assert(c->doors <= CLUSTER_DOORS_MOST);
	for (uint32_t i = 0; i < c->doors && fine; i++) {
		char name[16];
		snprintf(name, sizeof name, WIRE_DOOR, i);
		fine = make_folder(c, name);
	}
	return fine;
}

static struct cluster *start_cluster(struct cluster *c, const char *module,
                                     struct text *why)
{
	const char *at = getenv("TMPDIR");
	c->alive = -1;
	bool found = find_user(c, why);
	/* The path of a socket is short. */
	if (!at || *at != '/' || strlen(at) > 40 || !is_reached(c, at))
		at = "/tmp";
	snprintf(c->folder, sizeof c->folder, "%s/isoscope-XXXXXX", at);
	if (!*ISO_POSTGRES_PROGRAMS) {
		text_string(why,
		            "this isoscope was built without PostgreSQL; on "
		            "Debian: apt-get install postgresql-15 "
		            "postgresql-server-dev-15, and build it anew");
	} else if (access(ISO_POSTGRES_PROGRAMS "/postgres", X_OK) ||
	           access(ISO_POSTGRES_PROGRAMS "/initdb", X_OK)) {
		text_clear(why);
		text_string(why, "PostgreSQL is missing; on Debian: apt-get "
		                 "install postgresql-15");
	} else if (!found) {
		/* it is told */
	} else if (module && access(module, R_OK)) {
		text_format(why, "%s is missing: install isoscope again",
		            module);
	} else if (!mkdtemp(c->folder)) {
		text_format(why, "cannot make a folder in %s: %s", at,
		            strerror(errno));
	} else {
		bool fine = make_doors(c);
		assert(strlen(c->folder) < sizeof c->folder - 1);
		fine = start_keeper(c) && fine &&
		       (!module || take_module(c, module)) && make_data(c) &&
		       write_settings(c, module) && write(c->alive, "", 1) == 1;
		if (fine && wait_for_server(c)) return c;
		tell_log(c, why);
		cluster_stop(c);
		return NULL;
	}
	free(c);
	return NULL;
}

struct cluster *cluster_start(const char *module, struct text *why)
{
	return start_cluster(mem_take0(1, sizeof(struct cluster)), module, why);
}

struct cluster *cluster_start_with_doors(const char *module, uint32_t doors,
                                         struct text *why)
{
	struct cluster *c = mem_take0(1, sizeof *c);
	c->opens = true;
	c->doors = doors;
	return start_cluster(c, module, why);
}

struct cluster *cluster_start_to_serve(const char *module, struct text *why)
{
	struct cluster *c = mem_take0(1, sizeof *c);
	c->opens = c->serves = true;
	return start_cluster(c, module, why);
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

static void tell_keeper(struct cluster *c, int number)
{
	while (write(c->alive, &number, sizeof number) < 0 && errno == EINTR)
		continue;
}

void cluster_adopt(struct cluster *c, int group)
{
	assert(group > 1);
	tell_keeper(c, group);
}

void cluster_release(struct cluster *c, int group)
{
	assert(group > 1);
	tell_keeper(c, -group);
}

void cluster_stop(struct cluster *c)
{
	if (!c) return;
	if (c->alive >= 0) close(c->alive);
	if (c->keeper > 0)
		while (waitpid(c->keeper, NULL, 0) < 0 && errno == EINTR)
			continue;
	remove_folder(c, c->folder); /* if the keeper could not */
	free(c);
}
