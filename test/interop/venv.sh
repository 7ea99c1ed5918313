#!/bin/bash
# Makes the Python environment of the interop tests, once, and prints the path
# of its interpreter; everything else goes to stderr.
#
# NeMo Lens asks for Python 3.13. Where the machine has none, Lens is tried with
# an older one all the same, and at last a Debian 13 is made with debootstrap
# (needs root), since a test without the real Lens would prove nothing.
#
#   LENSLAUNCH_PYTHON    try this interpreter first
#   LENSLAUNCH_INTEROP   only this way: venv, ignore or debian
#   XDG_CACHE_HOME       where the environment is kept (several GB: torch)
#
# To get newer versions of the packages, remove the directory it names.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../.." && pwd)
requirements=$here/requirements.txt
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lenslaunch
mkdir -p "$cache"

say() { echo "interop: $*" >&2; }

# --- which interpreter ---------------------------------------------------------

# version_of PYTHON: "3.13.0", or failure if it does not run or cannot make a venv.
version_of() {
	"$1" -c 'import ensurepip, platform, venv; print(platform.python_version())' 2>/dev/null
}

# at_least PYTHON MINOR
at_least() {
	"$1" -c "import sys; sys.exit(sys.version_info < (3, $2))" 2>/dev/null
}

# interpreters MINOR...: what this machine has of Python 3.MINOR.
interpreters() {
	local minor root=
	! command -v pyenv >/dev/null || root=$(pyenv root)
	for minor in "$@"; do
		command -v "python3.$minor" || true
		[ -z "$root" ] || ls -d "$root/versions/3.$minor"[.-]*/bin/python 2>/dev/null || true
	done
}

candidates() {
	[ -z "${LENSLAUNCH_PYTHON:-}" ] || echo "$LENSLAUNCH_PYTHON"
	# The oldest that is new enough comes first: it surely has wheels of torch.
	interpreters 13 14 15 16 17 18 19
	command -v python3 || true
	interpreters 12 11 10
}

# One line for each way to get an environment, the best first: KIND PYTHON VERSION.
ways() {
	local python version
	candidates | while read -r python; do
		version=$(version_of "$python") || continue
		if at_least "$python" 13; then
			echo "1 venv $python $version"
		elif at_least "$python" 10; then # before it there is no torch worth a test
			echo "2 ignore $python $version"
		fi
	done | sort -s -k1,1 | cut -d' ' -f2-
	echo "debian trixie 13"
}

directory_of() {
	local key
	key=$({ cat "$requirements"; echo "$1 $3"; } | sha256sum | cut -c1-16)
	echo "$cache/interop-$key"
}

# --- making it -----------------------------------------------------------------

# install PYTHON REQUIREMENTS: the newest of everything; where the newest torch
# does not install, the newest that does.
install() {
	local python=$1 wanted=$2 version
	"$python" -m pip install --quiet --upgrade pip >&2 || true
	"$python" -m pip install --quiet -r "$wanted" >&2 && return
	for version in $(older_torch "$python"); do
		say "the newest torch does not install: trying $version"
		sed "s/^torch\$/torch==$version/" "$wanted" >"$dir/older.txt"
		"$python" -m pip install --quiet -r "$dir/older.txt" >&2 && return
	done
	return 1
}

older_torch() {
	"$1" -m pip index versions torch 2>/dev/null |
		sed -n 's/^Available versions: //p' | tr -d ' ' | tr ',' '\n' | sed -n '2,4p'
}

make_venv() {
	"$2" -m venv "$dir/venv" >&2
	link_python "$dir/venv/bin/python"
	install "$dir/bin/python" "$requirements"
}

make_ignore() {
	"$2" -m venv "$dir/venv" >&2
	link_python "$dir/venv/bin/python"
	# Lens first, since it may not even compile (0.1.0 does not below 3.12), and
	# that is known in seconds, before torch. Only Lens may ignore what it asks
	# for: with the option, pip would take others that have no wheels for this.
	"$dir/bin/python" -m pip install --quiet opentelemetry-sdk >&2
	"$dir/bin/python" -m pip install --quiet --ignore-requires-python --no-deps nemo-lens >&2
	"$dir/bin/python" -c 'import nemo.lens' >&2
	grep -v '^nemo-lens' "$requirements" >"$dir/others.txt"
	install "$dir/bin/python" "$dir/others.txt"
}

