package cli

import (
	"log/slog"
	"strings"

	"lenslaunch/internal/logmux"
	"lenslaunch/internal/proc"
	"lenslaunch/launcher"
)

// messages turns a run's events into the launcher's messages. What a person needs
// to see without asking is a warning or information; every other change of state is
// shown by -v.
func messages(log *slog.Logger, p *launcher.Plan, stderr *logmux.Sink, format string) launcher.Subscriber {
	return func(e launcher.Event) {
		switch e := e.(type) {
		case launcher.AttemptBegan:
			attemptBegan(log, p, e)
		case launcher.WorkerStarted:
			log.Debug("rank started", "rank", e.Rank, "pid", e.Pid)
		case launcher.WorkerEnded:
			log.Debug("rank ended", "rank", e.Rank, "pid", e.Pid, "exit", e.Exit.String(), "reason", string(e.Reason), "uptime", e.Uptime)
		case launcher.FaultFound:
			log.Debug("rank failed", "rank", e.Fault.Rank, "exit", e.Fault.Exit.String(), "first", e.First)
		case launcher.SignalTaken:
			signalTaken(log, e)
		case launcher.StopBegan:
			log.Debug("stopping the ranks", "alive", e.Alive, "signal", proc.SignalName(e.Ladder.Rungs[0].Signal), "kill_after", e.Ladder.Kill)
		case launcher.StopEscalated:
			log.Info("ranks have not ended in time", "alive", e.Alive, "sending", proc.SignalName(e.Signal))
		case launcher.GuardGone:
			guardGone(log, e)
		case launcher.HeadAwaited:
			log.Info("waiting for the head: its name does not resolve yet", "name", e.Name, "cause", e.Cause)
		case launcher.StepGone:
			log.Warn("the Slurm step has gone: its slurmstepd has ended; stopping the ranks", "pid", e.Pid)
		case launcher.WorkersStuck:
			log.Error("processes do not end even by SIGKILL, and are left", "pids", e.Pids, "local_ranks", e.Locals)
		case launcher.AttemptEnded:
			attemptEnded(log, p, e, stderr, format)
		case launcher.RunEnded:
			if e.Failure != nil {
				log.Error(e.Failure.Error())
			}
			if e.Outcome == launcher.OutcomeSaved {
				log.Info("saved as asked, run me again", "exit_code", e.Code)
			}
			log.Debug("run ended", "outcome", string(e.Outcome), "exit_code", e.Code, "attempts", e.Attempts)
		}
	}
}

func attemptBegan(log *slog.Logger, p *launcher.Plan, e launcher.AttemptBegan) {
	for _, warning := range e.Warnings {
		log.Warn(warning)
	}
	if e.Attempt.Continued {
		// A person who starts a run twice under one name must see that it is one run.
		log.Info("continuing " + p.RunID + " from the ledger: attempt " + itoa(e.Attempt.Number))
	}
	attrs := []any{"attempt", e.Attempt.Number, "attempt_uuid", e.Attempt.UUID, "master_port", e.Attempt.MasterPort}
	if e.Attempt.RestartCount != nil {
		attrs = append(attrs, "restart_count", *e.Attempt.RestartCount)
	}
	log.Debug("attempt begins", attrs...)
}

func guardGone(log *slog.Logger, e launcher.GuardGone) {
	if e.Last {
		log.Warn("the guard has ended and no other is started: if this launcher is killed, its ranks' processes may live on", "cause", e.Cause)
		return
	}
	log.Warn("the guard has ended; another one is started", "cause", e.Cause)
}

func signalTaken(log *slog.Logger, e launcher.SignalTaken) {
	switch e.Action {
	case "stop":
		message := "stopping on " + proc.SignalName(e.Signal)
		if e.From != "" {
			message += " from " + e.From
		}
		log.Info(message)
	default:
		attrs := []any{"signal", proc.SignalName(e.Signal), "action", e.Action}
		if e.From != "" {
			attrs = append(attrs, "from", e.From)
		}
		log.Debug("signal", attrs...)
	}
}

// attemptEnded prints the report of a failure: as text it is a block of its own,
// written at once; as JSON it is one message.
func attemptEnded(log *slog.Logger, p *launcher.Plan, e launcher.AttemptEnded, stderr *logmux.Sink, format string) {
	if e.LedgerProblem != nil {
		log.Warn("the attempt's end is not in the ledger", "cause", e.LedgerProblem)
	}
	for _, problem := range e.OpenProblems {
		log.Warn("not all that a rank had open is known", "reason", problem)
	}
	if e.Unshown.Streams > 0 {
		log.Warn("the console did not take all output in time", "streams", e.Unshown.Streams, "bytes_left", e.Unshown.Bytes)
	}
	if len(e.Faults) == 0 {
		for _, l := range e.Left {
			log.Warn("left behind: " + l.String())
		}
		log.Debug("attempt ended", "outcome", string(e.Outcome))
		return
	}
	lines := p.Report(e)
	if format == "json" {
		log.Error("attempt failed", "report", strings.Join(lines, "\n"), "rank", e.Faults[0].Rank, "restart", e.Next.Restart)
		return
	}
	// A Sink takes every write: a console that has gone is dropped with a warning.
	_, _ = stderr.Write([]byte("lenslaunch: " + strings.Join(lines, "\nlenslaunch: ") + "\n"))
}
