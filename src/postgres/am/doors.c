/* Whose client it is that connects: each session that is a command has a folder
 * with a socket of its own, since that is what every driver heeds. */
#include "postgres/am/backend.h"

/* What is wanted of a Port stands before what these add, and their headers need
 * not be installed. */
#undef ENABLE_GSS
#undef USE_OPENSSL

#include <sys/un.h>
#include <unistd.h>

#include <libpq/auth.h>
#include <libpq/libpq-be.h>
#include <miscadmin.h>
#include <port.h>
#include <utils/guc.h>

bool iso_client, iso_serves;
static ClientAuthentication_hook_type next_authentication;

static void take_session(const char *folder, unsigned session)
{
	char *socket = psprintf("%s/" WIRE_CLIENTS, folder);
	iso_client = true;
	iso_session = (int)session;
	iso_socket = MemoryContextStrdup(TopMemoryContext, socket);
	pfree(socket);
}

static void set(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_USERSET, PGC_S_DATABASE);
}

static void enter_setup(void)
{
	set("default_table_access_method", "isoscope");
	/* It outlasts a backend that dies. */
	set("synchronous_commit", "on");
}

static void enter_service(const char *folder)
{
	iso_serves = true;
	set("synchronous_commit", "on"); /* sequences */
	take_session(folder, 0);
	/* What commits before a client connects is over for it. */
	channel_open();
}

/* The folder of the server has its files in "data". */
static void enter_by_network(void)
{
	char folder[MAXPGPATH], sealed[MAXPGPATH];
	strlcpy(folder, DataDir, sizeof folder);
	get_parent_directory(folder);
	join_path_components(sealed, folder, WIRE_SEALED);
	if (access(sealed, F_OK))
		enter_setup();
	else
		enter_service(folder);
}

/* "FOLDER/s3/.s.PGSQL.5432" is the door of session 3. */
static void enter(Port *port, int status)
{
	const struct sockaddr_un *at =
		(const struct sockaddr_un *)&port->laddr.addr;
	char path[MAXPGPATH];
	unsigned session;
	if (next_authentication) next_authentication(port, status);
	if (status != STATUS_OK) return;
	if (at->sun_family != AF_UNIX) {
		enter_by_network();
		return;
	}
	strlcpy(path, at->sun_path, sizeof path);
	char *slash = strrchr(path, '/');
	if (slash) *slash = 0;
	char *door = strrchr(path, '/');
	if (!door) return;
	*door++ = 0;
	if (!strcmp(door, WIRE_DOOR_OF_SETUP))
		enter_setup();
	else if (sscanf(door, WIRE_DOOR, &session) == 1)
		take_session(path, session);
	else if (!strcmp(door, WIRE_DOOR_OF_SERVICE))
		enter_service(path);
}

void doors_init(void)
{
	next_authentication = ClientAuthentication_hook;
	ClientAuthentication_hook = enter;
}