# A link to the interpreter would lose the venv, which it finds by its own path.
link_python() {
	mkdir -p "$dir/bin"
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$1" >"$dir/bin/python"
	chmod +x "$dir/bin/python"
}

make_debian() {
	[ "$(id -u)" = 0 ] || { say "debootstrap needs root"; return 1; }
	if ! command -v debootstrap >/dev/null; then
		{ apt-get update -qq && apt-get install -y -qq debootstrap; } >&2 || return 1
	fi
	# In a mount namespace of its own: what debootstrap mounts goes with it, also
	# when it fails, and a later rm cannot reach this machine's /dev through it.
	unshare --mount debootstrap --variant=minbase \
		--include=python3,python3-venv,ca-certificates \
		"$2" "$dir/root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >&2
	# What this machine needs to reach PyPI, the new root needs too.
	cp -L /etc/resolv.conf "$dir/root/etc/resolv.conf"
	[ ! -e /etc/ssl/certs/ca-certificates.crt ] ||
		cp -L /etc/ssl/certs/ca-certificates.crt "$dir/root/etc/ssl/certs/ca-certificates.crt"
	mkdir -p "$dir/bin"
	write_enter
	"$dir/bin/enter" /usr/bin/python3 -m venv /venv >&2
	printf '#!/bin/sh\nexec "%s" /venv/bin/python "$@"\n' "$dir/bin/enter" >"$dir/bin/python"
	chmod +x "$dir/bin/python"
	install "$dir/bin/python" "$requirements"
}

# bin/enter COMMAND...: runs it inside the root, in place of itself (same pid),
# with the directories that a test uses. The mounts live in a namespace of the
# process's own and go with it.
write_enter() {
	cat >"$dir/bin/enter" <<EOF
#!/bin/sh
exec unshare --mount sh -c '
	set -e
	root=\$1
	shift
	for shared in /proc /dev /tmp "\${TMPDIR:-/tmp}" "\${RESULT_DIR:-/tmp}" "$repository" "$dir"; do
		mkdir -p "\$root\$shared"
		mount --rbind "\$shared" "\$root\$shared"
	done
	exec chroot "\$root" /bin/sh -c "cd \"\\\$0\" 2>/dev/null; exec \"\\\$@\"" "\$PWD" "\$@"
' enter "$dir/root" "\$@"
EOF
	chmod +x "$dir/bin/enter"
}

# What was installed, if all of it can be used.
versions() {
	"$1" - <<'EOF'
import platform, importlib, pkgutil
from importlib.metadata import version
import nemo.lens, opentelemetry.sdk.trace, torch.distributed
# An older Python than Lens asks for may fail in any of its modules.
for name in ("handle", "providers", "config", "resources"):
    importlib.import_module("nemo.lens." + name)
assert torch.distributed.is_gloo_available(), "torch without gloo"
print("Python", platform.python_version())
for name in ("torch", "opentelemetry-sdk", "opentelemetry-exporter-otlp", "nemo-lens", "numpy"):
    print(name, version(name))
EOF
}

# --- one at a time, and never half a directory -----------------------------------

exec 9>"$cache/interop.lock"
if command -v flock >/dev/null; then
	flock 9
fi

mapfile -t all < <(ways | grep "^${LENSLAUNCH_INTEROP:-}")
found=
for way in "${all[@]}"; do
	dir=$(directory_of $way)
	# The interpreter below it may have been removed since.
	if [ -f "$dir/complete" ] && "$dir/bin/python" -c '' 2>/dev/null; then
		found=yes
		break
	fi
done
if [ -z "$found" ]; then
	for way in "${all[@]}"; do
		read -r kind python version <<<"$way"
		dir=$(directory_of $way)
		say "making $dir: $kind with $python ($version); torch takes a while"
		rm -rf --one-file-system "$dir"
		mkdir -p "$dir"
		# `set -e` is off inside a condition: a subshell of its own has it back.
		(
			set -e
			"make_$kind" "$kind" "$python"
			versions "$dir/bin/python" >"$dir/complete.new"
		) 9>&- &
		if wait $!; then
			mv "$dir/complete.new" "$dir/complete"
			found=yes
			break
		fi
		say "$way did not work"
		rm -rf --one-file-system "$dir"
	done
fi
[ -n "$found" ] || { say "no way to a Python with torch and NeMo Lens on this machine"; exit 1; }

say "$dir: $(paste -sd, "$dir/complete" | sed 's/,/, /g')"
echo "$dir/bin/python"
