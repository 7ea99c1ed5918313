// Package faults has no code of its own: its tests (build tag faults, run by
// `make test-faults`) end real jobs in every way that jobs end, and count what is
// left of them. They need Linux; root and control groups add columns to the matrix.
//
// How a cell of the matrix works:
//
//	test ──start──▶ launcher ──▶ rank 0, rank 1 ──▶ offspring of one kind
//	  ▲                            │                   │ inherits the connection
//	  └──── hub: "here I am" ──────┴───────────────────┘
//
// Every process of a rank's tree holds the rank's connection to the test, so its end
// tells that nobody of them is left; every process has the marker of package harness
// in its environment, so a scan of /proc finds them, and counts them before and after
// the end, without the launcher's own marks. The test process adopts orphans: what a
// launcher leaves, and its zombies, become children of the test.
//
// Tests wait for such events, never for a time. Helper processes are this test binary
// again, by roles.
//
// Source: issue 3, "Prove it"; the launch specification, "Supervision".
package faults
