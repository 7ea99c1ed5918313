package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"lenslaunch/launcher"
	"lenslaunch/semconv"
)

// Version is the release of lenslaunch, and the service.version of its telemetry.
const Version = "0.1.0-dev"

func (c *call) version() (int, error) {
	if c.inv.sub == "version" && len(c.inv.words) > 0 {
		return launcher.ExitUsage, misuse("leave it out", "version does not take %q", c.inv.words[0])
	}
	return c.print(fmt.Sprintf("lenslaunch %s%s (%s %s/%s, semantic conventions %s)\n",
		Version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, semconv.Version))
}

// revision is the commit that the binary was built from, where the build knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "+" + s.Value[:12]
		}
	}
	return ""
}
