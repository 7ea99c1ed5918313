package tree

import (
	"slices"

	"lenslaunch/internal/proc"
)

// Marks lists the marks of attempts of these launchers that living processes carry:
// for a launcher that clears away what others have left. It says nothing of processes
// that carry no mark.
func Marks(launchers []proc.ID) []Mark {
	list, err := proc.All()
	if err != nil {
		return nil
	}
	boot, err := bootID()
	if err != nil {
		return nil
	}
	env := newEnvirons(readEnviron)
	defer env.close()
	var found []Mark
	for _, st := range list {
		for mark := range marks(env.of(st)) {
			// A pid and start time of another boot is another process.
			if mark.Boot == boot && slices.Contains(launchers, mark.Launcher) && !slices.Contains(found, mark) {
				found = append(found, mark)
			}
		}
	}
	return found
}
