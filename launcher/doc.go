// Package launcher starts the local ranks of a distributed job, supervises and
// restarts them, and decides what the whole run returns.
//
// # Promise
//
// Every rank of an attempt gets the same attempt UUID and its own composed
// resource carrier; the first failure decides and stops the others; a new attempt
// begins only when the old one is gone; the exit code is the cause's. Bad input
// ends before anything starts. A telemetry fault never changes a job.
//
// # How it works
//
// A Plan is everything that is decided before the first process: command, world,
// identity, environment. Run executes it. One goroutine owns all state; it takes
// events (exits, timers, signals, results of slow effects) one at a time, asks the
// pure function step what to do, and does that:
//
//	waiters, timers, signals ──event──▶ loop ──▶ step(state, event) ──▶ state, actions
//	          ▲                                                             │
//	          └──────────────────── effects (processes, files) ◀────────────┘
//
// States of a run:
//
//	preparing ─▶ running ─▶ sweeping ─▶ waiting ─▶ preparing (next attempt)
//	                │  ▲        ▲  │
//	      first     │  └ grace  │  └──▶ done
//	      failure,  ▼           │
//	      signal  stopping ─────┘
//
// preparing takes the attempt's number from the ledger and reserves its port;
// running covers the launch too: a rank may end before the last one has started;
// grace lets survivors print their own errors; stopping is the stop ladder;
// sweeping ends what the attempt left behind and drains its output; waiting is the
// delay before a restart.
//
// State changes are typed Events. Log lines, spans and the report subscribe to
// them; none can change the run.
//
// # What it does not do
//
// It decides no membership of several nodes (package ranks), detects nothing
// (package detect), and parses no command line (internal/cli).
//
// Sources: the launch and identity specifications; issue 2.
package launcher
