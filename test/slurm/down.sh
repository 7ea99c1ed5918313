#!/bin/bash
# Stops exactly what up.sh has started in $LAB: its jobs, then its daemons, each by
# pid and start time, so that nobody who got a pid since is touched; then removes LAB.
#   KEEP=1   keeps it: logs and state
set -uo pipefail
: "${LAB:?is where the cluster lies}"
say() { echo "slurm-down: $*" >&2; }
[ -d "$LAB" ] || exit 0
[ "$(id -u)" = 0 ] || { say "must be root"; exit 1; }
left=0
alive() { [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20)" = "$2" ] && [ "$(sed 's/.*) //' "/proc/$1/stat" | cut -c1)" != Z ]; }
slurm() { timeout 5 "$LAB/enter" "$@" 2>/dev/null; }

if [ -s "$LAB/pids" ] && slurm scontrol ping | grep -q UP; then
	jobs=$(slurm squeue -h -r -o %A | sort -u)
	if [ -n "$jobs" ]; then
		slurm scancel --signal=KILL $jobs
		slurm scancel $jobs
		for _ in $(seq 75); do
			[ -n "$(slurm squeue -h)" ] || break
			sleep 0.2
		done
	fi
fi
# What a dead slurmd has left: every process that one of our slurmds has started still
# has our configuration in its environment.
for environ in /proc/[0-9]*/environ; do
	pid=${environ//[^0-9]/}
	env=$( (tr '\0' '\n' <"$environ") 2>/dev/null) || continue
	if grep -qxF "SLURM_CONF=$LAB/slurm.conf" <<<"$env" && grep -q '^SLURMD_NODENAME=' <<<"$env"; then
		say "left over: $pid $( (tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c1-80) 2>/dev/null)"
		kill -KILL "$pid" 2>/dev/null
		left=1
	fi
done
if [ -s "$LAB/pids" ]; then
	while read -r name pid start; do
		alive "$pid" "$start" || continue
		kill -TERM "$pid"
		for _ in $(seq 50); do
			alive "$pid" "$start" || break
			sleep 0.1
		done
		if alive "$pid" "$start"; then
			say "$name ($pid) needed SIGKILL"
			kill -KILL "$pid"
		fi
	done < <(tac "$LAB/pids")
	: >"$LAB/pids"
fi
# Control groups of our nodes, once they are empty.
for group in /sys/fs/cgroup/*/slurm_n[0-9]* /sys/fs/cgroup/system.slice/slurmstepd.scope; do
	[ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
done
[ "${KEEP:-0}" = 1 ] || rm -rf --one-file-system -- "$LAB"
exit "$left"
