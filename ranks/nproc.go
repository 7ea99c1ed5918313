package ranks

import (
	"errors"
	"fmt"
	"strconv"
)

// decideLocalSize settles how many ranks this node runs. No upper bound is
// invented: how many are too many is for the person who asked to know.
func (r *resolver) decideLocalSize() error {
	w, req := &r.World, r.req
	flag, asked := req.from("--nproc"), req.NProc
	// A TrainJob says there how many ranks it wants on a node, in the same notation.
	if text := r.env["PET_NPROC_PER_NODE"]; text != "" && !req.NProcSet && inKubernetes(req, r.env) {
		flag, asked = "PET_NPROC_PER_NODE", text
	}
	switch asked {
	case "", "auto":
		// A host whose GPUs nobody could count gets one rank, not a guess: too few
		// is seen at once, too many fail in the middle of their start.
		w.LocalSize = 1
		if req.GPUsKnown && req.GPUs > 0 {
			w.LocalSize = req.GPUs
			w.because("%s from the GPUs of this host", counted(w.LocalSize, "local rank"))
			return nil
		}
		w.because("1 local rank from default, no GPU found")
	case "gpu":
		if !req.GPUsKnown || req.GPUs < 1 {
			return &UsageError{flag + " is gpu, but no GPU was found here", "use --nproc N, or look at CUDA_VISIBLE_DEVICES and nvidia-smi"}
		}
		w.LocalSize = req.GPUs
		w.because("%s from the GPUs of this host, asked for by %s", counted(w.LocalSize, "local rank"), flag)
	case "cpu":
		if req.CPUs < 1 {
			return &UsageError{flag + " is cpu, but the CPUs could not be counted here", "use --nproc N"}
		}
		w.LocalSize = req.CPUs
		w.because("%s from the usable CPUs, asked for by %s", counted(w.LocalSize, "local rank"), flag)
	default:
		n, err := numberOfRanks(flag, asked)
		if err != nil {
			return err
		}
		w.LocalSize = n
		w.because("%s from %s", counted(n, "local rank"), flag)
	}
	return nil
}

// numberOfRanks reads a plain number. "8.0" or "8x" is a slip that only the
// person who typed it can mend.
func numberOfRanks(flag, text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		// strconv says so at the first digit too many and does not read what follows it:
		// any bytes may.
		return 0, &UsageError{fmt.Sprintf("%s is %s, more than can be counted", flag, shown(text)), "use a number of ranks that this host can run"}
	case err != nil:
		return 0, &UsageError{fmt.Sprintf("%s is %q", flag, clip(text, 64)), "use a number, auto, gpu or cpu"}
	case n < 1:
		return 0, &UsageError{fmt.Sprintf("%s is %d, and a node runs at least 1 rank", flag, n), "use --nproc 1 or more, or auto"}
	}
	return n, nil
}
