// Package terminal has no code of its own: its tests (build tag terminal, run by
// `make test-terminal`) sit at a real terminal under an interactive bash and press the
// keys that people press. They need Linux, bash and Python 3; the container test also
// needs root.
//
//	test ──types, reads──▶ pty ◀── bash -i ──▶ lenslaunch ──▶ ranks (testdata/*.py)
//
// What is typed and shown in a session of TestSessions is written down in
// docs/terminal.txt and compared with it: `make test-terminal UPDATE=-update` writes it
// anew. Process ids are left out there, and lines of several ranks are sorted.
//
// Tests wait for text on the screen or for the state of a process, never for a time.
//
// Source: the launch specification, "At a terminal" and "Signals to the launcher";
// issue 3.
package terminal
