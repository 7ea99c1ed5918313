package cli

import (
	"lenslaunch/detect"
	"lenslaunch/launcher"
)

func uuidFlags() []flagSpec {
	return []flagSpec{{name: "run-id", arg: "ID", cat: catRanks, help: "the run's name, for a run outside Slurm"}}
}

// uuid is `lenslaunch uuid job|run`: NeMo Lens's plain value, so that scripts can
// compare.
func (c *call) uuid() (int, error) {
	words := c.inv.words
	if len(words) == 0 {
		return launcher.ExitUsage, misuse("write uuid job or uuid run", "uuid needs to know which")
	}
	// Flags may stand behind the word, as in `uuid run --run-id r1`.
	inv := invocation{flags: c.inv.flags}
	rest, err := inv.takeFlags(words[1:], append(uuidFlags(), globalFlags()...))
	if err != nil {
		return launcher.ExitUsage, err
	}
	if inv.asked("help") {
		return c.help()
	}
	if len(rest) > 0 {
		return launcher.ExitUsage, misuse("leave it out", "uuid %s does not take %q", words[0], rest[0])
	}
	s, err := parse(inv.flags, append(uuidFlags(), globalFlags()...), c.env)
	if err != nil {
		return launcher.ExitUsage, err
	}
	runID := s.get("run-id").text
	var id string
	var ok bool
	switch words[0] {
	case "job":
		id, ok = detect.JobUUID(c.env, runID)
	case "run":
		id, ok = detect.LensRunUUID(c.env, runID)
	default:
		return launcher.ExitUsage, misuse("write uuid job or uuid run", "there is no %q UUID", words[0])
	}
	if !ok {
		return exitNo, &launcher.Failure{
			Code: exitNo, Problem: "cannot derive a " + words[0] + " UUID: there is neither a Slurm job nor a run id",
			Hint: "give --run-id ID, or run it inside a job",
		}
	}
	return c.print(id + "\n")
}
