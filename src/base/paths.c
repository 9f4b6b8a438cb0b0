#include "base/paths.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

void path_folder(struct text *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		text_char(t, '.');
	else if (slash == path)
		text_char(t, '/');
	else
		text_bytes(t, path, (size_t)(slash - path));
}

bool path_exists(const char *path)
{
	return !access(path, F_OK);
}

/* Could a file be made in its folder? */
static bool folder_is_writable(const char *path)
{
	struct text folder = { 0 };
	path_folder(&folder, path);
	bool fine = !access(text_get(&folder), W_OK | X_OK);
	text_free(&folder);
	return fine;
}

bool path_is_writable(const char *path)
{
	struct stat what;
	assert(path);
	if (stat(path, &what))
		return errno == ENOENT && *path && folder_is_writable(path);
	if (!S_ISDIR(what.st_mode)) return !access(path, W_OK);
	errno = EISDIR;
	return false;
}
