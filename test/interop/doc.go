// Package interop has no code of its own: its tests (build tag interop, run by
// `make test-interop`) put the launcher under the libraries that it is for, in
// the versions that PyPI has today: torch, the OpenTelemetry SDK and NeMo Lens.
//
// The workers are the Python scripts in workers/. Each leaves what it saw in a
// file, and the Go side judges it; a worker never decides that all is well.
// venv.sh makes the Python environment.
//
// Source: issue 2, "Real parts in the tests".
package interop
