#include "cli/cores.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* The kernel refuses a set that is too small for the machine. */
static unsigned cores_scheduled(void)
{
	for (int room = 1024; room <= 1 << 20; room *= 2) {
		cpu_set_t *set = CPU_ALLOC(room);
		size_t size = CPU_ALLOC_SIZE(room);
		if (!set) break;
		bool fine = !sched_getaffinity(0, size, set);
		int count = fine ? CPU_COUNT_S(size, set) : 0;
		CPU_FREE(set);
		if (count > 0) return (unsigned)count;
	}
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

/* "max 100000" or "150000 100000": microseconds, in each period of so many.
 * (Linux, Documentation/admin-guide/cgroup-v2.rst: cpu.max) */
static double quota_of(const char *folder)
{
	struct text path = { 0 };
	double quota, period, cores = INFINITY;
	text_format(&path, "/sys/fs/cgroup%s/cpu.max", folder);
	FILE *f = fopen(text_get(&path), "re");
	if (f && fscanf(f, "%lf %lf", &quota, &period) == 2 && quota > 0 &&
	    period > 0)
		cores = quota / period;
	if (f) fclose(f);
	text_free(&path);
	return cores;
}

/* The folder of this process below the root of control groups: "/user/x" */
static bool group_of(char folder[PATH_MAX])
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	bool found = false;
	if (!f) return false;
	while (!found && fgets(folder, PATH_MAX, f)) {
		folder[strcspn(folder, "\n")] = '\0';
		found = !strncmp(folder, "0::/", 4);
	}
	fclose(f);
	if (found) memmove(folder, folder + 3, strlen(folder + 3) + 1);
	return found;
}

/* The least of the group and of all above it. */
static double cores_granted(void)
{
	char folder[PATH_MAX];
	double least = INFINITY;
	if (!group_of(folder)) return least;
	for (;;) {
		least = fmin(least, quota_of(folder));
		char *slash = strrchr(folder, '/');
		if (!slash) return least;
		*slash = '\0';
	}
}

/* Built in, or brought along by LD_PRELOAD. */
static bool has_address_sanitizer(void)
{
	return dlsym(RTLD_DEFAULT, "__asan_init");
}

unsigned cores_usable(void)
{
	if (has_address_sanitizer()) return 1;
	unsigned cores = cores_scheduled();
	assert(cores);
	double granted = ceil(cores_granted());
	if (granted < 1) granted = 1;
	assert(granted >= 1);
	return granted < cores ? (unsigned)granted : cores;
}
