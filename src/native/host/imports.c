#include "native/host/imports.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Clocks, and random numbers. */
static const char *const unsteady[] = {
	"time",          "clock",
	"clock_gettime", "gettimeofday",
	"timespec_get",  "ftime",
	"times",         "rand",
	"random",        "drand48",
	"lrand48",       "mrand48",
	"arc4random",    "arc4random_buf",
	"getrandom",     "arc4random_uniform",
	"getentropy",    "_ZNSt13random_device9_M_getvalEv",
	"uuid_generate", "_ZNSt6chrono3_V212system_clock3nowEv",
	"RAND_bytes",    "_ZNSt6chrono3_V212steady_clock3nowEv",
};
enum { UNSTEADY = sizeof unsteady / sizeof *unsteady };

struct file {
	const char *bytes;
	size_t size;
};

/* What lies there, or NULL if that is not in the file, or not aligned. */
static const void *part(const struct file *f, uint64_t at, uint64_t count,
                        uint64_t size)
{
	if (at > f->size || (size && count > (f->size - at) / size))
		return NULL;
	return at % sizeof(ElfW(Word)) ? NULL : f->bytes + at;
}

static bool is_of_here(const ElfW(Ehdr) * h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       h->e_ident[EI_CLASS] ==
	               (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       h->e_ident[EI_DATA] == (__BYTE_ORDER == __LITTLE_ENDIAN
	                                       ? ELFDATA2LSB
	                                       : ELFDATA2MSB) &&
	       h->e_shentsize == sizeof(ElfW(Shdr));
}

/* Notes which of the functions are among the symbols that others define. */
static void find_in(const struct file *f, const ElfW(Shdr) * symbols,
                    const ElfW(Shdr) * names, bool *used)
{
	size_t count = symbols->sh_size / sizeof(ElfW(Sym));
	const ElfW(Sym) *s =
		part(f, symbols->sh_offset, count, sizeof(ElfW(Sym)));
	const char *text = part(f, names->sh_offset, names->sh_size, 1);
	/* A text that ends: all names in it end too. */
	if (!s || !text || !names->sh_size || text[names->sh_size - 1]) return;
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < UNSTEADY; n++)
			used[n] |= s[i].st_shndx == SHN_UNDEF &&
			           s[i].st_name < names->sh_size &&
			           !strcmp(text + s[i].st_name, unsteady[n]);
}

static void find(const struct file *f, bool *used)
{
	const ElfW(Ehdr) *h = part(f, 0, 1, sizeof *h);
	if (!h || !is_of_here(h)) return;
	const ElfW(Shdr) *sections =
		part(f, h->e_shoff, h->e_shnum, sizeof *sections);
	for (size_t i = 0; sections && i < h->e_shnum; i++)
		if (sections[i].sh_type == SHT_DYNSYM &&
		    sections[i].sh_link < h->e_shnum)
			find_in(f, &sections[i], &sections[sections[i].sh_link],
			        used);
}

static void warn(const char *path, const bool *used, struct diags *d)
{
	struct text names = { 0 };
	for (size_t n = 0; n < UNSTEADY; n++) {
		if (!used[n]) continue;
		if (names.length) text_string(&names, ", ");
		/* C++: what it is called before it was mangled */
		text_string(&names, strstr(unsteady[n], "random_device")
		                            ? "std::random_device"
		                    : strstr(unsteady[n], "chrono")
		                            ? "std::chrono"
		                            : unsteady[n]);
	}
	if (names.length)
		diags_add(d, DIAG_WARNING, path, 0, 0, NULL,
		          "it uses %s: what a session does may depend on its "
		          "reads only, not on clocks and random numbers",
		          text_get(&names));
	text_free(&names);
}

void imports_warn(const char *path, struct diags *d)
{
	struct stat s;
	bool used[UNSTEADY] = { false };
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0) return;
	if (!fstat(file, &s) && S_ISREG(s.st_mode) && s.st_size > 0) {
		struct file f = { NULL, (size_t)s.st_size };
		void *p = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, file, 0);
		f.bytes = p;
		if (p != MAP_FAILED) {
			find(&f, used);
			munmap(p, f.size);
		}
	}
	close(file);
	warn(path, used, d);
}
