#!/bin/bash
# Brings up a real Slurm of several nodes on this machine, as root, from Debian's
# packages (installed if missing), without systemd and without an accounting
# database. Nothing of the machine's own /etc is changed: the daemons and everything
# that they start live in a mount namespace in which /etc/hosts, /etc/passwd and
# /etc/group are copies with the nodes and the jobs' user in them.
#
#   LAB=DIR         where all of it lies (required; down.sh removes it)
#   NODES=3         logical nodes n1..nN, one slurmd each, on 127.0.0.1
#   PORTS=17000     slurmctld's port; slurmd of node K has PORTS+K
#   CPUS=16         what each node claims to have
#   KILLWAIT=8      seconds from Slurm's SIGTERM to its SIGKILL
#   PROCTRACK=linuxproc | pgid | cgroup
#   GRACE=4         GraceTime of partition low, which partition high preempts
#   READABLE=DIRS   directories (by :) that the jobs' user must reach by their own names
#
# Debian's slurmd is built with --enable-multiple-slurmd: each node is a `slurmd -N nK`
# with a port of its own. $LAB/pids holds every daemon with its start time, and
# $LAB/enter runs a command inside.
set -euo pipefail
: "${LAB:?is where the cluster lies}"
NODES=${NODES:-3} PORTS=${PORTS:-17000} CPUS=${CPUS:-16} KILLWAIT=${KILLWAIT:-8} PROCTRACK=${PROCTRACK:-linuxproc} GRACE=${GRACE:-4}
READABLE=${READABLE:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
user=slurmlab uid=24999
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
say() { echo "slurm-up: $*" >&2; }
die() { say "$*"; exit 1; }
[ "$(id -u)" = 0 ] || die "a cluster needs root: it starts daemons that start jobs of another user"

# --- packages, whose own daemons dpkg must not start ------------------------------
packages() {
	local need=() package policy=/usr/sbin/policy-rc.d
	for package in slurmctld slurmd slurm-client munge; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || need+=("$package")
	done
	[ ${#need[@]} -gt 0 ] || return 0
	say "installing ${need[*]}"
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod +x $policy
		trap 'rm -f /usr/sbin/policy-rc.d' RETURN
	fi
	apt-get update -qq >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		-o DPkg::Lock::Timeout=300 "${need[@]}" </dev/null >/dev/null
}

# --- what the namespace sees ------------------------------------------------------
files() {
	local n
	install -d -m 755 "$LAB" "$LAB/etc"
	install -d -m 755 -o slurm -g slurm "$LAB/state" "$LAB/log" "$LAB/run"
	install -d -m 755 -o munge -g munge "$LAB/munge.run"
	install -d -m 700 -o munge -g munge "$LAB/munge"
	install -d -m 700 -o $uid -g $uid "$LAB/home"
	for n in $(seq "$NODES"); do install -d -m 755 "$LAB/spool.n$n"; done
	{ grep -v "^$user:" /etc/passwd; echo "$user:x:$uid:$uid::$LAB/home:/bin/sh"; } >"$LAB/etc/passwd"
	{ grep -v "^$user:" /etc/group; echo "$user:x:$uid:"; } >"$LAB/etc/group"
	{ cat /etc/hosts; echo "127.0.0.1 $(hostname -s)"; for n in $(seq "$NODES"); do echo "127.0.0.1 n$n"; done; } >"$LAB/etc/hosts"
	(umask 077; head -c 128 /dev/urandom >"$LAB/munge/munge.key")
	chown munge:munge "$LAB/munge/munge.key"
	cat >"$LAB/slurm.conf" <<-CONF
		ClusterName=lab
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmUser=slurm
		SlurmdUser=root
		SlurmctldPort=$PORTS
		SlurmdPort=$PORTS
		AuthType=auth/munge
		# A requeued job starts again one second after its old credential is void, by
		# default two minutes; less than 5 s counts as no value.
		AuthInfo=socket=$LAB/munge.run/munge.socket,cred_expire=5
		StateSaveLocation=$LAB/state
		SlurmdSpoolDir=$LAB/spool.%n
		SlurmctldPidFile=$LAB/run/slurmctld.pid
		SlurmdPidFile=$LAB/run/slurmd.%n.pid
		SlurmctldLogFile=$LAB/log/slurmctld.log
		SlurmdLogFile=$LAB/log/slurmd.%n.log
		ProctrackType=proctrack/$PROCTRACK
		TaskPlugin=task/none
		MpiDefault=none
		MpiParams=ports=$((PORTS + 100))-$((PORTS + 299))
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SlurmdParameters=config_overrides
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/none
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=100000,requeue_setup_env_fail
		PriorityType=priority/basic
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE
		KillWait=$KILLWAIT
		KillOnBadExit=0
		RequeueExit=75
		JobRequeue=1
		ReturnToService=2
		SlurmctldTimeout=30
		SlurmdTimeout=60
		MinJobAge=3600
		WaitTime=0
		$(for n in $(seq "$NODES"); do
			echo "NodeName=n$n NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((PORTS + n)) CPUs=$CPUS SocketsPerBoard=1 CoresPerSocket=$CPUS RealMemory=4000 State=UNKNOWN"
		done)
		PartitionName=main Nodes=n[1-$NODES] Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF OverSubscribe=NO
		PartitionName=low Nodes=n[1-$NODES] MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=$GRACE
		PartitionName=high Nodes=n[1-$NODES] MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
	CONF
	: >"$LAB/gres.conf"
	# Where only version 1 is mounted, or both, that is what slurmd can use here.
	local version=cgroup/v1
	[ ! -e /sys/fs/cgroup/cgroup.controllers ] || version=cgroup/v2
	echo "CgroupPlugin=$version" >"$LAB/cgroup.conf"
}

# --- inside the namespace -----------------------------------------------------------
# closed DIR: the first directory on the way there that only its owner may enter.
closed() {
	local part= rest=$1
	while [ -n "$rest" ]; do
		rest=${rest#/}
		part=$part/${rest%%/*}
		case $rest in */*) rest=/${rest#*/} ;; *) rest= ;; esac
		[ $((0$(stat -c %a "$part") & 1)) = 1 ] || { echo "$part"; return; }
	done
}

# reach DIR...: what lies behind a closed directory, as /root is, is bound in an empty
# one of the same name that everybody may enter. A directory that is closed itself stays
# so: its owner means it.
reach() {
	local dir door n=0 doors=
	for dir; do
		mkdir -p "$LAB/kept.$((++n))"
		mount --bind "$dir" "$LAB/kept.$n"
		door=$(closed "$dir")
		[ -z "$door" ] || [ "$door" = "$dir" ] || case " $doors " in *" $door "*) ;; *) doors="$doors $door" ;; esac
	done
	for door in $doors; do mount -t tmpfs -o mode=755 lab "$door"; done
	n=0
	for dir; do
		n=$((n + 1))
		[ -d "$dir" ] && [ "$dir" -ef "$LAB/kept.$n" ] && continue
		mkdir -p "$dir"
		mount --bind "$LAB/kept.$n" "$dir"
	done
}

up() { # NAME COMMAND...: a daemon in a session of its own, which down.sh will find again
	local name=$1 pid
	shift
	setsid env --default-signal=INT,QUIT "$@" </dev/null >>"$LAB/log/$name.out" 2>&1 &
	pid=$!
	sleep 0.2
	[ -r /proc/$pid/stat ] || { tail -5 "$LAB/log/$name.out" >&2; die "$name did not start"; }
	echo "$name $pid $(sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f20)" >>"$LAB/pids"
}

wait_for() { # SECONDS COMMAND...
	local turns=$(($1 * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $((turns--)) -gt 0 ] || return 1
		sleep 0.2
	done
}

all_idle() { [ "$(sinfo -h -p main -t idle -o %D)" = "$NODES" ]; }
munge_answers() { munge -S "$LAB/munge.run/munge.socket" -n | unmunge -S "$LAB/munge.run/munge.socket"; }

inside() {
	local n
	for n in hosts passwd group; do mount --bind "$LAB/etc/$n" /etc/$n; done
	# shellcheck disable=SC2086 # a list
	[ -z "$READABLE" ] || reach ${READABLE//:/ }
	export SLURM_CONF=$LAB/slurm.conf
	: >"$LAB/pids"
	up munged setpriv --reuid=munge --regid=munge --init-groups munged --foreground --force \
		--socket="$LAB/munge.run/munge.socket" --pid-file="$LAB/munge.run/munged.pid" \
		--key-file="$LAB/munge/munge.key" --seed-file="$LAB/munge/munged.seed" --log-file="$LAB/munge/munged.log"
	wait_for 20 munge_answers || die "munge does not answer"
	up slurmctld slurmctld -D -f "$LAB/slurm.conf"
	wait_for 30 scontrol ping || { tail -20 "$LAB/log/slurmctld.log" >&2; die "slurmctld does not answer"; }
	for n in $(seq "$NODES"); do up "slurmd.n$n" slurmd -D -N "n$n" -f "$LAB/slurm.conf"; done
	wait_for 30 all_idle || { sinfo -N -l >&2; tail -20 "$LAB"/log/slurmd.n*.log >&2; die "nodes are not idle"; }
	say "up: $(slurmctld -V), $(sinfo -h -p main -o '%D nodes %N, %c CPUs, %T'), proctrack/$PROCTRACK"
}

if [ "${1:-}" = inside ]; then
	inside
	exit 0
fi
packages
[ ! -s "$LAB/pids" ] || LAB=$LAB "$here/down.sh"
files
cat >"$LAB/enter" <<EOF
#!/bin/sh
# enter [-u] COMMAND...: inside the cluster, with -u as the jobs' user.
who="--reuid=0"
if [ "\$1" = -u ]; then
	shift
	who="--reuid=$uid --regid=$uid --clear-groups"
fi
read -r name pid start <"$LAB/pids"
exec nsenter --target "\$pid" --mount --wd="$LAB/home" -- setpriv \$who env SLURM_CONF="$LAB/slurm.conf" HOME="$LAB/home" "\$@"
EOF
chmod +x "$LAB/enter"
exec unshare --mount --propagation private "$here/up.sh" inside
