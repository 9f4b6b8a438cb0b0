#!/bin/sh
# What scripts/package makes (in build-package/out, where it has been run): lintian
# finds nothing; the Debian package installs in a system that has nothing else,
# works, and leaves nothing behind; the tar works there from any folder; the
# container works with PostgreSQL. Only root can try this out, on Debian.
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"
out=$top/build-package/out
small=$work/small
programs=usr/share/isoscope/programs

# Mounts are taken back however this ends.
end() {
	umount "$small/proc" 2>/dev/null || :
	rm -rf "$work"
}
trap end EXIT

# in_small COMMAND: run by a shell in the minimal system.
in_small() {
	what=$1
	chroot "$small" sh -c "$1" >out 2>err
	code=$?
}

expect() {
	[ "$code" -eq "$1" ] && pass || fail "exit $code, not $1: $(cat err)"
	[ -z "$2" ] || prints "$2"
}

# All files but those in which the package manager keeps its books.
files() {
	(cd "$small" && find . -xdev \( -path ./proc -o -path ./var/cache \
		-o -path ./var/log -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg -o -path ./tmp \) -prune -o -print |
		sort)
}

if lintian --allow-root --fail-on error,warning "$out"/*.deb >out 2>&1 &&
	! [ -s out ]; then
	pass
else
	fail "lintian: $(cat out)"
fi

debootstrap --variant=minbase bookworm "$small" >debootstrap.log 2>&1 || {
	fail "debootstrap: $(tail -n 3 debootstrap.log)"
	finish
	exit 1
}
# With the updates that every Debian has: PostgreSQL's are among them.
security=bookworm-security
echo "deb http://deb.debian.org/debian-security $security main" \
	>"$small/etc/apt/sources.list.d/security.list"
# That of the container is the same.
image="--root $work/images --runroot $work/run --storage-driver vfs"
# shellcheck disable=SC2086
base=$(buildah $image from scratch) && buildah $image add -q "$base" "$small" / &&
	buildah $image commit -q "$base" docker.io/library/debian:12-slim >id
mount -t proc proc "$small/proc"

# The tar, in a folder with a blank, and through a link.
mkdir "$small/opt/any where"
tar -C "$small/opt/any where" --strip-components=1 -xf "$out"/isoscope-*.tar.xz
ln -s '/opt/any where/bin/isoscope' "$small/usr/local/bin/moved"
in_small "moved explore '/opt/any where/share/isoscope/programs/examples/last-seat.tx' -i cc"
expect 1 'violated: the assertion fails under Causal Consistency (cc)'
in_small "moved prove '/opt/any where/share/isoscope/programs/examples/on-call.tx' -i si"
expect 1 'violated: an execution is not serializable under Snapshot Isolation (si)'
rm -r "$small/opt/any where" "$small/usr/local/bin/moved"

# The Debian package, without PostgreSQL.
files >before
cp "$out"/*.deb "$small/tmp"
apt='DEBIAN_FRONTEND=noninteractive apt-get -qq'
in_small "$apt update"
expect 0 ''
in_small "$apt install -y --no-install-recommends /tmp/*.deb"
expect 0 ''
in_small "isoscope explore /$programs/examples/last-seat.tx -i cc"
expect 1 'violated: the assertion fails under Causal Consistency (cc)'
in_small "isoscope explore --engine=postgres /$programs/sql/on-call.spec"
[ "$code" -eq 3 ] && pass || fail "exit $code without PostgreSQL"
says 'PostgreSQL is missing; on Debian: apt-get install postgresql-15'
in_small "$apt purge -y --auto-remove isoscope libisoscope0 libisoscope-dev"
files >after
equal 'what is left behind' "$(diff before after)" ''

# The container, with it.
# shellcheck disable=SC2086
if buildah $image bud --isolation chroot --pull-never -t isoscope \
	-f Containerfile "$out/container" >out 2>&1; then
	pass
else
	fail "container: $(tail -n 5 out)"
fi
# shellcheck disable=SC2086
box=$(buildah $image from --pull-never isoscope)
what='the container'
# shellcheck disable=SC2086
buildah $image run --isolation chroot "$box" -- isoscope explore \
	--engine=postgres "/$programs/sql/on-call.spec" >out 2>err
code=$?
expect 1 'violated: '
finish
