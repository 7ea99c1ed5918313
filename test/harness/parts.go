package harness

import "os"

// Binary is the launcher under test, for a test that starts it in its own way.
func Binary() string { return os.Getenv(binaryVariable) }

// Environment is what Do starts a launcher in: nothing but PATH, HOME, LANG, a TMPDIR
// in dir, and the marker.
func Environment(dir, marker string) []string {
	return append(cleanEnvironment(dir), Marked(marker))
}

// Marked is the entry in the environment of every process of a launch.
func Marked(marker string) string { return markerVariable + "=" + marker }
