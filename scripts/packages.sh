# Debian packages that the project needs, and how to get them. Sourced by the
# other scripts; sh with -nt, as dash and bash have it.
# shellcheck shell=dash disable=SC2034,SC2086

# to build and run isoscope
packages_build="gcc libc6-dev make autoconf automake libtool pkg-config
	libjansson-dev libjemalloc-dev libcadical-dev libz3-dev g++
	libffcall-dev libdw-dev libpg-query-dev libgmp-dev libmd-dev"
# to draw a counterexample (explore --svg)
packages_draw="graphviz"
# for pages in a browser; Node.js from elsewhere brings an npm of its own, and
# Debian's cannot stand beside it
packages_node=
command -v npm >/dev/null || packages_node="nodejs npm node-pg"
# to run the tests
packages_test="$packages_build $packages_draw check clang clang-format
	libclang-rt-dev xz-utils parallel jq postgresql-15 postgresql-client-15
	postgresql-server-dev-15 chromium libxml2-utils python3-psycopg2
	python3-django neovim $packages_node"
# to serve clients by every driver
packages_drivers="python3-psycopg python3-asyncpg python3-sqlalchemy
	libpostgresql-jdbc-java libjunixsocket-java default-jdk-headless
	golang-go golang-github-lib-pq-dev ruby-pg ruby-activerecord
	libdbd-pg-perl"
# to run every test
packages_long="valgrind slurmctld slurmd slurm-client munge $packages_drivers"
# to make packages, and to try them out
packages_package="debhelper dpkg-dev patchelf xz-utils"
packages_package_test="lintian debootstrap buildah jq"
# to reproduce the measurements
packages_bench="$packages_build gnuplot-nox time"

# Prints those of the packages that are not installed.
packages_missing() {
	for package_name in "$@"; do
		case $(dpkg-query -W -f='${Status}' "$package_name" \
			2>/dev/null) in
		*' installed') ;;
		*) echo "$package_name" ;;
		esac
	done
}

# Installs those of the packages that are not there yet.
packages_install() {
	if ! command -v dpkg-query >/dev/null; then
		echo "Not a Debian system: install yourself what stands for" \
			"$*" >&2
		return 0
	fi
	package_list=$(packages_missing "$@")
	[ -n "$package_list" ] || return 0
	package_root=
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "These packages are missing, and only root can" \
				"install them:" $package_list >&2
			return 1
		fi
		package_root=sudo
	fi
	echo "Installing" $package_list
	package_log=$(mktemp)
	if $package_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q update >"$package_log" 2>&1 &&
		$package_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q install -y --no-install-recommends $package_list \
		>>"$package_log" 2>&1; then
		rm -f "$package_log"
	else
		cat "$package_log" >&2
		rm -f "$package_log"
		return 1
	fi
}

# Random programs of a suite in the release build of the short run.
programs_release=300

# Prints how many processors there are.
processors() {
	nproc 2>/dev/null || echo 1
}

# Prepares `configure` when it is missing or older than what it is made from.
bootstrap() {
	if [ ! -x configure ] || [ ! -f build-aux/ltmain.sh ] ||
		[ configure.ac -nt configure ] ||
		[ ! -f Makefile.in ] || [ Makefile.am -nt Makefile.in ]; then
		mkdir -p m4
		autoreconf -fi >bootstrap.log 2>&1 || {
			cat bootstrap.log >&2
			return 1
		}
		rm -f bootstrap.log
	fi
}

# build_in FOLDER CONFIGURE-ARGUMENT...: configures and makes, out of tree; of the
# targets those in $build_only, if any.
# Output goes to FOLDER/build.log and is shown when something fails.
build_in() {
	build_folder=$1
	shift
	mkdir -p "$build_folder"
	build_top=$(pwd)
	(
		cd "$build_folder" || exit 1
		if [ ! -f config.status ] ||
			[ "$build_top/configure" -nt config.status ]; then
			"$build_top/configure" "$@" || exit 1
		fi
		make -j"$(processors)" ${build_only-}
	) >"$build_folder/build.log" 2>&1 || {
		tail -n 60 "$build_folder/build.log" >&2
		return 1
	}
}
