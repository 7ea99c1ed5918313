package ledger

import (
	"fmt"
	"path/filepath"
	"strings"
)

// name is a ledger's file name taken apart.
type name struct {
	job, task string
}

// Name is the file name of the ledger of a job, or with a task id that of an
// element of a job array.
func Name(jobUUID, task string) string {
	if task == "" {
		return jobUUID + ".json"
	}
	return jobUUID + "." + task + ".json"
}

// parseName accepts what [Name] makes of a lower-case UUID and a task of
// digits: nothing that leads out of the directory.
func parseName(text string) (name, error) {
	job, task, isTask := strings.Cut(strings.TrimSuffix(text, ".json"), ".")
	n := name{job: job, task: task}
	digits := strings.Trim(task, "0123456789") == ""
	if !strings.HasSuffix(text, ".json") || !isUUID(job) || !digits || isTask != (task != "") || text != filepath.Base(text) {
		return name{}, fmt.Errorf("cannot open ledger %q: its name must be <job uuid>[.<array task id>].json", text)
	}
	return n, nil
}
