package detect

import (
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// Generated is the source that [RunID] names for an id that was made up. Such a
// run cannot be continued: nothing outside it knows its name.
const Generated = "generated"

// RunID returns nemo.run.id, the human-facing id that all ranks and attempts of a
// run share, and where it came from: "--run-id" (flag, which the caller has read
// from the command line or its variable), "nemo.run.id" (inherited, from the list
// of the carrier), the name of a variable, or [Generated]. Empty values do not
// count. (Identity specification, "nemo.run.id".)
func RunID(env map[string]string, inherited []attribute.KeyValue, flag string) (id, source string) {
	if flag != "" {
		return flag, "--run-id"
	}
	if v, ok := semconv.Get(inherited, semconv.NemoRunID); ok && v.Type() == attribute.STRING && v.AsString() != "" {
		return v.AsString(), semconv.NemoRunID
	}
	for _, name := range []string{
		"NEMO_LENS_RUN_ID", "LENSLAUNCH_JOB_UID", "TORCHELASTIC_RUN_ID", "PET_RDZV_ID", "SLURM_JOB_ID",
	} {
		if env[name] != "" {
			return env[name], name
		}
	}
	return uuid.NewString(), Generated
}
