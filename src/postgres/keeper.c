/* A child of ours that waits until the pipe from us is closed, however we end,
 * and then ends the server, its own child, and removes what that leaves behind.
 * The server ends if the keeper does.
 */
#include "postgres/cluster_parts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "postgres/wire.h"

static pid_t start_server(const struct cluster *c)
{
	const struct cluster_options *o = &c->options;
	char data[96];
	struct text sockets = { 0 };
	snprintf(data, sizeof data, "%s/data", c->folder);
	text_string(&sockets, c->folder);
	if (o->opens)
		text_format(&sockets, ",%s/" WIRE_DOOR_OF_SETUP, c->folder);
	if (o->serves)
		text_format(&sockets, ",%s/" WIRE_DOOR_OF_SERVICE, c->folder);
	for (uint32_t i = 0; i < o->doors; i++)
		text_format(&sockets, ",%s/" WIRE_DOOR, c->folder, i);
	pid_t parent = getpid(), pid = fork();
	if (pid) {
		text_free(&sockets);
		return pid;
	}
	cluster_become_user(c);
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

/* ---- Shared memory ---- */

/* What a server of PostgreSQL 15 has at its beginning: which files it is of. */
struct shared_header {
	int32_t magic;
	pid_t creator;
	size_t size, free;
	uint32_t control;
	void *index;
	dev_t device;
	ino_t inode;
};

static bool is_of(int id, const struct stat *data)
{
	const struct shared_header *h = shmat(id, NULL, SHM_RDONLY);
	if (h == (void *)-1) return false;
	bool is = h->device == data->st_dev && h->inode == data->st_ino;
	shmdt(h);
	return is;
}

/* A server that is killed leaves it behind, and so does one that panics while
 * initdb makes the files, which then removes the note of it. */
static void remove_shared_memory(const struct cluster *c,
                                 const struct stat *data)
{
	struct shm_info info;
	struct shmid_ds s;
	int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);
	for (int i = 0; i <= last; i++) {
		int id = shmctl(i, SHM_STAT, &s);
		if (id >= 0 && s.shm_perm.uid == c->user &&
		    s.shm_segsz == sizeof(struct shared_header) &&
		    is_of(id, data))
			shmctl(id, IPC_RMID, NULL);
	}
}

/* ---- Numbers through the pipe ---- */

/* Groups of processes that are adopted. */
struct adopted {
	int *items;
	uint32_t count, capacity;
};

enum word { WORD_NONE, WORD_GO, WORD_GROUP };

/* What has come: of a group its number, less than zero to release it; 0 is to
 * start the server. None: the pipe is closed. */
static enum word take_word(struct adopted *a, int alive)
{
	int n;
	ssize_t got = read(alive, &n, sizeof n);
	if (got < 0 && errno == EINTR) return WORD_GROUP;
	if (got != sizeof n) return WORD_NONE;
	if (!n) return WORD_GO;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->items[i] == -n) a->items[i--] = a->items[--a->count];
	if (n < 0) return WORD_GROUP;
	VEC_RESERVE(a->items, a->count, a->capacity);
	a->items[a->count++] = n;
	return WORD_GROUP;
}

static void tell_keeper(const struct cluster *c, int number)
{
	/* The keeper itself has none. */
	while (c->alive >= 0 && write(c->alive, &number, sizeof number) < 0 &&
	       errno == EINTR)
		continue;
}

void cluster_start_server(struct cluster *c)
{
	tell_keeper(c, 0);
}

void cluster_adopt(const struct cluster *c, int group)
{
	assert(group > 1);
	tell_keeper(c, group);
}

void cluster_release(const struct cluster *c, int group)
{
	assert(group > 1);
	tell_keeper(c, -group);
}

/* ---- The process ---- */

static void kill_adopted(const struct adopted *a)
{
	for (uint32_t i = 0; i < a->count; i++) kill(-a->items[i], SIGKILL);
}

static void heed_nothing(void)
{
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
	/* That ends the server, even before it heeds it. Who was started in
	 * the background by a shell has it ignored. */
	signal(SIGQUIT, SIG_DFL);
}

/* Until it ends, or is to: returns how it has ended by itself, as of waitpid();
 * 0 else. */
static int watch_server(const struct cluster *c, struct adopted *adopted,
                        int alive)
{
	struct pollfd p = { .fd = alive, .events = POLLIN };
	enum word word = WORD_GROUP;
	/* The files are there; or nobody waits for them any more. */
	while (word == WORD_GROUP) word = take_word(adopted, alive);
	if (word == WORD_NONE) return 0;
	int status = 0;
	pid_t server = start_server(c);
	while (server > 0 && !waitpid(server, &status, WNOHANG))
		if (poll(&p, 1, 200) > 0 && !take_word(adopted, alive)) {
			kill_adopted(adopted);
			kill(server, SIGQUIT);
			waitpid(server, NULL, 0);
			return 0;
		}
	return status;
}

static void keep(const struct cluster *c, int alive)
{
	struct adopted adopted = { 0 };
	struct stat data;
	heed_nothing();
	cluster_direct_output(c);
	if (chdir(c->folder)) _exit(1);
	int status = watch_server(c, &adopted, alive);
	/* The folder says why it has ended, until this is closed. */
	int mark = openat(AT_FDCWD, "ended", O_WRONLY | O_CREAT, 0600);
	if (mark >= 0 && WIFSIGNALED(status))
		dprintf(mark, "it was ended by signal %d (%s)",
		        WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (mark >= 0) close(mark);
	while (take_word(&adopted, alive)) continue;
	kill_adopted(&adopted);
	bool made = !stat("data", &data);
	if (chdir("/")) _exit(1);
	if (made) remove_shared_memory(c, &data);
	cluster_remove_folder(c->folder);
	if (made) remove_shared_memory(c, &data);
	_exit(0);
}

bool cluster_start_keeper(struct cluster *c)
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
