/* The files of a private PostgreSQL, which it runs commands to make. A prepared
 * cluster is kept among the user's caches, since making one takes a second. */
#include "postgres/cluster_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a prepared cluster: how long it is. */
#define MEASURE "isoscope-measure"

/* ---- Commands ---- */

void cluster_become_user(const struct cluster *c)
{
	if (!c->other) return;
	if (setgroups(1, &c->group) || setgid(c->group) || setuid(c->user))
		_exit(126);
}

void cluster_direct_output(const struct cluster *c)
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

static void run_child(const struct cluster *c, bool self, pid_t parent,
                      const char *const *words)
{
	/* Ctrl-C is not for it. */
	setpgid(0, 0);
	cluster_direct_output(c);
	if (!self) cluster_become_user(c);
	/* Behind the change of user, which undoes it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) _exit(126);
	if (chdir("/")) _exit(126);
	execvp(words[0], (char *const *)words);
	dprintf(2, "error: cannot run '%s': %s\n", words[0], strerror(errno));
	_exit(127);
}

static bool is_interrupted(const atomic_bool *flag)
{
	return flag && atomic_load(flag);
}

/* What it has started itself ends with it. */
static void await_end(pid_t pid, const atomic_bool *interrupt)
{
	struct pollfd p = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	while (interrupt && p.fd >= 0 && !is_interrupted(interrupt) &&
	       poll(&p, 1, 100) <= 0)
		continue;
	if (p.fd >= 0) close(p.fd);
	if (is_interrupted(interrupt)) kill(-pid, SIGKILL);
}

/* Runs a command to its end, as the server's user unless `self`. */
static bool run(const struct cluster *c, bool self, const char *const *words)
{
	int status;
	const atomic_bool *interrupt = c->options.interrupt;
	if (is_interrupted(interrupt)) return false;
	pid_t parent = getpid(), pid = fork();
	if (pid < 0) return false;
	if (!pid) run_child(c, self, parent, words);
	setpgid(pid, pid); /* whoever comes first */
	cluster_adopt(c, pid);
	await_end(pid, interrupt);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) return false;
	cluster_release(c, pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- Folders ---- */

static FTS *open_tree(const char *path)
{
	return fts_open((char *const[]){ (char *)path, NULL },
	                FTS_PHYSICAL | FTS_NOCHDIR, NULL);
}

static void remove_tree(const char *path)
{
	FTS *tree = open_tree(path);
	const FTSENT *e;
	while (tree && (e = fts_read(tree)))
		/* Of a folder it comes twice: at last it is empty. */
		if (e->fts_info != FTS_D) (void)remove(e->fts_accpath);
	if (tree) fts_close(tree);
}

void cluster_remove_folder(const char *path)
{
	enum { TRIES = 20, PAUSE = 100000 /* microseconds */ };
	/* Who was making files there may not have ended yet. */
	for (int i = 0; i < TRIES && !access(path, F_OK); i++) {
		if (i) usleep(PAUSE);
		remove_tree(path);
	}
}

/* How many files there are in a folder and below, and how long they are. */
static void measure(const char *path, struct text *out)
{
	FTS *tree = open_tree(path);
	const FTSENT *e;
	unsigned long long files = 0, bytes = 0;
	while (tree && (e = fts_read(tree)))
		if (e->fts_info == FTS_F && strcmp(e->fts_name, MEASURE)) {
			files++;
			bytes += (unsigned long long)e->fts_statp->st_size;
		}
	if (tree) fts_close(tree);
	text_format(out, "%llu files, %llu bytes\n", files, bytes);
}

static FILE *open_measure(const char *folder, const char *mode)
{
	struct text path = { 0 };
	text_format(&path, "%s/" MEASURE, folder);
	FILE *f = fopen(text_get(&path), mode);
	text_free(&path);
	return f;
}

static bool write_measure(const char *folder)
{
	struct text now = { 0 };
	measure(folder, &now);
	FILE *f = open_measure(folder, "w");
	bool fine = f && fputs(text_get(&now), f) >= 0;
	if (f) fine &= !fclose(f);
	text_free(&now);
	return fine;
}

/* Is it as it was when it was measured? */
static bool is_whole(const char *folder)
{
	char was[80] = "";
	struct text now = { 0 };
	FILE *f = open_measure(folder, "r");
	measure(folder, &now);
	bool fine =
		f && fgets(was, sizeof was, f) && !strcmp(was, text_get(&now));
	if (f) fclose(f);
	text_free(&now);
	return fine;
}

/* ---- The files ---- */

bool cluster_make_folder(const struct cluster *c, const char *name)
{
	struct text path = { 0 };
	text_format(&path, "%s%s%s", c->folder, *name ? "/" : "", name);
	const char *at = text_get(&path);
	bool fine = (!*name || !mkdir(at, 0700)) &&
	            (!c->other || !chown(at, c->user, c->group));
	text_free(&path);
	return fine;
}

static bool write_settings(const struct cluster *c)
{
	struct text path = { 0 };
	text_format(&path, "%s/data/postgresql.auto.conf", c->folder);
	FILE *f = fopen(text_get(&path), "w");
	text_free(&path);
	if (!f) return false;
	const struct address *a = c->options.address;
	fprintf(f, "listen_addresses = '%s'\nport = %u\n", a ? a->host : "",
	        cluster_port(c));
	fputs("fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n"
	      "autovacuum = off\nmax_connections = 500\n"
	      "shared_buffers = 32MB\nmax_wal_size = 64MB\n"
	      "dynamic_shared_memory_type = mmap\n" /* in the folder */
	      "timezone = 'UTC'\nlog_timezone = 'UTC'\n"
	      "wal_level = minimal\nmax_wal_senders = 0\n",
	      f);
	if (!c->options.module) return !fclose(f);
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

/* In place of one that is damaged, if there is one. Others may do the same at
 * the same moment: it appears at once. */
static void keep_prepared(const struct cluster *c, const char *data,
                          const char *folder, const char *prepared)
{
	struct text mine = { 0 };
	text_format(&mine, "%s.%d", prepared, (int)getpid());
	const char *from = text_get(&mine);
	if (run(c, true,
	        (const char *const[]){ "mkdir", "-p", "-m", "700", folder,
	                               NULL }) &&
	    write_measure(data) && copy(c, data, from)) {
		if (rename(from, prepared)) cluster_remove_folder(prepared);
		(void)rename(from, prepared);
	}
	cluster_remove_folder(from);
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
		cluster_make_folder(c, "data") &&
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
	            copy(c, text_get(&prepared), text_get(&data)) &&
	            is_whole(text_get(&data));
	if (!fine) {
		cluster_remove_folder(text_get(&data));
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

static bool take_module(const struct cluster *c)
{
	struct text to = { 0 };
	text_format(&to, "%s/isoscope.so", c->folder);
	bool fine = copy(c, c->options.module, text_get(&to)) &&
	            !chmod(text_get(&to), 0755);
	text_free(&to);
	return fine;
}

/* By TCP only those who know the password. */
static bool write_access(const struct cluster *c)
{
	struct text path = { 0 };
	text_format(&path, "%s/data/pg_hba.conf", c->folder);
	FILE *f = fopen(text_get(&path), "w");
	text_free(&path);
	if (!f) return false;
	fputs("local all all trust\nhost all all all scram-sha-256\n", f);
	return !fclose(f);
}

bool cluster_make_files(const struct cluster *c)
{
	return (!c->options.module || take_module(c)) && make_data(c) &&
	       write_settings(c) && write_access(c);
}
