package detect

import (
	"testing"

	"github.com/google/uuid"

	"lenslaunch/carrier"
)

// Each source in turn: taking the first away lets the next one speak.
func TestRunIDOrder(t *testing.T) {
	env := map[string]string{
		"NEMO_LENS_RUN_ID": "b", "LENSLAUNCH_JOB_UID": "c", "TORCHELASTIC_RUN_ID": "d", "PET_RDZV_ID": "e", "SLURM_JOB_ID": "6",
	}
	inherited := carrier.Parse("nemo.run.id=a")
	if id, source := RunID(env, inherited, "flag"); id != "flag" || source != "--run-id" {
		t.Errorf("a flag: %q from %q", id, source)
	}
	if id, source := RunID(env, inherited, ""); id != "a" || source != "nemo.run.id" {
		t.Errorf("the carrier: %q from %q", id, source)
	}
	for _, name := range []string{"NEMO_LENS_RUN_ID", "LENSLAUNCH_JOB_UID", "TORCHELASTIC_RUN_ID", "PET_RDZV_ID", "SLURM_JOB_ID"} {
		if id, source := RunID(env, nil, ""); id != env[name] || source != name {
			t.Errorf("%q from %q, want %q from %s", id, source, env[name], name)
		}
		env[name] = "" // set to nothing is as good as unset
	}
	first, source := RunID(env, carrier.Parse("nemo.run.id="), "")
	if id, err := uuid.Parse(first); err != nil || id.Version() != 4 || source != Generated {
		t.Errorf("without a name: %q from %q, %v", first, source, err)
	}
	if second, _ := RunID(env, nil, ""); second == first {
		t.Errorf("two runs without a name are both %s", first)
	}
}
