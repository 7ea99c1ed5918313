//go:build !linux

package cli

// systemCapacity is not supported on this system: a limit shows at the start.
func systemCapacity() capacity { return capacity{} }
