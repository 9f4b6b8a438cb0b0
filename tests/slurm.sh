#!/bin/sh
# scripts/slurm-explore on a Slurm of one node, which is started here: units are
# explored by a job array and merged by a dependent job, a job that comes near
# its time limit goes on where it was, and a second call submits only what is
# left. Skipped (exit code 77) where Slurm is not installed or cannot start; on
# Debian: apt-get install slurmctld slurmd slurm-client munge
. "${srcdir:-$(dirname "$0")/..}/tests/shell.sh"

skip() {
	echo "skipped: $*"
	exit 77
}

for tool in munged mungekey slurmctld slurmd sbatch squeue sinfo scancel \
	scontrol; do
	PATH=$PATH:/usr/sbin:/sbin
	command -v $tool >/dev/null || skip "there is no $tool"
done

# --- a Slurm of its own ---
node=$(hostname -s) port=$((20000 + $$ % 20000))
mkdir state spool
chmod 755 "$work"
SLURM_CONF=$work/slurm.conf
export SLURM_CONF
cat >slurm.conf <<END
ClusterName=isoscope
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=0
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
daemons=
end_slurm() {
	for daemon in $daemons; do kill "$daemon" 2>/dev/null; done
	sleep 0.5
	for daemon in $daemons; do kill -KILL "$daemon" 2>/dev/null; done
	rm -rf "$work"
}
trap end_slurm EXIT

mungekey --create --keyfile="$work/munge.key" >/dev/null 2>&1 ||
	skip 'mungekey makes no key'
munged --foreground --force --key-file="$work/munge.key" \
	--socket="$work/munge.socket" --pid-file="$work/munged.pid" \
	--log-file="$work/munged.log" --seed-file="$work/munged.seed" \
	>/dev/null 2>&1 &
daemons="$daemons $!"

# until_true SECONDS COMMAND...
until_true() {
	seconds=$1
	shift
	while [ "$seconds" -gt 0 ]; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 1
		seconds=$((seconds - 1))
	done
	return 1
}
until_true 10 test -S munge.socket || skip 'munged does not start'
slurmctld -D -f "$SLURM_CONF" >ctld.out 2>&1 &
daemons="$daemons $!"
slurmd -D -f "$SLURM_CONF" -N "$node" >slurmd.out 2>&1 &
daemons="$daemons $!"
is_ready() {
	sinfo -h -o %T 2>/dev/null | grep -qE '^(idle|mixed)'
}
if ! until_true 30 is_ready; then
	tail -n 3 slurmctld.log slurmd.log 2>/dev/null
	skip 'Slurm does not start'
fi

# --- a program ---
raise_program >raise.tx
"$ISOSCOPE" explore raise.tx -i cc -j 1 --json | without_times >plain.json
export ISOSCOPE

nothing_queued() {
	[ -z "$(squeue -h 2>&1)" ]
}

# slurm_explore ARGUMENT...: exit code in `status`.
slurm_explore() {
	what="slurm-explore $*"
	"$top/scripts/slurm-explore" "$@" >out 2>err </dev/null
	status=$?
}

slurm_explore raise.tx 4 -i cc
equal 'units are submitted' $status 0
prints 'explores units 1,2,3,4; job '
until_true 90 nothing_queued || fail 'the jobs do not end'
for number in 1 2 3 4; do
	[ -s "raise.tx.units/result-00$number.json" ] && pass ||
		fail "unit $number has no result"
done
cp raise.tx.units/merged.txt out
prints 'violated: the assertion fails under Causal Consistency (cc)'
"$ISOSCOPE" merge raise.tx.units --json 2>err | without_times >merged.json
same 'what the jobs found' merged.json plain.json

# --- only what is left ---
rm raise.tx.units/result-002.json raise.tx.units/merged.txt
slurm_explore raise.tx 4
prints 'explores units 2; job '
until_true 60 nothing_queued || fail 'the job does not end'
"$ISOSCOPE" merge raise.tx.units --json 2>err | without_times >merged.json
same 'what was left' merged.json plain.json
slurm_explore raise.tx 4
equal 'everything is done: merged at once' $status 1
prints 'violated: the assertion fails under Causal Consistency (cc)'
slurm_explore --merge raise.tx.units
equal '--merge' $status 1
slurm_explore raise.tx
equal 'no number of units' $status 2

# --- a job whose time is over ---
# The signal is sent by hand, since time limits are whole minutes. The program
# takes some seconds; each run of it prints a line.
sed 's/^assert/session d { raise(0, 1); raise(2, 3); let s = total(); }\n&/' \
	raise.tx >large.tx
slurm_explore large.tx 1 -i cc
job=$(sed -n 's/^job \([0-9]*\) explores.*/\1/p' out)
tenths=600
while [ ! -s large.tx.units/result-001.json ] && [ $tenths -gt 0 ]; do
	sleep 0.1
	tenths=$((tenths - 1))
done
scancel --batch --signal=TERM "${job}_1"
# Slurm lets a job that is queued again wait for two minutes.
not_waiting() {
	scontrol update JobId="${job}_1" StartTime=now >/dev/null 2>&1
	nothing_queued
}
until_true 120 not_waiting || fail 'the jobs do not end'
equal 'a job that was queued again' \
	"$(grep -c '^violated' large.tx.units/slurm-1.log)" 2
"$ISOSCOPE" explore large.tx -i cc -j 2 --json | without_times >plain.json
"$ISOSCOPE" merge large.tx.units --json 2>err | without_times >merged.json
same 'what both of its runs found' merged.json plain.json
cp large.tx.units/merged.txt out
prints 'violated: the assertion fails under Causal Consistency (cc)'
finish
