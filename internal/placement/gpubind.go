package placement

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const visibleDevices = "CUDA_VISIBLE_DEVICES"

// GPUBind is what one rank's environment needs so that it sees its own GPU only
// (--gpu-bind single), because a program that touches all GPUs leaves a context of
// some 500 MB per rank on each of them (slide2vec PR#327). env is the environment that the launcher
// was given; gpus is the number of GPUs visible in it, negative if nobody knows.
//
// The rank gets entry localRank of the inherited CUDA_VISIBLE_DEVICES, of whatever
// kind (number, UUID, MIG), or number localRank where the variable is unset.
//
// LOCAL_RANK stays the rank's number on this machine, because it also chooses files
// and logs. So with one GPU visible, which is always device 0, the usual
// torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) fails with "invalid device
// ordinal" in all ranks but the first: such a script must use device 0.
func GPUBind(env map[string]string, localRank, gpus int) (map[string]string, error) {
	entry, err := gpuEntry(env, localRank, gpus)
	if err != nil {
		return nil, fmt.Errorf("cannot give local rank %d a GPU of its own: %w", localRank, err)
	}
	return map[string]string{visibleDevices: entry}, nil
}

func gpuEntry(env map[string]string, localRank, gpus int) (string, error) {
	if localRank < 0 {
		return "", errors.New("there is no such rank")
	}
	value, set := env[visibleDevices]
	if !set {
		if gpus >= 0 && localRank >= gpus {
			return "", fmt.Errorf("this machine has %d", gpus)
		}
		return strconv.Itoa(localRank), nil
	}
	entries := visible(value)
	if gpus >= 0 && len(entries) > gpus {
		entries = entries[:gpus]
	}
	if localRank >= len(entries) {
		return "", fmt.Errorf("%s=%s shows %d", visibleDevices, value, len(entries))
	}
	for i, entry := range entries {
		if i != localRank && entry == entries[localRank] {
			return "", fmt.Errorf("%s=%s names %s twice", visibleDevices, value, entry)
		}
	}
	return entries[localRank], nil
}

// visible splits the list as CUDA does: what follows an entry that is none is not
// visible, which is how "-1", and Slurm's "NoDevFiles", hide all.
func visible(value string) []string {
	var entries []string
	for entry := range strings.SplitSeq(value, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" || strings.HasPrefix(entry, "-") || entry == "NoDevFiles" {
			break
		}
		entries = append(entries, entry)
	}
	return entries
}
